#pragma once
// The words of a source, found without compiling it.

#include <algorithm>
#include <cctype>
#include <iterator>
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

// The text with a space in place of each comment and each line continuation.
inline std::string without_comments(std::string_view text) {
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
