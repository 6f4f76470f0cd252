#include <concord/internal/module_folders.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace concord::detail {

namespace fs = std::filesystem;

std::vector<fs::path> module_folders() {
    std::vector<fs::path> result;
    if (const char* list = std::getenv("CONCORD_BACKEND_PATH")) {
        std::string_view rest = list;
        while (!rest.empty()) {
            const std::size_t colon = rest.find(':');
            if (colon != 0) result.emplace_back(rest.substr(0, colon));
            rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
        }
    }
    Dl_info library;
    if (dladdr(reinterpret_cast<const void*>(&module_folders), &library) != 0 &&
        library.dli_fname != nullptr) {
        const fs::path beside = fs::path(library.dli_fname).parent_path();
        result.push_back(beside.empty() ? fs::path(".") : beside);
        result.push_back(result.back() / "concord");
    }
    return result;
}

}  // namespace concord::detail
