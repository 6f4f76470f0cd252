// Kernels that are given as text, as in index_kernel_from_text() and group_kernel_from_text(): heads, and and bodies
// of groups.

#include "fuzz.hpp"

#include <concord/internal/body_kernel.hpp>
#include <concord/text_kernel.hpp>

#include <cctype>

using namespace concord;
using namespace concord::fuzz;

namespace {

// The kernel that `make` reads. Empty: it refuses the text.
template <class F>
std::optional<TextKernel> read(const F& make) {
    std::optional<TextKernel> kernel;
    (void)accepts(ErrorCode::invalid_argument, [&] {
        try {
            kernel = make();
        } catch (const Error& error) {
            // f16 and bf16 have another code.
            if (error.code() != ErrorCode::unsupported) throw;
        }
    });
    return kernel;
}

template <class F>
void check_kernel(std::string_view text, u32 min_rank, u32 max_rank, const F& make) {
    const std::optional<TextKernel> kernel = read([&] { return make(text); });
    if (!kernel) return;
    require(kernel->rank() >= min_rank && kernel->rank() <= max_rank, "a kernel has its dimensions");
    require(!kernel->name().empty(), "a kernel has a name");
    const auto is_identifier = [](const std::string& name) {
        for (const char c : name)
            require(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_', "a name is an identifier");
    };
    is_identifier(kernel->name());
    for (const TextKernel::Parameter& parameter : kernel->parameters())
        is_identifier(parameter.name);
    // What the definition says is a kernel, too, and the same one.
    const detail::KernelDefinition& d = kernel->definition();
    const std::string body = d.rank > 0 ? std::string(d.body) : "{" + std::string(d.body) + "\n}";
    const std::string again = "void " + std::string(d.name) + std::string(d.parameters) + " " + body;
    require(make(again).signature() == kernel->signature(), "the definition is a kernel");
    // Its sources for devices are written, or refused.
    (void)accepts(ErrorCode::invalid_argument, [&] {
        detail::KernelCode& code = detail::code_of(d);
        for (const Dialect dialect : {Dialect::cuda, Dialect::opencl})
            require(code.source(dialect) != nullptr, "a kernel has a source in each language");
    });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    check_kernel(text, 1, 3, [](std::string_view t) { return index_kernel_from_text(t); });
    const AnyExtents group_size = size % 2 == 0 ? AnyExtents(64) : AnyExtents(16, 4);
    check_kernel(text, 0, 0, [&](std::string_view t) { return group_kernel_from_text(t, group_size); });
    return 0;
}
