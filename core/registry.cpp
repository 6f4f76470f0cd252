#include "access.hpp"

#include <concord/internal/module_folders.hpp>

#include <concord/backend.hpp>
#include <concord/log.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

namespace concord {

extern const BackendEntry builtin_backends[];

std::unique_ptr<backend::Device> Backend::open_offline(std::string_view target) {
    throw Error(ErrorCode::unsupported, "open_device",
                detail::error_message("the backend has no compile-only devices",
                                      detail::quoted("@" + std::string(target)), "only cuda supports them"));
}

namespace {

namespace fs = std::filesystem;

struct Loaded {
    BackendStatus status;
    Backend* backend = nullptr;  // null if the module is unusable
};

struct Selector {
    std::string backend;
    u32 index = 0;
    std::string target;  // after '@'
};

// `call`: the function or environment variable that errors name.
Selector parse(std::string_view call, std::string_view text) {
    Selector selector;
    const std::size_t mark = text.find_first_of(":@");
    selector.backend = text.substr(0, mark);
    bool good = !selector.backend.empty();
    if (mark != std::string_view::npos) {
        const std::string_view rest = text.substr(mark + 1);
        if (text[mark] == '@') {
            selector.target = rest;
            good = good && !rest.empty();
        } else {
            const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), selector.index);
            good = good && error == std::errc() && end == rest.data() + rest.size();
        }
    }
    if (!good && !selector.backend.empty() && selector.target.empty() &&
        text.substr(std::min(text.size(), mark)) == ":*")
        throw Error(ErrorCode::invalid_argument, call,
                    detail::error_message("expected one device", detail::quoted(text),
                                          "select e.g. " + selector.backend + ":0"));
    if (!good)
        throw Error(ErrorCode::invalid_argument, call,
                    detail::error_message("invalid device selector", detail::quoted(text),
                                          "expected e.g. auto, cuda, cuda:1, opencl:0 or tbb"));
    return selector;
}

// The backends and open devices of this process. Never destroyed, because drivers may be unloaded before static
// destructors run.
class Registry {
  public:
    static Registry& instance() {
        static Registry& registry = *new Registry;
        return registry;
    }

    std::vector<BackendStatus> statuses() {
        const std::lock_guard lock(mutex_);
        load();
        std::vector<BackendStatus> result;
        for (const auto& [name, loaded] : backends_)
            result.push_back(loaded.status);
        return result;
    }

    std::vector<DeviceProperty> libraries(const std::string& name) {
        const std::lock_guard lock(mutex_);
        load();
        const auto it = backends_.find(name);
        if (it == backends_.end() || it->second.backend == nullptr) return {};
        return it->second.backend->libraries();
    }

    // `call`: the function or environment variable that errors name.
    std::shared_ptr<Device> open(std::string_view call, std::string_view text) {
        const std::lock_guard lock(mutex_);
        load();
        return text == "auto" ? open_auto() : open_named(call, text);
    }

    std::vector<std::string> selectors() {
        const std::lock_guard lock(mutex_);
        load();
        std::vector<std::string> result = listed();
        return result;
    }

    std::vector<std::string> selectors(std::string_view pattern) {
        const std::lock_guard lock(mutex_);
        load();
        if (pattern == "all") {
            std::vector<std::string> all = listed();
            if (all.empty())
                throw Error(ErrorCode::unavailable, "device_selectors", "no device found" + explain_all());
            return all;
        }
        constexpr std::string_view every = ":*";
        if (pattern.size() <= every.size() || pattern.substr(pattern.size() - every.size()) != every)
            return {std::string(pattern)};
        const std::string backend(pattern.substr(0, pattern.size() - every.size()));
        const auto it = backends_.find(backend);
        if (it == backends_.end())
            throw Error(
                ErrorCode::unavailable, "device_selectors",
                detail::error_message("unknown backend", detail::quoted(pattern), "available: " + names()));
        const BackendStatus& status = it->second.status;
        if (!status.available)
            throw Error(
                ErrorCode::unavailable, "device_selectors",
                detail::error_message("device not available", detail::quoted(pattern), status.reason) +
                    " (backend " + status.path + ")");
        std::vector<std::string> result;
        for (const DeviceInfo& info : status.devices)
            result.push_back(info.selector);
        return result;
    }

  private:
    void load() {
        if (loaded_) return;
        loaded_ = true;
        for (const BackendEntry* entry = builtin_backends; *entry != nullptr; ++entry)
            take((*entry)(), "built in");
        for (const fs::path& where : detail::module_folders()) {
            std::error_code error;
            std::vector<fs::path> found;
            for (fs::directory_iterator item(where, error), end; !error && item != end;
                 item.increment(error)) {
                const fs::path& path = item->path();
                if (path.filename().string().rfind(prefix, 0) == 0 && path.extension() == ".so")
                    found.push_back(path);
            }
            std::sort(found.begin(), found.end());
            for (const fs::path& path : found)
                load_module(path);
        }
    }

    void load_module(const fs::path& path) {
        std::string name = path.stem().string().substr(prefix.size());
        if (backends_.count(name) != 0) return;  // found in an earlier folder
        Loaded failed;
        failed.status.name = name;
        failed.status.path = path.string();
        void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (module == nullptr) {
            failed.status.reason = std::string("cannot load the module: ") + dlerror();
        } else if (auto* entry =
                       reinterpret_cast<BackendEntry>(dlsym(module, ("concord_backend_" + name).c_str()))) {
            if (const BackendModule* described = entry();
                described->interface_version == backend_interface_version)
                return take(described, path.string());
            else
                failed.status.reason = "wrong backend interface, got version " +
                                       std::to_string(described->interface_version) +
                                       "; this library (" CONCORD_VERSION ") requires " +
                                       std::to_string(backend_interface_version) + ", rebuild the module";
        } else {
            failed.status.reason = "the module has no entry point concord_backend_" + name;
        }
        detail::log_info(path.string() + ": " + failed.status.reason);
        backends_.emplace(std::move(name), std::move(failed));
    }

    void take(const BackendModule* module, std::string path) {
        Loaded loaded;
        loaded.status.name = module->name;
        loaded.status.path = std::move(path);
        try {
            loaded.backend = module->create();
            loaded.status.devices = loaded.backend->devices();
            loaded.status.available = !loaded.status.devices.empty();
            if (!loaded.status.available) loaded.status.reason = "no device found";
            detail::log_info("backend " + loaded.status.name + " (" + loaded.status.path +
                             "): " + std::to_string(loaded.status.devices.size()) + " device(s)");
        } catch (const std::exception& error) {
            // Without the backend's name, which precedes the reason wherever it is printed.
            const std::string what = error.what(), call = loaded.status.name + ": ";
            loaded.status.reason = what.rfind(call, 0) == 0 ? what.substr(call.size()) : what;
            detail::log_info("backend " + loaded.status.name + " (" + loaded.status.path +
                             "): " + loaded.status.reason);
        }
        backends_.emplace(module->name, std::move(loaded));
    }

    // All selectors, ordered by the ranks of the devices.
    std::vector<std::string> listed() {
        std::vector<const DeviceInfo*> all;
        for (const auto& [name, loaded] : backends_) {
            for (const DeviceInfo& info : loaded.status.devices)
                all.push_back(&info);
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const DeviceInfo* a, const DeviceInfo* b) { return a->rank < b->rank; });
        std::vector<std::string> result;
        result.reserve(all.size());
        for (const DeviceInfo* info : all)
            result.push_back(info->selector);
        return result;
    }

    std::shared_ptr<Device> open_auto() {
        std::string tried;
        for (const std::string& selector : listed()) {
            try {
                return open_named("open_device", selector);
            } catch (const Error& error) {
                // `auto` takes the best device that works. The log and `concord doctor` report the others.
                detail::log_warn("cannot open " + selector + ": " + error.what());
                tried += "; " + selector + ": " + error.what();
            }
        }
        throw Error(ErrorCode::unavailable, "open_device", "no device available" + tried + explain_all());
    }

    std::shared_ptr<Device> open_named(std::string_view call, std::string_view text) {
        const Selector selector = parse(call, text);
        const auto it = backends_.find(selector.backend);
        if (it == backends_.end())
            throw Error(
                ErrorCode::unavailable, call,
                detail::error_message("unknown backend", detail::quoted(text), "available: " + names()));
        const Loaded& loaded = it->second;
        const std::string canonical = selector.target.empty()
                                          ? selector.backend + ":" + std::to_string(selector.index)
                                          : std::string(text);
        if (const auto open = devices_.find(canonical); open != devices_.end()) return open->second;
        std::unique_ptr<backend::Device> opened;
        if (!selector.target.empty() && loaded.backend != nullptr) {
            opened = loaded.backend->open_offline(selector.target);
        } else if (!loaded.status.available) {
            throw Error(
                ErrorCode::unavailable, call,
                detail::error_message("device not available", detail::quoted(text), loaded.status.reason) +
                    " (backend " + loaded.status.path + ")");
        } else if (selector.index >= loaded.status.devices.size()) {
            throw Error(ErrorCode::unavailable, call,
                        detail::error_message("no such device", detail::quoted(text),
                                              selector.backend + " has " +
                                                  std::to_string(loaded.status.devices.size()) +
                                                  " device(s), numbered from 0"));
        } else {
            opened = loaded.backend->open(selector.index);
        }
        std::shared_ptr<Device> device = detail::Access::make<Device>(std::move(opened));
        devices_.emplace(canonical, device);
        return device;
    }

    // The names of all backends, usable or not.
    std::string names() const {
        std::string text;
        for (const auto& [name, loaded] : backends_)
            text.append(text.empty() ? "" : ", ").append(name);
        return text;
    }

    std::string explain_all() const {
        std::string text = "; searched in";
        for (const fs::path& where : detail::module_folders())
            text += " " + where.string();
        for (const auto& [name, loaded] : backends_) {
            text += "; " + name + ": ";
            text += loaded.status.available ? std::to_string(loaded.status.devices.size()) + " device(s)"
                                            : loaded.status.reason;
        }
        return text;
    }

    static constexpr std::string_view prefix = "concord-backend-";

    std::mutex mutex_;
    bool loaded_ = false;
    std::map<std::string, Loaded> backends_;
    std::map<std::string, std::shared_ptr<Device>, std::less<>> devices_;
};

}  // namespace

std::vector<BackendStatus> backends() {
    return Registry::instance().statuses();
}

std::vector<DeviceProperty> backend_libraries(const std::string& name) {
    return Registry::instance().libraries(name);
}

std::vector<std::string> device_selectors() {
    return Registry::instance().selectors();
}

std::vector<std::string> device_selectors(std::string_view pattern) {
    return Registry::instance().selectors(pattern);
}

std::shared_ptr<Device> open_device(std::string_view selector) {
    if (!selector.empty()) return Registry::instance().open("open_device", selector);
    const char* forced = std::getenv("CONCORD_DEVICE");
    if (forced != nullptr && *forced != '\0') return Registry::instance().open("CONCORD_DEVICE", forced);
    return Registry::instance().open("open_device", "auto");
}

}  // namespace concord
