#include "files.hpp"

#include "interrupt.hpp"

#include <concord/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace concord::app {
namespace {

namespace fs = std::filesystem;

// Reading the mask sets it for all threads. So this runs before main(), when there is one thread.
const mode_t process_umask = [] {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    return mask;
}();

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
    throw Error(ErrorCode::io, path.empty() ? "''" : path.string(), "cannot be written: " + why);
}

// Names the option if there is one.
[[noreturn]] void fail(const fs::path& path, std::string_view option, const std::string& why) {
    if (option.empty()) fail(path, why);
    throw Error(ErrorCode::io, option,
                "cannot be written, got " + detail::quoted(path.string()) + ": " + why);
}

// The file behind a link, so that writing keeps the link.
fs::path target_of(const fs::path& path) {
    std::error_code error;
    const fs::path target = fs::weakly_canonical(path, error);
    return error ? path : target;
}

fs::path folder_of(const fs::path& path) {
    const fs::path folder = path.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

// Whether the path is a pipe, a socket or a character device.
bool is_channel(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status);
}

void write_all(int file, std::span<const std::byte> bytes, const fs::path& path) {
    constexpr std::size_t most = std::size_t{1} << 30;  // one call writes less than 2 GiB
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), std::min(bytes.size(), most));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(path, std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}

}  // namespace

void check_apart(const std::vector<NamedFile>& files) {
    auto place_of = [](const NamedFile& file) {
        std::error_code error;
        const fs::path path = fs::weakly_canonical(fs::absolute(file.path, error), error);
        return fs::exists(path, error) && !fs::is_regular_file(path, error) ? fs::path() : path;
    };
    for (auto later = files.begin(); later != files.end(); ++later) {
        if (later->path.empty() || place_of(*later).empty()) continue;
        for (auto file = files.begin(); file != later; ++file) {
            if (!file->path.empty() && place_of(*file) == place_of(*later))
                throw Error(ErrorCode::invalid_argument, later->option,
                            "same file as " + std::string(file->option) + ", got '" + later->path +
                                "'; name another file");
        }
    }
}

void check_files(const std::vector<NamedFile>& files) {
    for (const NamedFile& file : files) {
        if (!file.path.empty()) check_writable(file.path, file.option);
    }
    check_apart(files);
}

void check_writable(const fs::path& path, std::string_view option) {
    if (path.empty() || path.filename().empty()) fail(path, option, "the path has no file name");
    std::error_code error;
    if (fs::is_directory(path, error)) fail(path, option, "is a directory");
    if (is_channel(path)) return;
    const fs::path target = target_of(path);
    if (fs::exists(target, error) && !fs::is_regular_file(target, error))
        fail(path, option, "not a regular file");
    const fs::path folder = folder_of(target);
    if (fs::exists(folder, error) && !fs::is_directory(folder, error))
        fail(path, option, "'" + folder.string() + "' is not a directory");
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw Error(ErrorCode::io, option.empty() ? path.string() : std::string(option),
                    detail::error_message("directory does not exist or is not writable",
                                          detail::quoted(folder.string())));
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
    check_writable(path);
    if (concord::app::is_channel(path)) {
        file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
        if (file_ < 0) fail(path, std::strerror(errno));
        return;
    }
    target_ = target_of(path);
    name_ = (folder_of(target_) / ("." + target_.filename().string() + ".XXXXXX")).string();
    file_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (file_ < 0) fail(path, std::strerror(errno));
    interrupt_ = remove_on_interrupt(name_);
    // mkstemp creates private files. Other programs' files follow the umask.
    ::fchmod(file_, 0666 & ~process_umask);
}

OutputFile::~OutputFile() {
    if (file_ >= 0) ::close(file_);
    if (name_.empty()) return;
    ::unlink(name_.c_str());
    keep_on_interrupt(interrupt_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
    write_all(file_, bytes, path_);
}

void OutputFile::rewrite(std::span<const std::byte> bytes) {
    if (::lseek(file_, 0, SEEK_SET) != 0) fail(path_, std::strerror(errno));
    write_all(file_, bytes, path_);
}

void OutputFile::keep() {
    // Some file systems report a full disk only here.
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0) fail(path_, std::strerror(errno));
    if (name_.empty()) return;
    if (::rename(name_.c_str(), target_.c_str()) != 0) fail(path_, std::strerror(errno));
    name_.clear();
    keep_on_interrupt(interrupt_);
}

OutputPart::OutputPart(const std::string& working_name, fs::path path) : path_(std::move(path)) {
    file_ = ::open(working_name.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail(path_, "its temporary file " + working_name + ": " + std::strerror(errno));
    interrupt_ = remove_on_interrupt(working_name);
}

OutputPart::~OutputPart() {
    if (file_ >= 0) ::close(file_);
    keep_on_interrupt(interrupt_);
}

void OutputPart::write(u64 offset, std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;  // one call writes less than 2 GiB
    while (!bytes.empty()) {
        const ssize_t n =
            ::pwrite(file_, bytes.data(), std::min(bytes.size(), most), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(path_, std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        offset += static_cast<u64>(n);
    }
}

void OutputPart::close() {
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0) fail(path_, std::strerror(errno));
}

void write_whole(const fs::path& path, const std::vector<std::span<const std::byte>>& parts) {
    OutputFile file(path);
    for (const auto part : parts)
        file.write(part);
    file.keep();
}

void write_whole(const fs::path& path, std::string_view text) {
    write_whole(path, {std::as_bytes(std::span(text))});
}

}  // namespace concord::app
