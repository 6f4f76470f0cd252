#pragma once
/// @file
/// Reduce: combines all elements with an associative and commutative operator.
///
///     out[0] = in[0] op in[1] op ... op in[n-1]
///
/// - Shapes: in has n >= 0 elements, out one. Both may start at any element offset. An empty input gives the
///   identity.
/// - Inputs: a range or an expression (expression.hpp). `fixed` computes expressions in its kernel, so that
///   reduce(stream, transform(f, x), out) reads x once and stores nothing else. Other variants evaluate them first.
/// - Types: any element type, the same for in and out.
/// - In place: not supported. out may not lie within in. in is not modified.
/// - Memory traffic: reads every element once. `global_tree` moves about 3 n elements on a copy of the input.
/// - Scratch: at most about n / 32 bytes from the device's pool, in buffers of at least 512 bytes; n elements for
///   `global_tree`.
/// - Asynchrony: enqueues on the stream and returns. The forms without an output return a future, which
///   throws unavailable on a compile-only device and unsupported in a recording.
/// - NaN: a result that is NaN is the canonical NaN, also if it is the only element or the identity.
/// - Errors: invalid_argument (count of out, overlap, types), wrong_device, unsupported, compile_failed,
///   out_of_memory.
///
/// Integers are exact in every order. For floats and user operators, the canonical order depends on n alone. Results
/// are then bitwise identical on all devices:
/// 1. The input is split into chunks of C = canonical_chunk(n) elements, a power of two of at least 1024.
/// 2. A chunk is reduced in 128 columns. Element i of the chunk belongs to column i mod 128. A column starts from the
///    identity and combines its elements in order.
/// 3. Column l is combined with column l + 64, then with l + 32, l + 16, ..., l + 1. The result of the chunk is
///    column 0.
/// 4. The results of several chunks are reduced by the same rule.
///
/// An element passes at most canonical_depth(n) operations: 90 for 2^28 elements.
///
/// Source: M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree). The fixed columns are Concord's.

#include <concord/algorithm.hpp>
#include <concord/detail/reduce_host.hpp>
#include <concord/expression.hpp>
#include <concord/operators.hpp>

namespace concord {

/// Returns the chunk length C of the canonical order for n elements. It is 1024 up to 2^22 elements, doubles up to
/// 8192 while n > 4096 C, and then doubles while n > 32768 C. One group can reduce the chunks' results, and chunks
/// are short enough for load balance.
constexpr u64 canonical_chunk(u64 n) {
    u64 chunk = 1024;
    // Whether there are more chunks than the limit, by divisions by constants, which are shifts.
    while (chunk < 8192 && detail::divide_up(n, 4096) > chunk)
        chunk *= 2;
    while (detail::divide_up(n, 32768) > chunk)
        chunk *= 2;
    return chunk;
}

/// Returns the number of operations in the longest chain from an element to the result in the canonical order: the h
/// of the error bound gamma_h sum |x|.
constexpr u64 canonical_depth(u64 n) {
    u64 depth = 0;
    while (true) {
        const u64 chunk = canonical_chunk(n);
        depth += detail::divide_up(n < chunk ? n : chunk, 128) + 7;
        if (n <= chunk) return depth;
        n = detail::divide_up(n, chunk);
    }
}

namespace detail {

// The host kernels of one operator and type.
struct ReduceHost {
    HostKernel fixed, serial;
};

// Compilers do not vectorise a chain of operations on floats.
template <class T, class Op>
constexpr HostKernel reduce_serial_kernel() {
    if constexpr (std::is_floating_point_v<T>) {
        return plain_host_kernel<&detail::host::reduce_serial<T, Op>>();
    } else {
        return host_kernel<&detail::host::reduce_serial<T, Op>>();
    }
}

template <class T, class Op>
const ReduceHost& reduce_host() {
    static constexpr ReduceHost kernels{.fixed = host_kernel<&detail::host::reduce_wide<T, Op>>(),
                                        .serial = reduce_serial_kernel<T, Op>()};
    return kernels;
}

// A call with its types erased.
struct ReduceProblem {
    View in, out;  // in: without a buffer if there is an expression
    const Operator& op;
    ValueBytes values;                  // the operator's bound values
    ValueBytes identity;                // one element
    const ReduceHost* host;             // null: the operator has kernel source only
    u64 chunk = 0;                      // see reduce_chunks(); 0: the canonical chunk, and all levels
    ExpressionPointer expression = {};  // what is reduced in place of a range; often null

    Type type() const { return in.type; }
    Input input() const { return expression ? Input(expression) : Input(in); }
    // The same on other operands, parts of a larger input for example.
    ReduceProblem on(const View& from, const View& to) const {
        ReduceProblem problem = *this;
        problem.in = from;
        problem.out = to;
        problem.expression = nullptr;
        return problem;
    }
};

// The call of a user operator Fn. It refers to its bound values and the identity.
template <class Fn, class T, class Values>
ReduceProblem reduce_problem(const Input& in, const View& out, const Values& values, const T& identity) {
    return {.in = in.view,
            .out = out,
            .op = Fn::erased(),
            .values = {values},
            .identity = {std::as_bytes(std::span(&identity, 1))},
            .host = &reduce_host<T, typename Fn::Host>(),
            .expression = in.node};
}

Enqueued reduce(Stream& stream, const ReduceProblem& problem, const Options& options);

// The first level only, for a part of a larger input: out[c] becomes the result of chunk c of `length` elements. The
// last chunk may be shorter. Does nothing if in is empty. Returns the variant, `fixed`. Throws unsupported for any
// other variant.
Enqueued reduce_chunks(Stream& stream, const ReduceProblem& problem, u64 length, const Options& options);

// The call of a built-in operator. It refers only to static data.
ReduceProblem reduce_problem(const Input& in, const View& out, ReduceOp op);
Enqueued reduce(Stream& stream, const Input& in, const View& out, ReduceOp op, const Options& options);

}  // namespace detail

/// Descriptor of reduce.
extern const Algorithm reduce_algorithm;

/// Reduces a view with a built-in operator. The result of an empty input is identity_of<T>(op).
Enqueued reduce(Stream& stream, const View& in, const View& out, ReduceOp op = ReduceOp::sum,
                const Options& options = {});

/// Reduces a span, array or expression with a built-in operator.
template <InputRange In, OutputRange Out>
Enqueued reduce(Stream& stream, const In& in, const Out& out, ReduceOp op = ReduceOp::sum,
                const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "reduce: in and out must have the same element type");
    return detail::reduce(stream, detail::input_of(in), out.view(), op, options);
}

/// Reduces with a user operator (CONCORD_FUNCTION) of type T(T, T) after binding. It must be associative and
/// commutative up to rounding. identity: the value e for which op(e, x) == x. Throws invalid_argument if op(e, e) is
/// not e.
template <InputRange In, OutputRange Out, class F, class... B>
Enqueued reduce(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
                typename In::Element identity, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("reduce", op, start, options.order);
    return detail::reduce(stream, detail::reduce_problem<Fn>(detail::input_of(in), out.view(), values, start),
                          options);
}

/// Reduces with a built-in operator and returns the result as a Future.
template <InputRange In>
[[nodiscard]] auto reduce(Stream& stream, const In& in, ReduceOp op = ReduceOp::sum,
                          const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    detail::check_delivers(stream, "reduce");
    const Array<T> out(stream, 1);
    reduce(stream, in, out, op, options);
    return Future<T>(stream, out);
}

/// Reduces with a user operator and returns the result as a Future; see reduce() with an output.
template <InputRange In, class F, class... B>
[[nodiscard]] auto reduce(Stream& stream, const In& in, const Function<F, B...>& op,
                          typename In::Element identity, const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    detail::check_delivers(stream, "reduce");
    const Array<T> out(stream, 1);
    reduce(stream, in, out, op, identity, options);
    return Future<T>(stream, out);
}

/// Returns the sum of all elements as a Future: 0 for an empty range. Its type is that of the elements; integers wrap.
template <InputRange In>
[[nodiscard]] auto sum(Stream& stream, const In& in, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::sum, options);
}
// Also where min and max are macros.
#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max
/// Returns the smallest element as a Future: NaN if any element is. For an empty range it is the largest value of the
/// type, infinity for floats.
template <InputRange In>
[[nodiscard]] auto min(Stream& stream, const In& in, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::min, options);
}
/// Returns the largest element as a Future: NaN if any element is. For an empty range it is the smallest value of the
/// type, -infinity for floats.
template <InputRange In>
[[nodiscard]] auto max(Stream& stream, const In& in, const Options& options = {}) {
    return reduce(stream, in, ReduceOp::max, options);
}
#pragma pop_macro("min")
#pragma pop_macro("max")

}  // namespace concord
