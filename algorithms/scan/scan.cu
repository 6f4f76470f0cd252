// Scan in the canonical order in two launches over the tiles, `reduce_then_scan`, CUDA C++. scan_tile.cu describes the
// order. Parallel sources: scan.cl, scan_host.hpp.
//
// Algorithm  Upsweep: the tiles' totals. Spine: the same kernels scan the totals. Downsweep: the tiles' results from
//            their carries.
// Passes     two launches over the tiles. Traffic: reads every element twice, writes it once.
// Tunables   none
// Source     Y. Dotsenko et al., Fast Scan Algorithms on Graphics Processors, 2008 (reduce, then scan).

#include "scan_tile.cu"

// Upsweep, the first of two launches: computes the tiles' totals. The same kernels scan them: the spine.
extern "C" __global__ void __launch_bounds__(GROUP) scan_totals(const T* in, T* totals, u64 n, T identity, const Op op) {
    Work<1> w;
    upsweep(w, in, u64(blockIdx.x) * tile_length, n, identity, Combine{op});
    if (threadIdx.x == 0) totals[blockIdx.x] = w.total[0];
}

// Downsweep, the second launch. carries: the carry of each tile; not read if there is only one tile.
extern "C" __global__ void __launch_bounds__(GROUP)
    scan_tiles(const T* in, const T* carries, T* out, u64 n, u32 exclusive, T identity, const Op op) {
    const u64 begin = u64(blockIdx.x) * tile_length;
    Work<1> w;
    upsweep(w, in, begin, n, identity, Combine{op});
    const T carry[1] = {gridDim.x == 1 ? identity : carries[blockIdx.x]};
    downsweep(w, out, begin, n, carry, exclusive != 0, Combine{op});
}
