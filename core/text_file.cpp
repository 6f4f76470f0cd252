#include <concord/internal/text_file.hpp>

#include <concord/error.hpp>

#include <array>
#include <fstream>

namespace concord::detail {

std::string text_of_file(const std::string& path, const std::string& call) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 1 << 14> part;
    do {
        file.read(part.data(), part.size());
        text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    } while (file);
    if (!file.eof() || file.bad()) throw Error(ErrorCode::io, call, "cannot read " + detail::quoted(path));
    return text;
}

}  // namespace concord::detail
