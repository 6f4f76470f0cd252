#include <concord/internal/modules.hpp>

#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/folder_names.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
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

// Whether the file contains all that its program headers announce. The loader does not check that, and a module whose
// copying was interrupted ends the process with SIGBUS. True for other files, which the loader refuses.
bool is_whole(const fs::path& path) try {
    const InputFile file(path, "module");
    const auto read = [&](void* to, std::size_t bytes, u64 offset) {
        return ::pread(file.descriptor(), to, bytes, static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes);
    };
    ElfW(Ehdr) header;
    if (!read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return true;
    for (u64 i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        if (!read(&segment, sizeof segment, header.e_phoff + i * sizeof segment)) return false;
        if (segment.p_type == PT_LOAD &&
            (segment.p_filesz > file.size() || segment.p_offset > file.size() - segment.p_filesz))
            return false;
    }
    return true;
} catch (const Error&) {
    return true;  // not readable
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

std::string why_untrusted(const fs::path& path) {
    struct stat status {
    }, library{};
    if (::stat(path.c_str(), &status) != 0) return "not accessible";
    const std::string kind = S_ISDIR(status.st_mode) ? "a folder" : "a file";
    if ((status.st_mode & S_IWOTH) != 0) return kind + " that every user may write to";
    const fs::path own = file_of(reinterpret_cast<const void*>(&why_untrusted));
    if (status.st_uid == 0 || status.st_uid == ::geteuid() ||
        (::stat(own.c_str(), &library) == 0 && status.st_uid == library.st_uid))
        return {};
    return kind + " of another user";
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
            else if (module.refused = why_untrusted(target); module.refused.empty() && !is_whole(target))
                module.refused = "an incomplete file";
            seen.push_back(std::move(name));
        }
    }
    return modules;
}

}  // namespace concord::detail
