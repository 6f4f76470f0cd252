#pragma once
// From a kernel's specification to a program that a device loads: options and the disk cache.

#include <concord/kernel.hpp>

#include <functional>

#include "cuda_nvrtc.hpp"

namespace concord::cuda {

/// Why a program without kernel `entry` cannot be used.
std::string no_such_kernel(const std::string& entry);

/// A program as the driver takes it.
struct Program {
    std::string image;
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

    /// Hands `load` a program from the disk cache, or a compiled one, which is kept there afterwards. `load` returns why a
    /// cached program cannot be used, which is then compiled again, or an empty string; it throws if a compiled one cannot be
    /// used. Throws compile_failed with the compiler's log.
    void build(const KernelSpec& spec, const std::function<std::string(const Program&)>& load) const;
    /// Throws compile_failed. `native` is the error of the library that found the problem.
    [[noreturn]] void fail(const KernelSpec& spec, const std::string& problem,
                           const std::string& native) const;

  private:
    struct Job;
    Job job(const KernelSpec& spec) const;
    std::string compile(const KernelSpec& spec, const Job& job) const;

    const Nvrtc& nvrtc_;
    u32 architecture_;
    Nvrtc::Output output_ = Nvrtc::Output::cubin;
    std::string target_;
};

}  // namespace concord::cuda
