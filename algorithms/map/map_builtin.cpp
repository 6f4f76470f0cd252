// The host kernels of the built-in functions and operators, for map, add and all_reduce, but not of the math functions:
// map_math.hpp.
//
// Kernels that give the same bits are one kernel: copies by element size, and arithmetic of integers that wraps by
// element size. The textbook variants are compiled for one instruction set.

#include "map_math.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/map.hpp>

namespace concord::detail {

template <>
inline constexpr bool host::copies<host::IgnoreSecond<ops::Copy>> = true;

namespace {

template <class T, class Op>
const MapHost* of_two() {
    static constexpr MapHost kernels{.naive = plain_host_kernel<&detail::host::map_naive<T, T, T, Op>>(),
                                     .vectorized = host_kernel<&detail::host::map_vectorized<T, T, T, Op>>()};
    return &kernels;
}
}  // namespace

const MapHost* map_builtin_host(MapFunction function, Type type) {
    if (const MapHost* math = map_math_host(function, type)) return math;
    return visit_type(type, [&](auto tag) {
        return ops::visit<typename decltype(tag)::type>(function, []<class T, class Op>(TypeTag<T>, Op) {
            using U = std::conditional_t<std::is_same_v<Op, ops::Abs>, T, Wrapping<T>>;
            return of_two<U, host::IgnoreSecond<Op>>();
        });
    });
}

const MapHost* map_builtin_host(ReduceOp op, Type type) {
    return visit_builtin(op, type,
                         []<class T, class Op>(TypeTag<T>, Op) -> const MapHost* { return of_two<T, Op>(); });
}

}  // namespace concord::detail
