#pragma once
/// How many threads Concord uses on the host.

#include <concord/types.hpp>

namespace concord::detail {

/// CONCORD_THREADS, at most 4096; without it, the processors that the affinity of the process allows. At least 1. The oneTBB
/// device has that many threads, and no more help with copies and files. Throws unavailable if CONCORD_THREADS is
/// not a number of threads.
u32 host_threads();

}  // namespace concord::detail
