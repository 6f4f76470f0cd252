#include <concord/internal/modules.hpp>

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/folder_names.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>

namespace concord::detail {

namespace fs = std::filesystem;

namespace {

// The path without symbolic links. Empty if there is no such file.
fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path result = fs::canonical(path, error);
    if (error == std::errc::not_enough_memory) throw std::bad_alloc();
    return result;
}

// Appends a folder unless it does not exist.
void add_folder(const fs::path& path, std::vector<ModulePath>& folders) {
    if (path.is_relative()) {
        folders.push_back({path, "a relative path"});
        return;
    }
    fs::path folder = real_path(path);
    if (folder.empty()) return;
    std::error_code error;
    std::string refused = fs::is_directory(folder, error) ? why_untrusted(folder) : "not a folder";
    folders.push_back({std::move(folder), std::move(refused)});
}

}  // namespace

// Asks the kernel. The loader knows a program only by its argv[0], and some libraries only by a relative path.
fs::path file_of(const void* address) {
    std::ifstream maps;
    maps.exceptions(std::ios::badbit);  // otherwise getline() hides that memory ran out
    maps.open("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long long begin = 0, end = 0;
        int path = 0;
        if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &path) < 2 || path == 0)
            continue;
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        if (at < begin || at >= end) continue;
        if (line[static_cast<std::size_t>(path)] != '/') return {};
        return real_path(line.substr(static_cast<std::size_t>(path)));
    }
    // Without /proc the loader's answer remains, unless it is relative.
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || info.dli_fname[0] != '/') return {};
    return real_path(info.dli_fname);
}

std::vector<ModulePath> module_folders_of_environment() {
    std::vector<ModulePath> folders;
    std::string_view rest = environment_variable("CONCORD_BACKEND_PATH");
    while (!rest.empty()) {
        const std::size_t colon = rest.find(':');
        if (colon != 0) add_folder(rest.substr(0, colon), folders);
        rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
    return folders;
}

std::vector<ModulePath> module_folders() {
#if CONCORD_STATIC
    return {};
#else
    std::vector<ModulePath> folders = module_folders_of_environment();
    if (const fs::path library = file_of(reinterpret_cast<const void*>(&module_folders)); !library.empty()) {
        add_folder(library.parent_path(), folders);
        add_folder(library.parent_path() / "concord", folders);
    }
    return folders;
#endif
}

std::vector<ModulePath> find_modules(std::string_view prefix) {
    std::vector<ModulePath> modules;
    std::vector<std::string> seen;
    for (const auto& [folder, refused] : module_folders()) {
        if (!refused.empty()) {
            log_warn("no module is loaded from " + detail::quoted(folder.string()) + ", " + refused);
            continue;
        }
        for (std::string& name : folder_names(folder)) {
            if (!name.starts_with(prefix) || !name.ends_with(".so") ||
                std::find(seen.begin(), seen.end(), name) != seen.end())
                continue;
            std::error_code error;
            // The link's name tells what the module is, its target who may change it.
            const fs::path path = folder / name, target = real_path(path);
            ModulePath& module = modules.emplace_back(ModulePath{path});
            if (target.empty())
                module.refused = "not accessible";
            else if (!fs::is_regular_file(target, error))
                module.refused = "not a regular file";
            else if (module.refused = why_untrusted(target);
                     module.refused.empty() && !is_whole_library(target))
                module.refused = "an incomplete file";
            seen.push_back(std::move(name));
        }
    }
    return modules;
}

}  // namespace concord::detail
