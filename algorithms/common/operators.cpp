#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/operators.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>

namespace concord {
namespace {

constexpr std::string_view reduce_names[] = {"sum", "product", "min", "max"};
constexpr detail::MapFunctionTraits map_functions[] = {
    {.name = "copy", .works_on_bits = true},
    {.name = "negate", .works_on_bits = true},
    {.name = "abs", .works_on_bits = true},
    {.name = "square"},
    {.name = "sqrt", .floats_only = true, .needs_exact_sqrt = true},
#define CONCORD_TRAITS(NAME) {.name = #NAME, .floats_only = true},
    CONCORD_MATH_UNARY(CONCORD_TRAITS)
#undef CONCORD_TRAITS
};
#define CONCORD_NAME(NAME) #NAME,
constexpr std::string_view pair_names[] = {CONCORD_MATH_BINARY(CONCORD_NAME)};
#undef CONCORD_NAME

// Integers are computed in an unsigned type of at least 32 bits, which wraps.
std::string wide(Type type) {
    return is_float(type) ? std::string(name_of(type)) : size_of(type) < 8 ? "u32" : "u64";
}

std::string body(ReduceOp op, Type type) {
    const std::string t(name_of(type)), w = wide(type);
    const bool min = op == ReduceOp::min;
    switch (op) {
        case ReduceOp::sum:
            return "return (" + t + ")((" + w + ")a + (" + w + ")b);";
        case ReduceOp::product:
            return "return (" + t + ")((" + w + ")a * (" + w + ")b);";
        default:
            break;
    }
    const std::string less = min ? "b < a ? b : a" : "a < b ? b : a";
    if (!is_float(type)) return "return " + less + ";";
    // The sum of two zeros is -0 only if both are -0, as their maximum. The minimum is its mirror image.
    const std::string zero = min ? "-(-a - b)" : "a + b";
    return "if (a != a) return a; if (b != b) return b; if (a == 0 && b == 0) return " + zero + "; return " +
           less + ";";
}

// Floats as their bits.
std::string body_on_bits(MapFunction function, Type type) {
    const std::string one = "(" + std::string(name_of(detail::bits_of(type))) + ")1",
                      sign = one + " << " + std::to_string(8 * size_of(type) - 1);
    if (function == MapFunction::negate) return "return x ^ (" + sign + ");";
    if (function == MapFunction::abs) return "return x & ((" + sign + ") - 1);";
    return "return x;";
}

std::string body(MapFunction function, Type type) {
    const std::string t(name_of(type)), w = wide(type);
    const bool is_signed = kind_of(type) == TypeKind::signed_integer;
    const std::string negated = "(" + t + ")((" + w + ")0 - (" + w + ")x)";
    switch (function) {
        case MapFunction::copy:
            return "return x;";
        case MapFunction::negate:
            return "return " + negated + ";";
        case MapFunction::abs:
            return is_signed ? "return x < 0 ? " + negated + " : x;" : "return x;";
        case MapFunction::square:
            return "return (" + t + ")((" + w + ")x * (" + w + ")x);";
        case MapFunction::sqrt:
            return "return sqrt(x);";
        default:
            return "return " + std::string(name_of(function)) + "(x);";
    }
}

std::string body(PairFunction function, Type /*type*/) {
    return "return " + std::string(name_of(function)) + "(a, b);";
}

Operator make(std::string_view name, Type type, int arity, const std::string& body) {
    const std::string t(name_of(type));
    Operator op;
    op.name = name;
    op.result = type;
    op.arguments.assign(static_cast<std::size_t>(arity), type);
    op.text =
        t + " concord_function(" + (arity == 1 ? t + " x" : t + " a, " + t + " b") + ") { " + body + " }";
    op.file = "builtin";
    op.line = 1;
    return detail::finish(std::move(op));
}

Operator make(ReduceOp op, Type type) {
    return make(name_of(op), type, 2, body(op, type));
}
Operator make(MapFunction function, Type type) {
    const bool on_bits = is_float(type) && detail::traits_of(function).works_on_bits;
    return on_bits ? make(name_of(function), detail::bits_of(type), 1, body_on_bits(function, type))
                   : make(name_of(function), type, 1, body(function, type));
}
Operator make(PairFunction function, Type type) {
    return make(name_of(function), type, 2, body(function, type));
}

// Whether the type has the operator.
bool has(ReduceOp /*op*/, Type type) {
    return !is_storage(type);
}
bool has(MapFunction function, Type type) {
    return detail::traits_of(function).floats_only ? is_float(type) : !is_storage(type);
}
bool has(PairFunction /*function*/, Type type) {
    return is_float(type);
}

// The operators of all values of an enumeration for the types that have them, made at the first use.
template <class E, std::size_t N>
const Operator& operator_of(const E (&all)[N], E value, Type type) {
    static const auto table = [&] {
        std::array<std::array<Operator, all_types.size()>, N> made;
        for (const E e : all) {
            for (const Type t : all_types) {
                if (has(e, t)) made[static_cast<std::size_t>(e)][static_cast<std::size_t>(t)] = make(e, t);
            }
        }
        return made;
    }();
    return table[static_cast<std::size_t>(value)][static_cast<std::size_t>(type)];
}

template <class E, std::size_t N>
std::optional<E> named(const E (&all)[N], std::string_view name) {
    for (const E value : all) {
        if (name_of(value) == name) return value;
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(ReduceOp op) {
    return reduce_names[static_cast<std::size_t>(op)];
}
std::string_view name_of(MapFunction function) {
    return detail::traits_of(function).name;
}
std::string_view name_of(PairFunction function) {
    return pair_names[static_cast<std::size_t>(function)];
}
std::optional<ReduceOp> reduce_op_named(std::string_view name) {
    return named(all_reduce_ops, name);
}
std::optional<MapFunction> map_function_named(std::string_view name) {
    return named(all_map_functions, name);
}
std::optional<PairFunction> pair_function_named(std::string_view name) {
    return named(all_pair_functions, name);
}

bool detail::same_element(Type type, const void* a, const void* b) {
    return visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        T x, y;
        std::memcpy(&x, a, sizeof x);
        std::memcpy(&y, b, sizeof y);
        return x == y || (x != x && y != y);
    });
}

void detail::refuse_identity(std::string_view call, std::string_view op, Type type, const void* identity,
                             const void* result) {
    const auto text = [&](const void* element) {
        return visit_type(type, [&](auto tag) {
            typename decltype(tag)::type x;
            std::memcpy(&x, element, sizeof x);
            if constexpr (std::is_floating_point_v<decltype(x)>)
                return general_text(static_cast<double>(x), std::numeric_limits<decltype(x)>::max_digits10);
            else
                return std::to_string(x);
        });
    };
    const std::string e = text(identity), name(op),
                      got = result == nullptr ? ""
                                              : ", got " + name + "(" + e + ", " + e + ") = " + text(result);
    throw Error(ErrorCode::invalid_argument, call,
                e + " is not the identity of '" + name + "'" + got + "; pass the e with " + name +
                    "(e, x) == x for all x");
}

const detail::MapFunctionTraits& detail::traits_of(MapFunction function) {
    return map_functions[static_cast<std::size_t>(function)];
}

const Operator& detail::builtin(ReduceOp op, Type type) {
    return operator_of(all_reduce_ops, op, type);
}
const Operator& detail::builtin(MapFunction function, Type type) {
    return operator_of(all_map_functions, function, type);
}
const Operator& detail::builtin(PairFunction function, Type type) {
    return operator_of(all_pair_functions, function, type);
}

detail::ValueBytes detail::builtin_values(ReduceOp op, Type type) {
    static constexpr auto table = [] {
        std::array<std::array<std::array<std::byte, 4>, 2>, std::size(reduce_names)> made{};
        for (const ReduceOp o : all_reduce_ops) {
            for (const bool is_signed : {false, true}) {
                const auto bytes = std::bit_cast<std::array<std::byte, sizeof(SelectedOp)>>(
                    SelectedOp{.op = o, .is_signed = is_signed});
                std::copy(bytes.begin(), bytes.end(), made[static_cast<std::size_t>(o)][is_signed].begin());
            }
        }
        return made;
    }();
    const bool is_signed =
        visit_type(type, [](auto tag) { return std::is_signed_v<typename decltype(tag)::type>; });
    return {table[static_cast<std::size_t>(op)][is_signed]};
}

detail::ValueBytes detail::builtin_identity(ReduceOp op, Type type) {
    return visit_type(type, [&](auto tag) -> ValueBytes {
        using T = typename decltype(tag)::type;
        static constexpr T table[] = {identity_of<T>(ReduceOp::sum), identity_of<T>(ReduceOp::product),
                                      identity_of<T>(ReduceOp::min), identity_of<T>(ReduceOp::max)};
        return {std::as_bytes(std::span(&table[static_cast<std::size_t>(op)], 1))};
    });
}

}  // namespace concord
