#pragma once
// The compiler's flags of a kernel source.

#include <concord/kernel.hpp>

namespace concord::detail {

// Throws invalid_argument if the options of one of the languages hold a flag that changes the results of arithmetic
// without CompileOptions::allow_inexact, or a flag that Concord sets itself.
void check_options(const KernelSource& source);

// A flag without its leading dashes, split at '=' or taken with the next argument: {"fmad", "true"}.
struct Flag {
    std::string_view name, value;
};
Flag flag_at(const std::vector<std::string>& flags, std::size_t at);

// Whether an entry is an expression in CUDA C++: it holds characters other than those of an identifier.
bool names_instance(std::string_view entry);
// The last identifier of an entry, before template arguments: "step" for "physics::step<float, 3>".
std::string_view plain_entry(std::string_view entry);
// Throws invalid_argument if the name of the kernel is longer than all drivers support: PoCL 3.1 names a file after it.
void check_entry(std::string_view entry);

}  // namespace concord::detail
