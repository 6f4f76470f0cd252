#include <concord/lab/baseline.hpp>

#include <concord/internal/modules.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <exception>
#include <new>

namespace concord::lab {
namespace {

std::vector<Baseline> load_all() {
    std::vector<Baseline> all;
    for (const auto& [path, refused] : detail::find_modules("concord-baselines-")) {
        const auto skip = [&file = path](std::string_view why) {
            detail::log_warn("baselines: " + file.string() + ": " + std::string(why));
        };
        if (!refused.empty()) {
            skip("not loaded: it is " + refused);
            continue;
        }
        void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (module == nullptr) {
            skip(dlerror());
            continue;
        }
        using Entry = void (*)(std::vector<Baseline>&);
        const auto entry = reinterpret_cast<Entry>(dlsym(module, "concord_baselines_3"));
        if (entry == nullptr) {
            skip("built for another version of Concord; rebuild it");
            continue;
        }
        const std::size_t before = all.size();
        try {
            entry(all);
            continue;
        } catch (const std::bad_alloc&) {
            throw;  // the next call loads all modules again
        } catch (const std::exception& error) {
            skip(error.what());
        } catch (...) {
            skip("threw an object that is not a std::exception");
        }
        all.resize(std::min(before, all.size()));
    }
    return all;  // the modules stay loaded, because the list holds their functions
}

}  // namespace

const std::vector<Baseline>& baselines() {
    static const std::vector<Baseline> all = load_all();
    return all;
}

}  // namespace concord::lab
