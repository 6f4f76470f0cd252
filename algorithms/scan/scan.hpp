#pragma once
/// Scan: every element combined with all elements before it, by an associative operator.
///
///     inclusive   out[i] = in[0] op in[1] op ... op in[i]
///     exclusive   out[i] = in[0] op ... op in[i-1], and out[0] is the identity
///
/// Shapes: out has as many elements as in, any number, at any element offset; it may be in exactly (in place) and
/// overlaps it otherwise not at all; `lookback_fallback`, which `auto` never takes, is not done in place. Traffic: every
/// element is read once and written once in `lookback`, `lookback_fallback` and `partitioned`, read twice in
/// `reduce_then_scan`; the textbook's steps say in scan_steps.cu what they move. Enqueues on the stream and returns; takes its scratch from the device's pool: n / 3000 elements in the production variants, up to 2 n in
/// the textbook's. Errors: invalid_argument (counts that differ, overlap, types), wrong_device, unsupported,
/// compile_failed, out_of_memory.
///
/// Order. Integers are exact in any order. For floats, and for operators of your own, the canonical order is the same
/// on every device, so that the bits are too, and does not depend on n: the first k results are those of the
/// first k elements. It is a tree of nodes of 16:
///   elements 16 b ... 16 b + 15 are block b; within a block p[i] is the combination of its elements up to i, by Sklansky's
///   network: halves of 2, then 4, 8, 16, in which the last p of the left half is combined with each of the right one;
///   a block's total is its last p; c[b], what lies before block b, is the exclusive scan of the totals by this
///   same rule, which for the first one is the identity;
///   inclusive: out[i] = c[b] op p[i]; exclusive: out[i] = c[b] op p[i-1], or c[b] where i begins a block.
/// The longest chain of operations is 5 for each factor of 16 in i: 35 for 2^28 elements. The operator must be
/// associative up to rounding; it need not be commutative. Sources: J. Sklansky, Conditional-sum Addition Logic, 1960;
/// G. Blelloch, Prefix Sums and Their Applications, 1990.

#include <concord/algorithm.hpp>
#include <concord/detail/scan_host.hpp>
#include <concord/operators.hpp>

#include <functional>
#include <memory>

namespace concord {

enum class ScanKind : u8 { inclusive, exclusive };

std::string_view name_of(ScanKind kind);

namespace detail {

/// The host kernels of one operator on one type. A null one is not compiled.
struct ScanHost {
    HostKernel serial = {}, partitioned = {};
    HostKernel totals = {};  ///< of a part of a larger input
    HostKernel step = {}, shift = {}, join = {}, up_sweep = {}, down_sweep = {}, kogge_stone = {},
               brent_kung = {}, recursive = {}, recursive_vector = {}, offsets = {};  ///< the textbook's
};

/// All of them; defined in concord/scan_textbook.hpp.
template <class T, class Op>
struct ScanTextbook;

/// Those of one call: without totals, and the textbook's only on request.
template <class T, class Op>
const ScanHost& scan_host() {
    using O = HostOperator<Op>;
    if constexpr (O::textbook) {
        return ScanTextbook<T, typename O::Type>::kernels;
    } else {
        static constexpr ScanHost kernels{
            .serial = plain_host_kernel<&detail::host::scan_serial<T, Op>>(),
            .partitioned = host_kernel<&detail::host::scan_partitioned<T, Op>>()};
        return kernels;
    }
}

/// Those of an input that is scanned in parts.
template <class T, class Op>
const ScanHost& scan_parts_host() {
    using O = typename HostOperator<Op>::Type;
    static constexpr ScanHost kernels{.serial = plain_host_kernel<&detail::host::scan_serial<T, O>>(),
                                      .partitioned = host_kernel<&detail::host::scan_partitioned<T, O>>(),
                                      .totals = host_kernel<&detail::host::scan_totals<T, O>>()};
    return kernels;
}

/// A call with its types erased.
struct ScanProblem {
    View in, out;
    const Operator& op;
    ValueBytes values;    ///< the operator's bound values
    ValueBytes identity;  ///< one element
    ScanKind kind;
    const ScanHost* host;  ///< null: text only

    Type type() const { return in.type; }
    u32 exclusive() const { return kind == ScanKind::exclusive ? 1 : 0; }
};

Enqueued scan(Stream& stream, const ScanProblem& problem, const Options& options);

// A part of a larger input that is a node of the canonical tree, or the beginning of one, is scanned by a call of its own
// whose identity is what lies before it: elsewhere the identity only fills up what no result depends on.

/// How many elements a group takes: 16^3 or 16^4.
u64 scan_tile(const Device& device);
/// The totals of the tiles of p.in: out[t] is that of tile t; not of the last one if that is not whole.
void scan_totals(Stream& stream, const ScanProblem& problem);
/// The variant that options ask for. Throws unsupported if its order is not the canonical one.
std::string_view scan_in_parts(Stream& stream, const ScanProblem& problem, const Options& options);

/// What lies before each tile; the functions are those of detail::host::ScanCarry, without its types.
struct ScanBefore {
    std::function<void(void* carry)> carry;
    std::function<void(const void* totals, u64 count, u32 level)> push;
};
template <class T, class Op>
ScanBefore scan_before(T identity, const Op& op) {
    const auto state = std::make_shared<detail::host::ScanCarry<T, Op>>(identity, op);
    return {[=](void* carry) {
                const T value = state->carry();
                std::memcpy(carry, &value, sizeof value);
            },
            [=](const void* totals, u64 count, u32 level) {
                for (u64 i = 0; i < count; ++i)
                    state->push(static_cast<const T*>(totals)[i], level);
            }};
}

/// The call of a built-in operator. It refers to nothing that does not last.
ScanProblem scan_problem(const View& in, const View& out, ReduceOp op, ScanKind kind);
ScanBefore scan_before(Type type, ReduceOp op);

}  // namespace detail

extern const Algorithm scan_algorithm;

/// A built-in operator; in and out of one type. Identities: 0, 1, and for min and max the type's largest and
/// smallest value (floats: the infinities).
Enqueued scan(Stream& stream, const View& in, const View& out, ReduceOp op = ReduceOp::sum,
              ScanKind kind = ScanKind::inclusive, const Options& options = {});

/// A built-in operator on spans or arrays.
template <Range In, Range Out>
Enqueued scan(Stream& stream, const In& in, const Out& out, ReduceOp op = ReduceOp::sum,
              ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    return scan(stream, View(in.view()), View(out.view()), op, kind, options);
}

/// An operator made with CONCORD_FUNCTION: T(T, T) once its trailing parameters are bound, called with the earlier
/// element first. identity: the value for which op(identity, x) == x.
template <Range In, Range Out, class F, class... B>
Enqueued scan(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
              typename In::Element identity, ScanKind kind = ScanKind::inclusive,
              const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    return detail::scan(stream,
                        {in.view(),
                         out.view(),
                         Fn::erased(),
                         {values},
                         {std::as_bytes(std::span(&start, 1))},
                         kind,
                         &detail::scan_host<T, typename Fn::Host>()},
                        options);
}

}  // namespace concord
