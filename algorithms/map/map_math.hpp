#pragma once
// The host kernels of the math functions. Each type is compiled on its own.

#include <concord/internal/builtin_operator.hpp>
#include <concord/map.hpp>

#include <algorithm>

namespace concord::detail {

// The host kernels; null unless the type is f32 or f64.
const MapHost* map_math_host(MapFunction function, Type type);
const MapHost* map_math_host(PairFunction function, Type type);

template <class T>
struct MapMath {
    static const MapHost* host(MapFunction function);
    static const MapHost* host(PairFunction function);
};
extern template struct MapMath<f32>;
extern template struct MapMath<f64>;

#ifdef CONCORD_MAP_MATH_DEFINITIONS

namespace host {

// map_vectorized for functions that take longer to compute than to load and store: one copy of the function processes a
// cache line of results at a time, also the parts of lines at the ends.
template <class T, class Op>
[[gnu::always_inline]] inline void map_by_line(const Group& group, const T* a, const T* b, T* out, u64 n,
                                               u64 tile, u32 non_temporal, const Op op) {
    constexpr u64 line = 64 / sizeof(T);
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    // Elements up to the next line of the output, unless there are none.
    u64 count = non_temporal != 0 ? elements_to_line(out + begin) : 0;
    if (count == 0) count = line;
    for (u64 at = begin; at < end; at += count, count = line) {
        count = std::min(count, end - at);
        alignas(64) T results[line], rest_a[line] = {}, rest_b[line] = {};
        const T *from_a = a + at, *from_b = b + at;
        if (count < line) {
            std::copy_n(from_a, count, rest_a);
            std::copy_n(from_b, count, rest_b);
            from_a = rest_a;
            from_b = rest_b;
        }
        // Unrolled, the loop would not be vectorised.
#pragma GCC unroll 1
        for (u64 i = 0; i < line; ++i)
            results[i] = canonical(op(from_a[i], from_b[i]));
        if (count < line) {
            std::copy_n(results, count, out + at);
        } else if (non_temporal != 0) {
            map_line(group.isa, out + at, results);
        } else {
            std::memcpy(out + at, results, sizeof results);
        }
    }
    if (non_temporal != 0) stream_fence();
}

template <class T, class Op>
inline constexpr HostKernel math_by_line = host_kernel<&map_by_line<T, Op>>();

// The same for one instruction set.
template <class T, class Op>
void map_math_naive(const Group& group, const T* a, const T* b, T* out, u64 n, u64 tile, const Op op) {
    const u32 non_temporal = 0;
    const void* const arguments[] = {&a, &b, &out, &n, &tile, &non_temporal, &op};
    math_by_line<T, Op>.entry(HostIsa::baseline)(group, arguments);
}

}  // namespace host

template <class T, class Op>
const MapHost* math_kernels() {
    static constexpr MapHost kernels{.naive = plain_host_kernel<&host::map_math_naive<T, Op>>(),
                                     .vectorized = host::math_by_line<T, Op>};
    return &kernels;
}

template <class T>
const MapHost* MapMath<T>::host(MapFunction function) {
    return ops::visit_math(function, []<class Op>(Op) { return math_kernels<T, host::IgnoreSecond<Op>>(); });
}
template <class T>
const MapHost* MapMath<T>::host(PairFunction function) {
    return ops::visit_math(function, []<class Op>(Op) { return math_kernels<T, Op>(); });
}

#endif

}  // namespace concord::detail
