#pragma once
/// @file
/// Kernels: their sources, how a source is specialised, and the compiled kernel.

#include <concord/function.hpp>
#include <concord/host_kernel.hpp>
#include <concord/traits.hpp>

#include <concepts>
#include <initializer_list>
#include <memory>
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

namespace detail {
// A view of text that must outlive it. Rejects temporary strings, whose text would be gone before it is read.
class TextView : public std::string_view {
  public:
    constexpr TextView() = default;
    constexpr TextView(const char* text) : std::string_view(text) {}
    constexpr TextView(std::string_view text) : std::string_view(text) {}
    constexpr TextView(const std::string& text) : std::string_view(text) {}
    TextView(const std::string&&) = delete;
};
}  // namespace detail

/// A file of kernel source. Holds views: the text must outlive the object. Temporary strings do not compile.
struct SourceFile {
    detail::TextView name;  ///< name under which the compiler reports errors
    detail::TextView text;  ///< the source
    u32 line = 1;           ///< line number of the first line of `text` in the file
};

/// A SourceFile written in place: CONCORD_SOURCE(R"(...)"). The compilers report errors with the name and line of the
/// C++ file.
#define CONCORD_SOURCE(TEXT) \
    (concord::SourceFile{__FILE__, TEXT, concord::detail::first_line(__LINE__, TEXT)})

namespace detail {
// The first line of a text whose macro is at `line`. Compilers differ in whether __LINE__ is its first or its last
// line.
constexpr u32 first_line(u32 line, [[maybe_unused]] std::string_view text) {
#ifdef __clang__
    for (const char c : text)
        line -= c == '\n' ? 1 : 0;
#endif
    return line;
}
}  // namespace detail

/// What a source needs from its compiler in addition to Concord's own options.
struct CompileOptions {
    /// Folders where the compiler looks for included files, in order. CUDA's toolkit headers need no folder.
    std::vector<std::string> include_folders = {};
    /// Flags of the compiler, one argument each: "-DTILE=32", "--std=c++20".
    ///
    /// Flags that change the results of arithmetic, such as --use_fast_math, are refused unless `allow_inexact` is
    /// true. So are flags that Concord sets itself: the architecture, include folders, OpenCL's version.
    std::vector<std::string> flags = {};
    /// Accepts flags with which results differ between devices.
    bool allow_inexact = false;
};

/// The sources of one or more kernels in one language.
struct LanguageSource {
    std::string_view suffix = {};  ///< of the files of that language: "cu" for CUDA C++, "cl" for OpenCL C
    std::vector<SourceFile> files = {};  ///< compiled as one translation unit, in order
    CompileOptions options = {};         ///< of the compiler
};

/// The sources of one or more kernels in the languages that are compiled at run time. An empty list means that there is
/// no source in that language.
///
/// CUDA C++ kernels are extern "C" __global__ or named by an expression (KernelSpec::entry). A buffer parameter is a
/// pointer. The sources may include the headers of CUDA's toolkit that device code can use.
///
/// In OpenCL C a pointer cannot carry an offset, so that a `ulong` with the offset in elements follows every buffer
/// parameter. Dynamic local memory (LaunchShape::local_bytes) is one last `__local` pointer.
class KernelSource {
  public:
    /// Combines the sources of several languages, in the order of the list. Throws invalid_argument for an unknown
    /// suffix and for one that occurs twice.
    KernelSource(std::string_view name, std::vector<LanguageSource> sources);
    /// Combines the sources of a name. Each list is compiled as one translation unit, in order. Compilation throws
    /// invalid_argument for refused flags of either language.
    KernelSource(std::string_view name, std::vector<SourceFile> cuda, std::vector<SourceFile> opencl,
                 CompileOptions cuda_options = {}, CompileOptions opencl_options = {});

    /// The name, for messages and the disk cache.
    std::string_view name() const noexcept { return name_; }
    /// The CUDA C++ sources.
    const std::vector<SourceFile>& cuda() const { return files(Dialect::cuda); }
    /// The OpenCL C sources.
    const std::vector<SourceFile>& opencl() const { return files(Dialect::opencl); }
    /// The sources in a language. Throws unsupported for Dialect::host.
    const std::vector<SourceFile>& files(Dialect dialect) const { return in(dialect).files; }
    /// The compiler's options in a language. Throws unsupported for Dialect::host.
    const CompileOptions& options(Dialect dialect) const { return in(dialect).options; }
    /// A 128-bit hash of the content, computed once. Caches treat sources of equal content as equal.
    const detail::ContentHash& content() const noexcept { return content_; }

  private:
    const LanguageSource& in(Dialect dialect) const;

    std::string name_;
    std::vector<LanguageSource> sources_;
    detail::ContentHash content_;
};

/// A constant of a specialisation, which the source sees as `#define name value`.
///
/// The value is an integer, a bool (1 or 0), an element type (its name) or text. Name and text are views: they must
/// outlive the call that receives the constant. Temporary strings do not compile.
class Constant {
  public:
    /// An integer.
    template <std::integral T>
    constexpr Constant(detail::TextView name, T value)
        : Constant(name, static_cast<u64>(value), std::is_signed_v<T> ? signed_number : unsigned_number) {}
    /// 1 or 0.
    constexpr Constant(detail::TextView name, bool value) : Constant(name, value ? "1" : "0") {}
    /// The name of an element type.
    constexpr Constant(detail::TextView name, Type value) : Constant(name, name_of(value)) {}
    /// Text.
    constexpr Constant(detail::TextView name, const char* text) : Constant(name, std::string_view(text)) {}
    /// Text.
    constexpr Constant(detail::TextView name, std::string_view text)
        : name_(name.data()),
          text_(text.data()),
          name_size_(static_cast<u32>(name.size())),
          kind_(static_cast<u32>(text.size())) {}
    /// Text.
    constexpr Constant(detail::TextView name, const std::string& text)
        : Constant(name, std::string_view(text)) {}
    Constant(detail::TextView name, const std::string&& text) = delete;

    /// The name.
    constexpr std::string_view name() const { return {name_, name_size_}; }
    /// The value as the source sees it.
    std::string value() const;

  private:
    friend class detail::KernelKey;

    static constexpr u32 signed_number = ~u32{0}, unsigned_number = signed_number - 1;

    constexpr Constant(detail::TextView name, u64 number, u32 kind)
        : name_(name.data()), number_(number), name_size_(static_cast<u32>(name.size())), kind_(kind) {}
    constexpr bool is_text() const { return kind_ < unsigned_number; }
    constexpr std::string_view text() const { return {text_, kind_}; }

    const char* name_;
    union {
        u64 number_;
        const char* text_;
    };
    u32 name_size_;
    u32 kind_;  // size of the text, or signed_number or unsigned_number
};

/// The constants of a specialisation, in the order of their definition. Stores them in place, without allocation.
class Constants {
  public:
    /// The limit of constants in one specification.
    static constexpr std::size_t max_count = 32;

    /// No constants.
    Constants() noexcept {}
    /// The constants of a list. Throws invalid_argument if there are more than `max_count`.
    Constants(std::initializer_list<Constant> list) { append(list); }
    /// Copies.
    Constants(const Constants& other) { append(other); }
    /// Copies.
    Constants& operator=(const Constants& other);
    ~Constants() = default;

    /// Adds a constant. Throws invalid_argument if there are already `max_count`.
    void push_back(const Constant& constant) {
        if (size_ == max_count) refuse(constant);
        std::construct_at(room_ + size_, constant);
        ++size_;
    }
    /// Adds every constant of a range. Throws like push_back().
    template <class List>
    void append(const List& list) {
        for (const Constant& constant : list)
            push_back(constant);
    }
    /// The first constant.
    const Constant* begin() const noexcept { return room_; }
    /// One past the last constant.
    const Constant* end() const noexcept { return room_ + size_; }
    /// Whether the list is empty.
    bool empty() const noexcept { return size_ == 0; }

  private:
    [[noreturn]] static void refuse(const Constant& constant);

    std::size_t size_ = 0;
    union {
        Constant room_[max_count];
    };
};

/// The specification of one kernel: source, entry point, constants and operator.
///
/// Kernels for the CPU are compiled ahead of time and given as functions. A specification holds pointers and views, and
/// allocates nothing. What they refer to must outlive the call that receives the specification.
struct KernelSpec {
    const KernelSource* source = nullptr;  ///< null if the kernel exists only as a host function
    /// Name of the kernel function; a temporary string does not compile. In CUDA C++ also an expression that names a
    /// kernel without extern "C": "scale<float>", "physics::step". OpenCL C then uses its last identifier: "scale".
    /// That identifier has at most 200 characters.
    detail::TextView entry = {};
    Constants constants = {};      ///< constants that the source sees as macros
    const Operator* op = nullptr;  ///< operator that the source sees as `struct Op` and apply(); may be null
    HostKernel host = {};          ///< host function; empty if there is none
    u32 max_group_size = 0;        ///< limit of work-items per group in launches; 0: unknown
    bool fresh = false;            ///< compile without reading or writing any cache

    /// Whether it has a source, or a host function, in a language.
    bool is_written_in(Dialect dialect) const;
};

/// The complete source for the compiler of `dialect`: the type names u8 ... f64, constants such as INFINITY, the
/// functions of vocabulary.hpp that it uses, the constants of the specification, the operator, and the files of the
/// source, each after a line directive.
///
/// To try a changed kernel without a build, copy its file to a folder and set the environment variable CONCORD_KERNELS
/// to that folder. Every compilation then reads files from there whose name matches, and logs it at level info. Throws
/// io if the folder does not exist or the file cannot be read, and unsupported for Dialect::host.
std::string assemble(const KernelSpec& spec, Dialect dialect);

/// A parameter of a compiled kernel.
struct KernelParameter {
    bool is_buffer = false;  ///< a buffer, otherwise a value
    std::optional<Type> type =
        {};  ///< type of the value or of the buffer's elements; empty if unknown or not an element type
};

/// What the compiler reports about a kernel. Fields that the backend does not know are -1.
struct KernelAttributes {
    i64 registers = -1;        ///< registers per work-item
    i64 local_bytes = -1;      ///< static group-local memory in bytes
    i64 spill_bytes = -1;      ///< private memory per work-item in bytes
    i64 max_group_size = -1;   ///< limit of work-items per group for this kernel
    i64 groups_per_unit = -1;  ///< groups of KernelSpec::max_group_size that one unit executes concurrently
};

/// A compiled kernel of one device, created by Device::kernel. Immutable. Any thread may use it.
class Kernel final : public std::enable_shared_from_this<Kernel> {
  public:
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// The name of the kernel function.
    const std::string& name() const noexcept { return name_; }
    /// The device that the kernel is compiled for.
    Device& device() const noexcept { return device_; }
    /// The parameters in the order of a launch's arguments. Empty if the backend does not know them.
    const std::vector<KernelParameter>& parameters() const noexcept { return parameters_; }
    /// The host time that compilation took, in milliseconds. -1 unless Device::bypass_kernel_cache was on.
    double compile_milliseconds() const noexcept { return compile_ms_; }
    /// What the compiler reports about the kernel. Only the first call asks the backend.
    const KernelAttributes& attributes() const;

  private:
    friend struct detail::Access;
    Kernel(Device& device, std::string name, std::unique_ptr<backend::Kernel> kernel, double compile_ms);

    Device& device_;  // its table of kernels holds this object
    std::string name_;
    std::unique_ptr<backend::Kernel> kernel_;
    std::vector<KernelParameter> parameters_;
    double compile_ms_;
    struct Attributes;
    std::unique_ptr<Attributes> attributes_;
};

}  // namespace concord
