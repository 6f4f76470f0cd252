#include <concord/internal/input_file.hpp>

#include <concord/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace concord::detail {

InputFile::InputFile(const std::filesystem::path& path, std::string_view call, InputFileRules rules)
    : path_(path), call_(call) {
    // O_NONBLOCK: a FIFO without a writer does not block.
    file_ = ::open(path_.c_str(),
                   O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (rules.follow_link ? 0 : O_NOFOLLOW));
    if (file_ < 0) fail(errno == ELOOP && !rules.follow_link ? "is a symbolic link" : std::strerror(errno));
    try {
        struct stat status {};
        if (::fstat(file_, &status) != 0) fail(std::strerror(errno));
        if (!S_ISREG(status.st_mode)) fail("not a regular file");
        if (rules.trusted && status.st_uid != ::geteuid() && status.st_uid != 0)
            fail("belongs to another user");
        if (rules.trusted && (status.st_mode & S_IWOTH) != 0) fail("everyone can write it");
        size_ = static_cast<u64>(status.st_size);
    } catch (...) {
        ::close(file_);
        throw;
    }
}

InputFile::~InputFile() {
    ::close(file_);
}

void InputFile::fail(const std::string& why) const {
    throw Error(ErrorCode::io, call_,
                detail::error_message("cannot be read", detail::quoted(path_.string())) + ": " + why);
}

std::string InputFile::text() const {
    std::string text;
    constexpr std::size_t part = 1 << 16;
    for (;;) {
        if (text.size() > largest_text) fail("the limit is " + std::to_string(largest_text >> 20) + " MiB");
        const std::size_t before = text.size();
        // One byte more than expected: reads the end of the file in the same call.
        text.resize(before + std::max(part, before == 0 ? std::min(size_, largest_text) + 1 : 0));
        const ssize_t n =
            ::pread(file_, text.data() + before, text.size() - before, static_cast<off_t>(before));
        text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(std::strerror(errno));
        if (n == 0) return text;
    }
}

std::string text_of_file(const std::filesystem::path& path, std::string_view call, InputFileRules rules) {
    return InputFile(path, call, rules).text();
}

}  // namespace concord::detail
