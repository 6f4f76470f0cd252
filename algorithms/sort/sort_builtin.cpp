// Host kernels of comparison sorts in the keys' own order, one set for each size of key and value.

#include "sort_host_kernels.hpp"

#include <algorithm>
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

// A key with its value, for std_sort.
template <class T, class V>
struct SortPair {
    T key;
    V value;
};

// std::sort on one thread. scratch: n pairs; unused for keys alone.
template <class T, class V>
void sort_std(const Group& /*group*/, const T* in, const V* values_in, T* out, V* values_out, u8* scratch,
              u64 n, const Ascending code) {
    if constexpr (has_value<V>) {
        using Pair = SortPair<T, V>;
        auto* pairs = reinterpret_cast<Pair*>(scratch);
        for (u64 i = 0; i < n; ++i)
            pairs[i] = {code.encode(in[i]), values_in[i]};
        std::sort(pairs, pairs + n, [](const Pair& a, const Pair& b) { return a.key < b.key; });
        for (u64 i = 0; i < n; ++i) {
            out[i] = code.decode(pairs[i].key);
            values_out[i] = pairs[i].value;
        }
    } else {
        for (u64 i = 0; i < n; ++i)
            out[i] = code.encode(in[i]);
        std::sort(out, out + n);
        for (u64 i = 0; i < n; ++i)
            out[i] = code.decode(out[i]);
    }
}

}  // namespace
}  // namespace detail::host

namespace detail {
namespace {

// Calls f with the types of a key and a value of those sizes; value_size 0: NoValue.
template <class F>
auto visit_sizes(u32 key_size, u32 value_size, const F& f) {
    return visit_size(key_size, [&](auto key) {
        if (value_size == 0) return f(key, TypeTag<detail::host::NoValue>{});
        return visit_size(value_size, [&](auto value) { return f(key, value); });
    });
}

}  // namespace

const SortHost* sort_builtin_host(u32 key_size, u32 value_size) {
    return visit_sizes(key_size, value_size, [](auto key, auto value) {
        return &sort_host<typename decltype(key)::type, typename decltype(value)::type,
                          detail::host::Ascending>();
    });
}

HostKernel sort_std_host(u32 key_size, u32 value_size) {
    return visit_sizes(key_size, value_size, [](auto key, auto value) {
        return plain_host_kernel<
            &detail::host::sort_std<typename decltype(key)::type, typename decltype(value)::type>>();
    });
}

HostKernel sort_qsort_host(u32 key_size) {
    return visit_size(key_size, [](auto tag) {
        return plain_host_kernel<&detail::host::sort_qsort<typename decltype(tag)::type>>();
    });
}

}  // namespace detail
}  // namespace concord
