#include "expression_nodes.hpp"

#include <concord/map_many.hpp>

#include <concord/internal/input.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/operands.hpp>

namespace concord::detail {

u64 check_map_many(const Stream& stream, std::string_view name, std::span<const View> in,
                   std::span<const View> out) {
    for (std::size_t i = 0; i < in.size(); ++i)
        check_operand(name, "range " + std::to_string(i), stream, in[i]);
    for (std::size_t o = 0; o < out.size(); ++o)
        check_output(name, "output " + std::to_string(o), stream, out[o]);
    const u64 n = out[0].count;
    const auto check_count = [&](std::string_view kind, std::span<const View> views) {
        for (std::size_t i = 0; i < views.size(); ++i) {
            if (views[i].count != n)
                throw Error(ErrorCode::invalid_argument, std::string(name),
                            std::string(kind) + " " + std::to_string(i) +
                                " must have the element count of output 0, " + std::to_string(n) + ", got " +
                                std::to_string(views[i].count));
        }
    };
    check_count("range", in);
    check_count("output", out);
    for (std::size_t o = 0; o < out.size(); ++o) {
        const auto refuse = [&](const View& other, const std::string& which) {
            throw Error(ErrorCode::invalid_argument, std::string(name),
                        "output " + std::to_string(o) + " overlaps " + which + ", got byte offsets " +
                            std::to_string(out[o].offset) + " and " + std::to_string(other.offset) +
                            " in one buffer; pass exactly an input or a distinct range");
        };
        for (std::size_t i = 0; i < in.size(); ++i) {
            const bool in_place =
                in[i].offset == out[o].offset && size_of(in[i].type) == size_of(out[o].type);
            if (overlap(in[i], out[o]) && !in_place) refuse(in[i], "range " + std::to_string(i));
        }
        for (std::size_t other = 0; other < o; ++other) {
            if (overlap(out[other], out[o])) refuse(out[other], "output " + std::to_string(other));
        }
    }
    return n;
}

namespace {
// The expression as an input of n elements.
Input input_of(std::string_view name, const ExpressionPointer& node, u64 n) {
    const i64 step = 1;
    if (node->count == any_count) return Input(strided_node(node, {&n, 1}, {&step, 1}, 0));
    if (node->count != n)
        throw Error(ErrorCode::invalid_argument, std::string(name),
                    "an expression must have the element count of output 0, " + std::to_string(n) + ", got " +
                        std::to_string(node->count));
    return Input(node);
}
}  // namespace

View StoredExpression::store(Stream& stream, std::string_view name, const ExpressionPointer& node, u64 n,
                             OperationOrder& order) {
    const Input in = input_of(name, node, n);
    check_stored_input(name, "an expression", stream, in);
    if (!is_portable(in, stream.device())) order = OperationOrder::unspecified;
    return materialized(stream, in, room_);
}

Enqueued evaluate_many(Stream& stream, std::string_view name, const ExpressionPointer& node,
                       const View& out) {
    return evaluate(stream, input_of(name, node, out.count), out, {});
}

std::string map_many_body(std::string_view function, std::span<const std::string> elements,
                          std::span<const Type> outputs, bool has_result, u64 bound) {
    std::string text, call(function);
    call += '(';
    const char* comma = "";
    const auto add = [&](const std::string& argument) {
        call.append(comma).append(argument);
        comma = ", ";
    };
    for (const std::string& element : elements)
        add(element);
    for (std::size_t o = 0; o < outputs.size() && !has_result; ++o) {
        const std::string name = "result" + std::to_string(o);
        text.append(name_of(outputs[o])).append(" ").append(name).append(" = 0; ");
        add("&" + name);
    }
    for (u64 b = 0; b < bound; ++b)
        add("bound" + std::to_string(b));
    call += ')';
    if (!has_result) text.append(call).append("; ");
    for (std::size_t o = 0; o < outputs.size(); ++o) {
        const std::string number = std::to_string(o), result = has_result ? call : "result" + number;
        text.append("out").append(number).append("[i] = ");
        text.append(is_float(outputs[o]) ? "canonical(" + result + ")" : result).append("; ");
    }
    return text;
}

}  // namespace concord::detail
