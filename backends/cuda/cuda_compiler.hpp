#pragma once
// Compiles kernel specifications to programs that a device loads, or takes them from the disk cache.

#include <concord/kernel.hpp>

#include <functional>

#include "cuda_nvrtc.hpp"

namespace concord::cuda {

// The error message for a program without kernel `entry`.
std::string no_such_kernel(const std::string& entry);

// A program that the driver can load.
struct Program {
    std::string image;
    std::string entry;  // the kernel's name in the image
    bool from_cache = false;
    bool waits = false;  // whether the kernel may be launched before the kernel in front of it has ended
};

// Whether tensor cores of this architecture multiply f64 matrices, at least as fast as other units multiply f64.
constexpr bool has_f64_matrix_units(u32 architecture) {
    return architecture == 80 || architecture == 90 || architecture == 100;
}

// Compiles for one architecture: to machine code if NVRTC supports it, otherwise to the newest supported PTX, which the
// driver compiles to machine code. Immutable. Any thread may use it.
class Compiler {
  public:
    // `architecture` is 90 for sm_90. Throws unavailable if there is no NVRTC or if the architecture is older than its
    // targets.
    explicit Compiler(u32 architecture);

    u32 architecture() const { return architecture_; }
    // "sm_90", or "compute_90" for PTX.
    const std::string& target() const { return target_; }
    const Nvrtc& nvrtc() const { return nvrtc_; }

    // Calls `load` with a program from the disk cache or with a compiled one, and stores a compiled one in the cache.
    // If `load` rejects a cached program by returning a reason, the source is compiled. For a compiled program `load`
    // throws if it cannot be used, and returns an empty string otherwise. Throws compile_failed with the compiler's
    // log.
    void build(const KernelSpec& spec, const std::function<std::string(const Program&)>& load) const;
    // Throws compile_failed. `native` is the error of the library that reported the problem.
    [[noreturn]] void fail(const KernelSpec& spec, const std::string& problem,
                           const std::string& native) const;

  private:
    struct Job;
    Job job(const KernelSpec& spec) const;
    Program compile(const KernelSpec& spec, const Job& job) const;

    const Nvrtc& nvrtc_;
    u32 architecture_;
    Nvrtc::Output output_ = Nvrtc::Output::cubin;
    std::string target_;
};

}  // namespace concord::cuda
