// Reduction within teams of a group, OpenCL C. Parallel source: group_reduce.cu (within warps).
//
// Algorithm  A tree over each team of work-items, through local memory: member l combines its value with that of
//            member l + size / 2, then l + size / 4, ..., l + 1. It does not rely on work-items that run in
//            lock-step.
// Passes     log2(size) steps with one barrier each. No global memory traffic.
// Tunables   size: members of a team.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007.
//
// T: element type; apply(op, x, y): the operator.

#include "common.cl"

// Reduces each of a work-item's n values with those of the other members of its team of `size` neighbouring
// work-items. The result is valid in the team's first member. All work-items of the group call it. meet: local memory
// for n values per work-item.
INLINED void reduce_team(T* value, u32 n, u32 size, __local T* meet, const Op op) {
    const u32 member = get_local_id(0) % size;
    __local T* mine = meet + get_local_id(0) * n;
#pragma unroll
    for (u32 j = 0; j < n; ++j) mine[j] = value[j];
    for (u32 distance = size / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) mine[j] = value[j] = apply(op, value[j], mine[distance * n + j]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
