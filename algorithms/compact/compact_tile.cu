// A tile of `fused`, CUDA C++: one group loads, ranks and stores it. Used by compact.cu. Parallel source: the first
// half of compact.cl.
//
// A tile has ROWS rows. A thread owns one pack of PACK elements (16 bytes) per row. Positions count from the
// 16-byte boundary at or before the input's first element, so every pack is aligned wherever the input begins.
// Valid positions: [first, last).
//
// T: element type; B: unsigned integer of its size, as which elements move; apply(op, x): predicate.

#include "group_rank.cu"
#include "tile.cu"

constexpr u32 row_length = GROUP * PACK;
constexpr u32 tile_length = row_length * ROWS;
constexpr u32 warps = GROUP / warp_width;
static_assert(row_length < 65536, "group_rank.cu counts in 16 bits");

// A thread's part of a tile: one pack per row, and a bit per element that says whether it is kept.
struct Tile {
    Pack<B, PACK> row[ROWS];
    u32 kept[ROWS];
};

// Output positions of a thread's kept elements, relative to the tile's first kept element.
struct Ranks {
    u32 of_row[ROWS];
    u32 total;
};

__device__ __forceinline__ bool keeps(const Op op, B bits) { return apply(op, bits_as<T>(bits)) != 0; }

// Position in the tile of the thread's first element of a row.
__device__ __forceinline__ u32 place_of(u32 row) {
    return row * row_length + threadIdx.x * PACK;
}

__device__ __forceinline__ bool is_whole(u64 begin, u64 first, u64 last) {
    return begin >= first && begin + tile_length <= last;
}

// Does not use the read-only path, because out may be in.
__device__ __forceinline__ Tile load_tile(const B* base, u64 begin, u64 first, u64 last, const Op op) {
    Tile tile;
    if (is_whole(begin, first, last)) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) tile.row[r] = load_pack_l2<PACK>(base + begin + place_of(r));
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            tile.kept[r] = 0;
#pragma unroll
            for (int j = 0; j < PACK; ++j) tile.kept[r] |= u32(keeps(op, tile.row[r].item[j])) << j;
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
                    tile.kept[r] |= u32(keeps(op, tile.row[r].item[j])) << j;
                }
            }
        }
    }
    return tile;
}

// Ranks the tile's kept elements. All threads of the group must call it.
__device__ __forceinline__ Ranks rank_tile(const Tile& tile) {
    const RowRanks<ROWS> rows = rank_flags_in_group<warps>(tile.kept);
    Ranks ranks;
    ranks.total = 0;
#pragma unroll
    for (u32 r = 0; r < ROWS; ++r) {
        ranks.of_row[r] = ranks.total + rows.before.of(r);
        ranks.total += rows.all.of(r);
    }
    return ranks;
}

// Stores the tile's kept elements from out[0] on, or with Rejected the other ones of its `valid` elements. Elements
// are gathered in shared memory, aligned as in out, so whole packs are stored. skip: elements of the tile before
// the first valid one. staged: tile_length + PACK elements of shared memory, aligned to packs. All threads of the
// group must call it.
template <bool Rejected>
__device__ __forceinline__ void store_tile(const Tile& tile, const Ranks& ranks, B* out, u32 skip, u32 valid,
                                           B* staged) {
    const u32 shift = pack_offset<PACK>(out);
    const u32 count = Rejected ? valid - ranks.total : ranks.total;
    __syncthreads();  // previously staged elements have been stored
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        u32 rank = ranks.of_row[r];
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const bool kept = tile.kept[r] >> j & 1;
            if (Rejected) {
                const u32 place = place_of(r) + j - skip;  // may wrap to a value of at least `valid`
                if (!kept && place < valid) staged[shift + place - rank] = tile.row[r].item[j];
            } else if (kept) {
                staged[shift + rank] = tile.row[r].item[j];
            }
            rank += kept;
        }
    }
    __syncthreads();
    store_staged<GROUP, PACK>(out, staged, shift, count, threadIdx.x);
}
