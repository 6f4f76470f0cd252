#pragma once
// Code from files, which may run in this process only if nobody else can change it. For the Python package and
// Concord's own modules.

#include <filesystem>
#include <string>
#include <string_view>

namespace concord::detail {

// Why users whom this process does not trust may change a file or folder, or put another one in its place: "a folder
// that every user may write to", "below '/shared', a folder of another user". Empty if they may not. Examines all
// folders above it. Trusted are root, the effective user, the owners of the library and of the root folder, and the
// members of a group that may write: a umask of 002 is common. Folders above may be ones that every user may write to
// if they have the sticky bit, as /tmp has.
std::string why_untrusted(const std::filesystem::path& path);

// Whether the file contains all that its program headers announce. The loader does not check that, and a library that
// was cut off ends the process with SIGBUS. True for files of other kinds, which the loader refuses.
bool is_whole_library(const std::filesystem::path& path);

// Loads a shared library from memory for the life of the process, so that no file system can forbid it (noexec) and
// nobody can change it meanwhile. Returns the loader's handle. Throws compile_failed with the loader's reason; `call`
// begins the message.
void* load_library(std::string_view bytes, const char* call);

}  // namespace concord::detail
