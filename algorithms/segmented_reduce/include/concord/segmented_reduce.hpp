#pragma once
/// @file
/// Segmented reduce: combines the elements of each segment of a range.
///
///     out[s] = in[offsets[s]] op in[offsets[s] + 1] op ... op in[offsets[s + 1] - 1]
///
/// - Shapes: in has n >= 0 elements, out S >= 0, offsets S + 1. Offsets ascend, from 0 or more to n or less. Elements
///   outside of all segments are not read. A segment without elements gives the identity.
/// - Order: the result of a segment is bitwise that of reduce() on its elements alone.
/// - Inputs: a range or an expression (expression.hpp), which the kernels compute.
/// - Types: any element type, the same for in and out. Offsets are u32, u64, i32 or i64.
/// - Offsets that do not ascend or exceed n: Stream::synchronize() throws invalid_argument, which names the position of
///   the first one. Nothing outside of the operands is accessed; out is undefined.
/// - In place: not supported. out may not overlap in or offsets.
/// - Memory traffic: reads every element of a segment and every offset once.
/// - Scratch: about n / 24 bytes and n / 512 elements if n > 1024, for segments of more than 1024 elements.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return an array, whose first use
///   must follow on the stream.
/// - NaN: as reduce.hpp.
/// - Errors: invalid_argument (counts, overlap, types), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Source: M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree of a segment). The rest is Concord's.

#include <concord/detail/segmented_reduce_host.hpp>

namespace concord {

namespace detail {

// The host kernel of one operator and type. Memory limits it: wider vectors than AVX2's gain little.
template <class T, class Op>
constexpr HostKernel make_segmented_reduce_host() {
    HostKernel kernel = host_kernel<&detail::host::segmented_reduce<T, Op>>();
    kernel.entry(HostIsa::avx512) = kernel.entry(HostIsa::avx2);
    return kernel;
}
template <class T, class Op>
const HostKernel& segmented_reduce_host() {
    static constexpr HostKernel kernel = make_segmented_reduce_host<T, Op>();
    return kernel;
}

// A call with its types erased.
struct SegmentedReduceProblem {
    View in, offsets, out;  // in: without a buffer if there is an expression
    const Operator& op;
    ValueBytes values;                  // the operator's bound values
    ValueBytes identity;                // one element
    const HostKernel* host;             // null: the operator has kernel source only
    ExpressionPointer expression = {};  // what is reduced in place of a range; often null
    View live = {};  // one u64: the number of segments, at most out.count; often without a buffer

    Type type() const { return in.type; }
    bool is_live() const { return live.buffer != nullptr; }
    Input input() const { return expression ? Input(expression) : Input(in); }
};

// The call of a user operator Fn. It refers to its bound values and the identity.
template <class Fn, class T, class Values>
SegmentedReduceProblem segmented_reduce_problem(const Input& in, const View& offsets, const View& out,
                                                const Values& values, const T& identity) {
    return {.in = in.view,
            .offsets = offsets,
            .out = out,
            .op = Fn::erased(),
            .values = {values},
            .identity = {std::as_bytes(std::span(&identity, 1))},
            .host = &segmented_reduce_host<T, typename Fn::Host>(),
            .expression = in.node};
}

// The call of a built-in operator. It refers only to static data.
SegmentedReduceProblem segmented_reduce_problem(const Input& in, const View& offsets, const View& out,
                                                ReduceOp op);

Enqueued segmented_reduce(Stream& stream, const SegmentedReduceProblem& problem, const Options& options);
Enqueued segmented_reduce(Stream& stream, const Input& in, const View& offsets, const View& out, ReduceOp op,
                          const Options& options);

// The number of segments. Throws invalid_argument unless there is an offset.
u64 segment_count(std::string_view call, const View& offsets);

// Throws invalid_argument unless offsets may have the type.
void check_offset_type(std::string_view call, Type type);

// Checks the values of offsets on the host, piece by piece, for callers that write nothing if one is wrong.
class OffsetsCheck {
  public:
    // n: number of elements.
    OffsetsCheck(std::string_view call, u64 n) : call_(call), n_(n) {}
    // Throws invalid_argument, which names the first wrong one.
    void add(std::span<const std::byte> offsets, Type type);
    // Throws invalid_argument if an element is outside of all segments. After all offsets.
    void check_covers() const;

  private:
    std::string_view call_;
    u64 n_, index_ = 0, before_ = 0, first_ = 0;
};

// Checks at compile time that offsets may have their type.
template <class Offsets>
constexpr void check_offsets() {
    using O = std::remove_const_t<typename Offsets::Element>;
    static_assert(std::is_integral_v<O> && (sizeof(O) == 4 || sizeof(O) == 8),
                  "offsets must be u32, u64, i32 or i64");
}

}  // namespace detail

/// Descriptor of segmented_reduce.
extern const Algorithm segmented_reduce_algorithm;

/// Reduces the segments of a view with a built-in operator; see the top of this file.
Enqueued segmented_reduce(Stream& stream, const View& in, const View& offsets, const View& out,
                          ReduceOp op = ReduceOp::sum, const Options& options = {});

/// Reduces the segments of a span, array or expression with a built-in operator.
template <InputRange In, InputRange Offsets, OutputRange Out>
Enqueued segmented_reduce(Stream& stream, const In& in, const Offsets& offsets, const Out& out,
                          ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>,
                  "segmented_reduce: in and out must have the same element type");
    detail::check_offsets<Offsets>();
    return detail::segmented_reduce(stream, detail::input_of(in), offsets.view(), out.view(), op, options);
}

/// Reduces segments with a user operator; see reduce() with one.
template <InputRange In, InputRange Offsets, OutputRange Out, class F, class... B>
Enqueued segmented_reduce(Stream& stream, const In& in, const Offsets& offsets, const Out& out,
                          const Function<F, B...>& op, typename In::Element identity,
                          const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    detail::check_offsets<Offsets>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("segmented_reduce", op, start, options.order);
    return detail::segmented_reduce(
        stream,
        detail::segmented_reduce_problem<Fn>(detail::input_of(in), offsets.view(), out.view(), values, start),
        options);
}

/// Reduces segments with a built-in operator and returns the results as a new array.
template <InputRange In, InputRange Offsets>
[[nodiscard]] auto segmented_reduce(Stream& stream, const In& in, const Offsets& offsets,
                                    ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, detail::segment_count("segmented_reduce", offsets.view()));
    segmented_reduce(stream, in, offsets, out, op, options);
    return out;
}

/// Reduces segments with a user operator and returns the results as a new array.
template <InputRange In, InputRange Offsets, class F, class... B>
[[nodiscard]] auto segmented_reduce(Stream& stream, const In& in, const Offsets& offsets,
                                    const Function<F, B...>& op, typename In::Element identity,
                                    const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, detail::segment_count("segmented_reduce", offsets.view()));
    segmented_reduce(stream, in, offsets, out, op, identity, options);
    return out;
}

}  // namespace concord
