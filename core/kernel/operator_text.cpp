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

}  // namespace

std::string unportable_call(std::string_view text) {
    return unportable_call(text, {});
}

std::string unportable_call(std::string_view text, const std::vector<const NamedFunction*>& known) {
    const std::string plain = without_comments(text);
    std::string found;
    const std::string_view all = plain;
    find_word(plain, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (is_one_of(word, not_called) || is_type_name(word) || !is_called(plain, begin, end)) return false;
        const std::string_view before = trimmed_end(all.substr(0, begin));
        if (!before.ends_with("::")) {
            if (is_portable_function(word)) return false;
            // A statement that uses no result.
            if (is_commutative_atomic(word) &&
                (before.ends_with(';') || before.ends_with('{') || before.ends_with('}') || before.empty()))
                return false;
            for (const NamedFunction* function : known) {
                if (function->name == word) return false;
            }
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
        if (function != nullptr && is_in_vocabulary(word)) {
            // In another file it is out of sight, and the body means the vocabulary's function.
            if (function->file != file) return false;
            throw Error(ErrorCode::invalid_argument, std::string(word),
                        "called in " + std::string(file) +
                            ", where the name means the function of concord/vocabulary.hpp; rename your own");
        }
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
