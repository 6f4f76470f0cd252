#include <concord/internal/new_file.hpp>

#include <concord/error.hpp>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace concord::detail {
namespace {

namespace fs = std::filesystem;

struct Listed {
    std::atomic<bool> used;
    int folder;
    char name[32];
};
Listed listed[16];
std::atomic<bool> list_is_locked;
static_assert(std::atomic<bool>::is_always_lock_free);

// Locks the list against signal handlers. Those on this thread wait, because signals are blocked. Those on other
// threads spin, shortly.
class ListLock {
  public:
    ListLock() noexcept {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
        while (list_is_locked.exchange(true)) {
        }
    }
    ~ListLock() {
        list_is_locked = false;
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    ListLock(const ListLock&) = delete;
    ListLock& operator=(const ListLock&) = delete;

  private:
    sigset_t before_;
};

constexpr std::size_t not_listed = std::size(listed);

// Returns the place in the list, which the caller has locked. A file beyond the last place is not listed.
std::size_t add_to_list(int folder, std::string_view name) noexcept {
    std::size_t place = 0;
    while (place < not_listed && listed[place].used)
        ++place;
    if (place == not_listed || name.size() >= sizeof listed[place].name) return not_listed;
    listed[place].folder = folder;
    listed[place].name[name.copy(listed[place].name, name.size())] = '\0';
    listed[place].used = true;
    return place;
}

std::string in_proc(int file) {
    return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace

std::string temporary_name() {
    u64 number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number)
        throw Error(ErrorCode::io, "getrandom", std::strerror(errno));
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
    return std::string(temporary_prefix) + digits;
}

void fail_to_write(const fs::path& path, const std::string& why) {
    throw Error(ErrorCode::io, path.empty() ? "''" : path.string(), "cannot be written: " + why);
}

fs::path link_target(fs::path path) {
    constexpr int max_links = 40;  // Linux's own limit
    for (int links = 0; links < max_links; ++links) {
        std::error_code error;
        const fs::path target = fs::read_symlink(path, error);
        if (error) return path;
        path = path.parent_path() / target;
    }
    fail_to_write(path, std::strerror(ELOOP));
}

void write_all(int file, std::span<const std::byte> bytes, const fs::path& path) {
    constexpr std::size_t most = std::size_t{1} << 30;  // one call writes less than 2 GiB
    while (!bytes.empty()) {
        const ssize_t n = ::write(file, bytes.data(), std::min(bytes.size(), most));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) fail_to_write(path, std::strerror(errno));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
}

TemporaryName::TemporaryName(int folder, std::string_view name) noexcept {
    const ListLock lock;
    place_ = add_to_list(folder, name);
}

TemporaryName::TemporaryName(int folder, const char* name, mode_t mode, int& file) noexcept {
    const ListLock lock;
    file = ::openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    place_ = file < 0 ? not_listed : add_to_list(folder, name);
}

TemporaryName::~TemporaryName() {
    if (place_ < not_listed) listed[place_].used = false;
}

void remove_temporary_files() noexcept {
    // Keeps the lock.
    while (list_is_locked.exchange(true)) {
    }
    for (const Listed& file : listed) {
        if (file.used) ::unlinkat(file.folder, file.name, 0);
    }
}

NewFile::NewFile(const fs::path& path, NewFileOptions options) : path_(path), options_(std::move(options)) {
    const fs::path target = options_.follow_link ? link_target(path) : path;
    name_ = target.filename().string();
    folder_path_ = target.has_parent_path() ? target.parent_path() : fs::path(".");
    if (name_.empty()) fail_to_write(path_, "the path has no file name");
    try {
        folder_ = ::open(folder_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder_ < 0) fail();
        create();
    } catch (...) {
        close_all();
        throw;
    }
}

NewFile::~NewFile() {
    if (listed_) ::unlinkat(folder_, temporary_.c_str(), 0);
    close_all();
}

void NewFile::close_all() noexcept {
    listed_.reset();
    if (file_ >= 0) ::close(file_);
    if (folder_ >= 0) ::close(folder_);
    file_ = folder_ = -1;
}

void NewFile::fail() const {
    fail_to_write(path_, std::strerror(errno));
}

void NewFile::create() {
    struct stat replaced {};
    // Follows the path's link itself, because the system refuses links that another user put into a shared folder.
    const bool replaces = !options_.mode && ::stat(path_.c_str(), &replaced) == 0;
    if (!options_.mode && !replaces && errno != ENOENT) fail();
    if (replaces && !S_ISREG(replaced.st_mode)) fail_to_write(path_, "not a regular file");
    const mode_t mode = options_.mode ? *options_.mode : replaces ? replaced.st_mode & 0777 : 0666;
    if (!options_.shared) file_ = ::openat(folder_, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    // Without /proc the file could not get a name.
    if (file_ >= 0 && ::access(in_proc(file_).c_str(), F_OK) != 0) {
        ::close(file_);
        file_ = -1;
    }
    if (file_ < 0) {
        temporary_ = options_.shared_name.empty() ? temporary_name() : options_.shared_name;
        listed_.emplace(folder_, temporary_.c_str(), mode, file_);
        if (file_ < 0) fail();
    }
    if (replaces) take_over(replaced);
}

// Owner, group and permissions. Without the right to keep the group, its members keep only what everyone has.
void NewFile::take_over(const struct ::stat& replaced) {
    mode_t mode = replaced.st_mode & 0777;
    struct stat now {};
    if (::fstat(file_, &now) != 0) fail();
    if ((now.st_uid != replaced.st_uid || now.st_gid != replaced.st_gid) &&
        ::fchown(file_, replaced.st_uid, replaced.st_gid) != 0)
        mode = (mode & 0707) | (mode & 0007) << 3;
    // Some file systems keep no permissions.
    (void)::fchmod(file_, mode);
}

fs::path NewFile::temporary_path() const {
    return temporary_.empty() ? fs::path() : folder_path_ / temporary_;
}

void NewFile::synchronize() {
    // Files of some file systems cannot be synchronized.
    if (options_.durable && ::fsync(file_) != 0 && errno != EINVAL && errno != ENOSYS) fail();
}

void NewFile::publish() {
    synchronize();
    const ListLock lock;
    place();
}

void NewFile::publish_together(std::span<const std::unique_ptr<NewFile>> files) {
    const ListLock lock;
    for (const auto& file : files)
        file->place();
}

void NewFile::place() {
    if (listed_) {
        if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) fail();
    } else {
        give_name();
    }
    close_all();
}

// Links the file to its name. A link cannot replace a file, but a renamed one can.
void NewFile::give_name() {
    const std::string file = in_proc(file_);
    if (::linkat(AT_FDCWD, file.c_str(), folder_, name_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) fail();
    const std::string temporary = temporary_name();
    if (::linkat(AT_FDCWD, file.c_str(), folder_, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) fail();
    if (::renameat(folder_, temporary.c_str(), folder_, name_.c_str()) == 0) return;
    const int why = errno;
    ::unlinkat(folder_, temporary.c_str(), 0);
    errno = why;
    fail();
}

void write_file(const fs::path& path, std::initializer_list<std::string_view> parts, NewFileOptions options) {
    NewFile file(path, std::move(options));
    for (const std::string_view part : parts)
        file.write(std::as_bytes(std::span(part)));
    file.publish();
}

}  // namespace concord::detail
