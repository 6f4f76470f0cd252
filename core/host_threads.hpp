#pragma once
// The number of threads that Concord uses on the host.

#include <concord/types.hpp>

namespace concord::detail {

// CONCORD_THREADS, at most 4096. Without it, the number of processors in the affinity mask of the process, at least 1.
// The oneTBB device uses that many threads, and so do copies and file accesses at most. Throws unavailable if
// CONCORD_THREADS is invalid.
u32 host_threads();

}  // namespace concord::detail
