#pragma once
// A GPU through the CUDA driver API, and its memory.

#include <concord/device.hpp>
#include <concord/peer.hpp>

#include <map>

#include "cuda_callback.hpp"
#include "cuda_compiler.hpp"
#include "cuda_context.hpp"
#include "cuda_launch.hpp"

namespace concord::cuda {

class CudaDevice final : public Device, public PeerDevice {
  public:
    CudaDevice(const Driver& driver, u32 ordinal);
    ~CudaDevice() override;

    std::vector<Property> properties() const override;
    bool reach(const Device& other, std::string& why) override;

    const std::shared_ptr<Context>& context() const { return context_; }
    const Driver& driver() const { return context_->driver; }
    const LaunchLimits& limits() const { return limits_; }
    /// The thread that callbacks of this device's streams run on; started by the first call.
    CallbackThread& callback_thread();

  protected:
    std::shared_ptr<Stream> do_create_stream(Priority priority) override;
    std::shared_ptr<Event> do_create_event() override;
    std::unique_ptr<Buffer> do_allocate(u64 bytes) override;
    std::unique_ptr<Buffer> do_allocate_host(u64 bytes) override;
    std::shared_ptr<Kernel> do_compile(const KernelSpec& spec) override;

  private:
    /// `log`: of the driver's compiler.
    [[noreturn]] void fail_to_load(const KernelSpec& spec, CUresult result, const std::string& log) const;

    std::shared_ptr<Context> context_;
    LaunchLimits limits_;
    Compiler compiler_;
    std::mutex peers_mutex_;
    std::map<CUdevice, std::string>
        peers_;  // those that were asked for; why not, empty for those within reach
    std::mutex callback_mutex_;
    std::unique_ptr<CallbackThread> callback_thread_;
};

/// Device memory.
class CudaBuffer final : public Buffer {
  public:
    CudaBuffer(CudaDevice& device, u64 bytes);
    ~CudaBuffer() override;
    void* host_pointer() noexcept override { return nullptr; }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
    void* native_handle() noexcept override { return reinterpret_cast<void*>(address_); }
    CUdeviceptr address() const { return address_; }

  private:
    std::shared_ptr<Context> context_;
    CUdeviceptr address_ = 0;
};

/// Page-locked host memory.
class CudaHostBuffer final : public Buffer {
  public:
    CudaHostBuffer(CudaDevice& device, u64 bytes);
    ~CudaHostBuffer() override;
    void* host_pointer() noexcept override { return memory_; }

  private:
    std::shared_ptr<Context> context_;
    void* memory_ = nullptr;
};

/// What the driver tells of a device without opening it.
DeviceInfo device_info(const Driver& driver, u32 ordinal);
/// The value of a device's attribute; throws if the driver does not have it.
int device_attribute(const Driver& driver, CUdevice device, CUdevice_attribute attribute);
std::vector<Property> device_properties(const Driver& driver, CUdevice device);

}  // namespace concord::cuda
