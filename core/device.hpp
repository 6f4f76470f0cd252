#pragma once
/// One compute device, and how to get one.

#include <concord/buffer.hpp>
#include <concord/error.hpp>
#include <concord/event.hpp>
#include <concord/kernel.hpp>
#include <concord/stream.hpp>
#include <concord/traits.hpp>

#include <functional>
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
}  // namespace detail

/// Bytes of device memory that the pool holds.
struct MemoryUse {
    u64 in_use = 0;  ///< in live buffers
    u64 cached = 0;  ///< released, kept for reuse
};

/// Of a stream's work.
enum class Priority : u8 { normal, high };

/// One compute device, opened by open_device() and shared by everything created from it. Any thread may call it.
class Device final : public std::enable_shared_from_this<Device> {
  public:
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const DeviceInfo& info() const noexcept { return info_; }
    const DeviceTraits& traits() const noexcept { return traits_; }
    /// Everything that the driver reports about the device, under the driver's names. May take a while.
    std::vector<DeviceProperty> properties() const;

    /// Creates a stream. Work of a high-priority stream starts ahead of other work that waits for room on the device, if the
    /// backend supports priorities (CUDA). Running work is not interrupted.
    std::shared_ptr<Stream> create_stream(Priority priority = Priority::normal);
    std::shared_ptr<Event> create_event();

    /// Device memory from the pool. With a home stream the first use must be on that stream or ordered after it; memory
    /// that the stream has just released may then come back without waiting. Throws out_of_memory if the allocation fails
    /// after all cached memory was freed.
    std::shared_ptr<Buffer> allocate(u64 bytes, Stream* home = nullptr);
    /// Page-locked host memory from a pool of its own. host_pointer() is not null, and copies to and from it overlap with
    /// kernels. It takes part in Stream::copy, not in launches.
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
    /// Whether kernels that are not in memory are compiled past all other caches, with Kernel::compile_milliseconds()
    /// measured: for measuring the cost of compilation. Off by default.
    void compile_afresh(bool on) noexcept;

  private:
    friend struct detail::Access;
    explicit Device(std::unique_ptr<backend::Device> device);

    const DeviceInfo& info_;
    const DeviceTraits& traits_;
    std::unique_ptr<detail::DeviceState> state_;
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
std::vector<DeviceProperty> backend_libraries(const std::string& name);

/// The selectors of all devices, in the order in which `auto` prefers them.
std::vector<std::string> device_selectors();

/// Opens a device: "cuda" or "cuda:0", "opencl:1", "tbb"; "auto" for the best there is; "" for
/// $CONCORD_DEVICE, else auto; "cuda@sm_90" for one that compiles for that architecture and cannot run. The
/// same selector gives the same object. Throws unavailable, saying what was looked for, where, and why it
/// failed.
std::shared_ptr<Device> open_device(std::string_view selector = "");

}  // namespace concord
