// The host kernels of the math functions for f64.
#define CONCORD_MAP_MATH_DEFINITIONS
#include "map_math.hpp"

namespace concord::detail {

template struct MapMath<f64>;

}  // namespace concord::detail
