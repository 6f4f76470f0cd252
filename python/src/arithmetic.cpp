// Functions of elements that the library does not have: rounding, division of integers, signs and bits.
#include "elementwise.hpp"
#include "signatures.hpp"

#include <list>

using namespace nanobind::literals;

namespace concord::python {
namespace {

using detail::ExpressionPointer;
using Nodes = std::vector<ExpressionPointer>;

#define CONCORD_ALL_FLOATS (f32, f64)
#define CONCORD_ALL_SIGNED (i8, i16, i32, i64)
#define CONCORD_ALL_UNSIGNED (u8, u16, u32, u64)
#define CONCORD_ALL_INTEGERS (i8, i16, i32, i64, u8, u16, u32, u64)

CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, rounded_down, (T x), return floor(x);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, rounded_up, (T x), return ceil(x);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, rounded_to_zero, (T x), return trunc(x);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, rounded_to_nearest, (T x), return rint(x);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, one_over, (T x), return T(1) / x;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, sign_of_float, (T x),
                    return x > T(0) ? T(1) : (x < T(0) ? T(-1) : (x == T(0) ? T(0) : x));)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_SIGNED, T, sign_of_signed, (T x), return T((x > T(0)) - (x < T(0)));)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_UNSIGNED, T, sign_of_unsigned, (T x), return T(x > T(0));)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, u8, has_sign, (T x), return signbit(x) ? 1 : 0;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_SIGNED, u8, is_below_zero, (T x), return x < T(0) ? 1 : 0;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_UNSIGNED, u8, is_never_below_zero, (T x), return x < x ? 1 : 0;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, with_sign_of, (T x, T y), return copysign(x, y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, log_of_sum, (T x, T y),
                    if (x == y) return x + T(0.693147180559945309417232121458176568);
                    const T larger = x > y ? x : y; const T difference = x > y ? y - x : x - y;
                    return isnan(difference) ? x + y : larger + log1p(exp(difference));)
CONCORD_FUNCTION(f32, next_f32, (f32 x, f32 y), if (isnan(x) || isnan(y)) return x + y; if (x == y) return y;
                 if (x == 0) return copysign(as_f32(u32(1)), y); const u32 bits = as_u32(x);
                 return as_f32((x < y) == (x > 0) ? bits + 1 : bits - 1);)
CONCORD_FUNCTION(f64, next_f64, (f64 x, f64 y), if (isnan(x) || isnan(y)) return x + y; if (x == y) return y;
                 if (x == 0) return copysign(as_f64(u64(1)), y); const u64 bits = as_u64(x);
                 return as_f64((x < y) == (x > 0) ? bits + 1 : bits - 1);)

// NumPy's quotients and remainders: the remainder has the sign of y. Of integers they are 0 for y = 0.
CONCORD_FUNCTION_OF(T, CONCORD_ALL_UNSIGNED, T, quotient_of_unsigned, (T x, T y),
                    return y == T(0) ? T(0) : T(x / y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_UNSIGNED, T, remainder_of_unsigned, (T x, T y),
                    return y == T(0) ? T(0) : T(x % y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_SIGNED, T, quotient_of_signed, (T x, T y), if (y == T(0)) return T(0);
                    if (y == T(-1)) return T(u64(0) - u64(x)); const T q = T(x / y);
                    return x % y != 0 && (x < T(0)) != (y < T(0)) ? T(q - 1) : q;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_SIGNED, T, remainder_of_signed, (T x, T y),
                    if (y == T(0) || y == T(-1)) return T(0);
                    const T r = T(x % y); return r != 0 && (r < T(0)) != (y < T(0)) ? T(r + y) : r;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, quotient_of_floats, (T x, T y), if (y == T(0)) return x / y;
                    const T r = fmod(x, y); T q = (x - r) / y;
                    if (r != T(0) && (r < T(0)) != (y < T(0))) q = q - T(1);
                    if (q == T(0)) return copysign(T(0), x / y); const T down = floor(q);
                    return q - down > T(0.5) ? down + T(1) : down;)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_FLOATS, T, remainder_of_floats, (T x, T y), const T r = fmod(x, y);
                    if (y == T(0) || isnan(r)) return r; if (r == T(0)) return copysign(T(0), y);
                    return (r < T(0)) != (y < T(0)) ? r + y : r;)

CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, bits_of_both, (T x, T y), return T(x & y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, bits_of_either, (T x, T y), return T(x | y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, bits_of_one, (T x, T y), return T(x ^ y);)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, other_bits, (T x), return T(~x);)
// A shift by at least the number of bits, or by a negative number, shifts all bits out.
CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, shifted_left, (T x, T y),
                    return u64(y) >= 8 * sizeof(T) ? T(0) : T(u64(x) << u64(y));)
CONCORD_FUNCTION_OF(T, CONCORD_ALL_INTEGERS, T, shifted_right, (T x, T y),
                    return u64(y) >= 8 * sizeof(T) ? T(x < T(0) ? T(-1) : T(0)) : T(x >> y);)

template <class F, std::size_t... I>
ExpressionPointer node_of(const F& f, const Nodes& nodes, std::index_sequence<I...>) {
    const detail::BlockKernel kernel{host_kernel<
        &detail::BlockOf<typename F::Host, typename F::Result, typename F::template Argument<I>...>::run>()};
    return detail::transform_node(F::erased(), f.packed(), kernel, nodes);
}

template <class F>
ExpressionPointer node_of(const F& f, const Nodes& nodes) {
    return node_of(f, nodes, std::make_index_sequence<F::free_count>());
}

// The function of a list for the type.
template <class... T, class Of>
ExpressionPointer node_for(Type type, const Of& of, const Nodes& nodes) {
    ExpressionPointer node;
    static_cast<void>(
        ((type == type_of<T>() && (node = node_of(of.template of<T>, nodes)) != nullptr) || ...));
    return node;
}
template <class Of>
ExpressionPointer of_float(Type type, const Of& of, const Nodes& nodes) {
    return node_for<f32, f64>(type, of, nodes);
}
template <class Of>
ExpressionPointer of_integer(Type type, const Of& of, const Nodes& nodes) {
    return node_for<i8, i16, i32, i64, u8, u16, u32, u64>(type, of, nodes);
}
template <class S, class U>
ExpressionPointer of_integer(Type type, const S& of_signed, const U& of_unsigned, const Nodes& nodes) {
    return is_unsigned(type) ? node_for<u8, u16, u32, u64>(type, of_unsigned, nodes)
                             : node_for<i8, i16, i32, i64>(type, of_signed, nodes);
}

// Which elements a function has.
enum class Elements : u8 { floats, numbers, bits };
// How it computes bool.
enum class Truth : u8 { refused, kept, as_int8, by_logic };

struct Function {
    const char* name;
    Elements elements;
    Truth truth;
    ExpressionPointer (*make)(Type, const Nodes&);
    const char* text;
    BinaryPredicate logic = BinaryPredicate::logical_and;
    bool predicate = false;
};

[[noreturn]] void refuse_kind(const Function& function, ElementKind kind, const char* expected) {
    throw nb::type_error(
        (std::string(function.name) + ": x has dtype " + kind.name() + "; expected " + expected).c_str());
}

// The type in which the function computes.
ElementKind kind_for(const Function& function, ElementKind kind) {
    if (kind.boolean && function.elements != Elements::floats) {
        if (function.truth == Truth::refused) refuse_kind(function, kind, "integers or floats");
        return function.truth == Truth::as_int8 ? ElementKind{Type::i8} : kind;
    }
    if (function.elements == Elements::floats) return float_for(kind);
    if (function.elements == Elements::bits && is_float(kind.type))
        refuse_kind(function, kind, "integers or bool");
    return kind;
}

nb::object of_one(const Function& function, nb::handle x, nb::handle out, const Common& common) {
    Call call(function.name, common);
    const Operand in(call, "x", x, true);
    const ElementKind type = kind_for(function, in.kind());
    call.begin();
    const auto sources = [&] { return std::vector{in.source(function.name, type)}; };
    const ElementKind result = function.predicate ? ElementKind{Type::u8, true} : type;
    return evaluated(call, function.name, sources, out, result, [&](Nodes nodes) {
        if (type.boolean)
            return function.truth == Truth::kept
                       ? nodes[0]
                       : detail::transform_node(UnaryPredicate::logical_not, nodes[0]);
        const ExpressionPointer node = function.make(type.type, nodes);
        return function.predicate ? converted(result, node) : node;
    });
}

nb::object of_two(const Function& function, nb::handle a, nb::handle b, nb::handle out,
                  const Common& common) {
    Call call(function.name, common);
    const Pair pair(call, a, b);
    const ElementKind type = kind_for(function, pair.common());
    call.begin();
    const auto sources = [&] {
        return std::vector{pair.x.source(function.name, type), pair.y.source(function.name, type)};
    };
    return evaluated(call, function.name, sources, out, type, [&](Nodes nodes) {
        if (type.boolean) return detail::transform_node(function.logic, nodes[0], nodes[1]);
        return function.make(type.type, nodes);
    });
}

// Floats by a function; integers are their own results.
#define CONCORD_ROUNDED(NAME) \
    [](Type type, const Nodes& nodes) { return is_float(type) ? of_float(type, NAME, nodes) : nodes[0]; }
#define CONCORD_OF_FLOATS(NAME) [](Type type, const Nodes& nodes) { return of_float(type, NAME, nodes); }
#define CONCORD_OF_INTEGERS(NAME) [](Type type, const Nodes& nodes) { return of_integer(type, NAME, nodes); }
#define CONCORD_OF_ALL(FLOATS, SIGNED, UNSIGNED)                                                           \
    [](Type type, const Nodes& nodes) {                                                                    \
        return is_float(type) ? of_float(type, FLOATS, nodes) : of_integer(type, SIGNED, UNSIGNED, nodes); \
    }

const Function unary[] = {
    {"floor", Elements::numbers, Truth::kept, CONCORD_ROUNDED(rounded_down),
     "The largest integer that is not above x. Integers are unchanged."},
    {"ceil", Elements::numbers, Truth::kept, CONCORD_ROUNDED(rounded_up),
     "The smallest integer that is not below x. Integers are unchanged."},
    {"trunc", Elements::numbers, Truth::kept, CONCORD_ROUNDED(rounded_to_zero),
     "x without its fraction. Integers are unchanged."},
    {"round", Elements::numbers, Truth::refused, CONCORD_ROUNDED(rounded_to_nearest),
     "The nearest integer to x, the even one of two. Integers are unchanged."},
    {"sign", Elements::numbers, Truth::refused,
     CONCORD_OF_ALL(sign_of_float, sign_of_signed, sign_of_unsigned), "-1, 0 or 1; NaN for NaN."},
    {"signbit", Elements::numbers, Truth::refused,
     CONCORD_OF_ALL(has_sign, is_below_zero, is_never_below_zero), "Whether the sign bit of x is set.",
     BinaryPredicate::logical_and, true},
    {"reciprocal", Elements::floats, Truth::refused, CONCORD_OF_FLOATS(one_over), "1 / x, as floats."},
    {"bitwise_invert", Elements::bits, Truth::by_logic, CONCORD_OF_INTEGERS(other_bits),
     "The inverted bits of x; of bool, logical_not."},
};

const Function binary[] = {
    {"floor_divide", Elements::numbers, Truth::as_int8,
     CONCORD_OF_ALL(quotient_of_floats, quotient_of_signed, quotient_of_unsigned),
     "The largest integer that is not above x / y; 0 for integers and y = 0."},
    {"remainder", Elements::numbers, Truth::as_int8,
     CONCORD_OF_ALL(remainder_of_floats, remainder_of_signed, remainder_of_unsigned),
     "x - floor_divide(x, y) * y, with the sign of y; 0 for integers and y = 0."},
    {"copysign", Elements::floats, Truth::refused, CONCORD_OF_FLOATS(with_sign_of), "x with the sign of y."},
    {"nextafter", Elements::floats, Truth::refused,
     [](Type type, const Nodes& nodes) {
         return type == Type::f32 ? node_of(next_f32, nodes) : node_of(next_f64, nodes);
     },
     "The next float from x towards y."},
    {"logaddexp", Elements::floats, Truth::refused, CONCORD_OF_FLOATS(log_of_sum), "log(exp(x) + exp(y))."},
    {"bitwise_and", Elements::bits, Truth::by_logic, CONCORD_OF_INTEGERS(bits_of_both),
     "The bits that x and y have; of bool, logical_and.", BinaryPredicate::logical_and},
    {"bitwise_or", Elements::bits, Truth::by_logic, CONCORD_OF_INTEGERS(bits_of_either),
     "The bits that x or y has; of bool, logical_or.", BinaryPredicate::logical_or},
    {"bitwise_xor", Elements::bits, Truth::by_logic, CONCORD_OF_INTEGERS(bits_of_one),
     "The bits that one of x and y has; of bool, logical_xor.", BinaryPredicate::logical_xor},
    {"bitwise_left_shift", Elements::bits, Truth::as_int8, CONCORD_OF_INTEGERS(shifted_left),
     "The bits of x, y places up."},
    {"bitwise_right_shift", Elements::bits, Truth::as_int8, CONCORD_OF_INTEGERS(shifted_right),
     "The bits of x, y places down; those of negative integers are filled with 1."},
};

}  // namespace

void define_arithmetic(nb::module_& m) {
    static std::list<std::string> texts;  // for the life of the process
    for (const Function& function : unary)
        m.def(
            function.name,
            [&function](nb::handle x, nb::handle out, CONCORD_HANDLES) {
                return of_one(function, x, out, CONCORD_PASSED);
            },
            "x"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(function.name + std::string("(x: $x, *, out: _Out = None, $common) -> $r"),
                      CONCORD_ANY_TYPE),
            function.text);
    for (const Function& function : binary) {
        texts.push_back(std::string(function.text) +
                        " Shapes broadcast, and types are promoted, as in NumPy.");
        m.def(
            function.name,
            [&function](nb::handle x, nb::handle y, nb::handle out, CONCORD_HANDLES) {
                return of_two(function, x, y, out, CONCORD_PASSED);
            },
            "x"_a, "y"_a, nb::kw_only(), "out"_a = nb::none(), CONCORD_COMMON,
            signature(function.name + std::string("(x: $x, y: _Values, *, out: _Out = None, $common) -> $r"),
                      CONCORD_ANY_TYPE),
            texts.back().c_str());
    }
}

}  // namespace concord::python
