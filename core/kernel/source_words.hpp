#pragma once
// The words of a source, found without compiling it.

#include <concord/types.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace concord::detail {

template <std::size_t N>
constexpr bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

inline bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The text without line continuations, which may divide a word.
inline std::string joined(std::string_view text) {
    std::string whole(text);
    for (std::size_t at = whole.find("\\\n"); at != std::string::npos; at = whole.find("\\\n", at))
        whole.erase(at, 2);
    return whole;
}

// The text with spaces in place of comments and of the content of literals. Keeps length and lines.
inline std::string blanked(std::string_view text) {
    std::string plain(text);
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view mark = text.substr(at, 2);
        std::size_t end = at + 1;
        if (mark == "//") {
            end = std::min(text.find('\n', at), text.size());
        } else if (mark == "/*") {
            const std::size_t found = text.find("*/", at + 2);
            end = found == std::string_view::npos ? text.size() : found + 2;
        } else if (text[at] == '"' ||
                   (text[at] == '\'' && (at == 0 || !is_word(text[at - 1])))) {  // no separator
            while (end < text.size() && text[end] != text[at])
                end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
        } else {
            at = end;
            continue;
        }
        for (; at < end; ++at)
            plain[at] = plain[at] == '\n' ? '\n' : ' ';
    }
    return plain;
}

// The text as the functions below read it: its words are those that the compilers see.
inline std::string plain_text(std::string_view text) {
    return blanked(joined(text));
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

// Whether the word begins a number.
inline bool is_number(std::string_view word) {
    return std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

// The type of the literal that contains the word at `at`, such as "1.5e-3f" or ".5": f64, or f32 with the suffix f.
// Empty for an integer, which has neither a point nor an exponent.
inline std::optional<Type> real_literal_at(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.'))
        --begin;
    const bool is_hex = text.substr(begin, 2) == "0x" || text.substr(begin, 2) == "0X";
    const std::string_view exponents = is_hex ? "pP" : "eE";
    std::size_t end = begin;
    for (; end < text.size(); ++end) {
        const char c = text[end], before = end > begin ? text[end - 1] : '0';
        const bool is_sign = (c == '+' || c == '-') && exponents.find(before) != std::string_view::npos;
        if (!is_word(c) && c != '.' && !is_sign) break;
    }
    const std::string_view number = text.substr(begin, end - begin);
    if (number.find('.') == std::string_view::npos &&
        number.find_first_of(exponents) == std::string_view::npos)
        return std::nullopt;
    return number.back() == 'f' || number.back() == 'F' ? Type::f32 : Type::f64;
}

// The next character from `at` on other than a space; 0 at the end. Moves `at` to it.
inline char next_mark(std::string_view text, std::size_t& at) {
    at = text.find_first_not_of(" \t\r\n", at);
    return at == std::string_view::npos ? '\0' : text[at];
}

// Removes the spaces at the end.
inline std::string_view trimmed_end(std::string_view text) {
    return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// The word at the end of the text. Empty if the text ends with another character.
inline std::string_view last_word(std::string_view text) {
    std::size_t begin = text.size();
    while (begin > 0 && is_word(text[begin - 1]))
        --begin;
    return text.substr(begin);
}

// Whether the word in [begin, end) is called: f(x), (f)(x), ((f))(x). In `if (flag) (x)` it is not.
inline bool is_called(std::string_view text, std::size_t begin, std::size_t end) {
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

}  // namespace concord::detail
