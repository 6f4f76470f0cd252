#pragma once
// The files that a kernel source includes, so that a changed file gives another key in caches of compiled kernels.

#include <concord/kernel.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

// What the #include directives of a source name, those of included files too. Directives that the preprocessor skips
// count as well.
struct Includes {
    bool any = false;                // whether there is a directive
    bool own = false;                // whether files of the user's own may be among them
    bool known = true;               // false if `contents` may lack files: a macro names one, for example
    std::vector<std::string> names;  // as written, of files in none of the folders
    ContentHash contents = {};       // hash of the paths and contents of files in the folders

    // A line for the source that differs if one of the files differs. Empty without files of the user's own. Caches of
    // drivers do not look at included files either. If the files are not known, differs every time.
    std::string line() const;
};

// Reads the files of `text` that are in the folders of `source`.
Includes includes_of(std::string_view text, const KernelSource& source, Dialect dialect);

}  // namespace concord::detail
