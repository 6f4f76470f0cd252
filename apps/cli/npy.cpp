#include "npy.hpp"

#include <concord/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace concord::app {

NpyFile::NpyFile(const std::filesystem::path& path, std::string_view option)
    : path_(path), file_(path, option) {
    const std::string name = path.string();
    header_ = detail::read_npy_header(file_, name);
    source_.emplace(file_.descriptor(), name, header_.data, header_.count, header_.type);
    ::posix_fadvise(file_.descriptor(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

NpyStream::NpyStream(std::string_view option) {
    const std::string file = name();
    // Appends up to `bytes` bytes. Memory grows with what arrives, whatever the header says.
    auto append = [&](auto& to, u64 bytes) {
        constexpr u64 piece = u64{16} << 20;
        while (bytes > 0) {
            const u64 before = to.size();
            to.resize(before + std::min(bytes, piece));
            const ssize_t n = ::read(STDIN_FILENO, to.data() + before, to.size() - before);
            const int error = errno;
            to.resize(before + static_cast<u64>(std::max<ssize_t>(n, 0)));
            if (n < 0 && error == EINTR) continue;
            if (n < 0)
                throw Error(ErrorCode::io, option,
                            "cannot be read, got '-' (standard input): " + std::string(std::strerror(error)));
            if (n == 0) return;
            bytes -= static_cast<u64>(n);
        }
    };
    std::string head;
    constexpr u64 fixed = 12;  // up to the end of the header's length
    append(head, fixed);
    // The size of the stream is unknown. A short one ends within its header.
    const u64 size = npy_header_size(head, head.size() < fixed ? head.size() : ~u64{0}, file);
    append(head, size - std::min<u64>(size, head.size()));
    header_ = detail::parse_npy_header(head, npy_header_size(head, head.size(), file), file);
    const u64 bytes = header_.count * size_of(header_.type);
    append(elements_, bytes);
    if (elements_.size() < bytes) detail::fail_truncated_npy(header_, elements_.size(), file);
    source_.emplace(elements_.data(), header_.count, header_.type);
}

std::unique_ptr<InputArray> open_npy(const std::string& path, std::string_view option) {
    if (path != "-") return std::make_unique<NpyFile>(path, option);
    // A file is read where it is needed, without a copy in memory.
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
        ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0)
        return std::make_unique<NpyFile>("/dev/stdin", option);
    return std::make_unique<NpyStream>(option);
}

}  // namespace concord::app
