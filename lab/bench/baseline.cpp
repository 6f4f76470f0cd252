#include <concord/lab/baseline.hpp>

#include <concord/error.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace concord::lab {
namespace {

namespace fs = std::filesystem;

// The directories of the modules: the library's own, and `concord` in it.
std::vector<fs::path> module_folders() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&baselines), &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code error;
    const fs::path library = fs::canonical(info.dli_fname, error);
    if (error) return {};
    return {library.parent_path(), library.parent_path() / "concord"};
}

std::vector<fs::path> modules() {
    std::vector<fs::path> found;
    for (const fs::path& folder : module_folders()) {
        std::error_code error;
        for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
            const std::string name = at->path().filename().string();
            if (name.rfind("concord-baselines-", 0) == 0 && at->path().extension() == ".so")
                found.push_back(at->path());
        }
    }
    std::sort(found.begin(), found.end(),
              [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
    return found;
}

std::vector<Baseline> load_all() {
    std::vector<Baseline> all;
    for (const fs::path& path : modules()) {
        void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (module == nullptr) {
            detail::log_warn("baselines: " + std::string(dlerror()));
            continue;
        }
        using Entry = void (*)(std::vector<Baseline>&);
        if (const auto entry = reinterpret_cast<Entry>(dlsym(module, "concord_baselines_1"))) {
            try {
                entry(all);
            } catch (const Error& error) {
                detail::log_warn("baselines: " + path.filename().string() + ": " + error.what());
            }
        } else {
            detail::log_warn("baselines: " + path.string() +
                             ": built for another version of Concord; rebuild it");
        }
    }
    return all;  // the modules stay loaded, because the list holds their functions
}

}  // namespace

const std::vector<Baseline>& baselines() {
    static const std::vector<Baseline> all = load_all();
    return all;
}

}  // namespace concord::lab
