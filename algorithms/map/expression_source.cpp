// The text of expressions in the languages that are compiled at run time.

#include "expression_nodes.hpp"

#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace concord::detail {
namespace {

std::string number(u64 n) {
    return std::to_string(n);
}

// A value as the bits of another type of its size.
std::string bits(const Language& language, Type to, const std::string& value) {
    return language.is_c ? "as_" + std::string(row_of(to).opencl) + "(" + value + ")"
                         : "bits_as<" + std::string(name_of(to)) + ">(" + value + ")";
}

std::string canonical_of(Type type, const std::string& value) {
    return is_float(type) ? "canonical(" + value + ")" : value;
}

// The lowest or highest value of an integer type.
std::string limit_of(Type type, bool highest) {
    return visit_type(type, [&](auto tag) -> std::string {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
            return constant_text<T>(highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min());
        } else {
            return {};
        }
    });
}

// The conversion that convert() documents.
std::string converted(Type to, Type from, const std::string& value) {
    if (is_boolean(to)) return "(" + value + " != 0)";
    const std::string t(name_of(to)), cast = "(" + t + ")" + value;
    if (!is_float(from) || is_float(to)) return canonical_of(to, "(" + cast + ")");
    const int digits = static_cast<int>(size_of(to)) * 8 - (is_unsigned(to) ? 0 : 1);
    const std::string above = constant_text(from, std::ldexp(1.0, digits)),
                      below = constant_text(from, is_unsigned(to) ? 0.0 : -std::ldexp(1.0, digits));
    return "(" + value + " != " + value + " ? (" + t + ")0 : " + value + " <= " + below + " ? " +
           limit_of(to, false) + " : " + value + " >= " + above + " ? " + limit_of(to, true) + " : " + cast +
           ")";
}

// Writes the parts of a source for a node and its inputs.
class Writer {
  public:
    Writer(const Language& language, u32& values) : language_(language), values_(values) {}

    // Returns the value of the node's element `index`, a word.
    std::string element(const ExpressionNode& node, const std::string& index) {
        const u32 first = arguments_;
        arguments_ += argument_count(node);
        const std::string own = argument(first), t(name_of(kernel_type(node.type)));
        std::string value = "e" + number(values_++);
        const auto define = [&](const std::string& type, const std::string& name, const std::string& what) {
            body.append("    const ").append(type).append(" ").append(name).append(" = ").append(what) +=
                ";\n";
        };
        switch (node.kind) {
            case ExpressionKind::range:
                add_buffer(first, node.type);
                // Kernels load elements at the index itself, in packs or one by one. Others may be used again.
                if (index == "i") add_stream(first, t);
                define(t, value,
                       (index == "i" ? "streams->a" + number(first) : own + "[" + index + "]") +
                           (is_boolean(node.type) ? " != 0" : ""));
                break;
            case ExpressionKind::counting: {
                add_value(first, t);
                add_value(first + 1, t);
                const std::string wide = is_float(node.type) ? t : "u64";
                define(t, value,
                       canonical_of(node.type, "(" + t + ")((" + wide + ")" + own + " + (" + wide + ")" +
                                                   index + " * (" + wide + ")" + argument(first + 1) + ")"));
                break;
            }
            case ExpressionKind::constant:
                add_value(first, t);
                define(t, value, own);
                break;
            case ExpressionKind::transform: {
                const std::string mark = "_" + number(first);
                definitions += with_mark(*node.op, mark);
                add_value(first, "Op" + mark);
                std::string call = "apply" + mark + "(" + own;
                for (std::size_t i = 0; i < node.inputs.size(); ++i) {
                    const std::string in = element(*node.inputs[i], index);
                    call += ", " + (node.works_on_bits ? bits(language_, node.op->arguments[i], in) : in);
                }
                call += ")";
                // Built-in predicates return 0 or 1. Another integer may have the lowest byte 0.
                if (node.kernel.is_flags && node.op->unit != nullptr) call = "(" + call + " != 0)";
                define(t, value,
                       node.works_on_bits ? bits(language_, node.type, call) : canonical_of(node.type, call));
                break;
            }
            case ExpressionKind::gather: {
                add_value(first, "u64");
                if (node.reports) add_word(first + 1);
                // The arguments of x precede those of the indices, whose text comes first.
                Writer x(language_, values_), at(language_, values_);
                const std::string n = number(first), inside = "i" + n;
                x.arguments_ = arguments_;
                const std::string of_x = x.element(*node.inputs[0], inside);
                at.arguments_ = x.arguments_;
                const std::string of_index = at.element(*node.inputs[1], index);
                arguments_ = at.arguments_;
                declare(x);
                declare(at);
                body += at.body;
                define("u64", "j" + n, "(u64)" + of_index);
                if (node.reports)
                    body.append("    if (j" + n + " >= " + own + ") report_index(" + argument(first + 1) +
                                ", " + index + ");\n");
                define("u64", inside, "j" + n + " < " + own + " ? j" + n + " : 0");
                body += x.body;
                define(t, value, of_x);
                break;
            }
            case ExpressionKind::strided: {
                const std::string layout = "Strided_" + number(first), rank = number(node.rank);
                definitions.append("typedef struct { u64 origin; u64 extent[")
                    .append(rank)
                    .append("]; u64 stride[")
                    .append(rank)
                    .append("]; } ")
                    .append(layout) += ";\n";
                add_value(first, layout);
                const std::size_t begin = body.size();
                const auto of_dimension = [&](const char* member, u32 k) {
                    return own + member + "[" + number(k) + "]";
                };
                std::string rest = index, sum = own + ".origin";
                for (u32 k = node.rank - 1; k > 0; --k) {
                    const std::string quotient = "q" + number(first) + "_" + number(k),
                                      extent = of_dimension(".extent", k);
                    define("u64", quotient,
                           std::string("concord_quotient(")
                               .append(rest)
                               .append(", ")
                               .append(extent)
                               .append(")"));
                    sum.append(" + (").append(rest).append(" - ").append(quotient).append(" * ").append(
                        extent);
                    sum.append(") * ").append(of_dimension(".stride", k));
                    rest = quotient;
                }
                sum.append(" + ").append(rest).append(" * ").append(of_dimension(".stride", 0));
                const std::string inside = "i" + number(first);
                define("u64", inside, sum);
                const std::string source = argument(arguments_);
                define(t, value, element(*node.inputs[0], inside));
                if (node.role == LineRole::none) break;
                const std::string divided = body.substr(begin);
                body.resize(begin);
                body += "#ifdef CONCORD_LINES\n";
                define(t, value, node.role == LineRole::index ? "k" : source + "[line]");
                body += "#else\n" + divided + "#endif\n";
                break;
            }
            case ExpressionKind::convert:
                define(t, value, converted(node.type, node.inputs[0]->type, element(*node.inputs[0], index)));
                break;
            case ExpressionKind::select:  // see expression_source()
                break;
        }
        return value;
    }

    std::string definitions, members, parameters, copies, body;
    // The ranges that are read at the index of the element: uses of a macro, and members of a struct.
    std::string streams, stream_members;

  private:
    static std::string argument(u32 i) { return "in->a" + number(i); }

    void declare(const Writer& other) {
        definitions += other.definitions;
        members += other.members;
        parameters += other.parameters;
        copies += other.copies;
        streams += other.streams;
        stream_members += other.stream_members;
    }
    void add_parameter(u32 i, const std::string& declaration) {
        const std::string name = "a" + number(i);
        parameters.append(parameters.empty() && i == 0 ? "" : ", ").append(declaration);
        copies.append(" NAME.leaves.").append(name).append(" = NAME##_").append(name) += ";";
    }
    void add_buffer(u32 i, Type type) {
        const std::string name = "a" + number(i), t(name_of(kernel_type(type)));
        copies.append(" AT_OFFSET(NAME##_").append(name) += ");";
        add_parameter(i, "IN(" + t + ", NAME##_" + name + ")");
        members.append(" const GLOBAL ").append(t).append("* ").append(name) += ";";
    }
    void add_stream(u32 i, const std::string& type) {
        const std::string n = number(i);
        streams.append(" USE(").append(type).append(", a").append(n) += ", N)";
        stream_members.append(" ").append(type).append(" a").append(n) += ";";
    }
    void add_word(u32 i) {
        const std::string name = "a" + number(i);
        copies.append(" AT_OFFSET(NAME##_").append(name) += ");";
        add_parameter(i, "OUT(u32, NAME##_" + name + ")");
        members.append(" GLOBAL u32* ").append(name) += ";";
    }
    void add_value(u32 i, const std::string& type) {
        const std::string name = "a" + number(i);
        add_parameter(i, type + " NAME##_" + name);
        members.append(" ").append(type).append(" ").append(name) += ";";
    }

    // The function's source, with names of its own.
    std::string with_mark(const Operator& op, const std::string& mark) const {
        std::vector<std::string> names{"concord_function", "Op", "apply"};
        for (const Operator::Helper& helper : op.helpers) {
            names.push_back(helper.is_struct ? helper.name : private_name(helper.name));
        }
        return with_suffix(operator_source(op, language_.dialect), names, mark);
    }

    const Language& language_;
    u32 arguments_ = 0;
    u32& values_;  // named so far
};

}  // namespace

ExpressionText expression_source(const ExpressionNode& node, const Language& language) {
    u32 values = 0;
    Writer writer(language, values);
    // A function of the elements that kernels have loaded from the streams, and a macro that visits these.
    const auto function = [&](const std::string& type, const char* macro, const char* streams,
                              const char* name, const std::string& result) {
        std::string text = std::string("#define ") + macro + "(USE, N)" + std::exchange(writer.streams, {});
        std::string held = std::exchange(writer.stream_members, {});
        if (held.empty()) held = " u32 none;";
        text.append("\ntypedef struct {").append(held).append(" } ").append(streams).append(";\nINLINED ");
        text.append(type).append(" ").append(name).append("(const Leaves* in, const ").append(streams);
        text.append("* streams, u64 i, u64 line, u64 k) {\n").append(std::exchange(writer.body, {}));
        return text.append("    return ").append(result).append(";\n}\n");
    };
    const bool selects = node.kind == ExpressionKind::select;
    const std::string result = writer.element(selects ? *node.inputs[0] : node, "i");
    std::string functions = function(std::string(name_of(kernel_type(node.type))), "CONCORD_STREAMS",
                                     "Streams", "concord_element_of", result);
    if (selects) {
        const std::string flag = writer.element(*node.inputs[1], "i");
        functions += "#define CONCORD_SELECTED\n" + function("bool", "CONCORD_FLAG_STREAMS", "FlagStreams",
                                                             "concord_selected_of", flag + " != 0");
    }
    return {.functions = writer.definitions,
            .element =
                "#define CONCORD_EXPRESSION\ntypedef struct {" + writer.members +
                " } Leaves;\n#define LEAVES(NAME) " + writer.parameters + "\n#define AT_LEAVES(NAME)" +
                writer.copies +
                "\n// Divisions of 32 bits are faster.\nINLINED u64 concord_quotient(u64 a, u64 b) { return "
                "((a | b) >> 32) == 0 ? (u64)((u32)a / (u32)b) : a / b; }\n" +
                functions};
}

}  // namespace concord::detail
