#pragma once
/// Map: a function of one element, or of two that correspond, applied to all of them.
///
///     out[i] = f(in[i])              out[i] = f(a[i], b[i])              for 0 <= i < n
///
/// Shapes: all ranges have the same number of elements, at any element offset; out may be one of the inputs
/// exactly (in place) if the element sizes agree, and overlaps none otherwise. Traffic: every input is read
/// once and the output written once. Enqueues on the stream and returns. Errors: invalid_argument (counts
/// that differ, overlap, types that are not f's), wrong_device, unsupported (f64 on a device without it, text
/// on a device that does not compile at run time), compile_failed.

#include <concord/algorithm.hpp>
#include <concord/detail/map_host.hpp>
#include <concord/function.hpp>
#include <concord/operators.hpp>

namespace concord {

namespace detail {

/// The host kernels of one operator; null for operators that are only text.
struct MapHost {
    HostKernel naive = {}, vectorized = {};
};

template <class A, class B, class U, class Op>
const MapHost& map_host() {
    static constexpr MapHost kernels{host_kernel<&detail::host::map_naive<A, B, U, Op>>(),
                                     host_kernel<&detail::host::map_vectorized<A, B, U, Op>>()};
    return kernels;
}

/// A call with its types erased. b is a again if the operator takes one element.
struct MapProblem {
    const char* algorithm;
    View a, b, out;
    const Operator& op;
    ValueBytes values;
    const MapHost* host;  ///< null: text only

    Type type() const { return out.type; }
};

Enqueued map(Stream& stream, const MapProblem& problem, const Options& options);

/// Those of every map, `add` among them.
extern const std::array<const Variant*, 3> map_variants;
inline constexpr std::string_view map_tuning_label = "inputs";  // one, or two

}  // namespace detail

extern const Algorithm map_algorithm;

/// A built-in function; input and output of the same type. sqrt takes floats.
Enqueued map(Stream& stream, const View& in, const View& out, MapFunction function,
             const Options& options = {});

/// An operator that is text only (operator_from_text); on devices that compile at run time.
Enqueued map(Stream& stream, const View& in, const View& out, const Operator& op,
             const Options& options = {});

/// A built-in function on spans or arrays.
template <Range In, Range Out>
Enqueued map(Stream& stream, const In& in, const Out& out, MapFunction function,
             const Options& options = {}) {
    return map(stream, View(in.view()), View(out.view()), function, options);
}

/// A function made with CONCORD_FUNCTION, of one element.
template <Range In, Range Out, class F, class... B>
Enqueued map(Stream& stream, const In& in, const Out& out, const Function<F, B...>& f,
             const Options& options = {}) {
    using Fn = Function<F, B...>;
    static_assert(Fn::free_count == 1,
                  "the function takes another number of elements: bind the rest, or map two inputs");
    using T = typename Fn::template Argument<0>;
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, T>,
                  "in has other elements than f takes");
    static_assert(std::is_same_v<typename Out::Element, typename Fn::Result>,
                  "out has other elements than f gives");
    const auto values = f.packed();
    return detail::map(
        stream,
        {"map",
         in.view(),
         in.view(),
         out.view(),
         Fn::erased(),
         {values},
         &detail::map_host<T, T, typename Fn::Result, detail::host::IgnoreSecond<typename Fn::Host>>()},
        options);
}

/// A function made with CONCORD_FUNCTION, of two elements.
template <Range A, Range B, Range Out, class F, class... V>
Enqueued map(Stream& stream, const A& a, const B& b, const Out& out, const Function<F, V...>& f,
             const Options& options = {}) {
    using Fn = Function<F, V...>;
    static_assert(Fn::free_count == 2,
                  "the function takes another number of elements: bind the rest, or map one input");
    using T = typename Fn::template Argument<0>;
    using U = typename Fn::template Argument<1>;
    static_assert(std::is_same_v<std::remove_const_t<typename A::Element>, T>,
                  "a has other elements than f takes");
    static_assert(std::is_same_v<std::remove_const_t<typename B::Element>, U>,
                  "b has other elements than f takes");
    static_assert(std::is_same_v<typename Out::Element, typename Fn::Result>,
                  "out has other elements than f gives");
    const auto values = f.packed();
    return detail::map(stream,
                       {"map",
                        a.view(),
                        b.view(),
                        out.view(),
                        Fn::erased(),
                        {values},
                        &detail::map_host<T, U, typename Fn::Result, typename Fn::Host>()},
                       options);
}

}  // namespace concord
