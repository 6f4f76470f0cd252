// Merge sort, `merge`, OpenCL C. The parallel source sort_merge.cu describes it. On CPUs: sort_merge_wide.cl.
//
// AS_T(x): an x of K as a T.
// Work-items compare their results through local memory and, between groups, through `conflicts`.

#include "common.cl"

#define TILE (GROUP * ITEMS)

INLINED bool comes_before(const Op op, K x, K y) { return apply(op, AS_T(x), AS_T(y)) != 0; }

// How many of the first `diagonal` elements of the merge of a and b come from a.
#define MERGE_PATH(name, SPACE, COUNT)                                                                        \
    INLINED COUNT name(SPACE const K* a, COUNT a_count, SPACE const K* b, COUNT b_count, COUNT diagonal,      \
                       const Op op) {                                                                         \
        COUNT low = max(diagonal, b_count) - b_count, high = min(diagonal, a_count);                          \
        while (low < high) {                                                                                  \
            const COUNT middle = (low + high) / 2;                                                            \
            if (comes_before(op, b[diagonal - 1 - middle], a[middle])) {                                      \
                high = middle;                                                                                \
            } else {                                                                                          \
                low = middle + 1;                                                                             \
            }                                                                                                 \
        }                                                                                                     \
        return low;                                                                                           \
    }
MERGE_PATH(path_in_tile, __local, u32)
MERGE_PATH(path_in_runs, __global, u64)

// A tile in local memory.
typedef struct {
    K key[TILE];
    u16 origin[TILE];  // original place of each key
#if CHECKED
    u16 start[GROUP];  // where each work-item begins in the first run of a merge
    u32 conflict;      // whether a work-item did not end where the next one began
#endif
} Tile;

// Computes the results [diagonal, diagonal + count) of the merge of [a, b) and [b, end) of the tile. Returns where they
// end in the first run.
INLINED u32 merge_in_tile(__local Tile* tile, u32 a, u32 b, u32 end, u32 diagonal, u32 count, K* key, u16* origin,
                          const Op op) {
    const u32 path = path_in_tile(tile->key + a, b - a, tile->key + b, end - b, diagonal, op);
    u32 i = a + path, j = b + diagonal - path;
#if CHECKED
    tile->start[get_local_id(0)] = (u16)i;
#endif
    for (u32 k = 0; k < count; ++k) {
        const bool first = j >= end || (i < b && !comes_before(op, tile->key[j], tile->key[i]));
        const u32 from = first ? i : j;
        key[k] = tile->key[from];
        origin[k] = tile->origin[from];
        i += first;
        j += !first;
    }
    return i;
}

// Whether the results of all work-items together are the elements of the tile. A work-item's results end at place
// `place` of the tile and at `reached` in the first run; their merge ends at `end`. All work-items of the group must
// call it, after a barrier. Only a comparator that is not a strict weak order causes a conflict, which is final: the
// tile is not merged any further.
INLINED bool merged(__local Tile* tile, u32 place, u32 reached, u32 end) {
#if CHECKED
    if (place < end && reached != tile->start[get_local_id(0) + 1]) atomic_or(&tile->conflict, 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    return tile->conflict == 0;
#else
    return true;
#endif
}

// Stores a work-item's results to their places in the tile. The caller provides the barrier before it.
INLINED void keep_in_tile(__local Tile* tile, u32 first, u32 count, const K* key, const u16* origin) {
    for (u32 k = 0; k < count; ++k) {
        tile->key[first + k] = key[k];
        tile->origin[first + k] = origin[k];
    }
}

// out may be in: a group reads its whole tile before it stores any element.
// conflicts: see sort_splits; set to 0.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_tiles(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                ulong out_at, __global V* out_values, ulong out_values_at, __global u32* conflicts, ulong conflicts_at,
                u64 n, const Op op) {
    __local Tile tile;
    const u32 local_id = get_local_id(0);
#if CHECKED
    if (local_id == 0) conflicts[conflicts_at + get_group_id(0)] = tile.conflict = 0;
#endif
    const u64 begin = get_group_id(0) * (u64)TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    for (u32 i = local_id; i < count; i += GROUP) {
        tile.key[i] = in[in_at + begin + i];
        tile.origin[i] = (u16)i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    K key[ITEMS];
    u16 origin[ITEMS];
    const u32 first = local_id * ITEMS, held = first < count ? min(count - first, (u32)ITEMS) : 0;
    for (u32 k = 0; k < held; ++k) {
        key[k] = tile.key[first + k];
        origin[k] = tile.origin[first + k];
    }
#pragma unroll
    for (u32 round = 0; round < ITEMS; ++round) {
#pragma unroll
        for (u32 k = round % 2; k + 1 < ITEMS; k += 2) {
            if (k + 1 < held && comes_before(op, key[k + 1], key[k])) {
                const K swapped = key[k];
                key[k] = key[k + 1];
                key[k + 1] = swapped;
                const u16 place = origin[k];
                origin[k] = origin[k + 1];
                origin[k + 1] = place;
            }
        }
    }
    keep_in_tile(&tile, first, held, key, origin);
    for (u32 width = ITEMS; width < TILE; width *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 pair = first / (2 * width) * (2 * width), end = min(pair + 2 * width, count);
        u32 reached = 0;
        if (held != 0)
            reached = merge_in_tile(&tile, pair, min(pair + width, count), end, first - pair, held, key, origin, op);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!merged(&tile, first + held, reached, end)) break;
        keep_in_tile(&tile, first, held, key, origin);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#if VALUE_SIZE
    V value[ITEMS];
    for (u32 k = 0; k < ITEMS; ++k) {
        const u32 i = k * GROUP + local_id;
        if (i < count) value[k] = in_values[in_values_at + begin + tile.origin[i]];
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
#endif
    for (u32 k = 0; k < ITEMS; ++k) {
        const u32 i = k * GROUP + local_id;
        if (i < count) {
            out[out_at + begin + i] = tile.key[i];
#if VALUE_SIZE
            out_values[out_values_at + begin + i] = value[k];
#endif
        }
    }
}

// The two runs that a tile of the result belongs to: [a, b) and [b, end). run: tiles per run, a power of two.
typedef struct {
    u64 a, b, end;
} Runs;

INLINED void runs_of(u64 tile, u64 run, u64 n, Runs* runs) {
    runs->a = (tile & ~(2 * run - 1)) * TILE;
    runs->b = min(runs->a + run * TILE, n);
    runs->end = min(runs->b + run * TILE, n);
}

// splits: for each tile of the result, the number of elements of the first run that precede it. conflicts: nonzero at
// the first tile of a second run if the splits of its pair do not divide a merge into tiles. Only a comparator that is
// not a strict weak order causes that. No two pairs of any pass have this tile in common.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_splits(__global const K* in, ulong in_at, __global u64* splits, ulong splits_at, __global u32* conflicts,
                 ulong conflicts_at, u64 n, u64 tiles, u64 run, const Op op) {
    // With CHECKED the last work-item has the first tile of the next group.
    const u32 local_id = get_local_id(0);
    const u64 tile = get_group_id(0) * (u64)(GROUP - CHECKED) + local_id;
    Runs runs;
    u64 split = 0;
    in += in_at;
    if (tile < tiles) {
        runs_of(tile, run, n, &runs);
        split = path_in_runs(in + runs.a, runs.b - runs.a, in + runs.b, runs.end - runs.b, tile * TILE - runs.a, op);
        if (local_id < GROUP - CHECKED) splits[splits_at + tile] = split;
    }
#if CHECKED
    __local u64 found[GROUP];
    found[local_id] = split;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id + 1 < GROUP && tile + 1 < tiles && (tile + 1) * TILE < runs.end) {
        const u64 next = found[local_id + 1];
        if (next < split || next - split > TILE) atomic_or(conflicts + conflicts_at + runs.b / TILE, 1);
    }
#endif
}

// Merges elements a, a + 1, ... of one range, a_count of them, and b, b + 1, ... of another one into a tile of the
// result.
INLINED void merge_tile(__local Tile* tile, __global const K* first_keys, __global const V* first_values, u64 a,
                        u32 a_count, __global const K* second_keys, __global const V* second_values, u64 b,
                        __global K* out, __global V* out_values, u32 count, const Op op) {
    const u32 local_id = get_local_id(0);
#if CHECKED
    if (local_id == 0) tile->conflict = 0;
#endif
    for (u32 i = local_id; i < count; i += GROUP) {
        tile->key[i] = i < a_count ? first_keys[a + i] : second_keys[b + (i - a_count)];
        tile->origin[i] = (u16)i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    K key[ITEMS];
    u16 origin[ITEMS];
    const u32 first = local_id * ITEMS, held = first < count ? min(count - first, (u32)ITEMS) : 0;
    u32 reached = 0;
    if (held != 0) reached = merge_in_tile(tile, 0, a_count, count, first, held, key, origin, op);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (merged(tile, first + held, reached, count)) keep_in_tile(tile, first, held, key, origin);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 i = local_id; i < count; i += GROUP) {
        out[i] = tile->key[i];
#if VALUE_SIZE
        const u32 from = tile->origin[i];
        out_values[i] = from < a_count ? first_values[a + from] : second_values[b + (from - a_count)];
#endif
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_merge(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at,
                __global const u64* splits, ulong splits_at, __global const u32* conflicts, ulong conflicts_at,
                __global K* out, ulong out_at, __global V* out_values, ulong out_values_at, u64 n, u64 run,
                const Op op) {
    __local Tile tile;
    const u64 t = get_group_id(0), begin = t * TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    Runs runs;
    runs_of(t, run, n, &runs);
    u64 a = begin, b = begin;
    u32 a_count = count;  // with a conflict runs are not merged
    if (!CHECKED || runs.b == runs.end || conflicts[conflicts_at + runs.b / TILE] == 0) {
        const u64 split = splits[splits_at + t];
        const u64 a_end = begin + count == runs.end ? runs.b : runs.a + splits[splits_at + t + 1];
        a = runs.a + split;
        b = runs.b + (begin - a);
        a_count = (u32)(a_end - a);
    }
    merge_tile(&tile, in + in_at, in_values + in_values_at, a, a_count, in + in_at, in_values + in_values_at, b,
               out + out_at + begin, out_values + out_values_at + begin, count, op);
}

// --- Two runs in different ranges ----------------------------------------------------------------------------------

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void merge_splits(__global const K* first, ulong first_at, u64 first_count, __global const K* second, ulong second_at,
                  u64 second_count, __global u64* splits, ulong splits_at, u64 tiles, const Op op) {
    const u64 tile = get_global_id(0);
    if (tile < tiles)
        splits[splits_at + tile] =
            path_in_runs(first + first_at, first_count, second + second_at, second_count, tile * TILE, op);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void merge_runs(__global const K* first, ulong first_at, __global const V* first_values, ulong first_values_at,
                u64 first_count, __global const K* second, ulong second_at, __global const V* second_values,
                ulong second_values_at, u64 second_count, __global const u64* splits, ulong splits_at, __global K* out,
                ulong out_at, __global V* out_values, ulong out_values_at, const Op op) {
    __local Tile tile;
    const u64 n = first_count + second_count, t = get_group_id(0), begin = t * TILE, a = splits[splits_at + t];
    const u32 count = (u32)min(n - begin, (u64)TILE);
    const u64 a_end = begin + count == n ? first_count : splits[splits_at + t + 1];
    merge_tile(&tile, first + first_at, first_values + first_values_at, a, (u32)(a_end - a), second + second_at,
               second_values + second_values_at, begin - a, out + out_at + begin,
               out_values + out_values_at + begin, count, op);
}
