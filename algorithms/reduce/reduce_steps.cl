// Textbook variants of reduce, OpenCL C. The parallel source reduce_steps.cu describes it.
//
// `shuffle` requires sub-group shuffles.

#include "common.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_global_step(__global T* x, ulong x_at, u64 n, u64 half_n, const Op op) {
    x += x_at;
    const u64 i = get_global_id(0);
    if (i + half_n < n) x[i] = canonical(apply(op, x[i], x[i + half_n]));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_interleaved(__global const T* in, ulong in_at, __global T* sums, ulong sums_at, u64 n, T identity,
                        const Op op) {
    __local T shared[GROUP];
    const u32 local_id = get_local_id(0);
    const u64 i = get_global_id(0);
    shared[local_id] = i < n ? in[in_at + i] : identity;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (local_id % (2 * distance) == 0) shared[local_id] = apply(op, shared[local_id], shared[local_id + distance]);
    }
    if (local_id == 0) sums[sums_at + get_group_id(0)] = canonical(shared[0]);
}

// Combines the upper half with the lower half. The result is valid in work-item 0.
static inline T meet_halves(__local T* shared, u32 local_id, const Op op) {
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (local_id < distance) shared[local_id] = apply(op, shared[local_id], shared[local_id + distance]);
    }
    return shared[local_id];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_sequential(__global const T* in, ulong in_at, __global T* sums, ulong sums_at, u64 n, T identity,
                       const Op op) {
    __local T shared[GROUP];
    const u32 local_id = get_local_id(0);
    const u64 i = get_global_id(0);
    shared[local_id] = i < n ? in[in_at + i] : identity;
    const T sum = meet_halves(shared, local_id, op);
    if (local_id == 0) sums[sums_at + get_group_id(0)] = canonical(sum);
}

// Combines two elements, one group size apart.
static inline T add_two(__global const T* in, u64 n, u32 local_id, T identity, const Op op) {
    const u64 i = get_group_id(0) * (u64)(GROUP * 2) + local_id, j = i + GROUP;
    return apply(op, i < n ? in[i] : identity, j < n ? in[j] : identity);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_first_add(__global const T* in, ulong in_at, __global T* sums, ulong sums_at, u64 n, T identity,
                      const Op op) {
    __local T shared[GROUP];
    const u32 local_id = get_local_id(0);
    shared[local_id] = add_two(in + in_at, n, local_id, identity, op);
    const T sum = meet_halves(shared, local_id, op);
    if (local_id == 0) sums[sums_at + get_group_id(0)] = canonical(sum);
}

#if defined(CONCORD_SHUFFLE_PTX) || defined(CONCORD_SHUFFLE_KHR)

// The result is valid in lane 0 of the sub-group.
static inline T reduce_sub_group(T sum, const Op op) {
    for (u32 distance = CONCORD_SUB_GROUP / 2; distance > 0; distance /= 2)
        sum = apply(op, sum, shuffle_down(sum, distance));
    return sum;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_shuffle(__global const T* in, ulong in_at, __global T* sums, ulong sums_at, u64 n, T identity,
                    const Op op) {
    __local T shared[GROUP / CONCORD_SUB_GROUP];
    const u32 local_id = get_local_id(0);
    const T sub_sum = reduce_sub_group(add_two(in + in_at, n, local_id, identity, op), op);
    if (local_id % CONCORD_SUB_GROUP == 0) shared[local_id / CONCORD_SUB_GROUP] = sub_sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id >= CONCORD_SUB_GROUP) return;
    const T sum = reduce_sub_group(local_id < GROUP / CONCORD_SUB_GROUP ? shared[local_id] : identity, op);
    if (local_id == 0) sums[sums_at + get_group_id(0)] = canonical(sum);
}

#endif
