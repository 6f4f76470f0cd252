#pragma once
/// What ran when: a record of all that streams do, by the devices' clocks.

#include <concord/stream.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

namespace detail {
struct TraceState;
}

/// What part of a device works on an operation.
enum class Engine { kernel, upload, download, copy, fill, callback };

/// "upload" for Engine::upload.
std::string_view name_of(Engine engine);

/// One operation of a stream. Times are microseconds from the start of the trace, of all devices on the host's axis.
struct TraceEvent {
    std::string name;  ///< of the kernel, else of the engine
    Engine engine = Engine::kernel;
    u32 device = 0;       ///< an index into Trace::devices()
    u32 stream = 0;       ///< 1, 2, ... in the order in which a device's streams first had work
    u64 bytes = 0;        ///< moved or filled; 0 for a kernel
    LaunchShape shape;    ///< of a kernel
    double enqueued = 0;  ///< when the stream was asked for it
    double begin = 0;     ///< when the device began it
    double end = 0;       ///< when the device was done with it
};

/// Records every operation of every stream of the process, from its construction until finish(): by CUDA events or
/// markers around each operation, OpenCL's profiling, the steady clock on the CPU. That makes an operation some
/// microseconds longer to enqueue, and may keep short kernels from following one another at once; without a trace, streams
/// test one word. Operations of a device are in its own time; that is tied to the host's clock when the device first
/// works and by finish(), to within some ten microseconds. There is one trace at a time.
class Trace {
  public:
    /// Starts it. Throws invalid_argument if there is one.
    Trace();
    /// Ends it, without waiting for anything.
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Stops recording and waits for what was recorded. What failed on its device is left out; its stream tells of it.
    void finish();
    /// What ran, by device, stream and time; empty before finish().
    const std::vector<TraceEvent>& events() const noexcept;
    /// The devices that had work.
    const std::vector<DeviceInfo>& devices() const noexcept;
    /// Operations that were not kept: those that failed, and those past the first million.
    u64 dropped() const noexcept;
    /// All of it after finish(), as JSON in Chrome's trace format, which ui.perfetto.dev and chrome://tracing show: a
    /// device is a process, a stream a thread of it.
    std::string json() const;

  private:
    std::shared_ptr<detail::TraceState> state_;
};

/// Whether this build reports NVTX ranges to tools such as Nsight Systems: the NVTX headers were found when it was configured.
bool has_nvtx() noexcept;

}  // namespace concord
