#pragma once
// Asks whether memory that somebody names exists.

#include <concord/types.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace concord::detail {

// Whether the address is aligned to 8 bytes, and the 8 bytes there can be read: what holds for every handle that is a
// pointer. The kernel reads a set of signals before it refuses the unknown operation. One system call.
inline bool is_readable(const void* address) {
    return address != nullptr && reinterpret_cast<std::uintptr_t>(address) % 8 == 0 &&
           ::syscall(SYS_rt_sigprocmask, ~0, address, nullptr, sizeof(u64)) != 0 && errno != EFAULT;
}

}  // namespace concord::detail
