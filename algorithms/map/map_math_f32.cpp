// The host kernels of the math functions for f32.
#define CONCORD_MAP_MATH_DEFINITIONS
#include "map_math.hpp"

namespace concord::detail {

template struct MapMath<f32>;

const MapHost* map_math_host(MapFunction function, Type type) {
    if (!is_float(type)) return nullptr;
    return visit_float(type, [&](auto tag) { return MapMath<typename decltype(tag)::type>::host(function); });
}

const MapHost* map_math_host(PairFunction function, Type type) {
    if (!is_float(type)) return nullptr;
    return visit_float(type, [&](auto tag) { return MapMath<typename decltype(tag)::type>::host(function); });
}

}  // namespace concord::detail
