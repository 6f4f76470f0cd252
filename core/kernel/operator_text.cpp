#include <concord/error.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>

#include "kernel/source_words.hpp"

#include <algorithm>
#include <mutex>

namespace concord::detail {
namespace {

// Words that precede a parenthesis without being called.
constexpr std::string_view not_called[] = {"if",   "for",    "while",    "switch", "return",
                                           "else", "sizeof", "unsigned", "signed", "concord_function",
                                           "case"};

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
    std::string found = unportable_call(function.text, known);
    if (!found.empty()) return found;
    find_word(plain_text(function.text), [&](std::string_view word, std::size_t, std::size_t) {
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

// The function that a call of `name` means; null if there is none.
const NamedFunction* function_named(std::string_view name, const SourcePlace& place) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    const NamedFunction* found = nullptr;
    for (const NamedFunction* function : all.list) {
        if (function->name != name || (place.unit != nullptr && function->unit != place.unit)) continue;
        const bool is_here = function->file == place.file;
        // In another file it is out of sight, and the body means the function that all languages have.
        if (!is_here && is_portable_function(name)) continue;
        const bool is_nearer = found != nullptr && is_here && found->file != place.file;
        if (found != nullptr && found->file == place.file && !is_here) continue;
        if (found != nullptr && !is_nearer && found->text != function->text)
            throw Error(ErrorCode::invalid_argument, std::string(name),
                        "several functions have this name, in " + place_of(*found) + " and " +
                            place_of(*function) + "; rename one of them");
        found = function;
    }
    return found;
}

void add_called(std::string_view text, const SourcePlace& place, std::vector<const NamedFunction*>& list) {
    const std::string plain = plain_text(text);
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (!is_called(plain, begin, end)) return false;
        const NamedFunction* const function = function_named(word, place);
        if (function != nullptr && is_in_vocabulary(word))
            throw Error(ErrorCode::invalid_argument, std::string(word),
                        "called in " + std::string(place.file) +
                            ", where the name means the function of concord/vocabulary.hpp; rename your own");
        if (function == nullptr || std::find(list.begin(), list.end(), function) != list.end()) return false;
        add_called(function->text, {function->file, function->unit}, list);
        list.push_back(function);
        return false;
    });
}

}  // namespace

NamedFunction::NamedFunction(std::string_view the_name, std::string_view the_text, std::string_view the_file,
                             u32 the_line, const void* the_unit)
    : name(the_name), text(the_text), file(the_file), line(the_line), unit(the_unit) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.push_back(this);
}

NamedFunction::~NamedFunction() {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.erase(std::find(all.list.begin(), all.list.end(), this));
}

std::vector<const NamedFunction*> functions_called(std::string_view text, const SourcePlace& place) {
    std::vector<const NamedFunction*> list;
    add_called(text, place, list);
    return list;
}

std::string named(std::string_view text, std::string_view name) {
    constexpr std::string_view own_name = "concord_function";
    const std::size_t at = text.find(own_name);
    return std::string(text.substr(0, at))
        .append(private_name(name))
        .append(text.substr(at + own_name.size()));
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
