#include <concord/error.hpp>
#include <concord/internal/operator_text.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <mutex>

namespace concord::detail {
namespace {

// Functions that give bitwise identical results on all devices: their results are exact or correctly rounded. fmin and
// fmax are not among them, because devices choose differently between zeros of opposite sign.
constexpr std::string_view portable_functions[] = {"sqrt",  "fma",   "fabs",    "abs",  "copysign",
                                                   "floor", "ceil",  "trunc",   "rint", "round",
                                                   "isnan", "isinf", "isfinite"};
// Words that precede a parenthesis without being called.
constexpr std::string_view not_called[] = {"if",   "for",    "while",    "switch", "return",
                                           "else", "sizeof", "unsigned", "signed", "concord_function",
                                           "case"};

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text with a space in place of each comment and each line continuation.
std::string without_comments(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view mark = text.substr(at, 2);
        if (mark == "//" || mark == "/*") {
            const std::string_view end = mark == "//" ? "\n" : "*/";
            const std::size_t found = text.find(end, at + 2);
            at = found == std::string_view::npos ? text.size() : found + end.size();
            plain += ' ';
        } else if (mark == "\\\n") {
            at += 2;
        } else {
            plain += text[at++];
        }
    }
    return plain;
}

// Calls f with each word of the text and the position behind it, until f returns true.
template <class F>
void find_word(std::string_view text, F f) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_word(text[end]))
            ++end;
        if (end > at && f(text.substr(at, end - at), at, end)) return;
        at = std::max(end, at + 1);
    }
}

// The next character from `at` on other than a space; 0 at the end. Moves `at` to it.
char next_mark(std::string_view text, std::size_t& at) {
    at = text.find_first_not_of(" \t\r\n", at);
    return at == std::string_view::npos ? '\0' : text[at];
}

// Removes the spaces at the end.
std::string_view trimmed_end(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// The word at the end of the text. Empty if the text ends with another character.
std::string_view last_word(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && is_word(text[begin - 1]))
        --begin;
    return text.substr(begin);
}

// Whether the word in [begin, end) is called: f(x), (f)(x), ((f))(x). In `if (flag) (x)` it is not.
bool is_called(std::string_view text, std::size_t begin, std::size_t end) {
    constexpr std::string_view before_values[] = {"return", "else", "case"};
    while (true) {
        const char next = next_mark(text, end);
        if (next == '(') return true;
        std::string_view before = trimmed_end(text.substr(0, begin));
        if (next != ')' || before.empty() || before.back() != '(') return false;
        begin = before.size() - 1;
        ++end;
        // Behind a name or a keyword the parentheses hold arguments or a condition.
        before = last_word(trimmed_end(text.substr(0, begin)));
        if (!before.empty() && !is_one_of(before, before_values)) return false;
    }
}

}  // namespace

std::string unportable_call(std::string_view text) {
    return unportable_call(text, {});
}

std::string unportable_call(std::string_view text, const std::vector<const NamedFunction*>& known) {
    const std::string plain = without_comments(text);
    std::string found;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (is_one_of(word, portable_functions) || is_one_of(word, not_called) || type_spelled(word))
            return false;
        if (!is_called(plain, begin, end)) return false;
        for (const NamedFunction* function : known) {
            if (function->name == word) return false;
        }
        found = word;
        return true;
    });
    return found;
}

bool may_divide_f32(const Operator& op) {
    const std::string plain = without_comments(op.text);
    bool f32 = op.result == Type::f32 ||
               std::count(op.arguments.begin(), op.arguments.end(), Type::f32) > 0 ||
               std::count(op.bound.begin(), op.bound.end(), Type::f32) > 0;
    bool divides = plain.find('/') != std::string::npos;
    find_word(plain, [&](std::string_view word, std::size_t, std::size_t) {
        f32 = f32 || type_spelled(word) == Type::f32;
        divides = divides || word == "sqrt";
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

// The function that a call of `name` in `file` means; null if there is none.
const NamedFunction* function_named(std::string_view name, std::string_view file) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    const NamedFunction* found = nullptr;
    for (const NamedFunction* function : all.list) {
        if (function->name != name) continue;
        if (function->file == file) return function;
        if (found != nullptr && found->text != function->text)
            throw Error(ErrorCode::invalid_argument, std::string(name),
                        "several functions have this name, in " + std::string(found->file) + " and " +
                            std::string(function->file) + "; rename one of them");
        found = function;
    }
    return found;
}

void add_called(std::string_view text, std::string_view file, std::vector<const NamedFunction*>& list) {
    const std::string plain = without_comments(text);
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (!is_called(plain, begin, end)) return false;
        const NamedFunction* const function = function_named(word, file);
        if (function == nullptr || std::find(list.begin(), list.end(), function) != list.end()) return false;
        add_called(function->text, function->file, list);
        list.push_back(function);
        return false;
    });
}

}  // namespace

NamedFunction::NamedFunction(std::string_view the_name, std::string_view the_text, std::string_view the_file,
                             u32 the_line)
    : name(the_name), text(the_text), file(the_file), line(the_line) {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.push_back(this);
}

NamedFunction::~NamedFunction() {
    NamedFunctions& all = named_functions();
    const std::lock_guard lock(all.mutex);
    all.list.erase(std::find(all.list.begin(), all.list.end(), this));
}

std::vector<const NamedFunction*> functions_called(std::string_view text, std::string_view file) {
    std::vector<const NamedFunction*> list;
    add_called(text, file, list);
    return list;
}

std::string named(std::string_view text, std::string_view name) {
    constexpr std::string_view own_name = "concord_function";
    const std::size_t at = text.find(own_name);
    return std::string(text.substr(0, at)).append(name).append(text.substr(at + own_name.size()));
}

}  // namespace concord::detail
