#include <concord/error.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include "kernel/source_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

namespace concord::detail {
namespace {

// Words that precede a parenthesis without being called.
constexpr std::string_view not_called[] = {
    "if",   "do",     "for",      "while",  "switch",           "return",
    "else", "sizeof", "unsigned", "signed", "concord_function", "case"};

// The position of the parenthesis that closes the one at `open`. The end of the text if there is none.
std::size_t closing(std::string_view text, std::size_t open) {
    std::size_t depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '(') ++depth;
        if (text[at] == ')' && --depth == 0) return at;
    }
    return text.size();
}

// Whether the call of the word in [begin, end) is a statement of its own, which uses no result.
bool is_statement(std::string_view text, std::size_t begin, std::size_t end) {
    if (next_mark(text, end) != '(') return false;
    std::size_t after = closing(text, end) + 1;
    if (after > text.size() || next_mark(text, after) != ';') return false;
    std::vector<std::size_t> open;
    std::size_t head = std::string_view::npos;  // where the last pair of parentheses began
    for (std::size_t at = 0; at < begin; ++at) {
        if (text[at] == '(') open.push_back(at);
        if (text[at] == ')' && !open.empty()) {
            head = open.back();
            open.pop_back();
        }
    }
    if (!open.empty()) return false;
    const std::string_view before = trimmed_end(text.substr(0, begin));
    if (before.empty()) return true;
    if (before.ends_with(')')) {
        constexpr std::string_view before_statements[] = {"if", "for", "while"};
        return head != std::string_view::npos &&
               is_one_of(last_word(trimmed_end(text.substr(0, head))), before_statements);
    }
    return std::string_view(";{}").find(before.back()) != std::string_view::npos ||
           last_word(before) == "else";
}

}  // namespace

std::string unportable_call(std::string_view text) {
    return unportable_call(text, {});
}

std::string unportable_call(std::string_view text, const std::vector<const NamedFunction*>& known) {
    const std::string plain = plain_text(text);
    std::string found;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (is_one_of(word, not_called) || is_type_name(word) || !is_called(plain, begin, end)) return false;
        if (!trimmed_end(std::string_view(plain).substr(0, begin)).ends_with("::")) {
            if (is_portable_function(word)) return false;
            if (is_commutative_atomic(word) && is_statement(plain, begin, end)) return false;
            for (const NamedFunction* function : known) {
                if (function->name == word) return false;
            }
        }
        found = word;
        return true;
    });
    return found;
}

std::string unportable_helper(const NamedFunction& function, const std::vector<const NamedFunction*>& known) {
    const std::string text = texts_of(function).front();
    std::string found = unportable_call(text, known);
    if (!found.empty()) return found;
    find_word(plain_text(text), [&](std::string_view word, std::size_t, std::size_t) {
        if (is_commutative_atomic(word)) found = word;
        return !found.empty();
    });
    return found;
}

bool may_divide_f32(const Operator& op) {
    std::string plain = plain_text(op.text);
    for (const Operator::Helper& helper : op.helpers)
        plain += plain_text(helper.text);
    bool f32 = op.result == Type::f32 ||
               std::count(op.arguments.begin(), op.arguments.end(), Type::f32) > 0 ||
               std::count(op.bound.begin(), op.bound.end(), Type::f32) > 0;
    bool divides = plain.find('/') != std::string::npos;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t) {
        f32 = f32 || type_spelled(word) == Type::f32 || word == "sqrtf" ||
              (is_number(word) && real_literal_at(plain, begin) == Type::f32);
        divides = divides || word == "sqrt" || word == "sqrtf";
        return f32 && divides;
    });
    return f32 && divides;
}

namespace {

struct NamedFunctions {
    std::mutex mutex;
    std::vector<const NamedFunction*> list;
};
NamedFunctions& named_functions() {
    static NamedFunctions functions;
    return functions;
}

std::string place_of(const NamedFunction& function) {
    return std::string(function.file) + ":" + std::to_string(function.line);
}

// The function or struct of that name that the source means; null if there is none.
const NamedFunction* definition_named(std::string_view name, NamedKind kind, const SourcePlace& place) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    const NamedFunction* found = nullptr;
    for (const NamedFunction* function : all.list) {
        if (function->name != name || function->kind != kind ||
            (place.unit != nullptr && function->unit != place.unit))
            continue;
        const bool is_here = function->file == place.file;
        // In another file it is out of sight, and the body means the function that all languages have.
        if (!is_here && is_portable_function(name)) continue;
        const bool is_nearer = found != nullptr && is_here && found->file != place.file;
        if (found != nullptr && found->file == place.file && !is_here) continue;
        if (found != nullptr && !is_nearer && found->text != function->text)
            throw Error(ErrorCode::invalid_argument, std::string(name),
                        (kind == NamedKind::function ? "several functions" : "several structs") +
                            std::string(" have this name, in ") + place_of(*found) + " and " +
                            place_of(*function) + "; rename one of them");
        found = function;
    }
    return found;
}

void add_called(std::string_view text, const SourcePlace& place, const NamedFunction* own,
                std::vector<const NamedFunction*>& list) {
    const std::string plain = plain_text(text);
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        const NamedKind kind = is_called(plain, begin, end) ? NamedKind::function : NamedKind::structure;
        const NamedFunction* const found = definition_named(word, kind, place);
        if (found == nullptr || found == own) return false;
        if (is_in_vocabulary(word) || is_type_name(word))
            throw Error(ErrorCode::invalid_argument, std::string(word),
                        "used in " + std::string(place.file) +
                            ", where the name means that of concord/vocabulary.hpp; rename your own");
        if (std::find(list.begin(), list.end(), found) != list.end()) return false;
        add_called(found->text, {found->file, found->unit}, found, list);
        list.push_back(found);
        return false;
    });
}

}  // namespace

NamedFunction::NamedFunction(std::string_view the_name, std::string_view the_text, std::string_view the_file,
                             u32 the_line, const void* the_unit, NamedKind the_kind)
    : name(the_name), text(the_text), file(the_file), line(the_line), unit(the_unit), kind(the_kind) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.push_back(this);
}

NamedFunction::NamedFunction(std::string_view the_name, std::string_view the_text, std::string_view the_file,
                             u32 the_line, const void* the_unit, std::string_view the_type_name,
                             std::span<const Type> the_types)
    : NamedFunction(the_name, the_text, the_file, the_line, the_unit) {
    type_name = the_type_name;
    types = the_types;
}

NamedFunction::NamedFunction(const StructType& the_structure, std::string_view the_file, u32 the_line,
                             const void* the_unit)
    : NamedFunction(the_structure.name, the_structure.definition, the_file, the_line, the_unit,
                    NamedKind::structure) {
    structure = &the_structure;
}

NamedFunction::~NamedFunction() {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.erase(std::find(all.list.begin(), all.list.end(), this));
}

std::vector<const NamedFunction*> functions_called(std::string_view text, const SourcePlace& place) {
    std::vector<const NamedFunction*> list;
    add_called(text, place, nullptr, list);
    return list;
}

namespace {

// Whether the word at `begin` is what a word of group kernels declares: CONCORD_LOCAL(f32, tile, [16]) or
// CONCORD_ITEMS((x, y)).
bool is_declared_in_group(std::string_view plain, std::size_t begin) {
    std::string_view before = plain.substr(0, begin);
    before.remove_prefix(before.find_last_of(";{}") + 1);
    const std::size_t word = before.rfind("CONCORD_");
    if (word == std::string_view::npos) return false;
    before = trimmed_end(before.substr(word));
    const auto commas = std::count(before.begin(), before.end(), ',');
    if (before.starts_with("CONCORD_LOCAL") || before.starts_with("CONCORD_PRIVATE"))
        return commas == 1 && before.ends_with(',');
    if (before.starts_with("CONCORD_STRIDED")) return before.ends_with("((");
    return before.starts_with("CONCORD_ITEMS") && before.find(')') == std::string_view::npos;
}

// Whether the word at `begin` is declared there: a type precedes it, or a word of group kernels.
bool is_declared(std::string_view plain, std::size_t begin) {
    if (is_declared_in_group(plain, begin)) return true;
    constexpr std::string_view before_values[] = {"return", "else", "case", "do", "goto"};
    std::string_view before = trimmed_end(plain.substr(0, begin));
    const bool is_pointer = before.ends_with('*');
    while (before.ends_with('*'))
        before = trimmed_end(before.substr(0, before.size() - 1));
    const std::string_view word = last_word(before);
    if (word.empty() || is_number(word)) return false;
    return is_pointer ? is_type_name(word) : !is_one_of(word, before_values);
}

// The constants of the translation unit.
std::map<std::string_view, const NamedFunction*> constants_of(const void* unit) {
    std::map<std::string_view, const NamedFunction*> constants;
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    for (const NamedFunction* constant : all.list) {
        if (constant->kind != NamedKind::constant || constant->unit != unit) continue;
        const auto [place, is_new] = constants.emplace(constant->name, constant);
        // Only an error if a body uses it.
        if (!is_new && place->second != nullptr && place->second->text != constant->text)
            place->second = nullptr;
    }
    return constants;
}

}  // namespace

std::string with_constants(std::string_view text, const SourcePlace& place, std::string_view parameters) {
    std::string result;
    std::map<std::string_view, const NamedFunction*> constants;
    if (place.unit != nullptr) constants = constants_of(place.unit);
    if (constants.empty()) return std::string(text);
    const std::string plain = blanked(text);
    const auto each_use = [&](std::string_view source, auto f) {
        find_word(source, [&](std::string_view word, std::size_t begin, std::size_t end) {
            const auto found = constants.find(word);
            const std::string_view before = trimmed_end(source.substr(0, begin));
            const bool is_member = before.ends_with('.') || before.ends_with("->") || before.ends_with("::");
            if (found != constants.end() && !is_member) f(found, begin, end);
            return false;
        });
    };
    for (const std::string_view source : {parameters, std::string_view(plain)}) {
        std::vector<std::string_view> declared;
        each_use(source, [&](auto found, std::size_t begin, std::size_t) {
            if (is_declared(source, begin)) declared.push_back(found->first);
        });
        for (const std::string_view name : declared)
            constants.erase(name);
    }
    std::size_t done = 0;
    each_use(plain, [&](auto found, std::size_t begin, std::size_t end) {
        if (found->second == nullptr)
            throw Error(ErrorCode::invalid_argument, std::string(found->first),
                        "several constants have this name in the translation unit of " +
                            std::string(place.file) + "; rename one of them");
        result.append(text, done, begin - done).append(found->second->text);
        done = end;
    });
    return result.append(text, done);
}

std::vector<std::string> texts_of(const NamedFunction& function) {
    const std::string text = with_constants(function.text, {function.file, function.unit});
    if (function.types.empty()) return {text};
    std::vector<std::string> texts;
    for (const Type& type : function.types)
        texts.push_back("CONCORD_OVERLOADABLE " + with_types(text, function.type_name, {&type, 1}));
    return texts;
}

std::string constant_text(Type type, i64 value) {
    // No literal has the lowest value.
    if (value == std::numeric_limits<i64>::min()) return "((i64)0x8000000000000000UL)";
    return "((" + std::string(name_of(type)) + ")" + std::to_string(value) +
           (size_of(type) == 8 ? "L)" : ")");
}
std::string constant_text(Type type, u64 value) {
    return "((" + std::string(name_of(type)) + ")" + std::to_string(value) +
           (size_of(type) == 8 ? "UL)" : "u)");
}
std::string constant_text(Type type, f64 value) {
    std::string digits;
    if (std::isnan(value)) {
        digits = "NAN";
    } else if (std::isinf(value)) {
        digits = value < 0 ? "-INFINITY" : "INFINITY";
    } else {
        std::array<char, 40> text;
        char* const end =
            std::to_chars(text.data(), text.data() + text.size(), std::abs(value), std::chars_format::hex)
                .ptr;
        digits.append(std::signbit(value) ? "-0x" : "0x").append(text.data(), end);
        if (type == Type::f32) digits += 'f';
    }
    return "((" + std::string(name_of(type)) + ")" + digits + ")";
}

std::string named(std::string_view text, std::string_view name) {
    constexpr std::string_view own_name = "concord_function";
    const std::size_t at = text.find(own_name);
    return std::string(text.substr(0, at))
        .append(private_name(name))
        .append(text.substr(at + own_name.size()));
}

std::string with_suffix(std::string_view text, std::span<const std::string> words, std::string_view suffix) {
    std::string result;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        text.remove_prefix(line.size());
        std::size_t done = 0;
        if (!line.starts_with('#')) {
            find_word(line, [&](std::string_view word, std::size_t /*begin*/, std::size_t end) {
                if (std::find(words.begin(), words.end(), word) == words.end()) return false;
                result.append(line, done, end - done).append(suffix);
                done = end;
                return false;
            });
        }
        result.append(line, done);
    }
    return result;
}

std::string with_types(std::string_view text, std::string_view names, std::span<const Type> types) {
    const std::vector<std::string_view> words = parameters_in(names);
    std::string result;
    std::size_t done = 0;
    find_word(text, [&](std::string_view word, std::size_t begin, std::size_t end) {
        const auto at = std::find(words.begin(), words.end(), word);
        if (at == words.end()) return false;
        result.append(text, done, begin - done)
            .append(name_of(types[static_cast<std::size_t>(at - words.begin())]));
        done = end;
        return false;
    });
    return result.append(text, done);
}

}  // namespace concord::detail
