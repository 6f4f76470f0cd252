// Compact in one pass, `lookback`, OpenCL C. The parallel source compact_lookback.cu describes it.
//
// A team of 32 work-items takes the place of a warp. Groups take tiles by ticket and wait for earlier tiles, see
// lookback_words.cl. AS_T(x): an x of B as a T; TOTAL: type of counts of kept elements, u32 or, from 2^32 elements on,
// u64. The input may be an expression, which is computed pack by pack.

#include "compact_input"
#include "lanes.cl"
#include "lookback_words.cl"
#include "pack.cl"

#define ROW_LENGTH (LANES * PACK)          // of a team
#define PART_LENGTH (ROW_LENGTH * ROWS)    // of a team
#define PART_STRIDE (PART_LENGTH + PACK)   // closing up may move elements by up to a pack towards the end
#define TEAMS (GROUP / LANES)
#define TILE_LENGTH (PART_LENGTH * TEAMS)
#define COUNT_WORDS ((ROWS + 3) / 4)       // words of four counts with 16 bits each

SHUFFLE_FROM(shuffle_count, u64)

INLINED bool keeps(const Op op, B bits) { return apply(op, AS_T(bits)) != 0; }

// Copies 16 bytes to local memory. Complete after await_copies.
INLINED void copy_pack(__local B* to, __global const B* from) {
#if CONCORD_CAPABILITY >= 80
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)(size_t)to), "l"(from) : "memory");
#else
    *(__local uint4*)to = *(__global const uint4*)from;
#endif
}
INLINED void await_copies(void) {
#if CONCORD_CAPABILITY >= 80
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

#ifdef CONCORD_EXPRESSION

// Computes a work-item's packs of a team's part, which begins at `begin`, in local memory. own: its first pack there.
INLINED void load_part(__local B* own, const Items items, u64 begin, u64 first, u64 last) {
    const u64 at = begin + lane_id() * PACK;
    if (begin + PART_LENGTH <= last) {
        const bool aligned = load_values_aligned(items, 0);
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r)
            *(__local BitsPack*)(own + r * ROW_LENGTH) = load_bits(items, at + r * ROW_LENGTH, aligned);
    } else {
#pragma unroll 1
        for (u32 r = 0; r < ROWS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u64 i = at + r * ROW_LENGTH + j;
                if (i < last) own[r * ROW_LENGTH + j] = item_at(items, i);
            }
        }
    }
}

#else

// Copies a work-item's packs of a team's part, which begins at `begin`, to local memory. own: its first pack there.
INLINED void load_part(__local B* own, const Items base, u64 begin, u64 first, u64 last) {
    const u64 at = begin + lane_id() * PACK;
    if (begin >= first && begin + PART_LENGTH <= last) {
#pragma unroll
        for (u32 r = 0; r < ROWS; ++r) copy_pack(own + r * ROW_LENGTH, base + at + r * ROW_LENGTH);
        await_copies();
    } else {
#pragma unroll 1
        for (u32 r = 0; r < ROWS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u64 i = at + r * ROW_LENGTH + j;
                if (i >= first && i < last) own[r * ROW_LENGTH + j] = base[i];
            }
        }
    }
}

#endif

// Flags the kept elements of a work-item's rows, one bit each.
INLINED void flag_part(u32* flags, __local const B* own, const Items items, u64 begin, u64 first, u64 last,
                       const Op op) {
    const u64 at = begin + lane_id() * PACK;
    const bool whole = begin >= first && begin + PART_LENGTH <= last;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) {
        const uint4 pack = *(__local const uint4*)(own + r * ROW_LENGTH);
        u32 kept = 0;
        if (whole) {
#ifdef CONCORD_EXPRESSION
            B item[PACK];
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) item[j] = item_of(pack, j);
            kept = KEPT_BITS(items, at + r * ROW_LENGTH, op, item);
#else
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) kept |= (u32)keeps(op, item_of(pack, j)) << j;
#endif
        } else {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u64 i = at + r * ROW_LENGTH + j;
                if (i >= first && i < last) kept |= (u32)IS_KEPT(items, i, op, item_of(pack, j)) << j;
            }
        }
        flags[r] = kept;
    }
}

// Count of a row: 16 bits of a word.
INLINED u32 count_of_row(const u64* counts, u32 row) { return (u32)(counts[row / 4] >> (16 * (row % 4))) & 0xffff; }

// Counts the set flags per row of earlier lanes of the team, and of all lanes.
INLINED void rank_flags_in_team(const u32* flags, u64* before, u64* all, __local u64* meet) {
    const u32 lane = lane_id();
#pragma unroll
    for (u32 w = 0; w < COUNT_WORDS; ++w) {
        u64 mine = 0;
#pragma unroll
        for (u32 r = 4 * w; r < ROWS && r < 4 * w + 4; ++r) mine |= (u64)popcount(flags[r]) << (16 * (r % 4));
        u64 through = mine;
#pragma unroll
        for (u32 distance = 1; distance < LANES; distance *= 2) {
            const u64 other = shuffle_count(through, lane - distance, meet);
            through += lane >= distance ? other : 0;
        }
        before[w] = through - mine;
        all[w] = shuffle_count(through, LANES - 1, meet);
    }
}

// Closes up the team's kept elements from part[shift] on. Each row is read before the previous one is written, which
// may reach into it by `shift`.
INLINED void close_up(__local B* part, const u32* flags, const u64* before, const u64* all, u32 shift) {
    __local const B* own = part + lane_id() * PACK;
    uint4 next = *(__local const uint4*)own;
    u32 start = shift;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) {
        const uint4 pack = next;
        if (r + 1 < ROWS) next = *(__local const uint4*)(own + (r + 1) * ROW_LENGTH);
        lanes_barrier();
        u32 to = start + count_of_row(before, r);
#pragma unroll
        for (u32 j = 0; j < PACK; ++j) {
            const u32 kept = flags[r] >> j & 1;
            if (kept) part[to] = item_of(pack, j);
            to += kept;
        }
        start += count_of_row(all, r);
    }
    lanes_barrier();
}

// Stores `count` elements from part[shift] on, with shift the elements from a pack's boundary to `to`. The team stores
// together.
INLINED void store_part(__global B* to, __local const B* part, u32 shift, u32 count) {
    __global B* base = to - shift;
    for (u32 at = lane_id() * PACK; at < shift + count; at += ROW_LENGTH) {
        if (at >= shift && at + PACK <= shift + count) {
            *(__global uint4*)(base + at) = *(__local const uint4*)(part + at);
        } else {
#pragma unroll
            for (u32 i = at; i < at + PACK; ++i) {
                if (i >= shift && i < shift + count) base[i] = part[i];
            }
        }
    }
}

// shift: elements from the 16-byte boundary at or before the input to its first element. parts: one part per team, of
// PART_STRIDE elements.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_lookback(INPUT(in), __global B* out, ulong out_at, __global u64* count,
                      ulong count_at, __global u64* workspace, ulong workspace_at, u64 n, u32 shift, u32 tiles,
                      u32 in_place, const Op op, __local uint4* parts) {
    __local u32 kept_by[TEAMS];
    __local u64 meet[LANE_ROOM];
    __local Lookback lookback;
    __local Turn drawn;
    const u32 local_id = get_local_id(0), team = local_id / LANES;
    __local B* part = (__local B*)parts + team * PART_STRIDE;
    __local B* own = part + lane_id() * PACK;
    AT_INPUT(in);
    workspace += workspace_at;
#ifndef CONCORD_EXPRESSION
    // Tickets come in about the order of the groups' numbers: another group may take the tile of this number, soon.
    const u64 likely = (u64)get_group_id(0) * TILE_LENGTH;
    if (likely < n) prefetch_bytes(in + likely, (u32)min(n - likely, (u64)TILE_LENGTH) * SIZE);
#endif
    const Turn turn = take_turn(workspace, &drawn);
    const struct Tree tree = tree_of(workspace, tiles, turn);
    const u64 first = shift, last = shift + n, begin = turn.ticket * (u64)TILE_LENGTH + team * PART_LENGTH;
    const Items items = items_of(in, shift);
    load_part(own, items, begin, first, last);
    if (in_place) device_fence();  // all loads finish before the total is published
    u32 flags[ROWS];
    flag_part(flags, own, items, begin, first, last, op);
    u64 before_row[COUNT_WORDS], all_row[COUNT_WORDS];
    rank_flags_in_team(flags, before_row, all_row, meet);
    u32 kept = 0;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) kept += count_of_row(all_row, r);
    if (lane_id() == 0) kept_by[team] = kept;
    barrier(CLK_LOCAL_MEM_FENCE);
    u32 all = 0, before_team = 0;
#pragma unroll
    for (u32 t = 0; t < TEAMS; ++t) {
        if (t < team) before_team += kept_by[t];
        all += kept_by[t];
    }
    const TOTAL total[1] = {all};
    TOTAL before[1];
    publish_tiles(&tree, turn.ticket, tiles, total);
    carry_tiles(&tree, turn.ticket, tiles, total, before, 0, &lookback, op);
    if (turn.ticket == tiles - 1 && local_id == 0) count[count_at] = (u64)before[0] + all;
    __global B* to = out + out_at + before[0] + before_team;
    const u32 skip = (u32)((ulong)to / SIZE % PACK);
    close_up(part, flags, before_row, all_row, skip);
    store_part(to, part, skip, kept);
}
