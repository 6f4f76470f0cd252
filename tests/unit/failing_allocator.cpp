#include "failing_allocator.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

// The C library's allocator.
extern "C" {
void* __libc_malloc(std::size_t bytes);                           // NOLINT(bugprone-reserved-identifier)
void* __libc_calloc(std::size_t count, std::size_t bytes);        // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, std::size_t bytes);             // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t alignment, std::size_t bytes);  // NOLINT(bugprone-reserved-identifier)
}

namespace {

using concord::test::AllocatorFailures;

std::atomic<bool> is_counting;
std::atomic<std::uint64_t> calls, failed, first, last;
int stacks = -1;  // file descriptor for the stacks of failed calls
// Static storage: the first use in a thread must not allocate.
[[gnu::tls_model("initial-exec")]] thread_local bool is_inside = false;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Whose code is at that address.
enum class Owner { runtime, concord, other };

Owner owner_of(void* address) {
    dl_find_object found;
    if (_dl_find_object(address, &found) != 0) return Owner::other;  // compiled at run time
    const std::string_view path = found.dlfo_link_map->l_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name.empty()) return Owner::concord;  // the program
    for (const char* runtime :
         {"libc.so", "libstdc++", "libgcc_s", "libm.so", "ld-linux", "failing-allocator"}) {
        if (contains(name, runtime)) return Owner::runtime;
    }
    for (const char* ours : {"concord", "libtbb.so", "libspdlog", "libfmt", "libhwy"}) {
        if (contains(name, ours)) return Owner::concord;
    }
    return Owner::other;
}

_Unwind_Reason_Code inspect(_Unwind_Context* context, void* answer) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the code
    const Owner owner = owner_of(reinterpret_cast<void*>(_Unwind_GetIP(context) - 1));
    if (owner == Owner::runtime) return _URC_NO_REASON;
    *static_cast<bool*>(answer) = owner == Owner::concord;
    return _URC_END_OF_STACK;
}

void write_stack() {
    void* frames[48];
    backtrace_symbols_fd(frames, backtrace(frames, 48), stacks);
    [[maybe_unused]] const ssize_t n = ::write(stacks, "\n", 1);
}

// Whether the call that is being made fails.
bool fails() {
    if (!is_counting.load(std::memory_order_relaxed) || is_inside) return false;
    is_inside = true;
    bool is_counted = false;
    _Unwind_Backtrace(inspect, &is_counted);
    bool result = false;
    if (is_counted) {
        const std::uint64_t number = ++calls;
        result = number >= first && number <= last;
        if (result && ++failed == 1 && stacks >= 0) write_stack();
    }
    is_inside = false;
    return result;
}

void start(AllocatorFailures failures) {
    calls = failed = 0;
    first = failures.first == 0 ? ~std::uint64_t{0} : failures.first;
    last = failures.last;
    is_counting = true;
}

[[gnu::constructor]] void read_environment() {
    const char* text = std::getenv("FAILING_ALLOCATOR");
    AllocatorFailures failures;
    char path[256];
    if (text == nullptr || std::sscanf(text, "%lu %lu %255s", &failures.first, &failures.last, path) != 3)
        return;
    stacks = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    start(failures);
}

[[gnu::destructor]] void write_count() {
    if (stacks < 0) return;
    is_counting = false;
    ::dprintf(stacks, "%lu calls, %lu failed\n", calls.load(), failed.load());
}

void* no_memory() {
    errno = ENOMEM;
    return nullptr;
}

}  // namespace

extern "C" {

void concord_test_start_failing(AllocatorFailures failures) {
    start(failures);
}
std::uint64_t concord_test_stop_failing() {
    is_counting = false;
    return calls;
}
std::uint64_t concord_test_failed_calls() {
    return failed;
}

void* malloc(std::size_t bytes) {
    return fails() ? no_memory() : __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    return fails() ? no_memory() : __libc_calloc(count, bytes);
}
void* realloc(void* block, std::size_t bytes) {
    return fails() ? no_memory() : __libc_realloc(block, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return fails() ? no_memory() : __libc_memalign(alignment, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    return fails() ? no_memory() : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    if (fails()) return ENOMEM;
    *block = __libc_memalign(alignment, bytes);
    return *block == nullptr ? ENOMEM : 0;
}
void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) {
    if (fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the system call returns an address
    return reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                   void* argument) {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static std::atomic<Create> next;
    if (fails()) return EAGAIN;
    if (next == nullptr) next = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    return next.load()(thread, attributes, function, argument);
}

}  // extern "C"
