// Matmul, sums over the parts of k, OpenCL C. The parallel source matmul_parts.cu describes it. C++: matmul_parts.hpp.

#include "matmul_tile.cl"

#define ELEMENTS (GROUP / LANES)  // of C per group

// from: planes of m x n elements, all parts of a product together.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void matmul_sum_parts(__global const T* from, ulong from_at, __global T* c, ulong c_at, const Product p, u32 parts,
                      u64 all) {
    __local T sums[GROUP];
    const u32 item = get_local_id(0), lane = item / ELEMENTS, first = lane * RUN;
    const u64 at = (u64)get_group_id(0) * ELEMENTS + item % ELEMENTS, plane = p.m * p.n;
    const u64 product = at / plane, in_plane = at - product * plane;
    from += from_at + product * parts * plane + in_plane;
    T t[RUN];
#pragma unroll
    for (u32 r = 0; r < RUN; ++r) t[r] = at < all && first + r < parts ? from[(first + r) * plane] : (T)-0.0f;
#pragma unroll
    for (u32 w = 1; w < RUN; w *= 2) {
#pragma unroll
        for (u32 r = 0; r < RUN; r += 2 * w) t[r] += t[r + w];
    }
    sums[item] = t[0];
    for (u32 w = 1; w < LANES; w *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane % (2 * w) == 0) sums[item] += sums[item + w * ELEMENTS];
    }
    if (lane == 0 && at < all)
        finish(&p, sums[item], c + c_at + product * p.c_stride + in_plane / p.n * p.c_pitch + in_plane % p.n);
}
