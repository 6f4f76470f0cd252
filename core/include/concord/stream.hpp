#pragma once
/// @file
/// In-order, asynchronous queues of work on one device.

#include <concord/buffer.hpp>
#include <concord/detail/task.hpp>
#include <concord/kernel.hpp>

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
    u64 groups_x = 1;      ///< groups along x
    u64 groups_y = 1;      ///< groups along y
    u64 groups_z = 1;      ///< groups along z
    u32 group_size_x = 1;  ///< work-items per group along x, or `automatic`
    u32 group_size_y = 1;  ///< work-items per group along y
    u32 group_size_z = 1;  ///< work-items per group along z
    u64 local_bytes = 0;   ///< dynamic group-local memory in bytes, in addition to what the kernel declares

    /// As group_size_x: the launch takes 256 work-items, or as many as kernel and device allow, and one on devices that
    /// have another LaunchModel than groups. The kernel must be right for every group size.
    static constexpr u32 automatic = ~u32{0};

    /// A one-dimensional grid.
    static LaunchShape linear(u64 groups, u32 group_size = automatic, u64 local_bytes = 0) {
        return {.groups_x = groups, .group_size_x = group_size, .local_bytes = local_bytes};
    }
};

/// One argument of a launch, in the order of the kernel's parameters.
///
/// A launch compares arguments and parameters, their number and their types, where these are known; its error names the
/// missing, surplus, swapped or wrong argument and both lists. A value must have the parameter's type, including its
/// sign. A buffer must have the parameter's element type. A parameter that is a buffer of unsigned
/// integers also accepts other elements of the same size, for kernels that move elements without interpreting them.
///
/// Parameter types are known for host kernels, except structs, void* and std::byte*. In OpenCL they are known if the
/// driver reports them. For CUDA kernels only sizes are known.
struct KernelArgument {
    Buffer* buffer = nullptr;     ///< the buffer; null for a value
    u64 offset = 0;               ///< of a buffer: bytes from its base, a multiple of element_size
    u64 count = 0;                ///< of a buffer: elements of the range; the launch checks that it fits
    u32 element_size = 1;         ///< of a buffer: bytes of one element
    const void* value = nullptr;  ///< of a value: its bytes, read before launch() returns
    u32 size = 0;                 ///< of a value: its size in bytes
    /// Type of the value or of the buffer's elements; empty: not compared.
    std::optional<ElementType> type = {};
};

/// An in-order queue of work on one device, created by Device::create_stream. Destroying a stream waits for its work.
///
/// All calls are asynchronous except synchronize() and transfers of pageable memory, which may block until the stream
/// reaches them. The device `tbb` may run short work in the call, so a kernel must not wait for the host. To overlap
/// transfers with kernels, use copy() with a page-locked buffer (Device::allocate_host). Host memory passed to write()
/// and read() must stay valid and unchanged until the stream has executed the transfer.
///
/// Any thread may call a stream; calls execute one at a time. All offsets and sizes are in bytes. A call throws
/// invalid_argument if a range does not fit its buffer, and wrong_device if an object belongs to another device. The
/// next synchronize() throws failures that happen later, on the device or in a callback.
class Stream final : public std::enable_shared_from_this<Stream> {
  public:
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// The device of the stream.
    Device& device() const noexcept { return *device_; }
    /// The handle of the backend's own API, for use with other libraries: a CUstream (cudaStream_t) of the device's
    /// primary context, a cl_command_queue, null if there is none. Work that other libraries enqueue there is ordered
    /// with the stream's own work. Callers keep the buffers alive until such work is done.
    void* native_handle() noexcept;

    /// Copies from the host to the device.
    void write(Buffer& to, u64 offset, const void* from, u64 bytes);
    /// Copies from the device to the host.
    void read(void* to, const Buffer& from, u64 offset, u64 bytes);
    /// Copies between buffers. Either buffer may be page-locked host memory or belong to a device within reach
    /// (peer.hpp). The ranges must not overlap.
    void copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes);
    /// Fills a range with a pattern of 1, 2, 4 or 8 bytes. `offset` and `bytes` are multiples of the pattern's size.
    void fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size);
    /// Launches a kernel over a grid. A grid without groups does nothing. See also the typed launch() in span.hpp. The
    /// call does not know which buffers the kernel writes: it accepts read-only ones for every parameter.
    void launch(const Kernel& kernel, const LaunchShape& shape, std::span<const KernelArgument> arguments);
    /// Records the event: marks this point of the stream. The mark replaces an earlier one.
    void record(Event& event);
    /// Makes later work wait for the event's mark, which may be on another stream of this device or of a device within
    /// reach (peer.hpp).
    void wait(const Event& event);
    /// Calls f on a thread of Concord's choice when the stream reaches this point. Later work waits for it. f must not
    /// call a stream, and must not own the last reference to a stream. f must not wait for another callback either,
    /// because a device may run all callbacks on one thread.
    void callback(detail::Task f);

    /// Starts a recording. Until end_recording() the stream stores launches, fills and copies between buffers,
    /// page-locked host buffers included, and executes nothing. Other calls throw unsupported. The recording keeps the
    /// buffers and kernels that it uses and has its own scratch memory. Throws invalid_argument if the stream is
    /// already recording.
    void begin_recording();
    /// Ends the recording and returns it. The recording may be empty. Throws invalid_argument if the stream is not
    /// recording. Backends that check launches at this point throw their errors here, the others in Recording::replay.
    std::shared_ptr<Recording> end_recording();
    /// Whether the stream is between begin_recording() and end_recording().
    bool is_recording() const noexcept;

    /// Blocks until the stream is empty. Throws the first failure since the last call. After a host kernel has thrown,
    /// the stream skips kernels, fills and copies until this call, because their inputs are incomplete. Throws
    /// invalid_argument if a kernel found an index out of range, such as one of gather(): names the call, the first
    /// position and the range. Work enqueued later is not affected. A stream that is destroyed without this call drops
    /// such reports, and those of a graph that the owner of a native stream captures are never made.
    void synchronize();
    /// Whether the stream is empty. Does not block.
    bool idle();

    /// Allocates memory whose first use is on this stream. Same as device().allocate(bytes, this).
    std::shared_ptr<Buffer> scratch(u64 bytes);

  private:
    friend struct detail::Access;
    Stream(std::shared_ptr<Device> device, std::unique_ptr<backend::Queue> queue);

    std::shared_ptr<Device> device_;
    std::unique_ptr<detail::StreamState> state_;
};

}  // namespace concord
