// The only file that instantiates algorithms of oneTBB; see CMakeLists.txt.

#include "tbb_device.hpp"

#include <concord/detail/float_environment.hpp>

#include <tbb/parallel_for.h>

namespace concord::tbb_backend {

void run_parallel(tbb::task_arena& arena, u64 count, u64 grain, Part part, void* call) {
    // oneTBB gives the threads the caller's environment, and clears the caller's exception flags when it restores it.
    const detail::DefaultFloatEnvironment environment;
    // Isolated: a thread that waits for the parts of a short launch must not take parts of another stream's long one.
    arena.execute([&] {
        tbb::this_task_arena::isolate([&] {
            tbb::parallel_for(
                tbb::blocked_range<u64>(0, count, grain),
                [&](const tbb::blocked_range<u64>& range) { part(call, range.begin(), range.end()); });
        });
    });
}

}  // namespace concord::tbb_backend
