#pragma once
/// @file
/// Compute devices: how to list, open and use them.

#include <concord/buffer.hpp>
#include <concord/detail/task.hpp>
#include <concord/error.hpp>
#include <concord/event.hpp>
#include <concord/kernel.hpp>
#include <concord/stream.hpp>
#include <concord/traits.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace concord {

namespace backend {
class Device;
}
namespace detail {
struct Access;
struct DeviceState;
// Throws unavailable: a call has to run work that the device only compiles.
[[noreturn]] void refuse_compile_only(std::string_view call, std::string_view selector);
}  // namespace detail

/// Device memory in a device's pool, in bytes.
struct MemoryUse {
    u64 in_use = 0;  ///< memory of live buffers
    u64 cached = 0;  ///< memory of released buffers, kept for reuse
};

/// Memory of another owner, for Device::adopt and Device::adopt_host.
struct ForeignMemory {
    void* handle = nullptr;  ///< see the function
    u64 bytes = 0;           ///< size
    bool read_only = false;  ///< whether calls may only read it
    /// Whether the driver is asked about the memory (CUDA, less than a microsecond). false: the description is taken as
    /// right, for example because the owner's library made it.
    bool verify = true;
    /// Called once when the last pointer to the buffer is gone and the work that uses it is done; destroying the
    /// pointer waits for that. A callback cannot wait for later work of its stream: then the next
    /// Stream::synchronize, or the end of the stream, calls it. Must not throw. Empty: the owner keeps the memory valid
    /// until that work is done.
    detail::Task release = {};
};

/// A context of another owner, for adopt_device().
struct ForeignDevice {
    void* context = nullptr;  ///< a cl_context, or a primary CUcontext
    /// OpenCL: the cl_device_id, one of the context's devices. Null: the only device of the context. CUDA: ignored.
    void* device = nullptr;
};

/// The priority of a stream's work.
enum class Priority : u8 {
    normal,  ///< the default
    high     ///< starts before waiting work of normal priority, if the backend supports priorities
};

/// One compute device, opened by open_device() and shared by everything created from it.
///
/// Any thread may call it.
class Device final : public std::enable_shared_from_this<Device> {
  public:
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    /// Names and versions. Does not change.
    const DeviceInfo& info() const noexcept { return info_; }
    /// What algorithms plan with. Does not change.
    const DeviceTraits& traits() const noexcept { return traits_; }
    /// Everything that the driver reports about the device, under the driver's names. Asks the driver at each call.
    std::vector<DeviceProperty> properties() const;

    /// Creates a stream. If the backend supports priorities (CUDA), work of a high-priority stream starts before other
    /// work that waits for the device. Running work is not interrupted.
    std::shared_ptr<Stream> create_stream(Priority priority = Priority::normal);
    /// Creates an event without a mark.
    std::shared_ptr<Event> create_event();

    /// Allocates device memory from the pool. Contents are undefined.
    ///
    /// With a home stream, the first use of the memory must be on that stream or ordered after it. In return the pool
    /// may reuse memory that the stream has just released, without waiting. Throws out_of_memory if the allocation
    /// fails after all cached memory was freed, and wrong_device if the stream belongs to another device.
    std::shared_ptr<Buffer> allocate(u64 bytes, Stream* home = nullptr);
    /// Allocates page-locked host memory from a separate pool. host_pointer() is not null, and copies to and from the
    /// memory overlap with kernels. Stream::copy and recordings accept it, launches do not. Throws out_of_memory.
    std::shared_ptr<Buffer> allocate_host(u64 bytes);
    /// A buffer on memory of another owner, without a copy. The pool and memory_use() ignore it. The elements begin at
    /// Buffer::begin(); Array::adopt and Array::borrow hide that. Memory that is not aligned to its elements cannot be
    /// used.
    ///
    /// The handle is the same as that of Buffer::native_handle(): a device address for CUDA (cudaMalloc, managed
    /// memory, also a part of an allocation); a cl_mem of this device's context (native_handle()), which the buffer
    /// retains; an address on CPUs. Ordering is the caller's: work of other libraries on the memory must be done, or
    /// ordered by an event or an adopted stream. Throws invalid_argument for a null handle, zero bytes, memory that the
    /// driver does not know, or memory that is too short, where the driver can tell; wrong_device for memory of another
    /// device. Adopt memory that a call reads and writes once; calls refuse ranges
    /// that overlap in two buffers, if the backend has addresses.
    std::shared_ptr<Buffer> adopt(ForeignMemory memory);
    /// A buffer on host memory of another owner, at any address: on CPUs in place, also through OpenCL; on CUDA if the
    /// memory is page-locked (cudaHostRegister, cudaHostAlloc); on other OpenCL devices if it is shared virtual memory
    /// (clSVMAlloc) of the context native_handle(), from the start of an allocation. Some drivers accept other
    /// addresses that are multiples of 128 bytes. Throws like adopt(), and unsupported if the device cannot use the
    /// memory in place.
    std::shared_ptr<Buffer> adopt_host(ForeignMemory memory);
    /// A stream on a queue of another owner. Its work is ordered with the owner's work there. The handle is a CUstream
    /// (null and CU_STREAM_PER_THREAD are CUDA's default streams), or an in-order cl_command_queue of this device's
    /// context, which the stream retains. The owner must keep a CUstream until the stream is destroyed, which waits for
    /// its work. Event times on a cl_command_queue need CL_QUEUE_PROFILING_ENABLE. Throws invalid_argument,
    /// wrong_device, and unsupported on CPUs.
    ///
    /// While the owner captures a CUstream into a graph (cuStreamBeginCapture), launches, fills, copies between buffers
    /// and copies of page-locked memory become part of the graph, and so do record() and wait(). idle() returns false.
    /// Calls that a capture does not support throw unsupported: synchronize(), callback(), and write() and read() of
    /// pageable memory. The stream keeps all buffers and kernels that the graph uses, scratch memory included, until it
    /// is destroyed; destroy it after the capture has ended and the last replay is done.
    std::shared_ptr<Stream> adopt_stream(void* handle);
    /// An event of another owner, for Stream::wait(), Event::done() and Event::synchronize(). The handle is a CUevent,
    /// which the owner must keep until the event is destroyed, or a cl_event of this device's context, which the event
    /// retains.
    ///
    /// A CUevent stands for the latest record by anyone, and Stream::record() may record it. A cl_event stands for its
    /// command; the function flushes the command's queue, and Stream::record() throws unsupported. Times
    /// (Event::milliseconds_since) need a CUevent without CU_EVENT_DISABLE_TIMING, or a queue with
    /// CL_QUEUE_PROFILING_ENABLE.
    ///
    /// Throws invalid_argument for a null handle or a cl_event that the driver does not know, wrong_device for a
    /// cl_event of another context, and unsupported on CPUs. CUDA has no query for the context of an event: the first
    /// use of a wrong CUevent throws.
    std::shared_ptr<Event> adopt_event(void* handle);
    /// The handle of the backend's own API: the CUcontext (the primary one, as in the CUDA runtime), or the cl_context.
    /// Null on CPUs. The device keeps the ownership.
    void* native_handle() const noexcept;
    /// The device memory that the pool holds now, page-locked host memory excluded.
    MemoryUse memory_use() const;
    /// Returns the cached memory of both pools to the driver.
    void trim();

    /// The compiled kernel for a specification. The first call compiles it or loads it from the disk cache. Later calls
    /// look it up by the content of the specification. The device keeps the 1024 kernels that were used last. Throws
    /// invalid_argument (a name of more than 200 characters), compile_failed, and unsupported if the kernel has no
    /// source in the device's language.
    std::shared_ptr<Kernel> kernel(const KernelSpec& spec);
    /// Compiles a kernel or loads it from the disk cache, without the in-memory cache. Throws like kernel().
    std::shared_ptr<Kernel> compile(const KernelSpec& spec);
    /// Sets whether kernels that are not in memory are compiled without any other cache. Kernel::compile_milliseconds()
    /// then returns the cost. Off by default.
    void bypass_kernel_cache(bool on) noexcept;

  private:
    friend struct detail::Access;
    explicit Device(std::unique_ptr<backend::Device> device);

    const DeviceInfo& info_;
    const DeviceTraits& traits_;
    std::unique_ptr<detail::DeviceState> state_;
};

/// A backend that this process found.
struct BackendStatus {
    std::string name;        ///< "cuda"
    std::string path;        ///< path of the module; "built in" for a backend that is part of the library
    bool available = false;  ///< whether it has a device
    std::string reason;      ///< why it is unavailable, or a note about what it runs on
    std::vector<DeviceInfo> devices;  ///< its devices, in the order of their indices
};

/// Every backend, with its devices or the reason why it has none. Loads all modules.
std::vector<BackendStatus> backends();

/// The driver libraries of a backend with paths and versions, whether or not the backend is available.
std::vector<DeviceProperty> backend_libraries(const std::string& name);

/// The selectors of all devices, in the order in which `auto` prefers them.
std::vector<std::string> device_selectors();

/// The selectors that a pattern names: all devices for "all", all devices of a backend for "cuda:*". Any other pattern
/// is a selector and is returned unchanged. Throws unavailable, with the reasons, if a pattern names no device.
std::vector<std::string> device_selectors(std::string_view pattern);

/// Opens a device.
///
/// | selector | device |
/// |---|---|
/// | "cuda", "cuda:0", "opencl:1", "tbb" | that device; index 0 by default |
/// | "auto" | the device with the lowest DeviceInfo::rank |
/// | "" | the selector in the environment variable CONCORD_DEVICE, "auto" if it is not set |
/// | "tbb@avx2" | the CPU with the kernels of that instruction set: baseline, avx2 or avx512 |
/// | "cuda@sm_90" | a device that compiles for that architecture and cannot run kernels |
///
/// A compile-only device compiles kernels and checks launches. What needs their results throws unavailable: reading
/// memory, and synchronize() after a launch.
///
/// Every call for the same device returns the same object, which lives until the process ends. A child of fork() has
/// none of the threads that the backends started in its parent. If the parent has opened or listed devices, every call
/// in the child that needs a device throws unavailable, and destructors abandon its streams and events.
///
/// Loads only the backend that the selector names, and its driver; "auto" loads all.
///
/// Throws invalid_argument for a malformed selector, and unavailable if there is no such device. The message names the
/// searched folders, the backends and the reason.
std::shared_ptr<Device> open_device(std::string_view selector = "");

/// A device on a context of another owner. It adopts memory, streams and events of that context, and everything else
/// works as on a device of open_device().
///
/// `backend` is "opencl" or "cuda". The device of a cl_context retains it, compiles kernels and allocates memory there.
/// Its selector is "opencl@context0", "opencl@context1" and so on, which open_device() accepts as well. Of CUDA, only
/// primary contexts are adopted, which the CUDA runtime uses; the result is the device of open_device().
///
/// Every call for the same context and device returns the same object, which lives until the process ends. A context
/// that a device uses already (Device::native_handle) gives that device. Any thread may call this.
///
/// Throws invalid_argument for a null context, a handle that the driver does not know, a device that is not one of the
/// context's, or no device if the context has several; unavailable, with the reason, if the backend is not available or
/// cannot use the device; and unsupported for a CUcontext that is not primary and for backends without contexts.
std::shared_ptr<Device> adopt_device(std::string_view backend, const ForeignDevice& device);

}  // namespace concord
