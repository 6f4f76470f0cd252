#include <concord/internal/module_folders.hpp>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace concord::detail {

namespace fs = std::filesystem;

// Asks the kernel. The loader knows a program only by its argv[0], and some libraries only by a relative path.
fs::path file_of(const void* address) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long long begin = 0, end = 0;
        int path = 0;
        if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &path) < 2 || path == 0)
            continue;
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (at < begin || at >= end) continue;
        if (line[static_cast<std::size_t>(path)] != '/') return {};
        std::error_code error;
        return fs::canonical(line.substr(static_cast<std::size_t>(path)), error);
    }
    // Without /proc the loader's answer remains, unless it is relative.
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || info.dli_fname[0] != '/') return {};
    std::error_code error;
    return fs::canonical(info.dli_fname, error);
}

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
    if (const fs::path library = file_of(reinterpret_cast<const void*>(&module_folders)); !library.empty()) {
        result.push_back(library.parent_path());
        result.push_back(library.parent_path() / "concord");
    }
    return result;
}

}  // namespace concord::detail
