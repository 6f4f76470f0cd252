#pragma once
// A loaded program and its kernel.

#include <atomic>
#include <utility>

#include "cuda_device.hpp"

namespace concord::cuda {

/// A program that the driver has loaded, and a kernel of it.
class Module {
  public:
    explicit Module(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    Module(Module&& other) noexcept
        : context_(std::move(other.context_)),
          handle_(std::exchange(other.handle_, nullptr)),
          function_(other.function_) {}
    ~Module();

    /// Called again only after it failed. CUDA_ERROR_NOT_FOUND: the program has no such kernel.
    CUresult load(const std::string& image, const std::string& entry);
    /// Whether a result of load() speaks of the program and not of the device.
    static bool rejects(CUresult result);
    /// What the driver's own compiler said of PTX that it refused.
    const std::string& log() const { return log_; }

    const Context& context() const { return *context_; }
    CUfunction function() const { return function_; }

  private:
    std::shared_ptr<Context> context_;
    CUmodule handle_ = nullptr;
    CUfunction function_ = nullptr;
    std::string log_;
};

class CudaKernel final : public backend::Kernel {
  public:
    CudaKernel(CudaDevice& device, const KernelSpec& spec, Module module, const std::string& image);

    KernelAttributes attributes() const override;

    /// Enqueues it. The context is current, the arguments are checked.
    void launch(CUstream stream, const LaunchShape& shape, void** arguments) const;
    const KernelLimits& limits() const { return limits_; }

  private:
    int attribute(CUfunction_attribute attribute) const;
    /// The driver's answer; that of the image if the driver is older than the query; nothing if neither has one.
    std::optional<std::vector<u32>> parameter_sizes(const std::string& image, const std::string& name) const;
    void allow_local(u64 bytes) const;

    Module module_;  // keeps the context alive
    CUfunction function_ = nullptr;
    u32 planned_group_size_;
    KernelLimits limits_;
    mutable std::atomic<u64> allowed_local_;  // dynamic bytes that the driver lets a launch have
};

}  // namespace concord::cuda
