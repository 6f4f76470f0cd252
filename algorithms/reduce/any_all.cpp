// any and all: reduce of bytes of 0 and 1 with max or min.

#include "reduce_variants.hpp"

#include <concord/any_all.hpp>
#include <concord/internal/builtin_operator.hpp>
#include <concord/internal/input.hpp>
#include <concord/internal/operands.hpp>

namespace concord::detail {
namespace {

// The identities of max and min of 0 and 1.
constexpr u8 identities[] = {0, 1};

const char* name_of(Quantifier quantifier) {
    return quantifier == Quantifier::any ? "any" : "all";
}

ReduceOp operator_of(Quantifier quantifier) {
    return quantifier == Quantifier::any ? ReduceOp::max : ReduceOp::min;
}

ValueBytes identity_of(Quantifier quantifier) {
    return {std::as_bytes(std::span(&identities[static_cast<std::size_t>(quantifier)], 1))};
}

ExpressionPointer truth_bytes(ExpressionPointer in) {
    return convert_node(Type::u8, convert_node(Type::boolean, std::move(in)));
}

// The output as bytes.
View bytes_of(std::string_view call, const Stream& stream, const View& out) {
    check_stored(call, "out", stream, out);
    check_writable(call, "out", out);
    if (out.type != Type::boolean)
        throw Error(ErrorCode::invalid_argument, call,
                    error_message("out must have type bool", name_of(out.type)));
    View bytes = out;
    bytes.type = Type::u8;
    return bytes;
}

}  // namespace

Enqueued quantify(Stream& stream, Quantifier quantifier, const Input& in, const View& out,
                  const Options& options) {
    const char* const call = name_of(quantifier);
    check_stored_input(call, "in", stream, in);
    const View to = bytes_of(call, stream, out);
    const Input bytes(truth_bytes(node_of(in)));
    ReduceProblem problem = reduce_problem(bytes, to, operator_of(quantifier));
    problem.identity = identity_of(quantifier);
    return reduce(stream, problem, options);
}

Enqueued quantify(Stream& stream, Quantifier quantifier, const NdInput& in, const NdView& out,
                  const Axes& axes, const Options& options) {
    const char* const call = name_of(quantifier);
    const Input bytes(truth_bytes(in.elements ? in.elements : range_node(in.view.range())));
    check_stored_input(call, "in", stream, bytes);
    const NdView to(bytes_of(call, stream, out.range()), out.extents(), out.strides(), out.origin());
    check_input_overlap(call, {"out", out.range()}, "in", bytes);
    const ReduceOp op = operator_of(quantifier);
    return reduce_lines(stream,
                        {.in = NdView(bytes.view, in.view.extents(), in.view.strides(), in.view.origin()),
                         .out = to,
                         .axes = axes,
                         .op = builtin(op, Type::u8),
                         .values = builtin_values(op, Type::u8),
                         .identity = identity_of(quantifier),
                         .host = &reduce_lines_builtin(op, Type::u8),
                         .expression = bytes.node},
                        options);
}

}  // namespace concord::detail
