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
namespace backend {
class Kernel;
}
namespace detail {
struct Access;
}

/// A file of kernel source. The compiler reports errors under `name`.
struct SourceFile {
    std::string_view name;
    std::string_view text;
    u32 line = 1;  ///< the number of the text's first line in that file
};

/// A SourceFile written in place, CONCORD_SOURCE(R"(...)"): the compilers report errors with this source file's
/// name and line.
#define CONCORD_SOURCE(TEXT) \
    (concord::SourceFile{__FILE__, TEXT, concord::detail::first_line(__LINE__, TEXT)})

namespace detail {
/// Of a text whose macro is at `line`: compilers differ in whether that is its first or its last line.
constexpr u32 first_line(u32 line, [[maybe_unused]] std::string_view text) {
#ifdef __clang__
    for (const char c : text)
        line -= c == '\n' ? 1 : 0;
#endif
    return line;
}
}  // namespace detail

/// The texts of one algorithm, or of a user's kernel, in the JIT dialects. An empty list: not in that
/// dialect. CUDA C++ kernels are extern "C" __global__; a buffer parameter is a pointer. In OpenCL C, where a
/// pointer cannot carry an offset, every buffer parameter is followed by a `ulong` that holds its offset in
/// elements, and dynamic local memory (LaunchShape::local_bytes) is one last `__local` pointer.
struct KernelSource {
    std::string_view name;
    std::vector<SourceFile> cuda;
    std::vector<SourceFile> opencl;
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
    u32 max_group_size = 0;           ///< most work-items of a group that will be launched; 0: any
    bool fresh = false;               ///< compiled whatever caches hold, and kept in none
};

/// The whole text that the compiler of `dialect` is given: standard names (u8 ... f64), constants, the
/// operator, then the source's texts, each under its own #line. To try a changed kernel without a build, copy
/// its file to a folder and name that in the environment variable CONCORD_KERNELS: a text whose name (no
/// path) is that of a file there is read from it at every compilation, which is logged at level info. Throws
/// io, naming the path, if the folder is none or the file cannot be read.
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
    i64 registers = -1;        ///< a work-item
    i64 local_bytes = -1;      ///< static group-local memory
    i64 spill_bytes = -1;      ///< private memory per work-item
    i64 max_group_size = -1;   ///< of a group, for this kernel
    i64 groups_per_unit = -1;  ///< resident at once, at max_group_size of the spec
};

/// A compiled kernel of one device, created by Device::kernel. Immutable; any thread may use it.
class Kernel final : public std::enable_shared_from_this<Kernel> {
  public:
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    const std::string& name() const noexcept { return name_; }
    Device& device() const noexcept { return device_; }
    /// The host time that compiling took; -1 unless the kernel was compiled afresh, see Device::compile_afresh.
    double compile_milliseconds() const noexcept { return compile_ms_; }
    /// What the compiler reports about the kernel. The backend is asked once.
    const KernelAttributes& attributes() const;

  private:
    friend struct detail::Access;
    Kernel(Device& device, std::string name, std::unique_ptr<backend::Kernel> kernel, double compile_ms);

    Device& device_;  // whose table of kernels holds this
    std::string name_;
    std::unique_ptr<backend::Kernel> kernel_;
    double compile_ms_;
    mutable std::once_flag asked_;
    mutable KernelAttributes attributes_;
};

}  // namespace concord
