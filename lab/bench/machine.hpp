#pragma once
/// The machine that something was measured on.

#include <concord/types.hpp>

#include <string>

namespace concord::lab {

struct Machine {
    std::string cpu;       ///< "AMD EPYC 9654"
    u32 cores = 0;         ///< processors that this process may use
    u64 memory = 0;        ///< bytes
    std::string os;        ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
    std::string compiler;  ///< that Concord's C++ was compiled with: "g++ 12.2.0"
};

/// This one. What the system does not tell is empty.
Machine this_machine();

/// Bytes of the last-level caches of the processors that this process may use; 0 if the system does not tell.
u64 last_cache_bytes();

/// The time now, "2026-11-21T12:00:00Z".
std::string date_now();

}  // namespace concord::lab
