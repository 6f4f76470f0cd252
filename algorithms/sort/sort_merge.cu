// Merge sort, `merge`, CUDA C++. Parallel source: sort_merge.cl.
//
// Algorithm  Each group sorts a tile in shared memory. A thread sorts ITEMS neighbours by odd-even transposition.
//            Then the group merges pairs of runs: each thread finds by binary search where its ITEMS results begin
//            in both runs (merge path). Then passes merge pairs of runs of tiles. A first launch finds where each
//            tile of the result begins in both runs, a second one merges one tile per group in the same way. Only
//            keys are merged; values follow by the original places of their keys.
// Checked    A comparator that is not a strict weak order makes threads disagree where their results begin. With
//            CHECKED they find that and leave the runs unmerged, so the result always consists of the elements of
//            the input.
// Stable     Of equal elements those of the earlier run come first.
// Passes     one launch, then two per doubling of the tile
// Traffic    one read and one write per element and pass
// Tunables   GROUP threads per group, a power of two; ITEMS elements per thread, odd to avoid bank conflicts
// Source     S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, Merge Path - Parallel Merging Made Simple, 2012; S.
//            Baxter, moderngpu, 2013 (the sort of a tile).
//
// K: unsigned integer of a key's size; T: its type; apply(op, x, y): nonzero if x comes before y; V: unsigned
// integer of a value's size, VALUE_SIZE bytes, 0 for keys alone; CHECKED: 1 for comparators of the user, else 0.

constexpr bool has_values = VALUE_SIZE != 0;
constexpr u32 tile_length = GROUP * ITEMS;

__device__ __forceinline__ T value_of(K bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
__device__ __forceinline__ bool comes_before(const Op op, K x, K y) { return apply(op, value_of(x), value_of(y)) != 0; }

// How many of the first `diagonal` elements of the merge of a and b come from a.
template <class N>
__device__ __forceinline__ N merge_path(const K* a, N a_count, const K* b, N b_count, N diagonal, const Op op) {
    N low = diagonal > b_count ? diagonal - b_count : 0, high = min(diagonal, a_count);
    while (low < high) {
        const N middle = (low + high) / 2;
        if (comes_before(op, b[diagonal - 1 - middle], a[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

// A tile in shared memory.
struct Tile {
    K key[tile_length];
    u16 origin[has_values ? tile_length : 1];  // original place of each key
    u16 start[CHECKED ? GROUP : 1];            // where each thread begins in the first run of a merge
};

// A thread's elements of a tile: `held` elements from place `first` on.
struct Items {
    K key[ITEMS];
    u16 origin[has_values ? ITEMS : 1];
    u32 first, held;
    u32 reached = 0;  // where the results of the last merge end in the first run

    __device__ __forceinline__ explicit Items(u32 count) : first(threadIdx.x * ITEMS) {
        held = first < count ? min(count - first, u32(ITEMS)) : 0;
    }

    // Sorts the elements at places [first, first + held) of the tile.
    __device__ __forceinline__ void sort(const Tile& tile, const Op op) {
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            if (k < held) key[k] = tile.key[first + k];
            if constexpr (has_values) origin[k] = u16(first + k);
        }
#pragma unroll
        for (u32 round = 0; round < ITEMS; ++round) {
#pragma unroll
            for (u32 k = round % 2; k + 1 < ITEMS; k += 2) {
                if (k + 1 < held && comes_before(op, key[k + 1], key[k])) {
                    const K swapped = key[k];
                    key[k] = key[k + 1];
                    key[k + 1] = swapped;
                    if constexpr (has_values) {
                        const u16 place = origin[k];
                        origin[k] = origin[k + 1];
                        origin[k + 1] = place;
                    }
                }
            }
        }
    }

    // Computes the results from `diagonal` on of the merge of [a, b) and [b, end) of the tile. origin becomes the
    // origin in the tile, or with Places the place in the tile.
    template <bool Places>
    __device__ __forceinline__ void merge(Tile& tile, u32 a, u32 b, u32 end, u32 diagonal, const Op op) {
        if (held == 0) return;
        const u32 path = merge_path<u32>(tile.key + a, b - a, tile.key + b, end - b, diagonal, op);
        u32 i = a + path, j = b + diagonal - path;
        if constexpr (CHECKED) tile.start[threadIdx.x] = u16(i);
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            if (k < held) {
                const bool one = j >= end || (i < b && !comes_before(op, tile.key[j], tile.key[i]));
                const u32 from = one ? i : j;
                key[k] = tile.key[from];
                if constexpr (has_values) origin[k] = Places ? u16(from) : tile.origin[from];
                i += one;
                j += !one;
            }
        }
        reached = i;
    }

    // Whether the results of all threads together are the elements of their merge, which ends at `end`. All threads of
    // the group must call it, after a barrier.
    __device__ __forceinline__ bool merged(const Tile& tile, u32 end) const {
        if constexpr (CHECKED)
            return !__syncthreads_or(first + held < end && reached != tile.start[threadIdx.x + 1]);
        return true;
    }

    __device__ __forceinline__ void keep(Tile& tile) const {
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            if (k < held) {
                tile.key[first + k] = key[k];
                if constexpr (has_values) tile.origin[first + k] = origin[k];
            }
        }
    }
};

// out may be in: a group reads its whole tile before it stores any element. conflicts: see sort_splits; set to 0.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_tiles(const K* in, const V* in_values, K* out, V* out_values, u32* conflicts, u64 n, const Op op) {
    __shared__ Tile tile;
    if (CHECKED && threadIdx.x == 0) conflicts[blockIdx.x] = 0;
    const u64 begin = u64(blockIdx.x) * tile_length;
    const u32 count = u32(min(n - begin, u64(tile_length)));
    for (u32 i = threadIdx.x; i < count; i += GROUP) tile.key[i] = in[begin + i];
    __syncthreads();
    Items mine(count);
    mine.sort(tile, op);
    __syncthreads();
    mine.keep(tile);
#pragma unroll 1
    for (u32 width = ITEMS; width < tile_length; width *= 2) {
        __syncthreads();
        const u32 pair = mine.first / (2 * width) * (2 * width), end = min(pair + 2 * width, count);
        mine.merge<false>(tile, pair, min(pair + width, count), end, mine.first - pair, op);
        __syncthreads();
        if (!mine.merged(tile, end)) break;
        mine.keep(tile);
    }
    __syncthreads();
    V value[has_values ? ITEMS : 1];
    if constexpr (has_values) {
#pragma unroll
        for (u32 k = 0; k < ITEMS; ++k) {
            const u32 i = k * GROUP + threadIdx.x;
            if (i < count) value[k] = in_values[begin + tile.origin[i]];
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 k = 0; k < ITEMS; ++k) {
        const u32 i = k * GROUP + threadIdx.x;
        if (i < count) {
            out[begin + i] = tile.key[i];
            if constexpr (has_values) out_values[begin + i] = value[k];
        }
    }
}

// The two runs that a tile of the result belongs to: [a, b) and [b, end). run: tiles per run, a power of two.
struct Runs {
    u64 a, b, end;

    __device__ __forceinline__ Runs(u64 tile, u64 run, u64 n) {
        a = (tile & ~(2 * run - 1)) * tile_length;
        b = min(a + run * tile_length, n);
        end = min(b + run * tile_length, n);
    }
};

// splits: for each tile of the result, the number of elements of the first run that precede it. conflicts: nonzero at
// the first tile of a second run if the splits of its pair do not divide a merge into tiles. Only a comparator that is
// not a strict weak order causes that. No two pairs of any pass have this tile in common.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_splits(const K* in, u64* splits, u32* conflicts, u64 n, u64 tiles, u64 run, const Op op) {
    // With CHECKED the last thread has the first tile of the next group.
    const u64 tile = u64(blockIdx.x) * (GROUP - CHECKED) + threadIdx.x;
    const Runs runs(tile, run, n);
    u64 split = 0;
    if (tile < tiles) {
        split = merge_path<u64>(in + runs.a, runs.b - runs.a, in + runs.b, runs.end - runs.b,
                                tile * tile_length - runs.a, op);
        if (threadIdx.x < GROUP - CHECKED) splits[tile] = split;
    }
    if constexpr (CHECKED) {
        __shared__ u64 found[GROUP];
        found[threadIdx.x] = split;
        __syncthreads();
        if (threadIdx.x + 1 < GROUP && tile + 1 < tiles && (tile + 1) * tile_length < runs.end) {
            const u64 next = found[threadIdx.x + 1];
            if (next < split || next - split > tile_length) atomicOr(&conflicts[runs.b / tile_length], 1u);
        }
    }
}

// Merges elements a, a + 1, ... of one range, a_count of them, and b, b + 1, ... of another one into a tile of the
// result.
__device__ __forceinline__ void merge_tile(const K* first, const V* first_values, u64 a, u32 a_count, const K* second,
                                           const V* second_values, u64 b, K* out, V* out_values, u32 count, const Op op) {
    __shared__ Tile tile;
#pragma unroll
    for (u32 k = 0; k < ITEMS; ++k) {
        const u32 i = k * GROUP + threadIdx.x;
        if (i < count) tile.key[i] = i < a_count ? first[a + i] : second[b + (i - a_count)];
    }
    __syncthreads();
    Items mine(count);
    mine.merge<true>(tile, 0, a_count, count, mine.first, op);
    __syncthreads();
    const bool merged = mine.merged(tile, count);
    if (merged) mine.keep(tile);
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < ITEMS; ++k) {
        const u32 i = k * GROUP + threadIdx.x;
        if (i < count) {
            out[i] = tile.key[i];
            if constexpr (has_values) {
                const u32 from = merged ? tile.origin[i] : i;
                out_values[i] = from < a_count ? first_values[a + from] : second_values[b + (from - a_count)];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    sort_merge(const K* in, const V* in_values, const u64* splits, const u32* conflicts, K* out, V* out_values, u64 n,
               u64 run, const Op op) {
    const u64 t = blockIdx.x, begin = t * tile_length;
    const u32 count = u32(min(n - begin, u64(tile_length)));
    const Runs runs(t, run, n);
    u64 a = begin, b = begin;
    u32 a_count = count;  // with a conflict runs are not merged
    if (!CHECKED || runs.b == runs.end || conflicts[runs.b / tile_length] == 0) {
        const u64 split = splits[t];
        const u64 a_end = begin + count == runs.end ? runs.b : runs.a + splits[t + 1];
        a = runs.a + split;
        b = runs.b + (begin - a);
        a_count = u32(a_end - a);
    }
    merge_tile(in, in_values, a, a_count, in, in_values, b, out + begin, out_values + begin, count, op);
}

// --- Two runs in different ranges ----------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(GROUP)
    merge_splits(const K* first, u64 first_count, const K* second, u64 second_count, u64* splits, u64 tiles,
                 const Op op) {
    const u64 tile = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (tile < tiles)
        splits[tile] = merge_path<u64>(first, first_count, second, second_count, tile * tile_length, op);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    merge_runs(const K* first, const V* first_values, u64 first_count, const K* second, const V* second_values,
               u64 second_count, const u64* splits, K* out, V* out_values, const Op op) {
    const u64 n = first_count + second_count, begin = u64(blockIdx.x) * tile_length, a = splits[blockIdx.x];
    const u32 count = u32(min(n - begin, u64(tile_length)));
    const u64 a_end = begin + count == n ? first_count : splits[blockIdx.x + 1];
    merge_tile(first, first_values, a, u32(a_end - a), second, second_values, begin - a, out + begin,
               out_values + begin, count, op);
}
