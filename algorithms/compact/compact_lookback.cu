// Compact in one pass, `lookback`, CUDA C++. lookback.cu describes the messages between tiles. Parallel source:
// compact_lookback.cl.
//
// Algorithm  One tile per group. Its elements go straight to shared memory, so registers do not limit the number of
//            tiles in flight. More tiles in flight hide the wait for other tiles. A warp owns ROWS consecutive rows
//            of 32 packs (16 bytes), a lane one pack per row. Flags stay in registers, and one scan of the warp
//            ranks its rows. Decoupled look-back over the totals of earlier tiles gives the number of elements kept
//            before this tile. Then a warp closes up its kept elements in its own part of shared memory, row by
//            row, and stores 16 bytes at a time.
// Passes     one launch
// Traffic    one read per element, one write per kept element, about 17 bytes per tile
// In place   A tile stores after all earlier tiles published their totals. Each tile publishes after it read its
//            elements, so a store never overwrites an unread element. Loads do not use the read-only path.
// Tunables   GROUP threads per group, PACK elements per access (16 bytes), ROWS packs per lane, RESIDENT groups per
//            multiprocessor
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016; M. Billeter, O.
//            Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures, 2009 (ranks).
//
// Positions count from the 16-byte boundary at or before the input's first element, so every pack is aligned
// wherever the input begins. Valid positions: [first, last). T: element type; B: unsigned integer of its size, as
// which elements move; apply(op, x): predicate; TOTAL: type of counts of kept elements, u32 or, from 2^32 elements
// on, u64. The input may be an expression, which is computed pack by pack.

#include "async_copy.cu"
#include "compact_input"
#include "group_scan.cu"
#include "lookback.cu"
#include "tile.cu"

constexpr u32 row_length = warp_width * PACK;  // of a warp
constexpr u32 part_length = row_length * ROWS;  // of a warp
constexpr u32 part_stride = part_length + PACK;  // closing up may move elements by up to a pack towards the end
constexpr u32 warps = GROUP / warp_width;
constexpr u32 tile_length = part_length * warps;
static_assert(row_length < 65536, "RowCounts counts in 16 bits");

extern __shared__ __align__(16) unsigned char parts[];  // one part per warp, of part_stride elements

__device__ __forceinline__ bool keeps(const Op op, B bits) { return apply(op, bits_as<T>(bits)) != 0; }

// --- Ranks of flags ------------------------------------------------------------------------------------------------

// The rank of a row is the number of set flags in the same row of earlier lanes. One 64-bit word holds the counts of
// four rows, so that one scan ranks four rows. rank_flags.kernel ranks the flags of a group.

// A count per row for N rows. Counts are less than 65536.
template <u32 N>
struct RowCounts {
    static constexpr u32 words = (N + 3) / 4;
    u64 word[words];

    __device__ __forceinline__ u32 of(u32 row) const { return u32(word[row / 4] >> (16 * (row % 4))) & 0xffff; }
};

// Counts the set flags of each row.
template <u32 N>
__device__ __forceinline__ RowCounts<N> count_flags(const u32 (&flags)[N]) {
    RowCounts<N> counts;
#pragma unroll
    for (u32 w = 0; w < counts.words; ++w) {
        counts.word[w] = 0;
#pragma unroll
        for (u32 r = 4 * w; r < N && r < 4 * w + 4; ++r) counts.word[w] |= u64(__popc(flags[r])) << (16 * (r % 4));
    }
    return counts;
}

// Set flags per row of earlier lanes, and of all lanes.
template <u32 N>
struct RowRanks {
    RowCounts<N> before, all;
};

// Ranks flags within each warp.
template <u32 N>
__device__ __forceinline__ RowRanks<N> rank_flags_in_warp(const u32 (&flags)[N]) {
    const RowCounts<N> mine = count_flags(flags);
    RowRanks<N> ranks;
#pragma unroll
    for (u32 w = 0; w < mine.words; ++w) {
        const u64 through = scan_warp(mine.word[w]);
        ranks.before.word[w] = through - mine.word[w];
        ranks.all.word[w] = shuffle_from(through, warp_width - 1);
    }
    return ranks;
}

// --- Tiles ---------------------------------------------------------------------------------------------------------

#ifdef CONCORD_EXPRESSION

// Computes a lane's packs of a warp's part, which begins at `begin`, in shared memory. own: the lane's first pack
// there.
__device__ __forceinline__ void load_part(B* own, const Items items, u64 begin, u64 /*first*/, u64 last) {
    const u64 at = begin + threadIdx.x % warp_width * PACK;
    if (begin + part_length <= last) {
        const bool aligned = load_values_aligned(items, 0);
#pragma unroll
        for (int r = 0; r < ROWS; ++r)
            *reinterpret_cast<BitsPack*>(own + r * row_length) = load_bits(items, at + r * row_length, aligned);
    } else {
#pragma unroll 1
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const u64 i = at + r * row_length + j;
                if (i < last) own[r * row_length + j] = item_at(items, i);
            }
        }
    }
}

#else

// Copies a lane's packs of a warp's part, which begins at `begin`, to shared memory. own: the lane's first pack
// there.
__device__ __forceinline__ void load_part(B* own, const Items base, u64 begin, u64 first, u64 last) {
    const u64 at = begin + threadIdx.x % warp_width * PACK;
    if (begin >= first && begin + part_length <= last) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) copy_pack_async(own + r * row_length, base + at + r * row_length);
        await_copies();
    } else {
#pragma unroll 1
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const u64 i = at + r * row_length + j;
                if (i >= first && i < last) own[r * row_length + j] = base[i];
            }
        }
    }
}

#endif

// Flags the kept elements of a lane's rows, one bit each.
__device__ __forceinline__ void flag_part(u32 (&flags)[ROWS], const B* own, const Items items, u64 begin, u64 first, u64 last,
                                          const Op op) {
    const u64 at = begin + threadIdx.x % warp_width * PACK;
    const bool whole = begin >= first && begin + part_length <= last;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const auto pack = *reinterpret_cast<const Pack<B, PACK>*>(own + r * row_length);
        flags[r] = 0;
        if (whole) {
#ifdef CONCORD_EXPRESSION
            flags[r] = KEPT_BITS(items, at + r * row_length, op, pack.item);
#else
#pragma unroll
            for (int j = 0; j < PACK; ++j) flags[r] |= u32(keeps(op, pack.item[j])) << j;
#endif
        } else {
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const u64 i = at + r * row_length + j;
                if (i >= first && i < last) flags[r] |= u32(IS_KEPT(items, i, op, pack.item[j])) << j;
            }
        }
    }
}

// Closes up the warp's kept elements from part[shift] on. Each row is read before the previous one is written,
// which may reach into it by `shift`.
__device__ __forceinline__ void close_up(B* part, const u32 (&flags)[ROWS], const RowRanks<ROWS>& ranks, u32 shift) {
    B* const own = part + threadIdx.x % warp_width * PACK;
    auto next = *reinterpret_cast<const Pack<B, PACK>*>(own);
    u32 start = shift;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const auto pack = next;
        if (r + 1 < ROWS) next = *reinterpret_cast<const Pack<B, PACK>*>(own + (r + 1) * row_length);
        __syncwarp();
        u32 to = start + ranks.before.of(r);
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const bool kept = flags[r] >> j & 1;
            if (kept) part[to] = pack.item[j];
            to += kept;
        }
        start += ranks.all.of(r);
    }
    __syncwarp();
}

// shift: elements from the 16-byte boundary at or before the input to its first element.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    compact_lookback(INPUT(in), B* out, u64* count, u64* workspace, u64 n, u32 shift, u32 tiles, u32 in_place,
                     const Op op) {
    AT_INPUT(in);
    __shared__ u32 kept_by[warps];
    const u32 warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    B* const part = reinterpret_cast<B*>(parts) + warp * part_stride;
    B* const own = part + lane * PACK;
#ifndef CONCORD_EXPRESSION
    // Tickets come in about the order of the groups' numbers: another group may take the tile of this number, soon.
    const u64 likely = u64(blockIdx.x) * tile_length;
    if (likely < n) prefetch_tile<GROUP>(in + likely, min(n - likely, u64(tile_length)));
#endif
    const Turn turn = take_turn(workspace);
    const u64 first = shift, last = shift + n, begin = u64(turn.ticket) * tile_length + warp * part_length;
    const Items items = items_of(in, shift);
    load_part(own, items, begin, first, last);
    if (in_place) __threadfence();  // all loads finish before the total is published
    u32 flags[ROWS];
    flag_part(flags, own, items, begin, first, last, op);
    const RowRanks<ROWS> ranks = rank_flags_in_warp(flags);
    u32 kept = 0;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) kept += ranks.all.of(r);
    if (lane == 0) kept_by[warp] = kept;
    __syncthreads();
    u32 total = 0, before_warp = 0;
    add_warp_totals<warps>(kept_by, before_warp, total);
    const TOTAL before = tile_carry(workspace, turn, tiles, total, 0, op);
    if (turn.ticket == tiles - 1 && threadIdx.x == 0) *count = u64(before) + total;
    B* const to = out + before + before_warp;
    const u32 skip = pack_offset<PACK>(to);
    close_up(part, flags, ranks, skip);
    store_staged<warp_width, PACK>(to, part, skip, kept, lane);
}
