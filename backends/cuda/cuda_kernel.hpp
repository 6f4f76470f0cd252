#pragma once
// A loaded program and its kernel.

#include <atomic>
#include <utility>

#include "cuda_device.hpp"

namespace concord::cuda {

// A program that the driver has loaded, and one of its kernels.
class Module {
  public:
    explicit Module(std::shared_ptr<Context> context) : context_(std::move(context)) {}
    Module(Module&& other) noexcept
        : context_(std::move(other.context_)),
          handle_(std::exchange(other.handle_, nullptr)),
          function_(other.function_) {}
    ~Module();

    // Returns CUDA_ERROR_NOT_FOUND if the program has no such kernel. May be called again after a failure only.
    CUresult load(const std::string& image, const std::string& entry);
    // Whether a result of load() is caused by the program rather than by the device.
    static bool rejects(CUresult result);
    // The log of the driver's compiler for rejected PTX.
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
    CudaKernel(CudaDevice& device, const KernelSpec& spec, Module module, const Program& program);

    KernelAttributes attributes() const override;

    // Enqueues a launch. The context must be current, and the arguments valid. after_kernel: the operation in front of
    // it in the stream is a kernel, which may still run if this kernel waits for it.
    void launch(CUstream stream, const LaunchShape& shape, void** arguments, bool after_kernel) const;
    const KernelLimits& limits() const { return limits_; }

  private:
    int attribute(CUfunction_attribute attribute) const;
    // From the driver, or from the image if the driver is too old. Empty if both do not know them.
    std::optional<std::vector<u32>> parameter_sizes(const std::string& image, const std::string& name) const;
    void allow_local(u64 bytes) const;

    Module module_;  // keeps the context alive
    CUfunction function_ = nullptr;
    u32 planned_group_size_;
    bool waits_;  // for the kernel in front of it; see cuda_compiler.cpp
    KernelLimits limits_;
    mutable std::atomic<u64> allowed_local_;  // dynamic bytes that the driver allows
};

}  // namespace concord::cuda
