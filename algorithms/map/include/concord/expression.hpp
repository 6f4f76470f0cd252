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
/// Array views broadcast: transform(), convert(), where() and clip() with an array view (NdSpan, Matrix, Volume) give
/// an expression with extents, by NumPy's rules. A range is an array of one axis, and constant() has none:
///
///     evaluate(stream, transform(BinaryFunction::add, NdSpan(x, {300, 500}), row), out);  // row: 500 elements
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
#include <optional>
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
    static_assert(is_element<T> && !std::is_same_v<T, bool>, "counting takes integers and floats");
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
    bool is_map = false;    // the kernel is map_naive, with two inputs and a tile
    bool is_flags = false;  // the kernel is compact_keep, whose results are u8; otherwise BlockOf::run
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
ExpressionPointer transform_node(BinaryFunction function, ExpressionPointer a, ExpressionPointer b);
ExpressionPointer transform_node(BinaryPredicate function, ExpressionPointer a, ExpressionPointer b);
ExpressionPointer transform_node(UnaryPredicate function, ExpressionPointer in);
ExpressionPointer where_node(ExpressionPointer condition, ExpressionPointer x, ExpressionPointer y);
ExpressionPointer clip_node(ExpressionPointer x, ExpressionPointer low, ExpressionPointer high);
// reports: whether the next synchronize() reports indices that are out of range. Not needed for those that are known to
// be in range.
ExpressionPointer gather_node(ExpressionPointer in, ExpressionPointer index, bool reports = false);
ExpressionPointer strided_node(ExpressionPointer in, std::span<const u64> extents,
                               std::span<const i64> strides, u64 origin);
ExpressionPointer reversed_node(ExpressionPointer in);
ExpressionPointer convert_node(Type to, ExpressionPointer in);
// 1 for each element that is not 0, otherwise 0, as u64.
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

/// An expression with extents: its elements are those of an array, in row-major order. transform(), convert(), where()
/// and clip() make it of array views.
template <class T>
class NdExpression {
  public:
    /// The element type.
    using Element = T;

    /// @cond
    NdExpression(detail::ExpressionPointer node, const NdExtents& extents)
        : flat_(std::move(node)), extents_(extents) {}
    const detail::ExpressionPointer& node() const { return flat_.node(); }
    /// @endcond

    /// The number of axes.
    u32 rank() const { return extents_.size(); }
    /// The number of indices along axis k < rank().
    u64 extent(u32 k) const { return extents_[k]; }
    /// All extents.
    const NdExtents& extents() const { return extents_; }
    /// The number of elements: the product of the extents, 1 for rank 0.
    u64 size() const { return flat_.size(); }
    /// The elements in row-major order, the last axis fastest.
    const Expression<T>& flat() const { return flat_; }

  private:
    Expression<T> flat_;
    NdExtents extents_;
};

namespace detail {

template <class S>
inline constexpr bool is_nd_expression = false;
template <class T>
inline constexpr bool is_nd_expression<NdExpression<T>> = true;
// What has extents.
template <class S>
concept Shaped = NdRange<S> || is_nd_expression<S>;
// Whether one of the types is bool, whose elements are normalised when they are read.
template <class... T>
inline constexpr bool has_bool = (std::is_same_v<T, bool> || ...);

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
/// What a call over axes reads: an array view, or an expression with extents.
template <class S>
concept NdInputRange = detail::Shaped<S>;

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

template <class T>
Input input_of(const NdExpression<T>& source) {
    return Input(source.node());
}

// An array view, or an expression with extents.
struct NdInput {
    NdView view;                      // of an expression: without a buffer
    ExpressionPointer elements = {};  // in the order of the indices of the view; null: in memory
};
template <class In>
NdInput nd_input_of(const In& in) {
    if constexpr (NdRange<In>) {
        return {in.view()};
    } else {
        const Input elements(in.node());
        return {NdView(elements.view, in.extents()), elements.node};
    }
}

// A source of an expression with extents.
struct NdSource {
    ExpressionPointer node;  // the elements in row-major order; null: the view
    NdView view;
    NdExtents extents;
};

template <class S>
NdSource nd_source_of(const S& source) {
    static_assert(!std::is_same_v<S, Counting<ElementOf<S>>>,
                  "counting() has no extents: evaluate() it to an array");
    if constexpr (is_nd_expression<S>) {
        return {source.node(), {}, source.extents()};
    } else if constexpr (NdRange<S>) {
        const NdView view = source.view();
        return {nullptr, view, view.extents()};
    } else if constexpr (is_generated<S>) {
        return {node_of(source), {}, {}};
    } else {
        return {node_of(source), {}, NdExtents(count_in(source))};
    }
}

// The extents to which all sources broadcast. Throws invalid_argument if there are none.
NdExtents common_extents(std::string_view call, std::span<const NdSource> sources);
// The elements of the source, broadcast to the extents, in row-major order.
ExpressionPointer broadcast_node(const NdSource& source, const NdExtents& extents);

// The expression of elements of type U that `make` makes of the nodes of the sources. With extents if a source has.
template <class U, class Make, class... S>
auto expression_of(std::string_view call, const Make& make, const S&... x) {
    if constexpr ((Shaped<S> || ...)) {
        const std::array<NdSource, sizeof...(S)> sources{nd_source_of(x)...};
        const NdExtents extents = common_extents(call, sources);
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
            return NdExpression<U>(make(broadcast_node(sources[I], extents)...), extents);
        }
        (std::index_sequence_for<S...>{});
    } else {
        return Expression<U>(make(node_of(x)...));
    }
}

// Does not compile for a temporary array, which would be gone when the expression is used. `takes_extents`: whether
// sources may be array views.
template <bool takes_extents, class... S>
constexpr void check_sources() {
    static_assert((takes_extents || ... || !Shaped<std::remove_cvref_t<S>>),
                  "only transform, convert, where and clip take array views; see NdExpression::flat()");
    static_assert(((Source<std::remove_cvref_t<S>> || Shaped<std::remove_cvref_t<S>>)&&...),
                  "an expression is made of ranges, expressions, counting() and constant(): write "
                  "constant(2.0f) for a value");
    static_assert(((!is_array<std::remove_cvref_t<S>> || std::is_lvalue_reference_v<S>)&&...),
                  "an expression of a temporary array: keep the array in a variable");
}

}  // namespace detail

namespace detail {
// A built-in function of two sources, with results of type U.
template <class U, class F, class S, class R>
auto transform_two(F function, S&& x, R&& y) {
    check_sources<true, S&&, R&&>();
    static_assert(std::is_same_v<ElementOf<S>, ElementOf<R>>,
                  "both sources must have one element type; see convert()");
    return expression_of<U>(
        "transform", [&](auto a, auto b) { return transform_node(function, std::move(a), std::move(b)); }, x,
        y);
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
    detail::check_sources<true, S&&...>();
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
    return detail::expression_of<U>(
        "transform",
        [&](auto... nodes) { return detail::transform_node(Fn::erased(), bound, kernel, {nodes...}); }, x...);
}

/// Element i is a built-in function of x[i]. Throws unsupported for a function of floats and another type.
template <class S>
requires(!detail::is_zipped<std::remove_cvref_t<S>>) auto transform(MapFunction function, S&& x) {
    detail::check_sources<true, S&&>();
    return detail::expression_of<detail::ElementOf<S>>(
        "transform", [&](auto in) { return detail::transform_node(function, std::move(in)); }, x);
}

/// Element i is a built-in predicate of x[i]. Throws unsupported for is_nan of integers.
template <class S>
auto transform(UnaryPredicate function, S&& x) {
    detail::check_sources<true, S&&>();
    return detail::expression_of<bool>(
        "transform", [&](auto in) { return detail::transform_node(function, std::move(in)); }, x);
}

/// Element i is a built-in function of x[i] and y[i], which have one type, f32 or f64.
template <class S, class R>
auto transform(PairFunction function, S&& x, R&& y) {
    return detail::transform_two<detail::ElementOf<S>>(function, static_cast<S&&>(x), static_cast<R&&>(y));
}

/// Element i is x[i] op y[i]: their sum, product, minimum or maximum. x and y have one element type.
template <class S, class R>
auto transform(ReduceOp op, S&& x, R&& y) {
    return detail::transform_two<detail::ElementOf<S>>(op, static_cast<S&&>(x), static_cast<R&&>(y));
}

/// Element i is a built-in function of x[i] and y[i], which have one type. Throws unsupported for a type that the
/// function does not support: integers of divide (convert them to f64), and bool.
template <class S, class R>
auto transform(BinaryFunction function, S&& x, R&& y) {
    return detail::transform_two<detail::ElementOf<S>>(function, static_cast<S&&>(x), static_cast<R&&>(y));
}

/// Element i is a built-in predicate of x[i] and y[i], which have one type.
template <class S, class R>
auto transform(BinaryPredicate function, S&& x, R&& y) {
    return detail::transform_two<bool>(function, static_cast<S&&>(x), static_cast<R&&>(y));
}

/// Element i is x[i] if condition[i] is not 0, otherwise y[i], bit for bit. The condition has type bool or u8.
template <class C, class S, class R>
auto where(C&& condition, S&& x, R&& y) {
    detail::check_sources<true, C&&, S&&, R&&>();
    static_assert(std::is_same_v<detail::ElementOf<C>, bool> || std::is_same_v<detail::ElementOf<C>, u8>,
                  "the condition of where has type bool or u8; see convert()");
    static_assert(std::is_same_v<detail::ElementOf<S>, detail::ElementOf<R>>,
                  "x and y of where must have one element type; see convert()");
    return detail::expression_of<detail::ElementOf<S>>(
        "where", [](auto... nodes) { return detail::where_node(std::move(nodes)...); }, condition, x, y);
}

/// Element i is minimum(maximum(x[i], low[i]), high[i]), of one element type. NaN if one of them is NaN.
template <class S, class L, class H>
requires(Source<std::remove_cvref_t<L>> || detail::Shaped<std::remove_cvref_t<L>>) auto clip(S&& x, L&& low,
                                                                                             H&& high) {
    detail::check_sources<true, S&&, L&&, H&&>();
    static_assert(std::is_same_v<detail::ElementOf<S>, detail::ElementOf<L>> &&
                      std::is_same_v<detail::ElementOf<S>, detail::ElementOf<H>>,
                  "x, low and high of clip must have one element type; see convert()");
    return detail::expression_of<detail::ElementOf<S>>(
        "clip", [](auto... nodes) { return detail::clip_node(std::move(nodes)...); }, x, low, high);
}
/// The same with one value as each limit.
template <class S>
auto clip(S&& x, detail::ElementOf<S> low, detail::ElementOf<S> high) {
    return clip(static_cast<S&&>(x), constant(low), constant(high));
}

/// Sources for a function of several elements: transform(f, zip(x, y)) is transform(f, x, y).
template <class... S>
auto zip(S&&... x) {
    detail::check_sources<false, S&&...>();
    return Zipped<detail::ElementOf<S>...>{{Expression<detail::ElementOf<S>>(detail::node_of(x))...}};
}

/// Element i is f of the elements i of the zipped sources.
template <class F, class... S>
auto transform(const F& f, const Zipped<S...>& x) {
    return std::apply([&](const auto&... source) { return transform(f, source...); }, x.sources);
}

/// Element i is x[index[i]]. The indices are integers. An index on the device that is not in [0, x.size()) makes the
/// output of the call undefined: no kernel accesses memory outside of x, and the next Stream::synchronize() throws
/// invalid_argument with the first such position in index. Throws invalid_argument if x is empty and index is not.
template <class S, class I>
auto gather(S&& x, I&& index) {
    detail::check_sources<false, S&&, I&&>();
    static_assert(std::is_integral_v<detail::ElementOf<I>> && !std::is_same_v<detail::ElementOf<I>, bool>,
                  "the indices of gather are integers");
    return Expression<detail::ElementOf<S>>(
        detail::gather_node(detail::node_of(x), detail::node_of(index), true));
}

/// The elements of x at the indices of a strided array, in row-major order: element (i0, i1, ...) is
/// x[origin + i0 * strides[0] + i1 * strides[1] + ...]. Strides are numbers of elements: 0 repeats (broadcast), a
/// negative one reverses. One to eight extents. Throws invalid_argument if an index is outside of x.
template <class S>
auto strided(S&& x, std::span<const u64> extents, std::span<const i64> strides, u64 origin = 0) {
    detail::check_sources<false, S&&>();
    return Expression<detail::ElementOf<S>>(
        detail::strided_node(detail::node_of(x), extents, strides, origin));
}
/// The same with lists of any integers: strided(x, {rows, columns}, {1, rows}).
template <class S>
auto strided(S&& x, const NdExtents& extents, const NdStrides& strides, u64 origin = 0) {
    detail::check_sources<false, S&&>();
    return Expression<detail::ElementOf<S>>(detail::strided_node(
        detail::node_of(x), {extents.begin(), extents.size()}, {strides.begin(), strides.size()}, origin));
}

/// The elements of x from the last to the first. Throws invalid_argument for an expression without a range.
template <class S>
auto reversed(S&& x) {
    detail::check_sources<false, S&&>();
    return Expression<detail::ElementOf<S>>(detail::reversed_node(detail::node_of(x)));
}

/// The elements of x as type T. Integers wrap. A float becomes the next integer towards zero, or the nearest integer
/// that T has; NaN becomes 0. Conversions to floats round to nearest. A NaN becomes the canonical one. bool is x != 0,
/// which is true of NaN, and becomes 0 or 1. Elements of type T stay unchanged.
template <class T, class S>
auto convert(S&& x) {
    detail::check_sources<true, S&&>();
    static_assert(is_element<T>, "not an element type; concord::Type lists them");
    return detail::expression_of<T>(
        "convert", [](auto in) { return detail::convert_node(type_of<T>(), std::move(in)); }, x);
}

namespace detail {
Enqueued evaluate(Stream& stream, const Input& in, const View& out, const Options& options);
// Throws invalid_argument unless out has the extents and is unique.
Enqueued evaluate(Stream& stream, const Input& in, const NdExtents& extents, const NdView& out,
                  const Options& options);
// The first count[0] <= out.count elements only. count: one u64 on the device.
Enqueued evaluate_counted(Stream& stream, const Input& in, const View& out, const View& count,
                          const Options& options);
// The range, or the elements of the expression in a temporary array, which lives as long as `room`. With a count only
// the first count[0] ones.
View materialized(Stream& stream, const Input& in, std::shared_ptr<Buffer>& room, const View& count = {});
// Whether an expression is stored at once, or by a kernel of the call.
enum class Store : u8 { now, later };
// The same for calls whose kernels read ranges only. Checks an expression, also against an output of the call and the
// order that its options ask for.
class InputInMemory {
  public:
    InputInMemory(Stream& stream, std::string_view call, const Input& in, const View& out,
                  const Options& options, InPlace in_place = InPlace::no, Store store = Store::now,
                  const View& count = {});
    const View& view() const { return view_; }
    // The expression that a kernel of the call has to store in view(); null if the elements are there.
    const ExpressionPointer& unstored() const { return unstored_; }
    // The call, with no stronger order than that of the input.
    Enqueued with_order(Enqueued call) const {
        call.order = max_of(call.order, order_);
        return call;
    }

  private:
    std::shared_ptr<Buffer> room_;
    View view_;
    ExpressionPointer unstored_;
    OperationOrder order_ = OperationOrder::canonical;
};
// The same for inputs with extents.
class NdInputInMemory {
  public:
    NdInputInMemory(Stream& stream, std::string_view call, const NdInput& in, const NdView& out,
                    const Options& options);
    const NdView& view() const { return view_; }
    Enqueued with_order(Enqueued call) const { return in_memory_ ? in_memory_->with_order(call) : call; }

  private:
    std::optional<InputInMemory> in_memory_;
    NdView view_;
};
// The checks of check_operand() and check_overlap() for an input, and those for one that may be bool.
void check_stored_input(std::string_view call, std::string_view name, const Stream& stream, const Input& in);
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

/// Writes the elements of an expression with extents to an array view of these extents and any strides. As evaluate()
/// of an expression, but out may be a range of the expression only if it is contiguous. Also throws invalid_argument if
/// two indices of out share an element.
template <class T, OutputNdRange Out>
Enqueued evaluate(Stream& stream, const NdExpression<T>& in, const Out& out, const Options& options = {}) {
    static_assert(std::is_same_v<T, typename Out::Element>,
                  "the element type of out must be that of the expression; see convert()");
    return detail::evaluate(stream, detail::Input(in.node()), in.extents(), NdView(out.view()), options);
}

/// Writes the elements of an expression with extents to a range in row-major order.
template <class T, OutputRange Out>
Enqueued evaluate(Stream& stream, const NdExpression<T>& in, const Out& out, const Options& options = {}) {
    return evaluate(stream, in.flat(), out, options);
}

/// Writes the elements of an expression with extents to a new array in row-major order.
template <class T>
[[nodiscard("the elements are in a new array")]] Array<T> evaluate(Stream& stream, const NdExpression<T>& in,
                                                                   const Options& options = {}) {
    return evaluate(stream, in.flat(), options);
}

}  // namespace concord
