// Scan in the canonical order in two launches over the tiles, `reduce_then_scan`, OpenCL C. scan_tile.cl describes the
// order. Parallel sources: scan.cu, scan_host.hpp. The shape for CPUs: scan_wide.cl.
//
// Algorithm  Upsweep: the tiles' totals. Spine: the same kernels scan the totals. Downsweep: the tiles' results from
//            their carries.
// Passes     two launches over the tiles. Traffic: reads every element twice, writes it once.
// Tunables   none
// Source     Y. Dotsenko et al., Fast Scan Algorithms on Graphics Processors, 2008 (reduce, then scan).

#include "scan_tile.cl"

// Upsweep, the first of two launches: computes the tiles' totals. The same kernels scan them: the spine.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_totals(__global const T* in, ulong in_at, __global T* totals, ulong totals_at, u64 n, T identity, const Op op) {
    __local Shared shared;
    Work w[1];
    T total[1];
    upsweep(w, total, in + in_at, get_group_id(0) * (u64)TILE, n, identity, &shared, op);
    if (get_local_id(0) == 0) totals[totals_at + get_group_id(0)] = total[0];
}

// Downsweep, the second launch. carries: the carry of each tile; not read if there is only one tile.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_tiles(__global const T* in, ulong in_at, __global const T* carries, ulong carries_at, __global T* out,
                ulong out_at, u64 n, u32 exclusive, T identity, const Op op) {
    __local Shared shared;
    const u64 begin = get_group_id(0) * (u64)TILE;
    Work w[1];
    T total[1];
    upsweep(w, total, in + in_at, begin, n, identity, &shared, op);
    const T carry[1] = {get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)]};
    downsweep(w, carry, out + out_at, begin, n, exclusive, &shared, op);
}
