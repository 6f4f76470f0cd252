#pragma once
// What kernels that are written once for all backends share: the parts of their sources, and their calls. Index kernels
// and group kernels differ in the source around the body and in the shape of the launch.

#include <concord/body_kernel.hpp>
#include <concord/internal/address_spaces.hpp>
#include <concord/internal/language.hpp>
#include <concord/internal/once.hpp>
#include <concord/kernel.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace concord::detail {

// The maximum number of groups along y and z on all devices.
inline constexpr u64 max_groups_yz = 65535;
// The number of work-items of an index kernel's groups on GPUs.
inline constexpr u32 index_group_size = 256;

// "(u64 x, f32* out)" -> {"u64 x", "f32* out"}.
std::vector<std::string_view> parameters_of(const KernelDefinition& d);
// "const f32* in" -> "in".
std::string_view name_in(const KernelDefinition& d, std::string_view declaration);
// "const f32* in" -> "const f32*" in the language.
std::string parameter_type(const KernelDefinition& d, std::string_view declaration, const Language& language);
// "f32* next, f32 c", the parameters after the index, with the language's qualifiers and offsets of buffers.
std::string entry_parameters(const KernelDefinition& d, const Language& language);
// A body in a language with the values of constants and the address spaces of pointers, and functions called.
struct WrittenBody {
    WrittenBody(const KernelDefinition& d, const Language& language,
                const std::vector<const NamedFunction*>& helpers);
    std::string in_language(std::string_view source, const Language& language) const;
    // The text, or what was made of it, in the language, after a directive with its line.
    std::string body(std::string_view body, const Language& language) const;

    const KernelDefinition& definition;
    std::string text;
    std::vector<FunctionForm> functions;
};
// CONCORD_RESTRICT, and the structs and functions that the body uses.
std::string definitions_of(const KernelDefinition& d, const Language& language,
                           const std::vector<const NamedFunction*>& helpers, const WrittenBody& body);

std::string index_source(const KernelDefinition& d, const Language& language,
                         const std::vector<const NamedFunction*>& helpers);

// The sources of a group kernel. `text` holds the last one.
std::vector<SourceFile> group_source(const KernelDefinition& d, const Language& language,
                                     const std::vector<const NamedFunction*>& helpers, std::string& text);
// A group kernel's body in which phases and collectives look like blocks and expressions, for what reads calls.
std::string plain_body(const KernelDefinition& d);
// Whether a collective combines floats.
bool combines_floats(const KernelDefinition& d);

// What calls need to know of a kernel's body, found at the first call, and its sources.
class KernelCode {
  public:
    explicit KernelCode(const KernelDefinition& d);
    // The source in a language, made at the first question for it. Null where kernels are functions.
    const KernelSource* source(Dialect dialect);
    // The name of parameter i after the index.
    std::string_view name(std::size_t i) const { return names_[definition_.rank + i]; }
    bool uses_f64() const { return uses_f64_; }
    /// The least number of indices per task on CPUs: as many as take longer than the start of a task.
    u64 min_tile() const { return min_tile_; }
    bool is_portable(const Device& device) const;
    Once compiled_everywhere;

  private:
    struct Written {
        Once once;
        std::string text;
        std::optional<KernelSource> source;
    };

    const KernelDefinition& definition_;
    std::vector<std::string_view> names_;  // of the parameters
    std::vector<const NamedFunction*> helpers_;
    Written written_[std::size(languages)];
    std::string unportable_;
    bool divides_ = false, uses_f64_ = false;
    u64 min_tile_ = 1;
};

KernelCode& code_of(const KernelDefinition& d);

// A call of a kernel. Its constructor checks the arguments and compiles the kernel.
class KernelCall {
  public:
    // is_beyond: the launch needs more groups along y or z than there can be, see CONCORD_BEYOND in the sources.
    KernelCall(Stream& stream, const KernelDefinition& definition, std::span<const KernelArgument> arguments,
               bool is_beyond, bool compile_everywhere);

    KernelCode& code() { return code_; }
    u32 group_size() const;
    const Kernel& kernel() const { return *kernel_; }
    Enqueued result() const;
    // Enqueues the kernel with these arguments before those of the call.
    void launch(const LaunchShape& shape, std::span<const u64> sizes);

  private:
    Stream& stream_;
    const KernelDefinition& definition_;
    KernelCode& code_;
    std::span<const KernelArgument> arguments_;
    std::shared_ptr<Kernel> kernel_;
};

}  // namespace concord::detail
