#include "files.hpp"

#include <concord/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <mutex>
#include <thread>
#include <utility>

namespace concord::app {
namespace {

namespace fs = std::filesystem;

// Names the option if there is one.
[[noreturn]] void fail(const fs::path& path, std::string_view option, const std::string& why) {
    if (option.empty()) detail::fail_to_write(path, why);
    throw Error(ErrorCode::io, option,
                "cannot be written, got " + detail::quoted(path.string()) + ": " + why);
}

fs::path folder_of(const fs::path& path) {
    const fs::path folder = path.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

[[noreturn]] void fail(const fs::path& path) {
    detail::fail_to_write(path, std::strerror(errno));
}

// Whether the path is a pipe, a socket or a character device.
bool is_pipe_or_device(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return fs::is_character_file(status) || fs::is_fifo(status) || fs::is_socket(status);
}

// The file descriptor that a path names: /dev/stdout, /dev/fd/3, /proc/self/fd/3, or a link to one of these.
std::optional<int> descriptor_named_by(fs::path path) {
    constexpr int max_links = 40;
    std::error_code error;
    const fs::path descriptors = fs::canonical("/proc/self/fd", error);
    if (error) return std::nullopt;
    for (int links = 0; links < max_links; ++links) {
        const fs::path folder = fs::canonical(folder_of(path), error);
        if (error) return std::nullopt;
        const std::string name = path.filename().string();
        int number = -1;
        if (folder == descriptors &&
            std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
            return number;
        const fs::path target = fs::read_symlink(path, error);
        if (error) return std::nullopt;
        path = folder / target;
    }
    return std::nullopt;
}

bool is_channel(const fs::path& path) {
    return descriptor_named_by(path) || is_pipe_or_device(path);
}

// Waits for the reader of a pipe, but not for ever.
int open_channel(const fs::path& path) {
    if (const auto named = descriptor_named_by(path)) {
        // Not opened again: `>> log` goes on at the end, and a socket cannot be opened.
        const int file = ::fcntl(*named, F_DUPFD_CLOEXEC, 0);
        if (file < 0) fail(path);
        return file;
    }
    constexpr std::chrono::seconds patience{5};
    const auto begin = std::chrono::steady_clock::now();
    int file = -1;
    while ((file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0) {
        if (errno != ENXIO) fail(path);
        if (std::chrono::steady_clock::now() - begin > patience)
            detail::fail_to_write(path, "no process reads from it");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) & ~O_NONBLOCK);
    return file;
}

// Those that wait for publish_outputs(). Removed if the program ends without it.
std::vector<std::unique_ptr<detail::NewFile>>& kept_files() {
    static std::vector<std::unique_ptr<detail::NewFile>> files;
    return files;
}

// What publish_outputs() writes to standard output: memory, or a temporary file.
struct ForStdout {
    std::vector<std::vector<std::byte>> parts;
    int file = -1;
};
ForStdout& for_stdout() {
    static ForStdout kept;
    return kept;
}

const fs::path stdout_name = "standard output";

// An unnamed file in $TMPDIR.
int open_temporary() {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    const int file = error ? -1 : ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) detail::fail_to_write(folder, std::strerror(errno));
    return file;
}

void write_kept_to_stdout() {
    ForStdout kept = std::exchange(for_stdout(), {});
    for (const std::vector<std::byte>& part : kept.parts)
        detail::write_all(STDOUT_FILENO, part, stdout_name);
    if (kept.file < 0) return;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    for (off_t at = 0;;) {
        const ssize_t n = ::pread(kept.file, piece.data(), piece.size(), at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail(stdout_name);
        if (n == 0) break;
        detail::write_all(STDOUT_FILENO, std::span(piece).first(static_cast<std::size_t>(n)), stdout_name);
        at += n;
    }
    ::close(kept.file);
}

}  // namespace

void keep_for_stdout(std::vector<std::vector<std::byte>> parts) {
    for_stdout().parts = std::move(parts);
}

void check_apart(const std::vector<NamedFile>& files) {
    auto place_of = [](const NamedFile& file) {
        std::error_code error;
        const fs::path path = fs::weakly_canonical(fs::absolute(file.path, error), error);
        return is_channel(file.path) ? fs::path() : path;
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

void check_writable(const fs::path& path, std::string_view option, Channels channels) {
    if (path.empty() || path.filename().empty()) fail(path, option, "the path has no file name");
    std::error_code error;
    if (fs::is_directory(path, error)) fail(path, option, "is a directory");
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
        fail(path, option, error.message());
    if (channels == Channels::allowed && is_channel(path)) {
        const auto named = descriptor_named_by(path);
        if (named && (::fcntl(*named, F_GETFL) & O_ACCMODE) == O_RDONLY)
            fail(path, option, "not open for writing");
        return;
    }
    const fs::path target = detail::link_target(path);
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

void occupy_standard_files() {
    for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
        // Takes the lowest free number, which is this one. Its use still fails.
        (void)::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

OutputFile::OutputFile(const fs::path& path, std::string shared_name) : path_(path) {
    check_writable(path);
    if (concord::app::is_channel(path)) {
        channel_ = open_channel(path);
    } else {
        const bool shared = !shared_name.empty();
        file_ = std::make_unique<detail::NewFile>(
            path, detail::NewFileOptions{.shared = shared, .shared_name = std::move(shared_name)});
    }
}

OutputFile::OutputFile(ToStdout) : path_(stdout_name), channel_(open_temporary()), is_for_stdout_(true) {}

OutputFile::~OutputFile() {
    if (channel_ >= 0) ::close(channel_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
    detail::write_all(descriptor(), bytes, path_);
}

void OutputFile::rewrite(std::span<const std::byte> bytes) {
    if (::lseek(descriptor(), 0, SEEK_SET) != 0) fail(path_);
    write(bytes);
}

void OutputFile::keep() {
    if (file_) {
        file_->synchronize();
        kept_files().push_back(std::move(file_));
        return;
    }
    if (is_for_stdout_) {
        for_stdout().file = std::exchange(channel_, -1);
        return;
    }
    // Some file systems report a full disk only here.
    const int closed = ::close(channel_);
    channel_ = -1;
    if (closed != 0) fail(path_);
}

void publish_outputs() {
    const auto files = std::exchange(kept_files(), {});
    if (!std::cout.flush())
        throw Error(
            ErrorCode::io, "standard output",
            files.empty() ? "cannot be written" : "cannot be written; no output file is written either");
    write_kept_to_stdout();
    detail::NewFile::publish_together(files);
}

OutputPart::OutputPart(const fs::path& working_path, fs::path path)
    : working_path_(working_path), path_(std::move(path)) {
    folder_ = ::open(folder_of(working_path_).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_ < 0) fail_to_open();
    listed_.emplace(folder_, working_path_.filename().string());
}

void OutputPart::open() {
    file_ = ::openat(folder_, working_path_.filename().c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file_ < 0) fail_to_open();
}

void OutputPart::fail_to_open() const {
    detail::fail_to_write(path_,
                          "its temporary file " + working_path_.string() + ": " + std::strerror(errno));
}

OutputPart::~OutputPart() {
    listed_.reset();
    if (file_ >= 0) ::close(file_);
    ::close(folder_);
}

void OutputPart::write(u64 offset, std::span<const std::byte> bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;  // one call writes less than 2 GiB
    while (!bytes.empty()) {
        const ssize_t n =
            ::pwrite(file_, bytes.data(), std::min(bytes.size(), most), static_cast<off_t>(offset));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail(path_);
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        offset += static_cast<u64>(n);
    }
}

void OutputPart::close() {
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0) fail(path_);
}

void OutputPart::keep(std::unique_ptr<OutputPart> part) {
    // Ranks may be threads.
    static std::mutex mutex;
    // Never destroyed: MPI_Finalize, where ranks wait for each other, may come later.
    static auto& parts = *new std::vector<std::unique_ptr<OutputPart>>;
    const std::lock_guard lock(mutex);
    parts.push_back(std::move(part));
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
