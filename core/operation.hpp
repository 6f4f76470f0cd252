#pragma once
// What tracing and recording see of a stream's operations.

#include <concord/trace.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace concord::detail {

class StreamTrace;

/// One operation, as it is told to those that listen.
struct Operation {
    Engine engine;
    u64 bytes = 0;
    const Kernel* kernel = nullptr;
    const LaunchShape* shape = nullptr;

    std::string_view name() const {
        return kernel != nullptr ? std::string_view(kernel->name()) : name_of(engine);
    }
};

/// Who listens to operations, one bit each: all that a stream looks at where nobody does.
inline constexpr u32 listener_trace = 1, listener_nvtx = 2;
extern std::atomic<u32> listeners;

/// Places the two marks around the operation that it enqueues.
using Timed = std::function<void(Event& begin, Event& end)>;
/// Calls `timed` with events of the trace's, or `plain` if there is no trace any more. `own` is the stream's record.
void trace_operation(Stream& stream, std::shared_ptr<StreamTrace>& own, const Operation& operation,
                     const Timed& timed, const std::function<void()>& plain);

/// A range on the caller's thread in the NVTX domain "concord". Does nothing without a tool that listens.
class NvtxRange {
  public:
    explicit NvtxRange(std::string_view name);
    ~NvtxRange();
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};
/// Looks for such a tool, once, and sets listener_nvtx if there is one.
void find_nvtx_tool();

}  // namespace concord::detail
