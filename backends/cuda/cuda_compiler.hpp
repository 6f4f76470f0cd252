#pragma once
// From a kernel's specification to a program that a device loads: options, disk cache, checks.

#include <concord/kernel.hpp>

#include "cuda_cubin.hpp"
#include "cuda_nvrtc.hpp"

namespace concord::cuda {

/// A program as the driver takes it.
struct Program {
    std::string image;
    /// What the machine code says of the kernel; nothing for PTX.
    std::optional<CubinKernel> kernel;
    bool from_cache = false;
};

/// Compiles for one architecture: to machine code if NVRTC knows it, else to the newest PTX that it does
/// know, which the driver compiles further. Immutable, usable from any thread.
class Compiler {
  public:
    /// 90 for sm_90. Throws unavailable if there is no NVRTC, or none of NVRTC's targets runs there.
    explicit Compiler(u32 architecture);

    u32 architecture() const { return architecture_; }
    /// "sm_90", or "compute_90" for PTX.
    const std::string& target() const { return target_; }
    const Nvrtc& nvrtc() const { return nvrtc_; }

    /// From the disk cache, or compiled. Throws compile_failed with the compiler's log.
    Program build(const KernelSpec& spec) const;
    /// Compiled, whatever the disk cache holds; what it holds is replaced.
    Program rebuild(const KernelSpec& spec) const;

  private:
    struct Job;
    Job job(const KernelSpec& spec) const;
    Program compile(const KernelSpec& spec, const Job& job) const;
    /// What the image says of the kernel; an empty string for `problem` if it is the program that was asked
    /// for.
    Program inspect(const KernelSpec& spec, std::string image, std::string& problem) const;
    [[noreturn]] void fail(const KernelSpec& spec, const std::string& log, const std::string& native) const;

    const Nvrtc& nvrtc_;
    u32 architecture_;
    Nvrtc::Output output_ = Nvrtc::Output::cubin;
    std::string target_;
};

}  // namespace concord::cuda
