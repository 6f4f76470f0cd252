// Reductions within teams of a group, CUDA C++. Parallel source: group_reduce.cl.
//
// Algorithm  A team is a warp. A tree over its lanes, through registers: lane l combines its value with that of lane
//            l + 16, then l + 8, ..., l + 1.
// Passes     log2(TEAM) shuffles. No global memory traffic.
// Tunables   none.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007; J. Luitjens, Faster Parallel Reductions on
//            Kepler, 2014.
//
// T: element type; apply(op, x, y): the operator.

#include "common.cu"

#define TEAM 32  // neighbouring work-items that reduce their values together

// Reduces each of a lane's n values with those of the other lanes. The result is valid in lane 0. meet: unused.
INLINED void reduce_team(T* value, u32 n, T* meet, const Op op) {
#pragma unroll
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 j = 0; j < n; ++j) value[j] = apply(op, value[j], shuffle_down(value[j], distance));
    }
}
