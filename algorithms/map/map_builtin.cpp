// The host kernels of the built-in functions and operators, for map, add and all_reduce, but not of the math functions:
// map_math.hpp.
//
// Kernels that give the same bits are one kernel: copies by element size, and arithmetic of integers that wraps by
// element size. The textbook variants are compiled for one instruction set.

#include "map_math.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/map.hpp>

namespace concord::detail {
namespace {

template <class T>
using BitsOf = std::conditional_t<std::is_floating_point_v<T>, ops::Bits<T>, Wrapping<T>>;

template <class T, class Op>
const MapHost* of_two() {
    static constexpr MapHost kernels{.naive = plain_host_kernel<&detail::host::map_naive<T, T, T, Op>>(),
                                     .vectorized = host_kernel<&detail::host::map_vectorized<T, T, T, Op>>()};
    return &kernels;
}
template <class T, class Op>
const MapHost* of_one() {
    return of_two<T, detail::host::IgnoreSecond<Op>>();
}

template <class T>
const MapHost* host_of(MapFunction function) {
    constexpr bool is_float = std::is_floating_point_v<T>;
    switch (function) {
        case MapFunction::copy:
            return of_one<BitsOf<T>, ops::Copy>();
        case MapFunction::negate:
            return of_one<BitsOf<T>, std::conditional_t<is_float, ops::FlipSign, ops::Negate>>();
        case MapFunction::abs:
            if constexpr (is_float) return of_one<BitsOf<T>, ops::ClearSign>();
            return of_one<T, std::conditional_t<std::is_unsigned_v<T>, ops::Copy, ops::Abs>>();
        case MapFunction::square:
            return of_one<Wrapping<T>, ops::Square>();
        case MapFunction::sqrt:
            if constexpr (is_float) return of_one<T, ops::Sqrt>();
            break;
        default:
            return map_math_host(function, type_of<T>());
    }
    return nullptr;
}

template <class T>
const MapHost* host_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::sum:
            return of_two<Wrapping<T>, ops::Sum>();
        case ReduceOp::product:
            return of_two<Wrapping<T>, ops::Product>();
        case ReduceOp::min:
            return of_two<T, ops::Min>();
        default:
            return of_two<T, ops::Max>();
    }
}

}  // namespace

const MapHost* map_builtin_host(MapFunction function, Type type) {
    return visit_type(type, [&](auto tag) { return host_of<typename decltype(tag)::type>(function); });
}

const MapHost* map_builtin_host(ReduceOp op, Type type) {
    return visit_type(type, [&](auto tag) { return host_of<typename decltype(tag)::type>(op); });
}

}  // namespace concord::detail
