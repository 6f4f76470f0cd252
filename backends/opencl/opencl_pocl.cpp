#include "opencl_pocl.hpp"

#include <concord/detail/trusted_code.hpp>
#include <concord/internal/environment.hpp>

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace concord::opencl {
namespace {

namespace fs = std::filesystem;

constexpr u64 memory_needed = u64{96} << 20;
constexpr u64 room_needed = u64{4} << 20;

bool is_limited(int resource) {
    struct rlimit limit {};
    return getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 &&
           limit.rlim_cur != RLIM_INFINITY;
}

bool has_memory() {
    if (!memory_is_limited()) return true;
    void* const test = mmap(nullptr, memory_needed, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (test == MAP_FAILED) return false;
    munmap(test, memory_needed);
    return true;
}

// Why no folder can be made in a folder. Empty if one can. access() allows root more than file systems such as /proc.
std::string why_not_writable(const fs::path& folder) {
    std::string test = (folder / ".concord-XXXXXX").string();
    if (::mkdtemp(test.data()) == nullptr) return std::error_code(errno, std::generic_category()).message();
    ::rmdir(test.c_str());
    return {};
}

}  // namespace

bool memory_is_limited() {
    return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

// PoCL's own order.
fs::path pocl_cache_folder() {
    if (const auto set = detail::environment_variable("POCL_CACHE_DIR"); !set.empty()) return set;
    if (const auto set = detail::environment_variable("XDG_CACHE_HOME"); !set.empty())
        return fs::path(set) / "pocl";
    if (const auto set = detail::environment_variable("HOME"); !set.empty())
        return fs::path(set) / ".cache" / "pocl";
    return "/tmp/pocl";
}

std::string pocl_cache_problem() {
    const fs::path folder = pocl_cache_folder();
    // PoCL creates folders that are missing.
    fs::path existing = folder;
    std::error_code error;
    while (!fs::exists(existing, error) && existing.has_parent_path() && existing != existing.parent_path())
        existing = existing.parent_path();
    std::string why;
    struct statvfs system {};
    if (!fs::is_directory(existing, error)) {
        why = "not a directory: " + detail::quoted(existing.string());
    } else if (why = why_not_writable(existing); !why.empty()) {
        why = detail::quoted(existing.string()) + ": " + why;
    } else if (::statvfs(existing.c_str(), &system) == 0 && system.f_blocks != 0 &&
               u64{system.f_bavail} * system.f_frsize < room_needed) {
        why = "less than 4 MiB are free";
    }
    // PoCL loads machine code from it.
    if (const std::string other = fs::exists(folder, error) ? detail::why_untrusted(folder) : std::string();
        !other.empty())
        return "PoCL's cache of kernels " + detail::quoted(folder.string()) + " is " + other +
               "; set POCL_CACHE_DIR to a folder of yours";
    if (why.empty()) return {};
    return "PoCL cannot write its cache of kernels in " + detail::quoted(folder.string()) + " (" + why +
           "); set POCL_CACHE_DIR to a folder with room";
}

void check_pocl_memory(std::string_view call) {
    if (!has_memory())
        throw Error(
            ErrorCode::out_of_memory, call,
            "not enough memory for PoCL: the limit of the process (ulimit -v) leaves less than 96 MiB");
    // glibc loads its unwinder at the first use and aborts if memory is short. Loads it here, before PoCL's threads
    // exit.
    [[maybe_unused]] static const int frames = [] {
        void* frame = nullptr;
        return backtrace(&frame, 1);
    }();
}

void check_pocl(std::string_view call) {
    check_pocl_memory(call);
    if (const std::string problem = pocl_cache_problem(); !problem.empty())
        throw Error(ErrorCode::io, call, problem);
}

}  // namespace concord::opencl
