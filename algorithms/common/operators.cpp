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

constexpr std::string_view binary_names[] = {"add",     "subtract", "multiply", "divide",
                                             "minimum", "maximum",  "power"};
constexpr std::string_view binary_predicate_names[] = {"equal",       "not_equal",  "less",
                                                       "less_equal",  "greater",    "greater_equal",
                                                       "logical_and", "logical_or", "logical_xor"};
constexpr std::string_view unary_predicate_names[] = {"logical_not", "is_nan"};

// The source of a built-in function for elements of the type.
template <class T, class F>
const Operator& operator_of(detail::TypeTag<T> /*type*/, F /*function*/) {
    return F::template Of<T>::erased();
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
std::string_view name_of(BinaryFunction function) {
    return binary_names[static_cast<std::size_t>(function)];
}
std::string_view name_of(BinaryPredicate function) {
    return binary_predicate_names[static_cast<std::size_t>(function)];
}
std::string_view name_of(UnaryPredicate function) {
    return unary_predicate_names[static_cast<std::size_t>(function)];
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

std::optional<BinaryFunction> binary_function_named(std::string_view name) {
    return named(all_binary_functions, name);
}
std::optional<BinaryPredicate> binary_predicate_named(std::string_view name) {
    return named(all_binary_predicates, name);
}
std::optional<UnaryPredicate> unary_predicate_named(std::string_view name) {
    return named(all_unary_predicates, name);
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
    return visit_type(type, [&](auto tag) -> const Operator& {
        return ops::visit(op, [&](auto f) -> const Operator& { return operator_of(tag, f); });
    });
}
const Operator& detail::builtin(MapFunction function, Type type) {
    return visit_type(type, [&](auto tag) -> const Operator& {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>)
            if (const Operator* op = ops::visit_math(function, [&](auto f) { return &operator_of(tag, f); }))
                return *op;
        return ops::visit<T>(function, [](auto in, auto f) -> const Operator& { return operator_of(in, f); });
    });
}
const Operator& detail::builtin(PairFunction function, Type type) {
    return visit_float(type, [&](auto tag) -> const Operator& {
        return *ops::visit_math(function, [&](auto f) { return &operator_of(tag, f); });
    });
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
