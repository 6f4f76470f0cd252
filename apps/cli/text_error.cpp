#include "text_error.hpp"

#include "program.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>

namespace concord::app {
namespace {

// The library compiles QUALIFIER TEXT, with the function's name replaced, as a file that has this name.
constexpr std::string_view replaced_name = "concord_function";
constexpr std::string_view opencl_qualifier = "static inline __attribute__((always_inline)) ",
                           cuda_qualifier = "static __device__ __forceinline__ ";

struct Name {
    std::string word;
    u64 line = 1, column = 1;  // of its first character
};

// The name of the function: the word before the first parenthesis.
Name name_in(const std::string& text) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    std::size_t end = std::min(text.find('('), text.size());
    while (end > 0 && !is_word(text[end - 1]))
        --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1]))
        --begin;
    const std::string before = text.substr(0, begin);
    const std::size_t row = before.rfind('\n');
    return {text.substr(begin, end - begin),
            1 + static_cast<u64>(std::count(before.begin(), before.end(), '\n')),
            begin - (row == std::string::npos ? 0 : row + 1) + 1};
}

struct Place {
    std::string file, message;
    u64 line = 0, column = 0;  // 0: unknown
    bool is_cuda = false;
};

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

bool take_number(std::string_view& text, u64& number) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    if (!is_whole(text.substr(0, end), number)) return false;
    text.remove_prefix(end);
    return true;
}

// Parses "FILE:1:56: error: MESSAGE" (clang), "error: FILE:1:56: MESSAGE" (PoCL) and "FILE(1): error: MESSAGE" (NVRTC).
std::optional<Place> place_in(std::string_view row) {
    bool is_error = take(row, "error: ") || take(row, "fatal error: ");
    Place place;
    const std::size_t end = row.find_first_of(":(");
    if (end == std::string_view::npos) return std::nullopt;
    place.file = row.substr(0, end);
    place.is_cuda = row[end] == '(';
    row.remove_prefix(end + 1);
    if (!take_number(row, place.line)) return std::nullopt;
    if (place.is_cuda ? !take(row, "): ") : !take(row, ":")) return std::nullopt;
    if (!place.is_cuda && (!take_number(row, place.column) || !take(row, ": "))) return std::nullopt;
    for (const std::string_view kind : {"error: ", "fatal error: ", "catastrophic error: "})
        is_error = take(row, kind) || is_error;
    if (!is_error) return std::nullopt;
    place.message = row;
    return place;
}

// Column of the mark in NVRTC's log, which follows the source line: two spaces, then "^" below the place. 0: no mark.
u64 marked_column(const std::vector<std::string>& rows, std::size_t first) {
    constexpr std::size_t indent = 2, max_rows = 3;
    for (std::size_t i = first; i < std::min(rows.size(), first + max_rows); ++i) {
        const std::size_t mark = rows[i].find_first_not_of(' ');
        if (mark != std::string::npos && mark >= indent && rows[i].substr(mark) == "^")
            return mark - indent + 1;
    }
    return 0;
}

std::string with_name(std::string message, const std::string& name) {
    for (std::size_t at = 0; (at = message.find(replaced_name, at)) != std::string::npos; at += name.size())
        message.replace(at, replaced_name.size(), name);
    return message;
}

}  // namespace

std::string error_in_text(const std::string& log, const std::string& text) {
    const Name name = name_in(text);
    const std::vector<std::string> rows = lines_of(log);
    std::string elsewhere;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::optional<Place> place = place_in(rows[i]);
        if (!place) continue;
        const std::string message = with_name(place->message, name.word);
        if (place->file != name.word) {
            if (elsewhere.empty()) elsewhere = message;
            continue;
        }
        u64 column = place->is_cuda ? marked_column(rows, i + 1) : place->column;
        if (place->line == 1) {
            const u64 qualifier = (place->is_cuda ? cuda_qualifier : opencl_qualifier).size();
            column -= std::min(column, qualifier);
        }
        if (place->line == name.line && column > name.column) {
            const u64 longer = replaced_name.size(), end = name.column + longer;
            column = column < end ? name.column : column - longer + name.word.size();
        }
        return "line " + std::to_string(place->line) +
               (column > 0 ? ", column " + std::to_string(column) : "") + ": " + message;
    }
    return elsewhere.empty() ? log : "error after the end of the text, e.g. for lack of a '}': " + elsewhere;
}

CompilerNoise::CompilerNoise(bool active) {
    if (!active) return;
    kept_ = ::memfd_create("stderr", MFD_CLOEXEC);
    if (kept_ < 0) return;
    stderr_ = ::dup(STDERR_FILENO);
    if (stderr_ >= 0) ::dup2(kept_, STDERR_FILENO);
}

CompilerNoise::~CompilerNoise() {
    if (kept_ < 0) return;
    if (stderr_ >= 0) {
        ::dup2(stderr_, STDERR_FILENO);
        ::close(stderr_);
    }
    std::string text;
    char piece[4096];
    ::lseek(kept_, 0, SEEK_SET);
    for (ssize_t n = 0; (n = ::read(kept_, piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(n));
    ::close(kept_);
    for (const std::string& row : lines_of(text)) {
        if (!row.ends_with(" generated.")) std::fprintf(stderr, "%s\n", row.c_str());
    }
}

}  // namespace concord::app
