#pragma once
// The threads that Concord uses on the host: their number, and how one is started.

#include <concord/types.hpp>

#include <functional>
#include <string_view>
#include <thread>

namespace concord::detail {

// CONCORD_THREADS, at most 4096. Without it, the number of processors in the affinity mask of the process, limited
// by the quotas of its control groups, at least 1.
// The oneTBB device uses that many threads, and so do copies and file accesses at most. Throws unavailable if
// CONCORD_THREADS is invalid.
u32 host_threads();

// Sets the number of threads, at least 1 and at most 4096. Overrides CONCORD_THREADS.
void choose_host_threads(u32 threads);
// Whether CONCORD_THREADS or choose_host_threads() has set it.
bool host_threads_are_chosen();

// Starts a thread. Throws out_of_memory if the system refuses. `call` names the public function.
std::thread start_thread(std::string_view call, std::function<void()> f);

}  // namespace concord::detail
