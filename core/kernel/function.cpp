#include <concord/error.hpp>
#include <concord/function.hpp>

#include <concord/internal/kernel_key.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <cctype>

namespace concord {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.remove_suffix(1);
    return text;
}

}  // namespace

void detail::DefinitionText::refuse(std::string_view why) const {
    throw Error(ErrorCode::invalid_argument, std::string(call),
                error_message(why, quoted(text), "expected e.g. " + quoted(example)));
}

detail::Declarator detail::declarator(const DefinitionText& definition, std::string_view text) {
    text = trimmed(text);
    std::size_t at = text.size();
    while (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_'))
        --at;
    const Declarator parts{trimmed(text.substr(0, at)), text.substr(at)};
    if (parts.type.empty() || parts.name.empty())
        definition.refuse("expected a type and a name instead of " + quoted(text));
    return parts;
}

Type detail::element_type(const DefinitionText& definition, std::string_view text) {
    // size_t, uint32_t and the like under Concord's names.
    const std::string name = text == "unsigned" ? "unsigned int" : in_language(text, Dialect::cuda);
    if (const auto element = type_spelled(name)) return *element;
    definition.refuse("unknown element type " + quoted(text));
}

detail::DefinitionParts detail::parts_of(const DefinitionText& definition) {
    const std::string_view text = definition.text;
    const std::size_t open = text.find('('), close = text.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        definition.refuse("missing parameter list");
    const std::size_t body = text.find_first_not_of(" \t\r\n", close + 1);
    if (body == std::string_view::npos || text[body] != '{') definition.refuse("missing body in braces");
    return {declarator(definition, text.substr(0, open)),
            parameters_in(text.substr(open + 1, close - open - 1)), open, body};
}

std::vector<std::string_view> detail::parameters_in(std::string_view list) {
    std::vector<std::string_view> parameters;
    while (true) {
        const std::size_t comma = list.find(',');
        parameters.push_back(trimmed(list.substr(0, comma)));
        if (comma == std::string_view::npos) return parameters;
        list.remove_prefix(comma + 1);
    }
}

std::string Operator::signature() const {
    std::string text(name_of(result));
    text += '(';
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i > 0) text += ", ";
        text += name_of(arguments[i]);
    }
    return text + ')';
}

Operator detail::finish(Operator op) {
    const auto check = [](Type type) {
        if (is_storage(type)) refuse_type(type);
    };
    check(op.result);
    std::for_each(op.arguments.begin(), op.arguments.end(), check);
    std::for_each(op.bound.begin(), op.bound.end(), check);
    op.text = with_constants(op.text, {op.file, op.unit});
    const std::vector<const NamedFunction*> called = functions_called(op.text, {op.file, op.unit});
    op.unportable = unportable_call(op.text, called);
    op.needs_f64 = computes_in_f64(op.text);
    op.helpers.clear();
    for (const NamedFunction* function : called) {
        for (const std::string& text : texts_of(*function)) {
            const bool is_struct = function->kind == NamedKind::structure;
            op.helpers.push_back({std::string(function->name), is_struct ? text : named(text, function->name),
                                  std::string(function->file), function->line, is_struct});
            op.needs_f64 = op.needs_f64 || computes_in_f64(text);
        }
        if (op.unportable.empty()) op.unportable = unportable_helper(*function, called);
    }
    op.may_divide_f32 = may_divide_f32(op);
    std::string all = op.text + '\n' + op.signature();
    for (const Operator::Helper& helper : op.helpers)
        all.append("\n").append(helper.text);
    for (const Type type : op.bound)
        all.append(" ").append(name_of(type));
    // Includes the place, because compilers name it in messages.
    all.append("\n").append(op.file).append(":").append(std::to_string(op.line));
    op.hash = detail::content_hash(all);
    return op;
}

Operator detail::make_operator(std::string_view name, std::string_view text, std::string_view file, u32 line,
                               const void* unit, Type result, std::span<const Type> arguments,
                               std::span<const Type> bound) {
    Operator op;
    op.name = name;
    op.text = text;
    op.file = file;
    op.line = line;
    op.unit = unit;
    op.result = result;
    op.arguments.assign(arguments.begin(), arguments.end());
    op.bound.assign(bound.begin(), bound.end());
    return finish(std::move(op));
}

Operator operator_from_text(std::string_view text) {
    const detail::DefinitionText definition{"operator_from_text", text, "float f(float x) { return x * x; }"};
    const detail::DefinitionParts parts = detail::parts_of(definition);
    Operator op;
    op.name = parts.head.name;
    op.result = detail::element_type(definition, parts.head.type);
    for (const std::string_view parameter : parts.parameters)
        op.arguments.push_back(
            detail::element_type(definition, detail::declarator(definition, parameter).type));
    op.text = std::string(text.substr(0, static_cast<std::size_t>(parts.head.name.data() - text.data()))) +
              "concord_function" + std::string(text.substr(parts.parenthesis));
    op.file = op.name;
    op.line = 1;
    return detail::finish(std::move(op));
}

void detail::refuse_bound(std::string_view function, const std::string& value, Type parameter) {
    throw Error(
        ErrorCode::invalid_argument, std::string(function) + ".bind",
        error_message("no value of the parameter", value, "its type is " + std::string(name_of(parameter))));
}

void detail::refuse_bound(std::string_view function, double value, Type parameter) {
    refuse_bound(function, general_text(value, 17), parameter);
}

}  // namespace concord
