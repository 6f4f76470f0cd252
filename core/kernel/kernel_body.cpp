#include <concord/internal/kernel_body.hpp>

#include "kernel/source_words.hpp"

namespace concord::detail {
namespace {

// Whether the text in front of a name ends with the beginning of a kernel's declaration.
bool declares_kernel(std::string_view before) {
    bool found = false;
    find_word(before.substr(before.find_last_of(";{}") + 1),
              [&](std::string_view word, std::size_t, std::size_t) {
                  return found = word == "__global__" || word.starts_with("KERNEL");
              });
    return found;
}

// The position behind the brace that follows a list of parameters, which begins at `at`. 0 if there is none.
std::size_t body_after_parameters(std::string_view text, std::size_t at) {
    if (next_mark(text, at) != '(') return 0;
    std::size_t depth = 0;
    do {
        depth += text[at] == '(' ? 1 : 0;
        depth -= text[at] == ')' ? 1 : 0;
        ++at;
    } while (depth > 0 && at < text.size());
    return next_mark(text, at) == '{' ? at + 1 : 0;
}

}  // namespace

std::vector<std::size_t> kernel_bodies(std::string_view source, std::string_view name) {
    const std::string text = blanked(source);
    std::vector<std::size_t> bodies;
    find_word(text, [&](std::string_view word, std::size_t begin, std::size_t end) {
        if (word != name || !declares_kernel(std::string_view(text).substr(0, begin))) return false;
        if (const std::size_t body = body_after_parameters(text, end); body != 0) bodies.push_back(body);
        return false;
    });
    return bodies;
}

}  // namespace concord::detail
