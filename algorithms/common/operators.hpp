#pragma once
/// The built-in operators: a text for the JIT compilers and a functor for the host, which mean the same to
/// the bit.

#include <concord/function.hpp>

#include <bit>
#include <limits>
#include <optional>
#include <string_view>

namespace concord {

/// Associative operators, for reduce and its kin. Integers wrap. min and max give NaN if any element is NaN,
/// and count -0 as below +0; which NaN comes out is not defined.
enum class ReduceOp : u8 { sum, product, min, max };
inline constexpr ReduceOp all_reduce_ops[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};

/// Functions of one element, for map. Integers wrap; sqrt is for floats only.
enum class MapFunction : u8 { copy, negate, abs, square, sqrt };
inline constexpr MapFunction all_map_functions[] = {MapFunction::copy, MapFunction::negate, MapFunction::abs,
                                                    MapFunction::square, MapFunction::sqrt};

std::string_view name_of(ReduceOp op);
std::string_view name_of(MapFunction function);
std::optional<ReduceOp> reduce_op_named(std::string_view name);
std::optional<MapFunction> map_function_named(std::string_view name);

namespace detail {
/// The operator's source for elements of `type`. The same object at every call.
const Operator& builtin(ReduceOp op, Type type);
const Operator& builtin(MapFunction function, Type type);
}  // namespace detail

/// The value that changes nothing: 0, 1, and for min and max the type's largest and smallest (floats: the
/// infinities).
template <class T>
constexpr T identity_of(ReduceOp op) {
    using Limits = std::numeric_limits<T>;
    switch (op) {
        case ReduceOp::sum:
            return T(0);
        case ReduceOp::product:
            return T(1);
        case ReduceOp::min:
            return Limits::has_infinity ? Limits::infinity() : Limits::max();
        default:
            return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    }
}

namespace detail {

/// What host kernels are instantiated with for an operator's host functor, and whether the textbook's are too: see
/// concord/textbook.hpp.
template <class Op>
struct HostOperator {
    using Type = Op;
    static constexpr bool textbook = false;
};

/// Refuses at compile time what cannot combine two elements of In into one, an element of Out.
template <class In, class Out, class Fn>
constexpr void check_combines() {
    using T = typename Out::Element;
    static_assert(Fn::free_count == 2, "the operator takes another number of elements: bind the rest");
    static_assert(std::is_same_v<typename Fn::Result, T> &&
                      std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<typename Fn::template Argument<1>, T> &&
                      std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in, out and the operator have different types");
}

}  // namespace detail

namespace detail::ops {

// Integers are computed in an unsigned type of at least 32 bits, where wrapping is defined.
template <class T>
using Wide =
    std::conditional_t<std::is_floating_point_v<T>, T, std::conditional_t<(sizeof(T) < 8), u32, u64>>;
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;

struct Sum {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
    }
};

struct Product {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
    }
};

// Selections only, no branches, so that loops over it vectorise. Equal floats have equal bits but for zeros,
// whose signs are merged.
template <bool Min>
struct Extremum {
    template <class T>
    T operator()(T a, T b) const {
        const bool b_wins = Min ? b < a : a < b;
        T result = b_wins ? b : a;
        if constexpr (std::is_floating_point_v<T>) {
            const auto x = std::bit_cast<Bits<T>>(a), y = std::bit_cast<Bits<T>>(b);
            const T merged = std::bit_cast<T>(Min ? x | y : x & y);
            result = a == b ? merged : result;
            result = b == b ? result : b;
            result = a == a ? result : a;
        }
        return result;
    }
};
using Min = Extremum<true>;
using Max = Extremum<false>;

struct Copy {
    template <class T>
    T operator()(T x) const {
        return x;
    }
};

struct Negate {
    template <class T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return -x;
        } else {
            return static_cast<T>(Wide<T>(0) - static_cast<Wide<T>>(x));
        }
    }
};

struct Abs {
    template <class T>
    T operator()(T x) const {
        if constexpr (std::is_floating_point_v<T>) {
            return std::bit_cast<T>(std::bit_cast<Bits<T>>(x) & (~Bits<T>(0) >> 1));
        } else if constexpr (std::is_signed_v<T>) {
            return x < 0 ? Negate{}(x) : x;
        } else {
            return x;
        }
    }
};

struct Square {
    template <class T>
    T operator()(T x) const {
        return Product{}(x, x);
    }
};

struct Sqrt {
    template <class T>
    T operator()(T x) const {
        if constexpr (sizeof(T) == 8) return __builtin_sqrt(x);
        return __builtin_sqrtf(x);
    }
};

/// Calls f with the functor that `op` names.
template <class F>
decltype(auto) visit(ReduceOp op, F&& f) {
    switch (op) {
        case ReduceOp::sum:
            return f(Sum{});
        case ReduceOp::product:
            return f(Product{});
        case ReduceOp::min:
            return f(Min{});
        default:
            return f(Max{});
    }
}

}  // namespace detail::ops
}  // namespace concord
