// The built-in functions of two elements, predicates, where and clip in expressions.
//
// Functions that give the same bits are one: those of signed and unsigned integers, and those that move elements.

#include "expression_nodes.hpp"

#include <concord/error.hpp>
#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
namespace {

template <class T, class W = ops::Wide<T>>
CONCORD_BUILTIN_OF((T, W), T, subtract, (T x, T y), return T(W(x) - W(y));)
template <class T>
CONCORD_BUILTIN_OF((T), T, divide, (T x, T y), return x / y;)
// By squaring. n > 0 is false for negative ones, whose power is 0.
template <class T, class W = ops::Wide<T>>
CONCORD_BUILTIN_OF(
    (T, W), T, power, (T x, T n), W result = n == T(0) ? 1 : 0; if (n > T(0)) {
        result = 1;
        W factor = W(x);
        for (W left = W(n); left != 0; left >>= 1) {
            if ((left & 1) != 0) result *= factor;
            factor *= factor;
        }
    } return T(result);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, equal, (T x, T y), return x == y ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), u8, not_equal, (T x, T y), return x != y ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), u8, less, (T x, T y), return x < y ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), u8, less_equal, (T x, T y), return x <= y ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), u8, logical_and, (T x, T y), return T(x & y);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, logical_or, (T x, T y), return T(x | y);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, logical_xor, (T x, T y), return T(x ^ y);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, logical_not, (T x), return T(x ^ 1);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, is_nan, (T x), return x != x ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), T, where, (u8 condition, T x, T y), return condition != 0 ? x : y;)

// A function and its host kernel.
struct Built {
    const Operator* op;
    BlockKernel kernel;
};

// `vectorized`: compiled for each instruction set.
template <class F, bool vectorized = true>
Built built() {
    using Fn = Function<F>;
    constexpr HostKernel kernel = []<std::size_t... I>(std::index_sequence<I...>) {
        using Block = BlockOf<typename Fn::Host, typename Fn::Result, typename Fn::template Argument<I>...>;
        if constexpr (vectorized) {
            return host_kernel<&Block::run>();
        } else {
            return plain_host_kernel<&Block::run>();
        }
    }
    (std::make_index_sequence<Fn::free_count>{});
    return {&Fn::erased(), {.kernel = kernel}};
}

// The function for a type whose integers may be taken as unsigned.
template <template <class...> class F>
Built wrapping(Type type) {
    return visit_type(type, [](auto tag) { return built<F<Wrapping<typename decltype(tag)::type>>>(); });
}
template <template <class...> class F>
Built ordered(Type type) {
    return visit_type(type, [](auto tag) { return built<F<typename decltype(tag)::type>>(); });
}
template <template <class...> class F>
Built of_floats(Type type) {
    return visit_float(type, [](auto tag) { return built<F<typename decltype(tag)::type>>(); });
}

[[noreturn]] void refuse_type(std::string_view function, std::string_view supports, Type type) {
    throw Error(
        ErrorCode::unsupported, "transform",
        std::string(function) + " supports " + std::string(supports) + ", got " + std::string(name_of(type)));
}

void check_one_type(std::string_view call, const ExpressionNode& a, const ExpressionNode& b) {
    check_same_type(call, {{"x", a.type}, {"y", b.type}});
}

ExpressionPointer node_of(std::string_view call, const Built& built, Type type,
                          std::vector<ExpressionPointer> inputs, bool works_on_bits = false) {
    ExpressionNode node{.kind = ExpressionKind::transform, .type = type};
    node.count = count_of_all(call, inputs);
    node.inputs = std::move(inputs);
    node.op = built.op;
    node.kernel = built.kernel;
    node.works_on_bits = works_on_bits;
    node.values.resize(4);  // no bound values
    return made(call, std::move(node));
}

ExpressionPointer as_type(Type type, const ExpressionPointer& in) {
    return convert_node(type, in);
}

}  // namespace

ExpressionPointer transform_node(BinaryFunction function, ExpressionPointer a, ExpressionPointer b) {
    check_one_type("transform", *a, *b);
    const Type type = a->type;
    if (is_boolean(type)) {
        if (function != BinaryFunction::minimum && function != BinaryFunction::maximum)
            throw Error(ErrorCode::unsupported, "transform",
                        std::string(name_of(function)) +
                            " does not support bool; convert x and y, for example to u8");
        return as_type(Type::boolean, transform_node(function, as_type(Type::u8, a), as_type(Type::u8, b)));
    }
    switch (function) {
        case BinaryFunction::add:
            return transform_node(ReduceOp::sum, std::move(a), std::move(b));
        case BinaryFunction::multiply:
            return transform_node(ReduceOp::product, std::move(a), std::move(b));
        case BinaryFunction::minimum:
            return transform_node(ReduceOp::min, std::move(a), std::move(b));
        case BinaryFunction::maximum:
            return transform_node(ReduceOp::max, std::move(a), std::move(b));
        case BinaryFunction::subtract:
            return node_of("transform", wrapping<subtract_function>(type), type,
                           {std::move(a), std::move(b)});
        case BinaryFunction::divide:
            if (!is_float(type)) refuse_type("divide", "f32 and f64", type);
            return node_of("transform", of_floats<divide_function>(type), type, {std::move(a), std::move(b)});
        case BinaryFunction::power:
            break;
    }
    if (is_float(type)) return transform_node(PairFunction::pow, std::move(a), std::move(b));
    const Built power = visit_type(type, [](auto tag) -> Built {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) return built<power_function<T>, false>();
        return {};
    });
    return node_of("transform", power, type, {std::move(a), std::move(b)});
}

ExpressionPointer transform_node(BinaryPredicate function, ExpressionPointer a, ExpressionPointer b) {
    constexpr std::string_view call = "transform";
    check_one_type(call, *a, *b);
    const auto truth = [&](const Built& built, ExpressionPointer x, ExpressionPointer y) {
        return node_of(call, built, Type::boolean, {std::move(x), std::move(y)});
    };
    const auto logical = [&](const Built& built) {
        return truth(built, as_type(Type::boolean, a), as_type(Type::boolean, b));
    };
    const Type type = kernel_type(a->type);
    switch (function) {
        case BinaryPredicate::equal:
            return truth(wrapping<equal_function>(type), std::move(a), std::move(b));
        case BinaryPredicate::not_equal:
            return truth(wrapping<not_equal_function>(type), std::move(a), std::move(b));
        case BinaryPredicate::less:
            return truth(ordered<less_function>(type), std::move(a), std::move(b));
        case BinaryPredicate::less_equal:
            return truth(ordered<less_equal_function>(type), std::move(a), std::move(b));
        case BinaryPredicate::greater:
            return truth(ordered<less_function>(type), std::move(b), std::move(a));
        case BinaryPredicate::greater_equal:
            return truth(ordered<less_equal_function>(type), std::move(b), std::move(a));
        case BinaryPredicate::logical_and:
            return logical(built<logical_and_function<u8>>());
        case BinaryPredicate::logical_or:
            return logical(built<logical_or_function<u8>>());
        case BinaryPredicate::logical_xor:
            break;
    }
    return logical(built<logical_xor_function<u8>>());
}

ExpressionPointer transform_node(UnaryPredicate function, ExpressionPointer in) {
    constexpr std::string_view call = "transform";
    if (function == UnaryPredicate::logical_not)
        return node_of(call, built<logical_not_function<u8>>(), Type::boolean, {as_type(Type::boolean, in)});
    if (!is_float(in->type)) refuse_type("is_nan", "f32 and f64", in->type);
    const Built is_nan = of_floats<is_nan_function>(in->type);
    return node_of(call, is_nan, Type::boolean, {std::move(in)});
}

ExpressionPointer where_node(ExpressionPointer condition, ExpressionPointer x, ExpressionPointer y) {
    constexpr std::string_view call = "where";
    check_one_type(call, *x, *y);
    if (condition->type != Type::boolean && condition->type != Type::u8)
        throw Error(ErrorCode::unsupported, call,
                    "the condition must have type bool or u8, got " + std::string(name_of(condition->type)));
    const Type type = x->type;
    const Built where = visit_size(
        size_of(type), [](auto tag) { return built<where_function<typename decltype(tag)::type>>(); });
    return node_of(call, where, type, {std::move(condition), std::move(x), std::move(y)}, is_float(type));
}

ExpressionPointer clip_node(ExpressionPointer x, ExpressionPointer low, ExpressionPointer high) {
    constexpr std::string_view call = "clip";
    check_same_type(call, {{"x", x->type}, {"low", low->type}, {"high", high->type}});
    if (is_boolean(x->type))
        throw Error(ErrorCode::unsupported, call, "clip does not support bool; convert x, for example to u8");
    return transform_node(ReduceOp::min, transform_node(ReduceOp::max, std::move(x), std::move(low)),
                          std::move(high));
}

}  // namespace concord::detail
