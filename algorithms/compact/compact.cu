// Compact in three launches, `fused`, CUDA C++. Parallel sources: compact.cl, compact_move.hpp. compact_tile.cu has
// the tile.
//
// Algorithm  The input is cut into one chunk of whole tiles per group. Upsweep: each group counts the kept elements
//            of its chunk. Spine: one group turns counts into offsets. Downsweep: each group reads its chunk again,
//            tile by tile. Flags stay in registers, one scan of the group ranks a tile, kept elements are gathered
//            in shared memory and leave in 16-byte stores.
// Passes     three launches
// Traffic    two reads per element, one write per stored element
// Tunables   GROUP threads per group, PACK elements per access (16 bytes), ROWS accesses in flight per thread
// Source     D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009 (reduce, then scan); M.
//            Billeter, O. Olsson, U. Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core Architectures,
//            2009.

#include "compact_tile.cu"
#include "group_reduce.cu"
#include "group_scan.cu"

// Upsweep. shift: elements from the 16-byte boundary at or before the input to its first element. tiles: per chunk.
extern "C" __global__ void __launch_bounds__(GROUP)
    compact_count(const B* in, u64* counts, u64 n, u32 shift, u64 tiles, const Op op) {
    __shared__ u64 warp_sums[warps];
    const u64 first = shift, last = shift + n;
    const B* base = in - shift;
    u64 kept = 0;
    u64 begin = u64(blockIdx.x) * tiles * tile_length;
    for (u64 t = 0; t < tiles && begin < last; ++t, begin += tile_length) {
        const Tile tile = load_tile(base, begin, first, last, op);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) kept += __popc(tile.kept[r]);
    }
    const u64 sum = sum_group<warps>(kept, warp_sums);
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

// Spine, one group: turns counts into offsets and stores their sum in *count.
extern "C" __global__ void __launch_bounds__(GROUP) compact_offsets(u64* counts, u64* count, u64 chunks) {
    __shared__ u64 warp_sums[warps];
    const u64 share = (chunks + GROUP - 1) / GROUP, begin = threadIdx.x * share;
    const u64 end = begin + share < chunks ? begin + share : chunks;
    u64 sum = 0;
    for (u64 c = begin; c < end; ++c) sum += counts[c];
    const Scanned<u64> scanned = scan_group<warps>(sum, warp_sums);
    u64 before = scanned.before;
    for (u64 c = begin; c < end; ++c) {
        const u64 kept = counts[c];
        counts[c] = before;
        before += kept;
    }
    if (threadIdx.x == 0) *count = scanned.all;
}

// Downsweep. PARTITION: stores the other elements behind all *count kept elements.
extern "C" __global__ void __launch_bounds__(GROUP)
    compact_write(const B* in, B* out, const u64* offsets, const u64* count, u64 n, u32 shift, u64 tiles,
                  const Op op) {
    __shared__ __align__(16) B staged[tile_length + PACK];
    const u64 first = shift, last = shift + n;
    const B* base = in - shift;
    u64 before = offsets[blockIdx.x];
    u64 begin = u64(blockIdx.x) * tiles * tile_length;
    for (u64 t = 0; t < tiles && begin < last; ++t, begin += tile_length) {
        const Tile tile = load_tile(base, begin, first, last, op);
        const Ranks ranks = rank_tile(tile);
        store_tile<false>(tile, ranks, out + before, 0, 0, staged);
        if constexpr (PARTITION) {
            const u64 from = begin < first ? first : begin;
            const u64 to = begin + tile_length < last ? begin + tile_length : last;
            store_tile<true>(tile, ranks, out + *count + (from - first - before), u32(from - begin), u32(to - from),
                             staged);
        }
        before += ranks.total;
    }
}
