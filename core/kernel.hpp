#pragma once
/// Kernels: their texts, how a text is specialised, and the compiled thing.

#include <concord/function.hpp>
#include <concord/host_kernel.hpp>
#include <concord/traits.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord {

class Device;

/// A file of kernel text. The compiler reports errors under `name`.
struct KernelText {
    std::string_view name;
    std::string_view text;
};

/// The texts of one algorithm, or of a user's kernel, in the JIT dialects. An empty list: not in that
/// dialect. CUDA C++ kernels are extern "C" __global__; a buffer parameter is a pointer. In OpenCL C, where a
/// pointer cannot carry an offset, every buffer parameter is followed by a `ulong` that holds its offset in
/// elements, and dynamic local memory (LaunchShape::local_bytes) is one last `__local` pointer.
struct KernelSource {
    std::string_view name;
    std::vector<KernelText> cuda;
    std::vector<KernelText> opencl;
};

/// A constant of a specialisation: visible in the text as `#define name value`.
struct Constant {
    std::string name;
    std::string value;
};

/// One kernel, fully specialised. The host dialect is already compiled: it comes as a function.
struct KernelSpec {
    const KernelSource* source = nullptr;
    std::string entry;
    std::vector<Constant> constants;  ///< in the order in which they are defined
    std::optional<Operator> op;       ///< becomes `struct Op` and apply() in the text
    HostKernel host;                  ///< null: not in the host dialect
    u32 max_lanes = 0;                ///< most lanes of a group that will be launched; 0: any
};

/// The whole text that the compiler of `dialect` is given: standard names (u8 ... f64), constants, the
/// operator, then the source's texts, each under its own #line.
std::string assemble(const KernelSpec& spec, Dialect dialect);

/// Names a specialisation for the in-memory cache without building its text. Two ids are equal only if the
/// specs would be; `source` is the address of a KernelSource and `entry` a string, both with static storage.
struct KernelId {
    const void* source = nullptr;
    const char* entry = nullptr;
    u64 a = 0, b = 0, c = 0;
    bool operator==(const KernelId&) const = default;
};

/// What the compiler says of a kernel; a field that the backend cannot tell is -1.
struct KernelAttributes {
    i64 registers = -1;        ///< a lane
    i64 local_bytes = -1;      ///< static group-local memory
    i64 spill_bytes = -1;      ///< private memory a lane
    i64 max_lanes = -1;        ///< of a group, for this kernel
    i64 groups_per_unit = -1;  ///< resident at once, at max_lanes of the spec
};

/// A compiled kernel of one device; immutable and usable from any thread.
class Kernel {
  public:
    explicit Kernel(std::string name) : name_(std::move(name)) {}
    virtual ~Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    const std::string& name() const noexcept { return name_; }
    virtual Device& device() const = 0;
    /// Asked of the backend once.
    const KernelAttributes& attributes() const {
        std::call_once(asked_, [this] { attributes_ = do_attributes(); });
        return attributes_;
    }

  protected:
    /// Defaults to "cannot tell".
    virtual KernelAttributes do_attributes() const { return {}; }

  private:
    std::string name_;
    mutable std::once_flag asked_;
    mutable KernelAttributes attributes_;
};

}  // namespace concord
