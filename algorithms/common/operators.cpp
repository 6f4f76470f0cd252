#include <concord/internal/builtin_operator.hpp>
#include <concord/operators.hpp>

#include <algorithm>
#include <array>
#include <bit>
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
};

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
            return is_float(type) ? "return sqrt(x);" : "return x;";
    }
    return {};
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
std::optional<ReduceOp> reduce_op_named(std::string_view name) {
    return named(all_reduce_ops, name);
}
std::optional<MapFunction> map_function_named(std::string_view name) {
    return named(all_map_functions, name);
}

const detail::MapFunctionTraits& detail::traits_of(MapFunction function) {
    return map_functions[static_cast<std::size_t>(function)];
}

const Operator& detail::builtin(ReduceOp op, Type type) {
    static const auto table = [] {
        std::array<std::array<Operator, all_types.size()>, std::size(reduce_names)> made;
        for (const ReduceOp o : all_reduce_ops) {
            for (const Type t : all_types)
                if (!is_storage(t))
                    made[static_cast<std::size_t>(o)][static_cast<std::size_t>(t)] =
                        make(name_of(o), t, 2, body(o, t));
        }
        return made;
    }();
    return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
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

const Operator& detail::builtin(MapFunction function, Type type) {
    static const auto table = [] {
        std::array<std::array<Operator, all_types.size()>, std::size(map_functions)> made;
        for (const MapFunction f : all_map_functions) {
            for (const Type t : all_types) {
                if (is_storage(t)) continue;
                Operator& op = made[static_cast<std::size_t>(f)][static_cast<std::size_t>(t)];
                if (is_float(t) && traits_of(f).works_on_bits) {
                    op = make(name_of(f), bits_of(t), 1, body_on_bits(f, t));
                } else {
                    op = make(name_of(f), t, 1, body(f, t));
                }
            }
        }
        return made;
    }();
    return table[static_cast<std::size_t>(function)][static_cast<std::size_t>(type)];
}

}  // namespace concord
