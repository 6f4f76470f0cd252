#include <concord/internal/folder_names.hpp>

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

namespace concord::detail {

std::vector<std::string> folder_names(const std::filesystem::path& folder) {
    struct Close {
        void operator()(DIR* open) const { ::closedir(open); }
    };
    std::vector<std::string> names;
    const std::unique_ptr<DIR, Close> open(::opendir(folder.c_str()));
    if (open == nullptr && errno == ENOMEM) throw std::bad_alloc();
    if (open == nullptr) return names;
    while (const dirent* entry = ::readdir(open.get())) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace concord::detail
