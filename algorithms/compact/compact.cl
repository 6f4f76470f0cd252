// Compact in three launches, `fused`, OpenCL C. Parallel sources: compact.cu with compact_tile.cu,
// compact_move.hpp.
//
// Algorithm  The input is cut into one chunk of whole tiles per group. Upsweep: each group counts the kept elements
//            of its chunk. Spine: one group turns counts into offsets. Downsweep: each group reads its chunk again,
//            tile by tile. Flags stay in registers, one scan of the group ranks a tile, kept elements are gathered
//            in local memory and leave in 16-byte stores.
// CPUs       compact_wide.cl
// Passes     three launches
// Traffic    two reads per element, one write per stored element
// Tunables   GROUP work-items per group, PACK elements per access (16 bytes), ROWS accesses in flight per
//            work-item
// Source     D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009 (reduce, then scan); M.
//            Billeter, O. Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures,
//            2009.
//
// T: element type; B: unsigned integer of its size, as which elements move; AS_T(x): an x of B as a T; apply(op,
// x): predicate; PARTITION: whether the other elements are stored too.

#include "group_rank.cl"

static inline bool keeps(const Op op, B bits) { return apply(op, AS_T(bits)) != 0; }

// A tile has ROWS rows. A work-item owns one pack of PACK elements per row. Positions count from the 16-byte
// boundary at or before the input's first element, so every pack is aligned wherever the input begins. Valid
// positions: [first, last).
#define ROW_LENGTH (GROUP * PACK)
#define TILE_LENGTH (ROW_LENGTH * ROWS)

typedef struct { B item[PACK]; } __attribute__((aligned(16))) PackB;

// A work-item's part of a tile: one pack per row, and a bit per element that says whether it is kept.
typedef struct {
    PackB row[ROWS];
    u32 kept[ROWS];
} Tile;

// Output positions of a work-item's kept elements, relative to the tile's first kept element.
typedef struct {
    u32 of_row[ROWS];
    u32 total;
} Ranks;

// Position in the tile of the work-item's first element of a row.
INLINED u32 place_of(u32 row) { return row * ROW_LENGTH + (u32)get_local_id(0) * PACK; }

INLINED Tile load_tile(__global const B* base, u64 begin, u64 first, u64 last, const Op op) {
    Tile tile;
    if (begin >= first && begin + TILE_LENGTH <= last) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) tile.row[r] = *(__global const PackB*)(base + begin + place_of(r));
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            tile.kept[r] = 0;
#pragma unroll
            for (int j = 0; j < PACK; ++j) tile.kept[r] |= (u32)keeps(op, tile.row[r].item[j]) << j;
        }
    } else {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            tile.kept[r] = 0;
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const u64 i = begin + place_of(r) + j;
                tile.row[r].item[j] = 0;
                if (i >= first && i < last) {
                    tile.row[r].item[j] = base[i];
                    tile.kept[r] |= (u32)keeps(op, tile.row[r].item[j]) << j;
                }
            }
        }
    }
    return tile;
}

// Ranks the tile's kept elements. All work-items of the group must call it.
INLINED Ranks rank_tile(const Tile* tile, __local u64* sums) {
    const RowRanks rows = rank_flags(tile->kept, ROWS, sums);
    Ranks ranks;
    ranks.total = 0;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        ranks.of_row[r] = ranks.total + count_of_row(rows.before, r);
        ranks.total += count_of_row(rows.all, r);
    }
    return ranks;
}

// Stores the tile's kept elements from out[0] on, or with `rejected` the other ones of its `valid` elements.
// Elements are gathered in local memory, aligned as in out, so whole packs are stored. skip: elements of the tile
// before the first valid one. staged: TILE_LENGTH + PACK elements. All work-items of the group must call it.
INLINED void store_tile(const Tile* tile, const Ranks* ranks, bool rejected, __global B* out, u32 skip, u32 valid,
                        __local B* staged) {
    const u32 shift = (u32)((ulong)out / SIZE % PACK);
    const u32 count = rejected ? valid - ranks->total : ranks->total;
    barrier(CLK_LOCAL_MEM_FENCE);  // previously staged elements have been stored
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        u32 rank = ranks->of_row[r];
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const u32 kept = tile->kept[r] >> j & 1;
            if (rejected) {
                const u32 place = place_of(r) + j - skip;  // may wrap to a value of at least `valid`
                if (!kept && place < valid) staged[shift + place - rank] = tile->row[r].item[j];
            } else if (kept) {
                staged[shift + rank] = tile->row[r].item[j];
            }
            rank += kept;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    __global B* base = out - shift;
    for (u32 at = (u32)get_local_id(0) * PACK; at < shift + count; at += ROW_LENGTH) {
        if (at >= shift && at + PACK <= shift + count) {
            *(__global PackB*)(base + at) = *(__local const PackB*)(staged + at);
        } else {
            for (u32 i = at; i < at + PACK; ++i) {
                if (i >= shift && i < shift + count) base[i] = staged[i];
            }
        }
    }
}

// Upsweep. shift: elements from the 16-byte boundary at or before the input to its first element. tiles: per chunk.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_count(__global const B* in, ulong in_at, __global u64* counts, ulong counts_at, u64 n, u32 shift,
                   u64 tiles, const Op op) {
    __local u64 sums[2 * GROUP];
    const u64 first = shift, last = shift + n;
    __global const B* base = in + in_at - shift;
    u64 kept = 0, all;
    u64 begin = get_group_id(0) * tiles * TILE_LENGTH;
    for (u64 t = 0; t < tiles && begin < last; ++t, begin += TILE_LENGTH) {
        const Tile tile = load_tile(base, begin, first, last, op);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) kept += popcount(tile.kept[r]);
    }
    scan_group_total(kept, sums, &all);
    if (get_local_id(0) == 0) counts[counts_at + get_group_id(0)] = all;
}

// Spine, one group: turns counts into offsets and stores their sum in *count.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_offsets(__global u64* counts, ulong counts_at, __global u64* count, ulong count_at, u64 chunks) {
    __local u64 sums[2 * GROUP];
    counts += counts_at;
    const u32 local_id = get_local_id(0);
    const u64 share = (chunks + GROUP - 1) / GROUP, begin = local_id * share, end = min(begin + share, chunks);
    u64 sum = 0, all;
    for (u64 c = begin; c < end; ++c) sum += counts[c];
    u64 before = scan_group_total(sum, sums, &all) - sum;
    for (u64 c = begin; c < end; ++c) {
        const u64 kept = counts[c];
        counts[c] = before;
        before += kept;
    }
    if (local_id == 0) count[count_at] = all;
}

// Downsweep. PARTITION: stores the other elements behind all *count kept elements.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_write(__global const B* in, ulong in_at, __global B* out, ulong out_at, __global const u64* offsets,
                   ulong offsets_at, __global const u64* count, ulong count_at, u64 n, u32 shift, u64 tiles,
                   const Op op) {
    __local u64 sums[2 * GROUP];
    __local B staged[TILE_LENGTH + PACK] __attribute__((aligned(16)));
    const u64 first = shift, last = shift + n;
    __global const B* base = in + in_at - shift;
    out += out_at;
    u64 before = offsets[offsets_at + get_group_id(0)];
    u64 begin = get_group_id(0) * tiles * TILE_LENGTH;
    for (u64 t = 0; t < tiles && begin < last; ++t, begin += TILE_LENGTH) {
        const Tile tile = load_tile(base, begin, first, last, op);
        const Ranks ranks = rank_tile(&tile, sums);
        store_tile(&tile, &ranks, false, out + before, 0, 0, staged);
#if PARTITION
        const u64 from = max(begin, first), to = min(begin + TILE_LENGTH, last);
        store_tile(&tile, &ranks, true, out + count[count_at] + (from - first - before), (u32)(from - begin),
                   (u32)(to - from), staged);
#endif
        before += ranks.total;
    }
}
