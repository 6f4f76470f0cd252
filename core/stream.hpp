#pragma once
/// An in-order, asynchronous queue of work on one device.

#include <concord/buffer.hpp>
#include <concord/kernel.hpp>

#include <functional>
#include <memory>
#include <span>

namespace concord {

class Device;
class Event;
class Recording;
namespace backend {
class Queue;
}
namespace detail {
struct Access;
struct StreamState;
}  // namespace detail

/// A grid of groups of work-items.
struct LaunchShape {
    u64 groups_x = 1, groups_y = 1, groups_z = 1;
    u32 group_size_x = 1, group_size_y = 1, group_size_z = 1;
    u64 local_bytes = 0;  ///< dynamic group-local memory, on top of what the kernel declares

    static LaunchShape linear(u64 groups, u32 group_size, u64 local_bytes = 0) {
        return {.groups_x = groups, .group_size_x = group_size, .local_bytes = local_bytes};
    }
};

/// One argument of a launch, in the order of the kernel's parameters.
///
/// Types are compared where that of the argument and that of the parameter are known: a value has the parameter's
/// type, sign included; a buffer's elements have the type of the parameter's, or the parameter's are unsigned
/// integers of the same size, as kernels declare that move elements and do not look at them. The types of
/// parameters are known of host kernels (but for structs, void* and std::byte*) and in OpenCL where the driver
/// tells them; of CUDA kernels the sizes are.
struct KernelArgument {
    Buffer* buffer = nullptr;     ///< null: a value
    u64 offset = 0;               ///< of a buffer: bytes from its base
    u32 element_size = 1;         ///< of a buffer: bytes; offset is a multiple of it
    const void* value = nullptr;  ///< of a value: its bytes, read before launch() returns
    u32 size = 0;
    std::optional<Type> type = {};  ///< of the value or of the buffer's elements; none: not compared
};

/// An in-order queue of work on one device. Destroying a stream waits for its work.
///
/// All calls are asynchronous except synchronize() and transfers of pageable memory, which may block until the stream
/// reaches them. To overlap transfers with kernels, use copy() with a page-locked buffer (Device::allocate_host). Host
/// memory passed to write() and read() belongs to the stream until it has passed that point.
///
/// Any thread may call a stream; calls are executed one at a time. All offsets and sizes are in bytes. A call throws
/// invalid_argument if a range does not fit its buffer, and wrong_device if an object belongs to another device. A failure
/// that happens later, on the device or in a callback, is thrown by the next synchronize().
class Stream final : public std::enable_shared_from_this<Stream> {
  public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    Device& device() const noexcept { return *device_; }
    /// The queue as the backend's own API knows it, for use with other libraries: CUstream (cudaStream_t) of the device's
    /// primary context, cl_command_queue; null if there is none. Work that others put into it is ordered with the stream's
    /// own. Callers keep buffers alive until such work is done.
    void* native_handle() noexcept;

    /// Copies from the host to the device.
    void write(Buffer& to, u64 offset, const void* from, u64 bytes);
    /// Copies from the device to the host.
    void read(void* to, const Buffer& from, u64 offset, u64 bytes);
    /// Copies between buffers. Either may be a page-locked host buffer or belong to a device within reach (peer.hpp). The
    /// ranges must not overlap.
    void copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    /// Repeats a pattern of 1, 2, 4 or 8 bytes; offset and bytes are multiples of its size.
    void fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    /// Runs a kernel over a grid. A grid without groups is no work. See also the typed launch() in span.hpp.
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    /// Moves the event's mark to this point of the stream.
    void record(Event& event);
    /// Makes later work wait for the event's mark, which may be on another stream of this device or of a device within
    /// reach (peer.hpp).
    void wait(const Event& event);
    /// Calls f on a thread of Concord's choice when the stream reaches this point. Later work waits for it. f must not call
    /// a stream, wait for another callback (a device may run all of them on one thread), or own the last reference to a
    /// stream.
    void callback(std::function<void()> f);
    /// Calls f for each later launch, on the caller's thread and in order, before the launch is enqueued. f must not call a
    /// stream. For tools that ask which kernels a call launches. An empty f ends it.
    void observe(std::function<void(const Kernel&, const LaunchShape&)> f);

    /// Starts a recording: launches, fills and copies between buffers (page-locked host buffers too) are kept instead of
    /// executed until end_recording(). Other calls throw unsupported. The recording keeps the buffers and kernels that it
    /// uses, and has scratch memory of its own. Throws invalid_argument if the stream is recording already.
    void begin_recording();
    /// Ends the recording and returns it; it may be empty. Throws invalid_argument if the stream is not recording, and the
    /// backend's error for a launch if the backend checks launches now (otherwise Recording::replay does).
    std::shared_ptr<Recording> end_recording();
    /// Whether the stream is between begin_recording() and end_recording().
    bool is_recording() const noexcept;

    /// Blocks until the stream is empty. Throws the first failure since the last time.
    void synchronize();
    /// Whether the stream is empty now.
    bool idle();

    /// Memory whose first use is on this stream: may be what this stream has just released. Same as
    /// device().allocate(bytes, this).
    std::shared_ptr<Buffer> scratch(u64 bytes);
    /// 256 bytes of zeros that belong to this stream: counters for "the last group finishes". A kernel that uses them leaves
    /// them zero.
    Buffer& zeros();
    /// Memory of this stream, at least `bytes` bytes, that keeps its contents from one call to the next. It is all zero when
    /// it is new, after it has grown, and after every 2^29 calls, so that marks with a use count are never mistaken for older
    /// ones. Hold it until the work that uses it is enqueued.
    std::shared_ptr<Buffer> workspace(u64 bytes);

  private:
    friend struct detail::Access;
    Stream(std::shared_ptr<Device> device, std::unique_ptr<backend::Queue> queue);

    std::shared_ptr<Device> device_;
    std::unique_ptr<detail::StreamState> state_;
};

}  // namespace concord
