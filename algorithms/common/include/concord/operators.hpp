#pragma once
/// @file
/// Built-in operators and functions.

#include <concord/function.hpp>
#include <concord/variant.hpp>

#include <limits>
#include <optional>
#include <string_view>

namespace concord {

/// Associative operators for reduce and scan. Integers wrap. min and max return NaN if an operand is NaN, and order
/// -0 below +0.
enum class ReduceOp : u8 {
    sum,      ///< a + b
    product,  ///< a * b
    min,      ///< the smaller of a and b
    max       ///< the larger of a and b
};
/// All values of ReduceOp.
inline constexpr ReduceOp all_reduce_ops[] = {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max};

#define CONCORD_ENUMERATOR(NAME) NAME, /**< the function of that name in vocabulary.hpp; f32 and f64 only */
/// @cond
#define CONCORD_ENUMERATOR_OF_MAP(NAME) MapFunction::NAME,
#define CONCORD_ENUMERATOR_OF_PAIR(NAME) PairFunction::NAME,
/// @endcond

/// Functions of one element for map. Integers wrap. copy, negate and abs of floats work on the bits: they keep the
/// payload of a NaN.
enum class MapFunction : u8 {
    copy,    ///< x, bit for bit
    negate,  ///< -x; flips the sign of a NaN
    abs,     ///< the absolute value of x; clears the sign of a NaN; the smallest signed integer is unchanged
    square,  ///< x * x
    sqrt,    ///< the correctly rounded square root of x; f32 and f64 only
    CONCORD_MATH_UNARY(CONCORD_ENUMERATOR)
};
/// All values of MapFunction.
inline constexpr MapFunction all_map_functions[] = {
    MapFunction::copy,   MapFunction::negate, MapFunction::abs,
    MapFunction::square, MapFunction::sqrt,   CONCORD_MATH_UNARY(CONCORD_ENUMERATOR_OF_MAP)};

/// Functions of two elements for map.
enum class PairFunction : u8 { CONCORD_MATH_BINARY(CONCORD_ENUMERATOR) };
/// All values of PairFunction.
inline constexpr PairFunction all_pair_functions[] = {CONCORD_MATH_BINARY(CONCORD_ENUMERATOR_OF_PAIR)};

/// Functions of two elements of one type for expressions, which have the elements' type. Integers wrap. bool supports
/// minimum and maximum.
enum class BinaryFunction : u8 {
    add,       ///< x + y
    subtract,  ///< x - y
    multiply,  ///< x * y
    divide,    ///< x / y; f32 and f64 only
    minimum,   ///< the smaller one; NaN if one is NaN; -0 is below +0
    maximum,   ///< the larger one; NaN if one is NaN; -0 is below +0
    power      ///< pow(x, y); of integers by squaring: 1 for y = 0, and 0 for y < 0
};
/// All values of BinaryFunction.
inline constexpr BinaryFunction all_binary_functions[] = {
    BinaryFunction::add,     BinaryFunction::subtract, BinaryFunction::multiply, BinaryFunction::divide,
    BinaryFunction::minimum, BinaryFunction::maximum,  BinaryFunction::power};

/// Functions of two elements of one type for expressions, whose result is bool. All comparisons with NaN are false
/// except not_equal.
enum class BinaryPredicate : u8 {
    equal,          ///< x == y; -0 equals +0
    not_equal,      ///< x != y
    less,           ///< x < y
    less_equal,     ///< x <= y
    greater,        ///< x > y
    greater_equal,  ///< x >= y
    logical_and,    ///< x != 0 and y != 0; NaN is not 0
    logical_or,     ///< x != 0 or y != 0
    logical_xor     ///< either x != 0 or y != 0
};
/// All values of BinaryPredicate.
inline constexpr BinaryPredicate all_binary_predicates[] = {
    BinaryPredicate::equal,       BinaryPredicate::not_equal,  BinaryPredicate::less,
    BinaryPredicate::less_equal,  BinaryPredicate::greater,    BinaryPredicate::greater_equal,
    BinaryPredicate::logical_and, BinaryPredicate::logical_or, BinaryPredicate::logical_xor};

/// Functions of one element for expressions, whose result is bool.
enum class UnaryPredicate : u8 {
    logical_not,  ///< x == 0
    is_nan        ///< whether x is NaN; f32 and f64 only
};
/// All values of UnaryPredicate.
inline constexpr UnaryPredicate all_unary_predicates[] = {UnaryPredicate::logical_not,
                                                          UnaryPredicate::is_nan};

#undef CONCORD_ENUMERATOR
#undef CONCORD_ENUMERATOR_OF_MAP
#undef CONCORD_ENUMERATOR_OF_PAIR

/// Returns the operator's name, for example "sum".
std::string_view name_of(ReduceOp op);
/// Returns the function's name, for example "negate".
std::string_view name_of(MapFunction function);
/// Returns the function's name, for example "pow".
std::string_view name_of(PairFunction function);
/// Returns the function's name, for example "subtract".
std::string_view name_of(BinaryFunction function);
/// Returns the function's name, for example "less_equal".
std::string_view name_of(BinaryPredicate function);
/// Returns the function's name, for example "is_nan".
std::string_view name_of(UnaryPredicate function);
/// Returns the operator with the given name, or nothing for an unknown name.
std::optional<ReduceOp> reduce_op_named(std::string_view name);
/// Returns the function with the given name, or nothing for an unknown name.
std::optional<MapFunction> map_function_named(std::string_view name);
/// Returns the function with the given name, or nothing for an unknown name.
std::optional<PairFunction> pair_function_named(std::string_view name);
/// Returns the function with the given name, or nothing for an unknown name.
std::optional<BinaryFunction> binary_function_named(std::string_view name);
/// Returns the function with the given name, or nothing for an unknown name.
std::optional<BinaryPredicate> binary_predicate_named(std::string_view name);
/// Returns the function with the given name, or nothing for an unknown name.
std::optional<UnaryPredicate> unary_predicate_named(std::string_view name);

namespace detail {

// Descriptor of a built-in function.
struct MapFunctionTraits {
    std::string_view name;
    bool floats_only = false;
    bool works_on_bits = false;     // of floats: it keeps the payload of a NaN
    bool needs_exact_sqrt = false;  // requires DeviceTraits::exact_divide_sqrt for f32
};
const MapFunctionTraits& traits_of(MapFunction function);

// The operator's source for elements of `type`. Every call returns the same object. A function that works on bits has
// the unsigned integer of the size of `type` as its types if `type` is a float.
const Operator& builtin(ReduceOp op, Type type);
const Operator& builtin(MapFunction function, Type type);
const Operator& builtin(PairFunction function, Type type);

}  // namespace detail

/// Returns the identity e of the operator, for which op(e, x) == x: 0 for sum, 1 for product, the largest value of T
/// for min and the smallest for max (infinities for floats).
template <class T>
constexpr T identity_of(ReduceOp op) {
    using Limits = std::numeric_limits<T>;
    switch (op) {
        case ReduceOp::sum:
            return T(0);
        case ReduceOp::product:
            return T(1);
        case ReduceOp::min:
            return Limits::has_infinity ? Limits::infinity() : (Limits::max)();  // max may be a macro
        default:
            return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    }
}

namespace detail {

// Checks at compile time that the operator combines two elements of In to one element of Out.
template <class In, class Out, class Fn>
constexpr void check_combines() {
    using T = typename Out::Element;
    static_assert(Fn::free_count == 2, "the operator must take two elements; bind its other parameters");
    static_assert(std::is_same_v<typename Fn::Result, T> &&
                      std::is_same_v<typename Fn::template Argument<0>, T> &&
                      std::is_same_v<typename Fn::template Argument<1>, T> &&
                      std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in, out and the operator must have the same element type");
}

// Throws an invalid_argument that names the operator, the identity e and op(e, e), which is not e. result: null leaves
// op(e, e) out.
[[noreturn]] void refuse_identity(std::string_view call, std::string_view op, Type type, const void* identity,
                                  const void* result);
// Whether two elements are equal, or both NaN.
bool same_element(Type type, const void* a, const void* b);

// Whether a call with the order will refuse the operator because devices may compute it differently. An error of its
// identity would hide that one.
inline bool is_refused(const Operator& op, std::optional<OperationOrder> order) {
    return order.value_or(OperationOrder::unspecified) != OperationOrder::unspecified &&
           !op.unportable.empty();
}

// Throws invalid_argument if op(identity, identity) is not the identity, unless the call is refused for its order.
template <class Fn, class T>
void check_identity(std::string_view call, const Fn& op, T identity, std::optional<OperationOrder> order) {
    if (is_refused(Fn::erased(), order)) return;
    const T result = op(identity, identity);
    if (!same_element(type_of<T>(), &identity, &result))
        refuse_identity(call, Fn::erased().name, type_of<T>(), &identity, &result);
}

}  // namespace detail

}  // namespace concord
