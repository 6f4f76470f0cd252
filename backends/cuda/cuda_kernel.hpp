#pragma once
// A loaded program and its kernel.

#include <atomic>

#include "cuda_device.hpp"

namespace concord::cuda {

/// A program that the driver has loaded.
class Module {
  public:
    explicit Module(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    Module(Module&& other) noexcept : context_(std::move(other.context_)), handle_(other.handle_) {
        other.handle_ = nullptr;
    }
    ~Module();

    /// Called again only after it failed.
    CUresult load(const std::string& image);
    /// Whether a result of load() speaks of the program and not of the device.
    static bool rejects(CUresult result);
    /// What the driver's own compiler said of PTX that it refused.
    const std::string& log() const { return log_; }

    const Context& context() const { return *context_; }
    CUmodule handle() const { return handle_; }

  private:
    std::shared_ptr<Context> context_;
    CUmodule handle_ = nullptr;
    std::string log_;
};

class CudaKernel final : public backend::Kernel {
  public:
    /// info: what the machine code tells; nothing for PTX.
    CudaKernel(CudaDevice& device, const KernelSpec& spec, Module module, std::optional<CubinKernel> info);

    KernelAttributes attributes() const override;

    /// Enqueues it. The context is current, the arguments are checked.
    void launch(CUstream stream, const LaunchShape& shape, void** arguments) const;
    const KernelLimits& limits() const { return limits_; }

  private:
    int attribute(CUfunction_attribute attribute) const;
    void allow_local(u64 bytes) const;

    Module module_;  // keeps the context alive
    CUfunction function_ = nullptr;
    u32 planned_group_size_;
    KernelLimits limits_;
    mutable std::atomic<u64> allowed_local_;  // dynamic bytes that the driver lets a launch have
};

}  // namespace concord::cuda
