#pragma once
/// @file
/// Expressions: inputs that algorithms compute while they read them.
///
///     CONCORD_FUNCTION(f32, squared_distance, (f32 x, f32 y), return (x - y) * (x - y);)
///     reduce(stream, transform(squared_distance, x, y), out);             // one kernel, no temporary array
///     reduce(stream, gather(x, index), out, ReduceOp::max);
///     evaluate(stream, transform(PairFunction::pow, x, constant(2.0f)), out);
///
/// An expression is a range, or is made of other expressions by the functions below. Algorithms take it where they take
/// an input range. It holds views: arrays must live until the call that uses it returns. An expression of a temporary
/// array does not compile.
///
/// - Order and bits: element i has the bits that separate calls give which store every part in an array. Results of
///   functions are rounded to their type, and a NaN is the canonical one.
/// - Memory traffic: a call reads every element of the ranges that it needs, each time that it needs it. A call whose
///   kernels cannot compute their input evaluates it to a temporary array first (see docs/expressions.md).
/// - Outputs: an output may be exactly an input range only if the algorithm permits it for ranges, and if each element
///   of that range is used for the element at the same index only. Any other overlap is an error.
/// - Size: at most 24 parts, and 8 inputs of a function. Expressions are immutable and cheap to copy.

#include <concord/detail/canonical.hpp>
#include <concord/host_kernel.hpp>
#include <concord/nd_span.hpp>
#include <concord/operators.hpp>

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace concord {

/// The sequence first, first + step, first + 2 * step ... Computed, not stored: element i is first + T(i) * step,
/// integers wrap.
template <class T>
struct Counting {
    /// The element type.
    using Element = T;
    T first;  ///< element 0
    T step;   ///< distance of elements
};

/// One value for all elements.
template <class T>
struct Repeated {
    /// The element type.
    using Element = T;
    T value;  ///< the value
};

/// The sequence first, first + step ...
template <class T = u64>
constexpr Counting<T> counting(T first = 0, T step = 1) {
    static_assert(is_element<T>, "not an element type; concord::Type lists them");
    return {first, step};
}

/// The value for all elements.
template <class T>
constexpr Repeated<T> constant(T value) {
    static_assert(is_element<T>, "not an element type; concord::Type lists them");
    return {value};
}

namespace detail {

// A part of an expression with its types erased.
struct ExpressionNode;
using ExpressionPointer = std::shared_ptr<const ExpressionNode>;

// The size of an expression without a range.
inline constexpr u64 any_count = ~u64{0};

// What a function of an expression is on the CPU: kernels over the elements of a block.
struct BlockKernel {
    HostKernel kernel;
    bool is_map = false;  // the kernel is map_naive, with two inputs and a tile; otherwise BlockOf::run
};

// out[i] = f(in[i], ...) for i < n.
template <class Op, class U, class... In>
struct BlockOf {
    [[gnu::always_inline]] static inline void run(const Group& /*group*/, const In*... in, U* out, u64 n,
                                                  const Op op) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (u64 i = 0; i < n; ++i)
            out[i] = canonical(op(in[i]...));
    }
};

// The constructors of nodes. Throw invalid_argument.
ExpressionPointer range_node(const View& view);
ExpressionPointer counting_node(Type type, const void* first, const void* step);
ExpressionPointer constant_node(Type type, const void* value);
ExpressionPointer transform_node(const Operator& op, std::span<const std::byte> bound,
                                 const BlockKernel& kernel, std::vector<ExpressionPointer> inputs);
ExpressionPointer transform_node(MapFunction function, ExpressionPointer in);
ExpressionPointer transform_node(PairFunction function, ExpressionPointer a, ExpressionPointer b);
ExpressionPointer transform_node(ReduceOp op, ExpressionPointer a, ExpressionPointer b);
ExpressionPointer gather_node(ExpressionPointer in, ExpressionPointer index);
ExpressionPointer strided_node(ExpressionPointer in, std::span<const u64> extents,
                               std::span<const i64> strides, u64 origin);
ExpressionPointer reversed_node(ExpressionPointer in);
ExpressionPointer convert_node(Type to, ExpressionPointer in);
// 1 for each element that is not 0, otherwise 0, as u64. Of integers.
ExpressionPointer flag_node(ExpressionPointer in);

// What algorithms read: a range, or an expression.
struct Input {
    Input(const View& range) : view(range) {}
    explicit Input(ExpressionPointer expression);

    View view;                    // of an expression: its count and type, without a buffer
    ExpressionPointer node = {};  // null: the range
};

}  // namespace detail

/// An expression of elements of type T; see transform(), gather(), strided(), reversed(), convert().
template <class T>
class Expression {
  public:
    /// The element type.
    using Element = T;

    /// @cond
    explicit Expression(detail::ExpressionPointer node) : node_(std::move(node)) {}
    const detail::ExpressionPointer& node() const { return node_; }
    /// @endcond

    /// The number of elements. Throws invalid_argument if it is that of counting() or constant(), which have any.
    u64 size() const { return detail::Input(node_).view.count; }

  private:
    detail::ExpressionPointer node_;
};

namespace detail {

template <class S>
inline constexpr bool is_expression = false;
template <class T>
inline constexpr bool is_expression<Expression<T>> = true;
template <class S>
inline constexpr bool is_generated = false;
template <class T>
inline constexpr bool is_generated<Counting<T>> = true;
template <class T>
inline constexpr bool is_generated<Repeated<T>> = true;
// Whether the type owns its elements.
template <class S>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<Array<T>> = true;

}  // namespace detail

/// What expressions are made of: ranges, expressions, counting() and constant().
template <class S>
concept Source = Range<S> || detail::is_expression<S> || detail::is_generated<S>;

/// An input of an algorithm: a range or an expression.
template <class S>
concept InputRange = Range<S> || detail::is_expression<S>;

namespace detail {

template <class S>
using ElementOf = std::remove_const_t<typename std::remove_cvref_t<S>::Element>;

template <class S>
ExpressionPointer node_of(const S& source) {
    using T = ElementOf<S>;
    if constexpr (is_expression<S>) {
        return source.node();
    } else if constexpr (Range<S>) {
        return range_node(source.view());
    } else if constexpr (std::is_same_v<S, Counting<T>>) {
        return counting_node(type_of<T>(), &source.first, &source.step);
    } else {
        return constant_node(type_of<T>(), &source.value);
    }
}

// The number of elements of an input.
template <class S>
u64 count_in(const S& source) {
    if constexpr (is_expression<S>) {
        return source.size();
    } else {
        return View(source.view()).count;
    }
}

// The same for two inputs. One of them may have any number.
u64 common_count(const ExpressionPointer& a, const ExpressionPointer& b);
template <class A, class B>
u64 count_in_both(const A& a, const B& b) {
    if constexpr (is_expression<A> || is_expression<B>) {
        return common_count(node_of(a), node_of(b));
    } else {
        return count_in(a);
    }
}

template <class S>
Input input_of(const S& source) {
    if constexpr (is_expression<S>) {
        return Input(source.node());
    } else {
        return Input(View(source.view()));
    }
}

// Does not compile for a temporary array, which would be gone when the expression is used.
template <class... S>
constexpr void check_sources() {
    static_assert((Source<std::remove_cvref_t<S>> && ...),
                  "an expression is made of ranges, expressions, counting() and constant(): write "
                  "constant(2.0f) for a value");
    static_assert(((!is_array<std::remove_cvref_t<S>> || std::is_lvalue_reference_v<S>)&&...),
                  "an expression of a temporary array: keep the array in a variable");
}

}  // namespace detail

/// Sources that a function takes together; see zip().
template <class... S>
struct Zipped {
    std::tuple<Expression<S>...> sources;  ///< the sources
};

namespace detail {
template <class S>
inline constexpr bool is_zipped = false;
template <class... S>
inline constexpr bool is_zipped<Zipped<S...>> = true;
}  // namespace detail

/// Element i is f(x[i], ...) for a function of CONCORD_FUNCTION with one to eight unbound parameters, whose types are
/// those of the sources. All ranges have one size. Throws invalid_argument (sizes, more than 24 parts).
template <class F, class... B, class... S>
requires(!detail::is_zipped<std::remove_cvref_t<S>> && ...) auto transform(const Function<F, B...>& f,
                                                                           S&&... x) {
    using Fn = Function<F, B...>;
    using U = typename Fn::Result;
    detail::check_sources<S&&...>();
    static_assert(sizeof...(S) >= 1 && sizeof...(S) <= 8,
                  "a function of an expression has one to eight inputs");
    static_assert(Fn::free_count == sizeof...(S),
                  "the function must have one unbound parameter for each input; bind the others");
    static_assert(is_element<U>, "the function must return an element type");
    []<std::size_t... I>(std::index_sequence<I...>) {
        static_assert((std::is_same_v<typename Fn::template Argument<I>, detail::ElementOf<S>> && ...),
                      "the sources must have the element types of the function's parameters; see convert()");
    }
    (std::index_sequence_for<S...>{});
    const auto bound = f.packed();
    const detail::BlockKernel kernel{
        host_kernel<&detail::BlockOf<typename Fn::Host, U, detail::ElementOf<S>...>::run>()};
    return Expression<U>(detail::transform_node(Fn::erased(), bound, kernel, {detail::node_of(x)...}));
}

/// Element i is a built-in function of x[i]. Throws unsupported for a function of floats and another type.
template <class S>
requires(!detail::is_zipped<std::remove_cvref_t<S>>) auto transform(MapFunction function, S&& x) {
    detail::check_sources<S&&>();
    return Expression<detail::ElementOf<S>>(detail::transform_node(function, detail::node_of(x)));
}

/// Element i is a built-in function of x[i] and y[i], which have one type, f32 or f64.
template <class S, class R>
auto transform(PairFunction function, S&& x, R&& y) {
    detail::check_sources<S&&, R&&>();
    static_assert(std::is_same_v<detail::ElementOf<S>, detail::ElementOf<R>>,
                  "both sources must have one element type; see convert()");
    return Expression<detail::ElementOf<S>>(
        detail::transform_node(function, detail::node_of(x), detail::node_of(y)));
}

/// Element i is x[i] op y[i]: their sum, product, minimum or maximum. x and y have one element type.
template <class S, class R>
auto transform(ReduceOp op, S&& x, R&& y) {
    detail::check_sources<S&&, R&&>();
    static_assert(std::is_same_v<detail::ElementOf<S>, detail::ElementOf<R>>,
                  "both sources must have one element type; see convert()");
    return Expression<detail::ElementOf<S>>(
        detail::transform_node(op, detail::node_of(x), detail::node_of(y)));
}

/// Sources for a function of several elements: transform(f, zip(x, y)) is transform(f, x, y).
template <class... S>
auto zip(S&&... x) {
    detail::check_sources<S&&...>();
    return Zipped<detail::ElementOf<S>...>{{Expression<detail::ElementOf<S>>(detail::node_of(x))...}};
}

/// Element i is f of the elements i of the zipped sources.
template <class F, class... S>
auto transform(const F& f, const Zipped<S...>& x) {
    return std::apply([&](const auto&... source) { return transform(f, source...); }, x.sources);
}

/// Element i is x[index[i]]. The indices are integers. An index on the device that is out of range reads element 0 of
/// x: no kernel accesses memory outside of x. Throws invalid_argument if x is empty and index is not.
template <class S, class I>
auto gather(S&& x, I&& index) {
    detail::check_sources<S&&, I&&>();
    static_assert(std::is_integral_v<detail::ElementOf<I>>, "the indices of gather are integers");
    return Expression<detail::ElementOf<S>>(detail::gather_node(detail::node_of(x), detail::node_of(index)));
}

/// The elements of x at the indices of a strided array, in row-major order: element (i0, i1, ...) is
/// x[origin + i0 * strides[0] + i1 * strides[1] + ...]. Strides are numbers of elements: 0 repeats (broadcast), a
/// negative one reverses. One to eight extents. Throws invalid_argument if an index is outside of x.
template <class S>
auto strided(S&& x, std::span<const u64> extents, std::span<const i64> strides, u64 origin = 0) {
    detail::check_sources<S&&>();
    return Expression<detail::ElementOf<S>>(
        detail::strided_node(detail::node_of(x), extents, strides, origin));
}
/// The same with lists of any integers: strided(x, {rows, columns}, {1, rows}).
template <class S>
auto strided(S&& x, const NdExtents& extents, const NdStrides& strides, u64 origin = 0) {
    detail::check_sources<S&&>();
    return Expression<detail::ElementOf<S>>(detail::strided_node(
        detail::node_of(x), {extents.begin(), extents.size()}, {strides.begin(), strides.size()}, origin));
}

/// The elements of x from the last to the first. Throws invalid_argument for an expression without a range.
template <class S>
auto reversed(S&& x) {
    detail::check_sources<S&&>();
    return Expression<detail::ElementOf<S>>(detail::reversed_node(detail::node_of(x)));
}

/// The elements of x as type T. Integers wrap. A float becomes the next integer towards zero, or the nearest integer
/// that T has; NaN becomes 0. Conversions to floats round to nearest. A NaN becomes the canonical one. Elements of type
/// T stay unchanged.
template <class T, class S>
auto convert(S&& x) {
    detail::check_sources<S&&>();
    static_assert(is_element<T>, "not an element type; concord::Type lists them");
    return Expression<T>(detail::convert_node(type_of<T>(), detail::node_of(x)));
}

namespace detail {
Enqueued evaluate(Stream& stream, const Input& in, const View& out, const Options& options);
// The range, or the elements of the expression in a temporary array, which lives as long as `room`.
View materialized(Stream& stream, const Input& in, std::shared_ptr<Buffer>& room);
// The same for calls whose kernels read ranges only. Checks an expression, also against an output of the call and the
// order that its options ask for.
class InputInMemory {
  public:
    InputInMemory(Stream& stream, std::string_view call, const Input& in, const View& out,
                  const Options& options, InPlace in_place = InPlace::no);
    const View& view() const { return view_; }
    // The call, with no stronger order than that of the input.
    Enqueued with_order(Enqueued call) const {
        call.order = max_of(call.order, order_);
        return call;
    }

  private:
    std::shared_ptr<Buffer> room_;
    View view_;
    OperationOrder order_ = OperationOrder::canonical;
};
// The checks of check_operand() and check_overlap() for an input.
void check_input(std::string_view call, std::string_view name, const Stream& stream, const Input& in);
void check_input_overlap(std::string_view call, const NamedView& out, const char* name, const Input& in,
                         InPlace in_place = InPlace::no);
}  // namespace detail

/// Writes the elements of an expression to out. One kernel. Reads the ranges once and writes out once. out may be
/// exactly a range of the expression whose elements are used at their own index only. Asynchronous. Throws
/// invalid_argument (counts, overlap), wrong_device, unsupported (f64 on a device without it), compile_failed.
template <class T, OutputRange Out>
Enqueued evaluate(Stream& stream, const Expression<T>& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<T, typename Out::Element>,
                  "the element type of out must be that of the expression; see convert()");
    return detail::evaluate(stream, detail::Input(in.node()), out.view(), options);
}

/// Writes the elements of an expression to a new array.
template <class T>
[[nodiscard("the elements are in a new array")]] Array<T> evaluate(Stream& stream, const Expression<T>& in,
                                                                   const Options& options = {}) {
    Array<T> out(stream, in.size());
    evaluate(stream, in, out, options);
    return out;
}

}  // namespace concord
