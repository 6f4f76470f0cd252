#pragma once
// Textbook variants of scan, host dialect. Parallel sources: scan_steps.cu and scan_steps.cl, which describe
// algorithms, passes, traffic and sources.
//
// A group of the first six kernels processes `tile` elements or nodes, a group of the others one block.
//
// T: element type; Op: the operator, called with the earlier element first.

#include <concord/scan.hpp>

#include <algorithm>

namespace concord::detail::host {

inline constexpr u64 scan_group = 256;

// One pass of hillis_steele.
template <class T, class Op>
void scan_step(const Group& group, const T* x, T* y, u64 n, u64 distance, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile),
              copied = std::clamp(distance, begin, end);
    for (u64 i = begin; i < copied; ++i)
        y[i] = canonical(x[i]);
    for (u64 i = copied; i < end; ++i)
        y[i] = canonical(op(x[i - distance], x[i]));
}

// Converts an inclusive scan to an exclusive one.
template <class T, class Op>
void scan_shift(const Group& group, const T* x, T* out, u64 n, T identity, u64 tile, const Op /*op*/) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    if (begin == 0) out[0] = canonical(identity);
    for (u64 i = std::max<u64>(begin, 1); i < end; ++i)
        out[i] = canonical(x[i - 1]);
}

// Converts an exclusive scan to an inclusive one.
template <class T, class Op>
void scan_join(const Group& group, const T* x, const T* in, T* out, u64 n, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = canonical(op(x[i], in[i]));
}

// One level of the up-sweep of blelloch.
template <class T, class Op>
void scan_up_sweep(const Group& group, T* x, u64 nodes, u64 distance, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(nodes, begin + tile);
    for (u64 k = begin; k < end; ++k) {
        T* right = x + (k + 1) * 2 * distance - 1;
        *right = op(*(right - distance), *right);
    }
}

// One level of the down-sweep.
template <class T, class Op>
void scan_down_sweep(const Group& group, T* x, u64 nodes, u64 distance, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(nodes, begin + tile);
    for (u64 k = begin; k < end; ++k) {
        T* right = x + (k + 1) * 2 * distance - 1;
        const T before = *right, sum = *(right - distance);
        *(right - distance) = canonical(before);
        *right = canonical(op(before, sum));
    }
}

// Combines every element with the carry of its block.
template <class T, class Op>
void scan_offsets(const Group& group, T* out, const T* offsets, u64 n, u64 block, u64 tile, const Op op) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = canonical(op(offsets[i / block], out[i]));
}

// Load a block of the input, padded with identities, and store its results.
template <u64 length, class T>
[[gnu::always_inline]] inline void load_block(const Group& group, const T* in, T* block, u64 n, T identity) {
    const u64 first = group.x * length, count = std::min(length, n - first);
    std::copy(in + first, in + first + count, block);
    std::fill(block + count, block + length, identity);
}
template <u64 length, class T>
[[gnu::always_inline]] inline void store_block(const Group& group, const T* block, T* out, u64 n,
                                               u32 exclusive, T identity) {
    const u64 first = group.x * length, count = std::min(length, n - first);
    if (exclusive != 0) out[first] = canonical(identity);
    for (u64 i = exclusive != 0 ? 1 : 0; i < count; ++i)
        out[first + i] = canonical(exclusive != 0 ? block[i - 1] : block[i]);
}

// Inclusive scan of one value per work-item, by hillis_steele.
template <class T, class Op>
[[gnu::always_inline]] inline void scan_work_items(T* shared, const Op op) {
    T next[scan_group];
    for (u64 distance = 1; distance < scan_group; distance *= 2) {
        for (u64 local_id = distance; local_id < scan_group; ++local_id)
            next[local_id] = op(shared[local_id - distance], shared[local_id]);
        std::copy(next + distance, next + scan_group, shared + distance);
    }
}

template <class T, class Op>
void scan_kogge_stone(const Group& group, const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity,
                      const Op op) {
    T shared[scan_group];
    load_block<scan_group>(group, in, shared, n, identity);
    scan_work_items(shared, op);
    store_block<scan_group>(group, shared, out, n, exclusive, identity);
    sums[group.x] = shared[scan_group - 1];
}

template <class T, class Op>
void scan_brent_kung(const Group& group, const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity,
                     const Op op) {
    constexpr u64 length = 2 * scan_group;
    T shared[length];
    load_block<length>(group, in, shared, n, identity);
    for (u64 distance = 1; distance <= scan_group; distance *= 2) {
        for (u64 right = 2 * distance - 1; right < length; right += 2 * distance)
            shared[right] = op(shared[right - distance], shared[right]);
    }
    for (u64 distance = scan_group / 2; distance > 0; distance /= 2) {
        for (u64 right = 3 * distance - 1; right < length; right += 2 * distance)
            shared[right] = op(shared[right - distance], shared[right]);
    }
    store_block<length>(group, shared, out, n, exclusive, identity);
    sums[group.x] = shared[length - 1];
}

// An upward and a downward tree, as blelloch.
template <class T, class Op>
void scan_recursive(const Group& group, const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity,
                    const Op op) {
    constexpr u64 length = 2 * scan_group;
    T shared[length];
    load_block<length>(group, in, shared, n, identity);
    for (u64 distance = 1; distance <= scan_group; distance *= 2) {
        for (u64 right = 2 * distance - 1; right < length; right += 2 * distance)
            shared[right] = op(shared[right - distance], shared[right]);
    }
    sums[group.x] = shared[length - 1];
    shared[length - 1] = identity;
    for (u64 distance = scan_group; distance > 0; distance /= 2) {
        for (u64 right = 2 * distance - 1; right < length; right += 2 * distance) {
            const T before = shared[right], sum = shared[right - distance];
            shared[right - distance] = before;
            shared[right] = op(before, sum);
        }
    }
    const u64 first = group.x * length, count = std::min(length, n - first);
    for (u64 i = 0; i < count; ++i)
        out[first + i] = canonical(exclusive != 0 ? shared[i] : op(shared[i], in[first + i]));
}

// Eight elements per work-item, then the work-items' sums.
template <class T, class Op>
void scan_recursive_vector(const Group& group, const T* in, T* out, T* sums, u64 n, u32 exclusive, T identity,
                           const Op op) {
    constexpr u64 width = 8, length = width * scan_group;
    T item[length], shared[scan_group];
    load_block<length>(group, in, item, n, identity);
    for (u64 local_id = 0; local_id < scan_group; ++local_id) {
        for (u64 j = 1; j < width; ++j)
            item[local_id * width + j] = op(item[local_id * width + j - 1], item[local_id * width + j]);
        shared[local_id] = item[local_id * width + width - 1];
    }
    scan_work_items(shared, op);
    const u64 first = group.x * length, count = std::min(length, n - first);
    for (u64 i = 0; i < count; ++i) {
        const u64 local_id = i / width;
        const T before = local_id == 0 ? identity : shared[local_id - 1];
        out[first + i] = canonical(exclusive == 0   ? op(before, item[i])
                                   : i % width == 0 ? before
                                                    : op(before, item[i - 1]));
    }
    sums[group.x] = shared[scan_group - 1];
}

}  // namespace concord::detail::host

namespace concord::detail {

// The host kernels of the textbook variants.
struct ScanSteps {
    HostKernel step, shift, join, up_sweep, down_sweep, offsets, kogge_stone, brent_kung, recursive,
        recursive_vector;
};

// They use elements only through the operator and the identity: for built-in operators on signed integers, T is the
// unsigned type.
template <class T, class Op>
inline constexpr ScanSteps scan_steps{
    .step = plain_host_kernel<&detail::host::scan_step<T, Op>>(),
    .shift = plain_host_kernel<&detail::host::scan_shift<T, Op>>(),
    .join = plain_host_kernel<&detail::host::scan_join<T, Op>>(),
    .up_sweep = plain_host_kernel<&detail::host::scan_up_sweep<T, Op>>(),
    .down_sweep = plain_host_kernel<&detail::host::scan_down_sweep<T, Op>>(),
    .offsets = plain_host_kernel<&detail::host::scan_offsets<T, Op>>(),
    .kogge_stone = plain_host_kernel<&detail::host::scan_kogge_stone<T, Op>>(),
    .brent_kung = plain_host_kernel<&detail::host::scan_brent_kung<T, Op>>(),
    .recursive = plain_host_kernel<&detail::host::scan_recursive<T, Op>>(),
    .recursive_vector = plain_host_kernel<&detail::host::scan_recursive_vector<T, Op>>()};

}  // namespace concord::detail
