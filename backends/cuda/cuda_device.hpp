#pragma once
// A GPU through the CUDA driver API, and its memory.

#include <concord/backend.hpp>

#include <map>

#include "cuda_callback.hpp"
#include "cuda_compiler.hpp"
#include "cuda_context.hpp"
#include "cuda_launch.hpp"

namespace concord::cuda {

class CudaKernel;

class CudaDevice final : public backend::Device {
  public:
    CudaDevice(const Driver& driver, u32 ordinal);

    const DeviceInfo& info() const noexcept override { return info_; }
    const DeviceTraits& traits() const noexcept override { return traits_; }
    std::vector<DeviceProperty> properties() const override;
    std::unique_ptr<backend::Memory> allocate(u64 bytes) override;
    std::unique_ptr<backend::Memory> allocate_host(u64 bytes) override;
    std::unique_ptr<backend::Memory> adopt(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Memory> adopt_host(const ForeignMemory& memory) override;
    std::unique_ptr<backend::Queue> adopt_queue(concord::Device& device, void* handle) override;
    std::unique_ptr<backend::Event> adopt_event(void* handle) override;
    void* native_handle() noexcept override { return context_->handle(); }
    std::unique_ptr<backend::Kernel> compile(const KernelSpec& spec) override;
    std::unique_ptr<backend::Event> create_event() override;
    std::unique_ptr<backend::Queue> create_queue(concord::Device& device, Priority priority) override;
    bool reach(const backend::Device& other, std::string& why) override;

    const std::shared_ptr<Context>& context() const { return context_; }
    const Driver& driver() const { return context_->driver; }
    const LaunchLimits& limits() const { return limits_; }
    // The thread that runs the callbacks of this device's streams. The first call starts it.
    CallbackThread& callback_thread();
    // The kernel for fills with 8 bytes, see cuda_queue.cpp. The first call compiles it.
    const CudaKernel& fill_8_kernel();

  private:
    // `log` is the log of the driver's compiler.
    [[noreturn]] void fail_to_load(const std::string& entry, CUresult result, const std::string& log) const;

    DeviceInfo info_;
    DeviceTraits traits_;
    std::shared_ptr<Context> context_;
    LaunchLimits limits_;
    Compiler compiler_;
    std::mutex peers_mutex_;
    std::map<CUdevice, std::string>
        peers_;  // known devices: why they are out of reach, empty if they are not
    std::mutex callback_mutex_;
    std::unique_ptr<CallbackThread> callback_thread_;
    std::mutex fill_8_mutex_;
    std::unique_ptr<backend::Kernel> fill_8_kernel_;
};

// Device memory.
class CudaMemory final : public backend::Memory {
  public:
    CudaMemory(CudaDevice& device, u64 bytes);
    // Memory of another owner.
    struct Adopted {
        CUdeviceptr address;
        void* host;  // null if the host cannot access it
    };
    CudaMemory(CudaDevice& device, const Adopted& adopted);
    ~CudaMemory() override;
    void* host_pointer() noexcept override { return host_; }
    u64 begin() const noexcept override { return begin_; }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
    void* native_handle() noexcept override { return reinterpret_cast<void*>(address_); }
    void* device_address() noexcept override { return native_handle(); }
    CUdeviceptr address() const { return address_; }
    CUcontext context() const { return context_->handle(); }

  private:
    std::shared_ptr<Context> context_;
    CUdeviceptr address_ = 0;
    u64 begin_ = 0;
    void* host_ = nullptr;
    bool is_adopted_ = false;
};

// Page-locked host memory.
class CudaHostMemory final : public backend::Memory {
  public:
    CudaHostMemory(CudaDevice& device, u64 bytes);
    ~CudaHostMemory() override;
    void* host_pointer() noexcept override { return memory_; }

  private:
    std::shared_ptr<Context> context_;
    void* memory_ = nullptr;
};

// What the driver reports about a device without opening it.
DeviceInfo device_info(const Driver& driver, u32 ordinal);
// The value of an attribute. Throws if the driver does not know it.
int device_attribute(const Driver& driver, CUdevice device, CUdevice_attribute attribute);
// Empty if the driver does not tell it.
std::string device_uuid(const Driver& driver, CUdevice device);
// Everything that the driver reports about a device.
std::vector<DeviceProperty> device_properties(const Driver& driver, CUdevice device);

}  // namespace concord::cuda
