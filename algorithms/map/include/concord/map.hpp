#pragma once
/// @file
/// Map: applies a function to every element, or to every pair of corresponding elements.
///
///     out[i] = f(in[i])              for 0 <= i < n
///     out[i] = f(a[i], b[i])
///
/// - Shapes: all ranges have n elements. They may start at any element offset.
/// - Types: the parameter and result types of f. Built-in functions keep the type.
/// - In place: out may be exactly one of the inputs if their element sizes agree. Any other overlap is an error.
/// - Memory traffic: reads every input once and writes the output once.
/// - Order: elements are independent, so every variant is canonical. Results are bitwise identical on all devices.
/// - NaN: results are canonical NaNs, except for those of copy, negate and abs, which work on bits.
/// - Asynchrony: enqueues on the stream and returns.
/// - Errors: invalid_argument (counts, types, overlap), wrong_device, unsupported (f64 on a device without it, an
///   operator with kernel source only on a device that cannot compile at run time), compile_failed.
/// - Source: V. Volkov, Better performance at lower occupancy, GTC 2010.

#include <concord/algorithm.hpp>
#include <concord/detail/map_host.hpp>
#include <concord/expression.hpp>
#include <concord/function.hpp>
#include <concord/map_many.hpp>
#include <concord/operators.hpp>

namespace concord {

namespace detail {

// The host kernels of one operator.
struct MapHost {
    HostKernel naive = {}, vectorized = {};
};

template <class A, class B, class U, class Op>
const MapHost& map_host() {
    static constexpr MapHost kernels{.naive = host_kernel<&detail::host::map_naive<A, B, U, Op>>(),
                                     .vectorized = host_kernel<&detail::host::map_vectorized<A, B, U, Op>>()};
    return kernels;
}

// The host kernels of a built-in function or operator; null if the type does not support it.
const MapHost* map_builtin_host(MapFunction function, Type type);
const MapHost* map_builtin_host(ReduceOp op, Type type);

// A call with its types erased. For an operator of one element, b is a.
struct MapProblem {
    const char* algorithm;  // for messages
    View a, b, out;
    const Operator& op;
    ValueBytes values;              // the operator's bound values
    const MapHost* host;            // null: the operator has kernel source only
    bool needs_exact_sqrt = false;  // see MapFunctionTraits

    Type type() const { return out.type; }
};

Enqueued map(Stream& stream, const MapProblem& problem, const Options& options);

// The variants of map and add.
extern const std::array<const Variant*, 3> map_variants;
inline constexpr std::string_view map_tuning_label = "inputs";  // 1 or 2

}  // namespace detail

/// Descriptor of map.
extern const Algorithm map_algorithm;

/// Applies a built-in function. in and out have the same type: f32 or f64 for sqrt, any type otherwise.
Enqueued map(Stream& stream, const View& in, const View& out, MapFunction function,
             const Options& options = {});

/// Applies a built-in function to pairs of elements. a, b and out have the same type, f32 or f64.
Enqueued map(Stream& stream, const View& a, const View& b, const View& out, PairFunction function,
             const Options& options = {});

/// Applies an operator that has kernel source only (operator_from_text). Requires a device that compiles at run time.
Enqueued map(Stream& stream, const View& in, const View& out, const Operator& op,
             const Options& options = {});

/// Applies a built-in function to spans, arrays or expressions.
template <InputRange In, OutputRange Out>
Enqueued map(Stream& stream, const In& in, const Out& out, MapFunction function,
             const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "map: in and out must have the same element type");
    if constexpr (detail::is_expression<In>) {
        return evaluate(stream, transform(function, in), out, options);
    } else {
        return map(stream, View(in.view()), View(out.view()), function, options);
    }
}

/// Applies a built-in function to pairs of elements of spans, arrays or expressions.
template <InputRange A, InputRange B, OutputRange Out>
Enqueued map(Stream& stream, const A& a, const B& b, const Out& out, PairFunction function,
             const Options& options = {}) {
    static_assert(detail::same_elements<A, B, Out>, "map: a, b and out must have the same element type");
    if constexpr (detail::is_expression<A> || detail::is_expression<B>) {
        return evaluate(stream, transform(function, a, b), out, options);
    } else {
        return map(stream, View(a.view()), View(b.view()), View(out.view()), function, options);
    }
}

/// Applies a user function (CONCORD_FUNCTION) of one element.
template <InputRange In, OutputRange Out, class F, class... B>
requires(Function<F, B...>::free_count != 2) Enqueued
    map(Stream& stream, const In& in, const Out& out, const Function<F, B...>& f,
        const Options& options = {}) {
    using Fn = Function<F, B...>;
    static_assert(Fn::free_count == 1, "the function must have one unbound parameter; bind the others");
    using T = typename Fn::template Argument<0>;
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "the element type of in must be that of the parameter of f");
    static_assert(std::is_same_v<typename Out::Element, typename Fn::Result>,
                  "the element type of out must be the result type of f");
    if constexpr (detail::is_expression<In> || detail::has_bool<T, typename Fn::Result>) {
        return evaluate(stream, transform(f, in), out, options);
    } else {
        const auto values = f.packed();
        return detail::map(stream,
                           {.algorithm = "map",
                            .a = in.view(),
                            .b = in.view(),
                            .out = out.view(),
                            .op = Fn::erased(),
                            .values = {values},
                            .host = &detail::map_host<T, T, typename Fn::Result,
                                                      detail::host::IgnoreSecond<typename Fn::Host>>()},
                           options);
    }
}

/// Applies a user function (CONCORD_FUNCTION) of two elements.
template <InputRange A, InputRange B, OutputRange Out, class F, class... V>
Enqueued map(Stream& stream, const A& a, const B& b, const Out& out, const Function<F, V...>& f,
             const Options& options = {}) {
    using Fn = Function<F, V...>;
    static_assert(Fn::free_count == 2,
                  "the function must take two elements; bind its other parameters, or map one input");
    using T = typename Fn::template Argument<0>;
    using U = typename Fn::template Argument<1>;
    static_assert(std::is_same_v<std::remove_const_t<typename A::Element>, T>,
                  "the element type of a must be that of the first parameter of f");
    static_assert(std::is_same_v<std::remove_const_t<typename B::Element>, U>,
                  "the element type of b must be that of the second parameter of f");
    static_assert(std::is_same_v<typename Out::Element, typename Fn::Result>,
                  "the element type of out must be the result type of f");
    if constexpr (detail::is_expression<A> || detail::is_expression<B> ||
                  detail::has_bool<T, U, typename Fn::Result>) {
        return evaluate(stream, transform(f, a, b), out, options);
    } else {
        const auto values = f.packed();
        return detail::map(stream,
                           {.algorithm = "map",
                            .a = a.view(),
                            .b = b.view(),
                            .out = out.view(),
                            .op = Fn::erased(),
                            .values = {values},
                            .host = &detail::map_host<T, U, typename Fn::Result, typename Fn::Host>()},
                           options);
    }
}

/// Applies a built-in function and returns the results as a new array.
template <InputRange In>
[[nodiscard("the results are in a new array")]] auto map(Stream& stream, const In& in, MapFunction function,
                                                         const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    map(stream, in, out, function, options);
    return out;
}

/// Applies a built-in function to pairs of elements and returns the results as a new array.
template <InputRange A, InputRange B>
[[nodiscard("the results are in a new array")]] auto map(Stream& stream, const A& a, const B& b,
                                                         PairFunction function, const Options& options = {}) {
    Array<std::remove_const_t<typename A::Element>> out(stream, detail::count_in_both(a, b));
    map(stream, a, b, out, function, options);
    return out;
}

/// Applies a user function (CONCORD_FUNCTION) of one element and returns the results as a new array.
template <InputRange In, class F, class... B>
[[nodiscard("the results are in a new array")]] auto map(Stream& stream, const In& in,
                                                         const Function<F, B...>& f,
                                                         const Options& options = {}) {
    Array<typename Function<F, B...>::Result> out(stream, detail::count_in(in));
    map(stream, in, out, f, options);
    return out;
}

/// Applies a user function (CONCORD_FUNCTION) of two elements and returns the results as a new array. A function with
/// two unbound parameters selects this form: for map(stream, in, out, f), bind the second one.
template <InputRange A, InputRange B, class F, class... V>
requires(Function<F, V...>::free_count == 2)
    [[nodiscard("the results are in a new array")]] auto map(Stream& stream, const A& a, const B& b,
                                                             const Function<F, V...>& f,
                                                             const Options& options = {}) {
    Array<typename Function<F, V...>::Result> out(stream, detail::count_in_both(a, b));
    map(stream, a, b, out, f, options);
    return out;
}

}  // namespace concord
