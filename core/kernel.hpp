#pragma once
/// Kernels: their texts, how a text is specialised, and the compiled thing.

#include <concord/function.hpp>
#include <concord/host_kernel.hpp>
#include <concord/traits.hpp>

#include <concepts>
#include <initializer_list>
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
class KernelKey;
struct Access;
}  // namespace detail

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
class KernelSource {
  public:
    KernelSource(std::string_view name, std::vector<SourceFile> cuda, std::vector<SourceFile> opencl);

    std::string_view name() const noexcept { return name_; }
    const std::vector<SourceFile>& cuda() const noexcept { return cuda_; }
    const std::vector<SourceFile>& opencl() const noexcept { return opencl_; }
    /// A 128-bit hash of all of it, computed once: two sources of equal content are the same to every cache.
    const detail::ContentHash& content() const noexcept { return content_; }

  private:
    std::string_view name_;
    std::vector<SourceFile> cuda_;
    std::vector<SourceFile> opencl_;
    detail::ContentHash content_;
};

/// A constant of a specialisation: visible in the text as `#define name value`. The value is an integer, a bool
/// (1 or 0), an element type (its name) or text. Name and text are views: they outlive the call that the
/// constant is given to. A std::string is refused, as it is often a temporary; write std::string_view(s).
class Constant {
  public:
    template <std::integral T>
    constexpr Constant(std::string_view name, T value)
        : Constant(name, static_cast<u64>(value), std::is_signed_v<T> ? signed_number : unsigned_number) {}
    constexpr Constant(std::string_view name, bool value) : Constant(name, value ? "1" : "0") {}
    constexpr Constant(std::string_view name, Type value) : Constant(name, name_of(value)) {}
    constexpr Constant(std::string_view name, const char* text) : Constant(name, std::string_view(text)) {}
    constexpr Constant(std::string_view name, std::string_view text)
        : name_(name.data()),
          text_(text.data()),
          name_size_(static_cast<u32>(name.size())),
          kind_(static_cast<u32>(text.size())) {}
    Constant(std::string_view name, const std::string& text) = delete;

    constexpr std::string_view name() const { return {name_, name_size_}; }
    /// The value as the text has it.
    std::string value() const;

  private:
    friend class detail::KernelKey;

    static constexpr u32 signed_number = ~u32{0}, unsigned_number = signed_number - 1;

    constexpr Constant(std::string_view name, u64 number, u32 kind)
        : name_(name.data()), number_(number), name_size_(static_cast<u32>(name.size())), kind_(kind) {}
    constexpr bool is_text() const { return kind_ < unsigned_number; }
    constexpr std::string_view text() const { return {text_, kind_}; }

    const char* name_;
    union {
        u64 number_;
        const char* text_;
    };
    u32 name_size_;
    u32 kind_;  // the text's size, or what kind of number it is
};

/// The constants of a specialisation in the order in which they are defined, without memory of their own.
class Constants {
  public:
    static constexpr std::size_t most = 32;

    Constants() noexcept {}
    Constants(std::initializer_list<Constant> list) { append(list); }
    Constants(const Constants& other) { append(other); }
    Constants& operator=(const Constants& other);
    ~Constants() = default;

    /// Throws invalid_argument if there are `most` already.
    void push_back(const Constant& constant) {
        if (size_ == most) refuse(constant);
        std::construct_at(room_ + size_, constant);
        ++size_;
    }
    template <class List>
    void append(const List& list) {
        for (const Constant& constant : list)
            push_back(constant);
    }
    const Constant* begin() const noexcept { return room_; }
    const Constant* end() const noexcept { return room_ + size_; }
    bool empty() const noexcept { return size_ == 0; }

  private:
    [[noreturn]] static void refuse(const Constant& constant);

    std::size_t size_ = 0;
    union {
        Constant room_[most];
    };
};

/// One kernel, fully specialised. The host dialect is already compiled: it comes as a function. All of it are
/// views, so that a specification costs nothing to make: what they show outlives the call that it is given to.
struct KernelSpec {
    const KernelSource* source = nullptr;
    std::string_view entry = {};
    Constants constants = {};
    const Operator* op = nullptr;  ///< becomes `struct Op` and apply() in the text
    HostKernel host = {};          ///< null: not in the host dialect
    u32 max_group_size = 0;        ///< most work-items of a group that will be launched; 0: any
    bool fresh = false;            ///< compiled whatever caches hold, and kept in none
};

/// The whole text that the compiler of `dialect` is given: standard names (u8 ... f64), constants, the
/// operator, then the source's texts, each under its own #line. To try a changed kernel without a build, copy
/// its file to a folder and name that in the environment variable CONCORD_KERNELS: a text whose name (no
/// path) is that of a file there is read from it at every compilation, which is logged at level info. Throws
/// io, naming the path, if the folder is none or the file cannot be read.
std::string assemble(const KernelSpec& spec, Dialect dialect);

/// A parameter of a compiled kernel, as far as the backend knows it.
struct KernelParameter {
    bool is_buffer = false;
    std::optional<Type> type =
        {};  ///< of the value or of the buffer's elements; none: not known, or no element type
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
    /// In the order of a launch's arguments; empty where the backend does not know them.
    const std::vector<KernelParameter>& parameters() const noexcept { return parameters_; }
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
    std::vector<KernelParameter> parameters_;
    double compile_ms_;
    mutable std::once_flag asked_;
    mutable KernelAttributes attributes_;
};

}  // namespace concord
