#pragma once
// The host kernels of the math functions. Each type is compiled on its own.

#include <concord/map.hpp>

namespace concord::detail {

// The host kernels; null unless the type is f32 or f64.
const MapHost* map_math_host(MapFunction function, Type type);
const MapHost* map_math_host(PairFunction function, Type type);

template <class T>
struct MapMath {
    static const MapHost* host(MapFunction function);
    static const MapHost* host(PairFunction function);
};

#ifdef CONCORD_MAP_MATH_DEFINITIONS

template <class T, class Op>
const MapHost* math_kernels() {
    static constexpr MapHost kernels{.naive = plain_host_kernel<&detail::host::map_naive<T, T, T, Op>>(),
                                     .vectorized = host_kernel<&detail::host::map_vectorized<T, T, T, Op>>()};
    return &kernels;
}

template <class T>
const MapHost* MapMath<T>::host(MapFunction function) {
    switch (function) {
#define CONCORD_CASE(NAME)  \
    case MapFunction::NAME: \
        return math_kernels<T, host::IgnoreSecond<ops::Math_##NAME>>();
        CONCORD_MATH_UNARY(CONCORD_CASE)
#undef CONCORD_CASE
        default:
            return nullptr;
    }
}

template <class T>
const MapHost* MapMath<T>::host(PairFunction function) {
    switch (function) {
#define CONCORD_CASE(NAME)   \
    case PairFunction::NAME: \
        return math_kernels<T, ops::Math_##NAME>();
        CONCORD_MATH_BINARY(CONCORD_CASE)
#undef CONCORD_CASE
    }
    return nullptr;
}

#endif

}  // namespace concord::detail
