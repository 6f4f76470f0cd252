#pragma once
/// Reduce: all elements combined by an associative operator.
///
///     out[0] = in[0] op in[1] op ... op in[n-1]
///
/// Shapes: in of any length, at any element offset; out of one element, not within in. An empty input gives
/// the identity. in stays as it is. Traffic: every element is read once. Enqueues on the stream and returns;
/// takes its scratch (about n / 32 bytes at most, in buffers of 512 at least; for `global_tree` a copy of the
/// input) from the device's pool. Errors: invalid_argument (out's count, overlap, types), wrong_device,
/// unsupported, compile_failed, out_of_memory.
///
/// Order. Integers are exact in any order. For floats, and for operators of your own, the canonical order
/// depends on n alone and is the same on every device, so that the bits are too:
///   chunk length C = 1024 * 2^k: 1024 up to 2^22 elements, then n / 4096 rounded up to such a length, but
///   8192 from 2^24 + 1 to 2^28, then the smallest for which n <= 32768 C (canonical_chunk); element i of a
///   chunk belongs to lane i mod 128; a lane starts from the identity and takes its elements in order; lane l
///   then takes lane l + 64, then l + 32, l + 16, ... l + 1, and the chunk's result is lane 0; the chunks'
///   results, if more than one, are reduced by this same rule.
/// The longest chain of operations that an element passes is canonical_depth(n): for 2^28 elements, 90. The
/// operator must be associative and commutative up to rounding. Source: M. Harris, Optimizing Parallel
/// Reduction in CUDA, 2007, for the tree; the fixed lanes are Concord's.

#include <concord/algorithm.hpp>
#include <concord/detail/reduce_host.hpp>
#include <concord/operators.hpp>

namespace concord {

/// The canonical order's chunk length for n elements: few enough sums for one group to finish quickly, short
/// enough chunks for the load to balance.
constexpr u64 canonical_chunk(u64 n) {
    u64 chunk = 1024;
    while (chunk < 8192 && detail::divide_up(n, chunk) > 4096)
        chunk *= 2;
    while (detail::divide_up(n, chunk) > 32768)
        chunk *= 2;
    return chunk;
}

/// The longest chain of operations from an element to the result, in the canonical order; the h of the error
/// bound gamma_h sum |x|.
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

/// The host kernels of one operator on one type. A null one is not compiled.
struct ReduceHost {
    HostKernel fixed = {}, serial = {};
    HostKernel global_step = {}, interleaved = {}, sequential = {}, first_add = {};  ///< the textbook's
};

/// All of them; defined in concord/reduce_textbook.hpp.
template <class T, class Op>
struct ReduceTextbook;

/// Those of a call: the textbook's only on request.
template <class T, class Op>
const ReduceHost& reduce_host() {
    using O = HostOperator<Op>;
    if constexpr (O::textbook) {
        return ReduceTextbook<T, typename O::Type>::kernels;
    } else {
        static constexpr ReduceHost kernels{.fixed = host_kernel<&detail::host::reduce_wide<T, Op>>(),
                                            .serial = host_kernel<&detail::host::reduce_serial<T, Op>>()};
        return kernels;
    }
}

/// A call with its types erased.
struct ReduceProblem {
    View in, out;
    const Operator& op;
    ValueBytes values;       ///< the operator's bound values
    ValueBytes identity;     ///< one element
    const ReduceHost* host;  ///< null: text only

    Type type() const { return in.type; }
};

Enqueued reduce(Stream& stream, const ReduceProblem& problem, const Options& options);

/// The first level alone, for a part of a larger input: out[c] is the result of chunk c, of `length` elements (the last one
/// of what is left); nothing if in is empty. Throws unsupported for a variant other than `fixed`; returns its name.
std::string_view reduce_chunks(Stream& stream, const ReduceProblem& problem, u64 length,
                               const Options& options);

/// The call of a built-in operator. It refers to nothing that does not last.
ReduceProblem reduce_problem(const View& in, const View& out, ReduceOp op);

}  // namespace detail

extern const Algorithm reduce_algorithm;

/// A built-in operator; in and out of one type. Identities: 0, 1, and for min and max the type's largest and
/// smallest value (floats: the infinities).
Enqueued reduce(Stream& stream, const View& in, const View& out, ReduceOp op = ReduceOp::sum,
                const Options& options = {});

/// A built-in operator on spans or arrays.
template <Range In, Range Out>
Enqueued reduce(Stream& stream, const In& in, const Out& out, ReduceOp op = ReduceOp::sum,
                const Options& options = {}) {
    return reduce(stream, View(in.view()), View(out.view()), op, options);
}

/// An operator made with CONCORD_FUNCTION: T(T, T) once its trailing parameters are bound. identity: the
/// value for which op(identity, x) == x.
template <Range In, Range Out, class F, class... B>
Enqueued reduce(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
                typename In::Element identity, const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    return detail::reduce(stream,
                          {in.view(),
                           out.view(),
                           Fn::erased(),
                           {values},
                           {std::as_bytes(std::span(&start, 1))},
                           &detail::reduce_host<T, typename Fn::Host>()},
                          options);
}

/// The same result as a future: reduces, downloads, and hands out the value when the stream has got there.
template <Range In>
auto reduce_value(Stream& stream, const In& in, ReduceOp op = ReduceOp::sum, const Options& options = {}) {
    using T = std::remove_const_t<typename In::Element>;
    Array<T> out(stream, 1);
    reduce(stream, in, out, op, options);
    return Future<T>(stream, out);
}

}  // namespace concord
