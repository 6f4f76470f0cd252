#pragma once
// Modules: shared objects that Concord loads at run time. They are the backends, the baselines, and the component
// concord-mpi.

#include <concord/detail/trusted_code.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

// A module, or a folder that may contain modules.
struct ModulePath {
    // Absolute, without symbolic links to folders, unless it is refused.
    std::filesystem::path path;
    // Why no code is loaded from it: "a relative path". Empty if code may be loaded.
    std::string refused = {};
};

// The folders in the environment variable CONCORD_BACKEND_PATH. Leaves out missing ones.
std::vector<ModulePath> module_folders_of_environment();

// Those, then the folder of the library and its subfolder `concord`. Empty in a static build: its backends are part of
// the program.
std::vector<ModulePath> module_folders();

// The files PREFIX….so in these folders, by folder and name. Of several files with one name, the first. Logs a warning
// for each folder that is refused.
std::vector<ModulePath> find_modules(std::string_view prefix);

// The canonical path of the program or library that contains the address. Empty if it is unknown.
std::filesystem::path file_of(const void* address);

}  // namespace concord::detail
