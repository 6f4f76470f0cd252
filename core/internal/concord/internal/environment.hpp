#pragma once
// The environment of the process. Concord reads variables through this header only; tests/package/readme.sh checks
// that.

#include <string_view>

namespace concord::detail {

// The value of an environment variable. Empty if the variable is not set, and in a privileged process, whose user may
// differ from the one whose rights it has. Valid until the variable changes.
std::string_view environment_variable(const char* name) noexcept;

// Whether the process has more rights than the user who started it: setuid, setgid or file capabilities.
bool is_privileged() noexcept;

// Throws unavailable in a privileged process. For libraries of other projects that load code by environment variables
// of their own. `call` is the backend or component, `library` the library.
void refuse_privileged(std::string_view call, std::string_view library);

}  // namespace concord::detail
