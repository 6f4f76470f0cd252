#pragma once
/// @file
/// Scan: combines every element with all elements before it, with an associative operator.
///
///     inclusive   out[i] = in[0] op in[1] op ... op in[i]
///     exclusive   out[i] = in[0] op ... op in[i-1], and out[0] is the identity
///
/// - Shapes: in and out have n >= 0 elements. They may start at any element offset.
/// - Inputs: a range or an expression (expression.hpp). `lookback`, `partitioned` and `reduce_then_scan` compute
///   expressions in their kernels. Other variants evaluate them first.
/// - Types: any element type, the same for in and out.
/// - In place: out may be exactly in, except for `lookback_fallback`. Any other overlap is an error. out may be
///   exactly a range of an expression whose elements are used at their own index only.
/// - Memory traffic: one read and one write per element. `reduce_then_scan` reads every element twice. For the
///   textbook variants see scan_steps.kernel.
/// - Scratch: at most about n / 3000 elements from the device's pool; up to 2 n elements for the textbook variants.
/// - Asynchrony: enqueues on the stream and returns.
/// - NaN: a result that is NaN is the canonical NaN, also if it is an element or the identity.
/// - Errors: invalid_argument (counts, types, overlap), wrong_device, unsupported, compile_failed, out_of_memory.
///
/// Integers are exact in every order. For floats and user operators, the canonical order is a tree of nodes of 16. It
/// is the same on all devices, so results are bitwise identical. It does not depend on n: the first k results depend
/// on the first k elements only.
/// 1. Elements 16 b to 16 b + 15 form block b. Within a block, p[i] combines the elements up to i by Sklansky's
///    network. It joins halves of 2, 4, 8 and 16 elements: the last p of the left half is combined with each p of the
///    right half.
/// 2. The total of a block is its last p. c[b] is the exclusive scan of the blocks' totals by the same rule. c[0] is
///    the identity.
/// 3. Inclusive: out[i] = c[b] op p[i]. Exclusive: out[i] = c[b] op p[i-1], and c[b] for the first element of a
///    block.
///
/// The longest chain has 5 operations per factor of 16 in i: 35 for 2^28 elements.
///
/// Sources: J. Sklansky, Conditional-sum Addition Logic, 1960; G. Blelloch, Prefix Sums and Their Applications, 1990.

#include <concord/algorithm.hpp>
#include <concord/detail/scan_host.hpp>
#include <concord/expression.hpp>
#include <concord/operators.hpp>

namespace concord {

/// Whether a result includes the element at its own position.
enum class ScanKind : u8 {
    inclusive,  ///< out[i] includes in[i]
    exclusive   ///< out[i] excludes in[i]; out[0] is the identity
};

/// Returns "inclusive" or "exclusive".
std::string_view name_of(ScanKind kind);

namespace detail {

// The host kernels of one operator and type. Null: not compiled.
struct ScanHost {
    HostKernel serial = {}, partitioned = {};
    HostKernel totals = {};    // for an input in parts
    HostKernel segments = {};  // for long segments
    const host::ScanPhases* phases = nullptr;
};

template <class T, class Op>
const ScanHost& scan_host() {
    static constexpr const host::ScanPhases& phases = host::scan_phases<T, Op>;
    static constexpr ScanHost kernels{
        .serial = plain_host_kernel<&host::scan_serial<T, Op>>(),
        .partitioned = dispatching_host_kernel<&host::scan_partitioned<phases, T, Op>>(),
        .totals = dispatching_host_kernel<&host::scan_totals<phases, T, Op>>(),
        .segments = dispatching_host_kernel<&host::scan_segments<phases, T, Op>>(),
        .phases = &phases};
    return kernels;
}

// A call with its types erased.
struct ScanProblem {
    View in, out;
    const Operator& op;
    ValueBytes values;    // the operator's bound values
    ValueBytes identity;  // one element
    ScanKind kind;
    const ScanHost* host;               // null: the operator has kernel source only
    bool in_parts = false;              // a part of the input: `auto` must choose for the whole
    ExpressionPointer expression = {};  // what is scanned in place of a range; often null

    Type type() const { return in.type; }
    Input input() const { return expression ? Input(expression) : Input(in); }
    u32 exclusive() const { return kind == ScanKind::exclusive ? 1 : 0; }
    // The same on other operands, parts of a larger input for example.
    ScanProblem on(const View& from, const View& to) const {
        ScanProblem problem = *this;
        problem.in = from;
        problem.out = to;
        problem.expression = nullptr;
        return problem;
    }
};

// The call of a user operator Fn. It refers to its bound values and the identity.
template <class Fn, class T, class Values>
ScanProblem scan_problem(const Input& in, const View& out, const Values& values, const T& identity,
                         ScanKind kind) {
    return {.in = in.view,
            .out = out,
            .op = Fn::erased(),
            .values = {values},
            .identity = {std::as_bytes(std::span(&identity, 1))},
            .kind = kind,
            .host = &scan_host<T, typename Fn::Host>(),
            .expression = in.node};
}

Enqueued scan(Stream& stream, const ScanProblem& problem, const Options& options);

// A part of a larger input is scanned by a call of its own if it is a node of the canonical tree, or the beginning of
// one. The call's identity is the carry: the combination of all elements before the part. Otherwise the identity only
// pads elements on which no result depends.

// Number of elements of a tile: 16^3 or 16^4.
u64 scan_tile(const Device& device);
// Computes the totals of the tiles of p.in: out[t] becomes the total of tile t. A partial last tile has no total.
void scan_totals(Stream& stream, const ScanProblem& problem);
// Returns the variant that the options select. Throws unsupported if its order is not canonical.
Enqueued scan_in_parts(Stream& stream, const ScanProblem& problem, const Options& options);

// The call of a built-in operator. It refers only to static data.
ScanProblem scan_problem(const Input& in, const View& out, ReduceOp op, ScanKind kind);

}  // namespace detail

/// Descriptor of scan.
extern const Algorithm scan_algorithm;

/// Scans a view with a built-in operator. The identity is identity_of<T>(op).
Enqueued scan(Stream& stream, const View& in, const View& out, ReduceOp op = ReduceOp::sum,
              ScanKind kind = ScanKind::inclusive, const Options& options = {});

/// Scans a span, array or expression with a built-in operator.
template <InputRange In, OutputRange Out>
Enqueued scan(Stream& stream, const In& in, const Out& out, ReduceOp op = ReduceOp::sum,
              ScanKind kind = ScanKind::inclusive, const Options& options = {}) {
    static_assert(detail::same_elements<In, Out>, "scan: in and out must have the same element type");
    return detail::scan(stream, detail::scan_problem(detail::input_of(in), out.view(), op, kind), options);
}

/// Scans with a user operator (CONCORD_FUNCTION) of type T(T, T) after binding. Its first argument is the earlier
/// element. It must be associative up to rounding, but need not be commutative. identity: the value e for which op(e,
/// x) == x.
template <InputRange In, OutputRange Out, class F, class... B>
Enqueued scan(Stream& stream, const In& in, const Out& out, const Function<F, B...>& op,
              typename In::Element identity, ScanKind kind = ScanKind::inclusive,
              const Options& options = {}) {
    using Fn = Function<F, B...>;
    using T = typename Out::Element;
    detail::check_combines<In, Out, Fn>();
    const auto values = op.packed();
    const T start = identity;
    detail::check_identity("scan", op, start, options.order);
    return detail::scan(
        stream, detail::scan_problem<Fn>(detail::input_of(in), out.view(), values, start, kind), options);
}

/// Scans with a built-in operator and returns the results as a new array.
template <InputRange In>
[[nodiscard("the results are in a new array")]] auto scan(Stream& stream, const In& in,
                                                          ReduceOp op = ReduceOp::sum,
                                                          ScanKind kind = ScanKind::inclusive,
                                                          const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    scan(stream, in, out, op, kind, options);
    return out;
}

/// Scans with a user operator and returns the results as a new array; see scan() with an output.
template <InputRange In, class F, class... B>
[[nodiscard("the results are in a new array")]] auto scan(Stream& stream, const In& in,
                                                          const Function<F, B...>& op,
                                                          typename In::Element identity,
                                                          ScanKind kind = ScanKind::inclusive,
                                                          const Options& options = {}) {
    Array<std::remove_const_t<typename In::Element>> out(stream, detail::count_in(in));
    scan(stream, in, out, op, identity, kind, options);
    return out;
}

}  // namespace concord
