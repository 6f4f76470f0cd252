// A tile of compact, CUDA C++: loaded, ranked and stored by one group. Used by compact.cu; parallel text: the first half of
// compact.cl.
//
// A tile has ROWS rows of PACK elements (16 bytes) a lane. Positions count from the 16-byte boundary at or before the
// input's first element, so that every pack is aligned wherever the input begins: valid are [first, last).
//
// T: element type; B: unsigned integer of its size, as which elements move; apply(op, x): the predicate.

constexpr u32 row_length = GROUP * PACK;
constexpr u32 tile_length = row_length * ROWS;
constexpr u32 warps = GROUP / warp_width;
constexpr int words = (ROWS + 3) / 4;
static_assert(row_length < 65536, "the counts of the rows are 16 bits each of a word");

// What a lane holds of a tile: a pack of each row, and which of its elements are kept, a bit each.
struct Tile {
    Pack<B, PACK> row[ROWS];
    u32 kept[ROWS];
};

// Where a lane's kept elements go, counted from the tile's first kept one.
struct Ranks {
    u32 of_row[ROWS];
    u32 total;
};

__device__ __forceinline__ bool keeps(const Op op, B bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return apply(op, value) != 0;
}

// The place in the tile of a lane's first element of a row.
__device__ __forceinline__ u32 place_of(u32 row) {
    return row * row_length + threadIdx.x * PACK;
}

__device__ __forceinline__ bool is_whole(u64 begin, u64 first, u64 last) {
    return begin >= first && begin + tile_length <= last;
}

// Not through the read-only path: out may be in.
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

// The counts of four rows travel in one word, 16 bits each: one scan ranks the tile. Called by the whole group.
__device__ __forceinline__ Ranks rank_tile(const Tile& tile) {
    __shared__ u64 warp_sums[words][warps];
    const u32 lane = threadIdx.x % warp_width;
    u64 mine[words], sum[words];  // sum: of this warp, up to and with this lane
#pragma unroll
    for (int w = 0; w < words; ++w) {
        mine[w] = 0;
#pragma unroll
        for (int r = 4 * w; r < ROWS && r < 4 * w + 4; ++r) mine[w] |= u64(__popc(tile.kept[r])) << (16 * (r % 4));
        sum[w] = mine[w];
#pragma unroll
        for (u32 distance = 1; distance < warp_width; distance *= 2) {
            const u64 other = __shfl_up_sync(all_lanes, sum[w], distance);
            if (lane >= distance) sum[w] += other;
        }
    }
    __syncthreads();  // the last tile's sums have been read
#pragma unroll
    for (int w = 0; w < words; ++w) {
        if (lane == warp_width - 1) warp_sums[w][threadIdx.x / warp_width] = sum[w];
    }
    __syncthreads();
    Ranks ranks;
    ranks.total = 0;
#pragma unroll
    for (int w = 0; w < words; ++w) {
        u64 before = sum[w] - mine[w], all = 0;
#pragma unroll
        for (u32 k = 0; k < warps; ++k) {
            const u64 other = warp_sums[w][k];
            if (k < threadIdx.x / warp_width) before += other;
            all += other;
        }
#pragma unroll
        for (int r = 4 * w; r < ROWS && r < 4 * w + 4; ++r) {
            ranks.of_row[r] = ranks.total + (u32(before >> (16 * (r % 4))) & 0xffff);
            ranks.total += u32(all >> (16 * (r % 4))) & 0xffff;
        }
    }
    return ranks;
}

// Stores the tile's kept elements from out[0] on, or with Rejected the valid others: gathered in shared memory in such
// a way that whole packs there are whole packs of out. `skip`: elements of the tile before the first valid one; count:
// what will be stored. Called by the whole group. staged: tile_length + PACK elements of shared memory,
// aligned to packs.
template <bool Rejected>
__device__ __forceinline__ void store_tile(const Tile& tile, const Ranks& ranks, B* out, u32 skip, u32 valid,
                                           B* staged) {
    const u32 shift = u32(reinterpret_cast<u64>(out) / sizeof(B) % PACK);
    const u32 count = Rejected ? valid - ranks.total : ranks.total;
    __syncthreads();  // what was staged before has left
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        u32 rank = ranks.of_row[r];
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const bool kept = tile.kept[r] >> j & 1;
            if (Rejected) {
                const u32 place = place_of(r) + j - skip;  // wraps, and is then not below `valid`
                if (!kept && place < valid) staged[shift + place - rank] = tile.row[r].item[j];
            } else if (kept) {
                staged[shift + rank] = tile.row[r].item[j];
            }
            rank += kept;
        }
    }
    __syncthreads();
    B* base = out - shift;
    for (u32 at = threadIdx.x * PACK; at < shift + count; at += GROUP * PACK) {
        if (at >= shift && at + PACK <= shift + count) {
            *reinterpret_cast<Pack<B, PACK>*>(base + at) = *reinterpret_cast<const Pack<B, PACK>*>(staged + at);
        } else {
#pragma unroll
            for (u32 i = at; i < at + PACK; ++i) {
                if (i >= shift && i < shift + count) base[i] = staged[i];
            }
        }
    }
}
