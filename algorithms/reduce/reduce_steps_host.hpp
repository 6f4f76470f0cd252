#pragma once
// Textbook variants of reduce, host dialect. Parallel sources: reduce_steps.cu and reduce_steps.cl, which describe
// algorithms, passes, traffic and sources.
//
// T: element type; Op: the operator.

#include <concord/reduce.hpp>

#include <algorithm>

namespace concord::detail::host {

// One level of the tree in global memory, in place: combines x[i] with x[i + half]. x has n <= 2 half elements.
template <class T, class Op>
void reduce_global_step(const Group& group, T* x, u64 n, u64 half, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n - half, begin + tile);
    for (u64 i = begin; i < end; ++i)
        x[i] = canonical(op(x[i], x[i + half]));
}

inline constexpr u64 step_group = 256;

// Combines neighbours at distances 1, 2, 4, ... The active work-items lie ever further apart.
template <class T, class Op>
void reduce_interleaved(const Group& group, const T* in, T* sums, u64 n, T identity, const Op op) {
    T shared[step_group];
    const u64 first = group.x * step_group;
    for (u64 local_id = 0; local_id < step_group; ++local_id)
        shared[local_id] = first + local_id < n ? in[first + local_id] : identity;
    for (u32 distance = 1; distance < step_group; distance *= 2) {
        for (u32 local_id = 0; local_id < step_group; ++local_id) {
            if (local_id % (2 * distance) == 0)
                shared[local_id] = op(shared[local_id], shared[local_id + distance]);
        }
    }
    sums[group.x] = canonical(shared[0]);
}

// Combines the upper half with the lower half. The active work-items are the first ones.
template <class T, class Op>
[[gnu::always_inline]] inline T meet_halves(T* shared, const Op op) {
    for (u64 distance = step_group / 2; distance > 0; distance /= 2) {
        for (u64 local_id = 0; local_id < distance; ++local_id)
            shared[local_id] = op(shared[local_id], shared[local_id + distance]);
    }
    return shared[0];
}

template <class T, class Op>
void reduce_sequential(const Group& group, const T* in, T* sums, u64 n, T identity, const Op op) {
    T shared[step_group];
    const u64 first = group.x * step_group;
    for (u64 local_id = 0; local_id < step_group; ++local_id)
        shared[local_id] = first + local_id < n ? in[first + local_id] : identity;
    sums[group.x] = canonical(meet_halves(shared, op));
}

// Every work-item combines two elements as it loads them, one group size apart.
template <class T, class Op>
void reduce_first_add(const Group& group, const T* in, T* sums, u64 n, T identity, const Op op) {
    T shared[step_group];
    const u64 first = group.x * step_group * 2;
    for (u64 local_id = 0; local_id < step_group; ++local_id) {
        const u64 i = first + local_id, j = i + step_group;
        shared[local_id] = op(i < n ? in[i] : identity, j < n ? in[j] : identity);
    }
    sums[group.x] = canonical(meet_halves(shared, op));
}

}  // namespace concord::detail::host

namespace concord::detail {

// The host kernels of the textbook variants.
struct ReduceSteps {
    HostKernel global_step, interleaved, sequential, first_add;
};

// They use elements only through the operator and the identity: for built-in operators on signed integers, T is the
// unsigned type.
template <class T, class Op>
inline constexpr ReduceSteps reduce_steps{
    .global_step = plain_host_kernel<&detail::host::reduce_global_step<T, Op>>(),
    .interleaved = plain_host_kernel<&detail::host::reduce_interleaved<T, Op>>(),
    .sequential = plain_host_kernel<&detail::host::reduce_sequential<T, Op>>(),
    .first_add = plain_host_kernel<&detail::host::reduce_first_add<T, Op>>()};

}  // namespace concord::detail
