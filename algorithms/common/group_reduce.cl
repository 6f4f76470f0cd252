// Reductions within teams of a group, OpenCL C. Parallel source: group_reduce.cu (within warps).
//
// Algorithm  A tree over each team of work-items, through local memory: member l combines its value with that of
//            member l + 16, then l + 8, ..., l + 1. It does not rely on work-items that run in lock-step.
// Passes     log2(TEAM) steps with one barrier each. No global memory traffic.
// Tunables   none.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007.
//
// T: element type; apply(op, x, y): the operator.

#include "common.cl"

#define TEAM 32  // neighbouring work-items that reduce their values together

// Reduces each of a work-item's n values with those of the other members of its team. The result is valid in the
// team's first member. All work-items of the group call it. meet: local memory for n values per work-item.
INLINED void reduce_team(T* value, u32 n, __local T* meet, const Op op) {
    const u32 member = local_id() % TEAM;
    __local T* mine = meet + local_id() * n;
#pragma unroll
    for (u32 j = 0; j < n; ++j) mine[j] = value[j];
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        local_barrier();
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) mine[j] = value[j] = apply(op, value[j], mine[distance * n + j]);
        }
    }
    local_barrier();
}
