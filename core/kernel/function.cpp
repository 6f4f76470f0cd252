#include <concord/error.hpp>
#include <concord/function.hpp>

#include <concord/internal/kernel_key.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include <algorithm>
#include <cctype>

namespace concord {
namespace {

[[noreturn]] void bad_head(std::string_view definition, std::string_view why) {
    throw Error(ErrorCode::invalid_argument, "operator_from_text",
                detail::error_message(why, detail::quoted(definition),
                                      "expected e.g. 'float f(float x) { return x * x; }'"));
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
        text.remove_suffix(1);
    return text;
}

struct Declarator {
    Type type;
    std::string_view name;
};

// "unsigned int x" -> {u32, "x"}. The spellings mean the same in all three languages on every supported system.
Declarator parse_declarator(std::string_view definition, std::string_view text) {
    text = trimmed(text);
    std::size_t at = text.size();
    while (at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_'))
        --at;
    const std::string_view name = text.substr(at), type = trimmed(text.substr(0, at));
    if (type.empty() || name.empty())
        bad_head(definition, "expected a type and a name instead of '" + std::string(text) + "'");
    if (const auto element = detail::type_spelled(type == "unsigned" ? "unsigned int" : type))
        return {*element, name};
    bad_head(definition, "unknown element type '" + std::string(type) + "'");
}

}  // namespace

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
    const std::vector<const NamedFunction*> called = functions_called(op.text, op.file);
    op.unportable = unportable_call(op.text, called);
    op.needs_f64 = calls_f64_math(op.text);
    op.helpers.clear();
    for (const NamedFunction* function : called) {
        op.helpers.push_back(
            {named(function->text, function->name), std::string(function->file), function->line});
        if (op.unportable.empty()) op.unportable = unportable_call(function->text, called);
        op.needs_f64 = op.needs_f64 || calls_f64_math(function->text);
    }
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
                               Type result, std::span<const Type> arguments, std::span<const Type> bound) {
    Operator op;
    op.name = name;
    op.text = text;
    op.file = file;
    op.line = line;
    op.result = result;
    op.arguments.assign(arguments.begin(), arguments.end());
    op.bound.assign(bound.begin(), bound.end());
    return finish(std::move(op));
}

Operator operator_from_text(std::string_view definition) {
    const std::size_t open = definition.find('('), close = definition.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
        bad_head(definition, "missing parameter list");
    const std::size_t body = definition.find_first_not_of(" \t\r\n", close + 1);
    if (body == std::string_view::npos || definition[body] != '{')
        bad_head(definition, "missing body in braces");

    Operator op;
    const Declarator head = parse_declarator(definition, definition.substr(0, open));
    op.name = head.name;
    op.result = head.type;
    std::string_view parameters = definition.substr(open + 1, close - open - 1);
    while (true) {
        const std::size_t comma = parameters.find(',');
        op.arguments.push_back(parse_declarator(definition, parameters.substr(0, comma)).type);
        if (comma == std::string_view::npos) break;
        parameters.remove_prefix(comma + 1);
    }
    op.text =
        std::string(definition.substr(0, static_cast<std::size_t>(head.name.data() - definition.data()))) +
        "concord_function" + std::string(definition.substr(open));
    op.file = op.name;
    op.line = 1;
    return detail::finish(std::move(op));
}

void detail::refuse_bound(std::string_view function, const std::string& value, Type parameter) {
    throw Error(
        ErrorCode::invalid_argument, std::string(function) + ".bind",
        error_message("no value of the parameter", value, "its type is " + std::string(name_of(parameter))));
}

}  // namespace concord
