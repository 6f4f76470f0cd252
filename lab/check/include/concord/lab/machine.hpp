#pragma once
/// @file
/// Description of the machine that a measurement ran on.

#include <concord/types.hpp>

#include <string>

namespace concord::lab {

/// Machine and software environment.
struct Machine {
    std::string cpu;       ///< "AMD EPYC 9654"
    u32 cores = 0;         ///< processors that this process may use
    u64 memory = 0;        ///< bytes of main memory
    std::string os;        ///< "Debian GNU/Linux 12 (bookworm), Linux 6.1.0"
    std::string compiler;  ///< compiler of Concord's C++ code: "g++ 12.2.0"
};

/// Describes this machine. Fields that the system does not report are empty.
Machine this_machine();

/// The git commit of the sources that this library was built from: "0123456789ab", "0123456789ab (modified)" if tracked
/// files differed from it, or "unknown" outside a git checkout.
std::string build_commit();

/// Total bytes of the last-level caches of the processors that this process may use; 0 if unknown.
u64 last_cache_bytes();

/// The current time in UTC, such as "2026-11-21T12:00:00Z".
std::string date_now();

}  // namespace concord::lab
