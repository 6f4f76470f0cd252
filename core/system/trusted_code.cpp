#include <concord/detail/trusted_code.hpp>

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/modules.hpp>
#include <concord/internal/new_file.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>

namespace concord::detail {
namespace {

namespace fs = std::filesystem;

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    void become(int number) {
        if (number_ >= 0) ::close(number_);
        number_ = number;
    }

  private:
    int number_;
};

bool is_trusted_owner(uid_t owner, uid_t owner_of_root) {
    if (owner == 0 || owner == owner_of_root || owner == ::geteuid()) return true;
    struct stat library {};
    const fs::path own = file_of(reinterpret_cast<const void*>(&why_untrusted));
    return ::stat(own.c_str(), &library) == 0 && library.st_uid == owner;
}

std::string words_of(const struct stat& status, uid_t owner_of_root, bool is_above) {
    const std::string kind = S_ISDIR(status.st_mode) ? "a folder" : "a file";
    // Others cannot rename or remove what is in a folder with the sticky bit.
    if ((status.st_mode & S_IWOTH) != 0 && !(is_above && (status.st_mode & S_ISVTX) != 0))
        return kind + " that every user may write to";
    return is_trusted_owner(status.st_uid, owner_of_root) ? std::string() : kind + " of another user";
}

}  // namespace

// From the root folder down, each one opened in the one before: what was examined is what the next name is searched in.
std::string why_untrusted(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error == std::errc::not_enough_memory) throw std::bad_alloc();
    if (error) return "not accessible";
    constexpr int how = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    Descriptor at(::open("/", how | O_DIRECTORY));
    struct stat status {};
    if (at.number() < 0 || ::fstat(at.number(), &status) != 0) return "not accessible";
    const uid_t owner_of_root = status.st_uid;
    fs::path above = "/";
    for (const fs::path& name : whole.relative_path()) {
        if (std::string why = words_of(status, owner_of_root, true); !why.empty())
            return "below " + detail::quoted(above.string()) + ", " + why;
        at.become(::openat(at.number(), name.c_str(), how));
        if (at.number() < 0 || ::fstat(at.number(), &status) != 0) return "not accessible";
        if (S_ISLNK(status.st_mode)) return "changed while it was examined";
        above /= name;
    }
    return words_of(status, owner_of_root, false);
}

bool is_whole_library(const fs::path& path) try {
    const InputFile file(path, "module");
    const auto read = [&](void* to, std::size_t bytes, u64 offset) {
        return ::pread(file.descriptor(), to, bytes, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes);
    };
    ElfW(Ehdr) header;
    if (!read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return true;
    for (u64 i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!read(&segment, sizeof segment, header.e_phoff + i * sizeof segment)) return false;
        if (segment.p_type == PT_LOAD &&
            (segment.p_filesz > file.size() || segment.p_offset > file.size() - segment.p_filesz))
            return false;
    }
    return true;
} catch (const Error&) {
    return true;  // not readable
}

namespace {

// Loads a file whose path the loader has not seen.
void* load_file(const std::string& path, std::string& why) {
    if (!is_whole_library(path)) {
        why = "the library is incomplete";
        return nullptr;
    }
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) why = ::dlerror();
    return handle;
}

// A file without a name that can no longer be changed. -1 if the system has none.
int sealed_file(std::string_view bytes) {
    const int file = ::memfd_create("concord", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    try {
        write_all(file, std::as_bytes(std::span(bytes)), "memory");
    } catch (const Error&) {
        ::close(file);
        return -1;
    }
    static_cast<void>(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL));
    return file;
}

// The loader takes a path that it knows for the same library, and numbers of descriptors occur again. A path in /proc
// whose blank names spell a serial number.
std::string new_path_of(int file) {
    static std::atomic<u64> loaded = 0;
    std::string path = "/proc/self/fd/";
    for (u64 rest = ++loaded; rest != 0; rest /= 2)
        path += rest % 2 != 0 ? "./" : "/";
    return path + std::to_string(file);
}

}  // namespace

void* load_library(std::string_view bytes, const char* call) {
    std::string why;
    if (const Descriptor file(sealed_file(bytes)); file.number() >= 0) {
        if (void* const handle = load_file(new_path_of(file.number()), why)) return handle;
    }
    // Without /proc, or where memory is not executable: a private folder.
    const std::string_view temporary = environment_variable("TMPDIR");
    std::string folder(temporary.starts_with('/') ? temporary : "/tmp");
    folder += "/concord-XXXXXX";
    if (::mkdtemp(folder.data()) != nullptr) {
        const fs::path path = fs::path(folder) / "library.so";
        void* handle = nullptr;
        std::string here = why_untrusted(folder);
        try {
            if (here.empty()) {
                write_file(path, {bytes}, {.mode = 0600, .durable = false});
                handle = load_file(path, here);
            }
        } catch (const Error& failed) {
            here = failed.what();
        }
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        if (handle != nullptr) return handle;
        why += (why.empty() ? "" : "; ") + here;
    }
    throw Error(ErrorCode::compile_failed, call, "the compiled library cannot be loaded", why);
}

}  // namespace concord::detail
