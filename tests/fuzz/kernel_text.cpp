// Heads of kernels that are given as text, as in index_kernel_from_text().

#include "fuzz.hpp"

#include <concord/text_kernel.hpp>

#include <cctype>

using namespace concord;
using namespace concord::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    std::optional<TextKernel> kernel;
    if (!accepts(ErrorCode::invalid_argument, [&] {
            try {
                kernel = index_kernel_from_text(text);
            } catch (const Error& error) {
                // f16 and bf16 have another code.
                if (error.code() != ErrorCode::unsupported) throw;
            }
        }))
        return 0;
    if (!kernel) return 0;
    require(kernel->rank() >= 1 && kernel->rank() <= 3, "a kernel has one to three dimensions");
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
    const std::string again =
        "void " + std::string(d.name) + std::string(d.parameters) + " " + std::string(d.body);
    require(index_kernel_from_text(again).signature() == kernel->signature(), "the definition is a kernel");
    return 0;
}
