#pragma once
// Backends one at a time. Loading one may end the process: drivers do.

#include <concord/device.hpp>

#include <string>
#include <vector>

namespace concord::detail {

// The names of all backends, in ascending order. Loads none of them.
std::vector<std::string> backend_names();
// Loads a backend, if necessary, and asks it for its devices. Throws unavailable for an unknown name.
BackendStatus backend_status(const std::string& name);

}  // namespace concord::detail
