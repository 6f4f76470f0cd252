#pragma once
// The operations of a stream as tracing and recording see them.

#include <concord/trace.hpp>

#include <atomic>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace concord::detail {

class StreamTrace;

// One operation, as listeners receive it.
struct Operation {
    Engine engine;
    u64 bytes = 0;
    const Kernel* kernel = nullptr;
    const LaunchShape* shape = nullptr;

    std::string_view name() const {
        return kernel != nullptr ? std::string_view(kernel->name()) : name_of(engine);
    }
};

// The active listeners, one bit each. A stream without listeners tests only this word.
inline constexpr u32 listener_trace = 1, listener_nvtx = 2;
extern std::atomic<u32> listeners;

// Enqueues an operation with a mark before it and a mark after it.
using Timed = std::function<void(Event& begin, Event& end)>;
// Calls `timed` with events of the trace, or `plain` if the trace has ended. `own` is the stream's record.
void trace_operation(Stream& stream, std::shared_ptr<StreamTrace>& own, const Operation& operation,
                     const Timed& timed, const std::function<void()>& plain);

// A range on the caller's thread in the NVTX domain "concord". Does nothing without a tool.
class NvtxRange {
  public:
    explicit NvtxRange(std::string_view name);
    ~NvtxRange();
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;
};
// Searches for a tool at the first call, and sets listener_nvtx if there is one.
void find_nvtx_tool();

}  // namespace concord::detail
