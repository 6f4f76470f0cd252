// Host kernels of comparison sorts in the keys' own order, one set for each size of key and value.

#include "sort_host_kernels.hpp"

#include <concord/sort_textbook.hpp>

#include <cstdlib>

namespace concord {
namespace detail::host {
namespace {

template <class K>
int compare_keys(const void* a, const void* b) {
    K x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    return x < y ? -1 : y < x ? 1 : 0;
}

// C's qsort. Pairs are sorted in scratch memory as records of `stride` bytes: key, then value.
template <class K>
void sort_qsort(const Group& /*group*/, const K* in, const std::byte* values_in, K* out,
                std::byte* values_out, u8* scratch, u64 n, u32 value_size, u32 stride, const Ascending code) {
    if (value_size == 0) {
        for (u64 i = 0; i < n; ++i)
            out[i] = code.encode(in[i]);
        std::qsort(out, n, sizeof(K), compare_keys<K>);
        for (u64 i = 0; i < n; ++i)
            out[i] = code.decode(out[i]);
        return;
    }
    for (u64 i = 0; i < n; ++i) {
        const K key = code.encode(in[i]);
        std::memcpy(scratch + i * stride, &key, sizeof key);
        std::memcpy(scratch + i * stride + sizeof key, values_in + i * value_size, value_size);
    }
    std::qsort(scratch, n, stride, compare_keys<K>);
    for (u64 i = 0; i < n; ++i) {
        K key;
        std::memcpy(&key, scratch + i * stride, sizeof key);
        out[i] = code.decode(key);
        std::memcpy(values_out + i * value_size, scratch + i * stride + sizeof key, value_size);
    }
}

}  // namespace
}  // namespace detail::host

namespace detail {
namespace {

template <class V>
const SortHost* host_of(u32 key_size) {
    return visit_size(key_size, [](auto tag) {
        return &SortTextbook<typename decltype(tag)::type, V, detail::host::Ascending>::kernels;
    });
}

}  // namespace

const SortHost* sort_builtin_host(u32 key_size, u32 value_size) {
    if (value_size == 0) return host_of<detail::host::NoValue>(key_size);
    return visit_size(value_size, [&](auto tag) { return host_of<typename decltype(tag)::type>(key_size); });
}

HostKernel sort_qsort_host(u32 key_size) {
    return visit_size(key_size, [](auto tag) {
        return plain_host_kernel<&detail::host::sort_qsort<typename decltype(tag)::type>>();
    });
}

}  // namespace detail
}  // namespace concord
