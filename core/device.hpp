#pragma once
/// One compute device, and how to get one.

#include <concord/buffer.hpp>
#include <concord/error.hpp>
#include <concord/event.hpp>
#include <concord/kernel.hpp>
#include <concord/stream.hpp>
#include <concord/traits.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace concord {

class BufferPool;

/// Bytes of device memory that the pool holds.
struct MemoryUse {
    u64 in_use = 0;  ///< in live buffers
    u64 cached = 0;  ///< released, kept for reuse
};

/// Of a stream's work.
enum class Priority : u8 { normal, high };

/// Opened by open_device(); shared by everything made from it. All calls may come from any thread.
class Device : public std::enable_shared_from_this<Device> {
  public:
    virtual ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceInfo& info() const noexcept { return info_; }
    const DeviceTraits& traits() const noexcept { return traits_; }
    /// All that the driver tells of the device, by the driver's names. May take a while.
    virtual std::vector<Property> properties() const = 0;

    /// Work of a stream of high priority begins ahead of other work that waits for a place on the device, where the
    /// backend knows priorities (CUDA); what runs already is not interrupted.
    std::shared_ptr<Stream> create_stream(Priority priority = Priority::normal);
    std::shared_ptr<Event> create_event();

    /// Memory from the pool; with a home stream the first use must be on it (or after it), and memory that
    /// the stream has just released may come back without waiting. Throws out_of_memory after all cached
    /// memory was tried.
    std::shared_ptr<Buffer> allocate(u64 bytes, Stream* home = nullptr);
    /// Page-locked host memory, also pooled: host_pointer() is not null, and copies to and from it overlap
    /// with kernels. It takes part in Stream::copy, not in launches.
    std::shared_ptr<Buffer> allocate_host(u64 bytes);
    MemoryUse memory_use() const;
    /// Returns cached memory to the driver.
    void trim();

    /// The compiled kernel of that specification. Only the first time it is compiled, or loaded from the disk
    /// cache; afterwards a call costs a look-up by all that the specification says. Throws compile_failed, or
    /// unsupported where the dialect has no such kernel.
    std::shared_ptr<Kernel> kernel(const KernelSpec& spec);
    /// Compiles now, past the in-memory cache (the disk cache is used).
    std::shared_ptr<Kernel> compile(const KernelSpec& spec);
    /// Whether kernels that are not in memory are compiled past all other caches, and Kernel::
    /// compile_milliseconds() is taken: to measure what compiling costs. Off at first.
    void compile_afresh(bool on) noexcept { afresh_ = on; }

  protected:
    Device();
    /// A backend's destructor calls this first, while its context still lives.
    void release_pool() noexcept;

    // What a backend implements, and sets up in its constructor.
    virtual std::shared_ptr<Stream> do_create_stream(Priority priority) = 0;
    virtual std::shared_ptr<Event> do_create_event() = 0;
    /// Throws out_of_memory; `bytes` is what the pool wants as capacity.
    virtual std::unique_ptr<Buffer> do_allocate(u64 bytes) = 0;
    virtual std::unique_ptr<Buffer> do_allocate_host(u64 bytes) = 0;
    virtual std::shared_ptr<Kernel> do_compile(const KernelSpec& spec) = 0;

    DeviceInfo info_;
    DeviceTraits traits_;

  private:
    struct Kernels;
    std::unique_ptr<BufferPool> pool_;
    std::unique_ptr<BufferPool> host_pool_;
    std::unique_ptr<Kernels> kernels_;
    std::atomic<bool> afresh_ = false;
};

/// A backend as this process found it.
struct BackendStatus {
    std::string name;  ///< "cuda"
    std::string path;  ///< of the module; "built in" if there is none
    bool available = false;
    std::string reason;  ///< why it is not available, or what it runs on
    std::vector<DeviceInfo> devices;
};

/// Every backend found, with its devices or the reason why it has none. Loads modules the first time.
std::vector<BackendStatus> backends();

/// What a backend stands on (driver libraries with paths and versions), whether or not it is available.
std::vector<Property> backend_libraries(const std::string& name);

/// The selectors of all devices, in the order in which `auto` prefers them.
std::vector<std::string> device_selectors();

/// Opens a device: "cuda" or "cuda:0", "opencl:1", "tbb"; "auto" for the best there is; "" for
/// $CONCORD_DEVICE, else auto; "cuda@sm_90" for one that compiles for that architecture and cannot run. The
/// same selector gives the same object. Throws unavailable, saying what was looked for, where, and why it
/// failed.
std::shared_ptr<Device> open_device(std::string_view selector = "");

}  // namespace concord
