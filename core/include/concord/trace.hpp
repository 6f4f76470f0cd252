#pragma once
/// @file
/// Traces: what streams executed and when, measured by the devices' clocks.

#include <concord/stream.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

namespace detail {
struct TraceState;
}

/// The kind of an operation in a trace.
enum class Engine {
    kernel,    ///< a kernel launch
    upload,    ///< a copy from host to device
    download,  ///< a copy from device to host
    copy,      ///< a copy between buffers of device memory
    fill,      ///< a fill
    callback   ///< a function on the host
};

/// The name of a kind: "upload" for Engine::upload.
std::string_view name_of(Engine engine);

/// One operation of a stream. Times are in microseconds since the start of the trace, on the host's clock for all
/// devices.
struct TraceEvent {
    std::string name;                ///< name of the kernel, otherwise of the engine
    Engine engine = Engine::kernel;  ///< kind of the operation
    u32 device = 0;                  ///< index into Trace::devices()
    u32 stream = 0;       ///< 1, 2, ... in the order in which the streams of a device first had work
    u64 bytes = 0;        ///< bytes copied or filled; 0 for a kernel
    LaunchShape shape;    ///< grid of a kernel
    double enqueued = 0;  ///< time when the host enqueued it
    double begin = 0;     ///< time when the device started it
    double end = 0;       ///< time when the device finished it
};

/// Calls f before each later launch of the stream is enqueued, on the caller's thread and in order. For tools that list
/// the kernels of a call. f must not call a stream. An empty f ends the observation.
void observe_launches(Stream& stream, std::function<void(const Kernel&, const LaunchShape&)> f);

/// Records every operation of every stream of the process, from construction until finish(). One trace can exist at a
/// time.
///
/// Times come from CUDA events around each operation, from OpenCL's profiling, and from the steady clock on the CPU.
/// Each operation takes some microseconds longer to enqueue, and gaps may appear between short kernels. Without a
/// trace, streams test one word. The clock of each device is synchronised with the host's clock at the device's first
/// operation and by finish(), to within tens of microseconds.
class Trace {
  public:
    /// Starts recording. Throws invalid_argument if a trace is already active.
    Trace();
    /// Stops recording without waiting for the devices.
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// Stops recording and waits for all recorded operations. Operations that failed on the device are left out; their
    /// streams report the failure.
    void finish();
    /// The operations, ordered by device, stream and time. Empty before finish().
    const std::vector<TraceEvent>& events() const noexcept;
    /// The devices that executed operations. Empty before finish().
    const std::vector<DeviceInfo>& devices() const noexcept;
    /// The number of operations that were not recorded: failed ones, and those after the first million.
    u64 dropped() const noexcept;
    /// The trace after finish() as JSON in Chrome's trace format, for ui.perfetto.dev and chrome://tracing. Devices
    /// appear as processes, streams as their threads.
    std::string json() const;

  private:
    std::shared_ptr<detail::TraceState> state_;
};

/// Whether this build reports NVTX ranges to tools such as Nsight Systems. True if the NVTX headers were found at
/// configure time.
bool has_nvtx() noexcept;

}  // namespace concord
