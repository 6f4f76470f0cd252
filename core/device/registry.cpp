#include "device/access.hpp"
#include "device/backend_loader.hpp"
#include "system/forked.hpp"

#include <concord/internal/backend_status.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>

namespace concord {

extern const BackendEntry builtin_backends[];

std::unique_ptr<backend::Device> Backend::open_target(std::string_view target) {
    throw Error(
        ErrorCode::unsupported, "open_device",
        detail::error_message("the backend does not support targets",
                              detail::quoted("@" + std::string(target)), "select one of `concord devices`"));
}

AdoptedDevice Backend::adopt(const ForeignDevice& /*device*/, const std::string& /*selector*/,
                             std::span<backend::Device* const> /*open*/) {
    throw Error(ErrorCode::unsupported, "adopt_device", "the backend cannot adopt contexts");
}

namespace {

using detail::LoadedBackend;

struct Selector {
    std::string backend;
    u32 index = 0;
    std::string target;  // after '@'
};

// `call`: the function or environment variable that errors name. `names`: the backends, for them as well.
Selector parse_selector(std::string_view call, std::string_view text, const std::string& names) {
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
                                          "expected auto, or a backend and a number; backends: " + names));
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
        load_all();
        std::vector<BackendStatus> result;
        for (const auto& [name, known] : backends_)
            result.push_back(known.loaded->status);
        return result;
    }

    std::vector<std::string> backend_names() {
        const std::lock_guard lock(mutex_);
        find_backends();
        std::vector<std::string> result;
        for (const auto& [name, known] : backends_)
            result.push_back(name);
        return result;
    }

    BackendStatus status(const std::string& name) {
        const std::lock_guard lock(mutex_);
        return backend_of("backend_status", name, name).status;
    }

    std::vector<DeviceProperty> libraries(const std::string& name) {
        const std::lock_guard lock(mutex_);
        find_backends();
        const auto it = backends_.find(name);
        if (it == backends_.end()) return {};
        const LoadedBackend& loaded = load(name, it->second);
        if (loaded.backend == nullptr) return {};
        try {
            return detail::call_backend("backend_libraries", loaded.status.path,
                                        [&] { return loaded.backend->libraries(); });
        } catch (const Error& error) {
            return {{"libraries", error.what()}};
        }
    }

    // `call`: the function or environment variable that errors name.
    std::shared_ptr<Device> open(std::string_view call, std::string_view text) {
        const std::lock_guard lock(mutex_);
        return text == "auto" ? open_auto() : open_named(call, text);
    }

    std::shared_ptr<Device> adopt(std::string_view name, const ForeignDevice& foreign) {
        constexpr const char* call = "adopt_device";
        const std::lock_guard lock(mutex_);
        const LoadedBackend& loaded = backend_of(call, name, std::string(name));
        if (!loaded.status.available) refuse(call, name, loaded);
        std::vector<backend::Device*> open;
        for (const auto& [selector, device] : devices_) {
            if (device->info().backend == name) open.push_back(&detail::Access::device(*device));
        }
        const std::string selector = std::string(name) + "@context" + std::to_string(adopted_);
        AdoptedDevice adopted = detail::call_backend(
            call, loaded.status.path, [&] { return loaded.backend->adopt(foreign, selector, open); });
        if (adopted.device == nullptr) return open_named(call, adopted.selector);
        std::shared_ptr<Device> device = detail::Access::make<Device>(std::move(adopted.device));
        devices_.emplace(selector, device);
        ++adopted_;
        return device;
    }

    std::vector<std::string> selectors() {
        const std::lock_guard lock(mutex_);
        return listed();
    }

    std::vector<std::string> selectors(std::string_view pattern) {
        const std::lock_guard lock(mutex_);
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
        const LoadedBackend& loaded = backend_of("device_selectors", pattern, backend);
        if (!loaded.status.available) refuse("device_selectors", pattern, loaded);
        std::vector<std::string> result;
        for (const DeviceInfo& info : loaded.status.devices)
            result.push_back(info.selector);
        return result;
    }

  private:
    // A backend that is part of the library, or that a module contains. It is loaded when a call names it or asks for
    // all devices: a driver that handles signals, or ends the process, does so only in programs that want it.
    struct KnownBackend {
        const BackendModule* built_in = nullptr;
        detail::ModulePath module = {};  // unless it is built in
        std::optional<LoadedBackend> loaded = {};
    };

    // Searches for backends, once. Loads no module.
    void find_backends() {
        if (found_) return;
        std::map<std::string, KnownBackend> found;
        for (const BackendEntry* entry = builtin_backends; *entry != nullptr; ++entry) {
            const BackendModule* const built_in = (*entry)();
            found.try_emplace(built_in->name, KnownBackend{.built_in = built_in});
        }
        for (detail::ModulePath& module : detail::find_modules(prefix)) {
            std::string name = module.path.stem().string().substr(prefix.size());
            found.try_emplace(std::move(name), KnownBackend{.module = std::move(module)});
        }
        backends_.swap(found);
        found_ = true;
    }

    // Loads a backend unless it is loaded. If memory ran out, the next call tries again.
    static const LoadedBackend& load(const std::string& name, KnownBackend& known) {
        if (known.loaded && !known.loaded->out_of_memory) return *known.loaded;
        detail::watch_forks();
        LoadedBackend fresh = known.built_in != nullptr ? detail::load_backend(known.built_in)
                                                        : detail::load_backend(name, known.module);
        const BackendStatus& status = fresh.status;
        detail::log_info(
            "backend " + status.name + " (" + status.path + "): " +
            (status.available ? std::to_string(status.devices.size()) + " device(s)" : status.reason));
        return known.loaded.emplace(std::move(fresh));
    }

    void load_all() {
        find_backends();
        for (auto& [name, known] : backends_)
            load(name, known);
    }

    // All selectors, ordered by the ranks of the devices. Loads all backends.
    std::vector<std::string> listed() {
        load_all();
        std::vector<const DeviceInfo*> all;
        for (const auto& [name, known] : backends_) {
            for (const DeviceInfo& info : known.loaded->status.devices)
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
        const bool out_of_memory = std::any_of(backends_.begin(), backends_.end(), [](const auto& item) {
            return item.second.loaded->out_of_memory;
        });
        throw Error(out_of_memory ? ErrorCode::out_of_memory : ErrorCode::unavailable, "open_device",
                    "no device available" + tried + explain_all());
    }

    std::shared_ptr<Device> open_named(std::string_view call, std::string_view text) {
        find_backends();
        const Selector selector = parse_selector(call, text, names());
        const LoadedBackend& loaded = backend_of(call, text, selector.backend);
        const std::string canonical = selector.target.empty()
                                          ? selector.backend + ":" + std::to_string(selector.index)
                                          : std::string(text);
        if (const auto open = devices_.find(canonical); open != devices_.end()) return open->second;
        const bool has_target = !selector.target.empty() && loaded.backend != nullptr;
        if (!has_target && !loaded.status.available) refuse(call, text, loaded);
        if (!has_target && selector.index >= loaded.status.devices.size())
            throw Error(ErrorCode::unavailable, call,
                        detail::error_message("no such device", detail::quoted(text),
                                              selector.backend + " has " +
                                                  std::to_string(loaded.status.devices.size()) +
                                                  " device(s), numbered from 0"));
        std::shared_ptr<Device> device = detail::call_backend(call, loaded.status.path, [&] {
            auto opened = has_target ? loaded.backend->open_target(selector.target)
                                     : loaded.backend->open(selector.index);
            if (opened == nullptr)
                throw Error(ErrorCode::device_failed, call,
                            detail::error_message("backend " + loaded.status.path + " opened no device",
                                                  detail::quoted(text)));
            return detail::Access::make<Device>(std::move(opened));
        });
        devices_.emplace(canonical, device);
        return device;
    }

    // The backend that the selector `text` names. Loads it, and no other one.
    const LoadedBackend& backend_of(std::string_view call, std::string_view text, const std::string& name) {
        find_backends();
        const auto it = backends_.find(name);
        if (it == backends_.end())
            throw Error(
                ErrorCode::unavailable, call,
                detail::error_message("unknown backend", detail::quoted(text),
                                      backends_.empty() ? no_modules() : "available: auto, " + names()));
        return load(it->first, it->second);
    }

    // For a device of an unavailable backend.
    [[noreturn]] static void refuse(std::string_view call, std::string_view text,
                                    const LoadedBackend& loaded) {
        throw Error(
            loaded.out_of_memory ? ErrorCode::out_of_memory : ErrorCode::unavailable, call,
            detail::error_message("device not available", detail::quoted(text), loaded.status.reason) +
                " (backend " + loaded.status.path + ")");
    }

    // The names of all backends, usable or not.
    std::string names() const {
        std::string text;
        for (const auto& [name, known] : backends_)
            text.append(text.empty() ? "" : ", ").append(name);
        return text;
    }

    std::string no_modules() const {
        return "no backend module found" + explain_all() +
               "; build the target concord_modules, or set CONCORD_BACKEND_PATH";
    }

    std::string explain_all() const {
        std::string text;
        for (const auto& [folder, refused] : detail::module_folders())
            text += (text.empty() ? "; searched in " : " ") + folder.string() +
                    (refused.empty() ? "" : " (not searched: " + refused + ")");
        for (const auto& [name, known] : backends_) {
            if (!known.loaded) continue;
            const BackendStatus& status = known.loaded->status;
            text += "; " + name + ": ";
            text += status.available ? std::to_string(status.devices.size()) + " device(s)" : status.reason;
        }
        return text;
    }

    static constexpr std::string_view prefix = "concord-backend-";

    std::mutex mutex_;
    bool found_ = false;
    std::map<std::string, KnownBackend> backends_;  // by name
    std::map<std::string, std::shared_ptr<Device>, std::less<>> devices_;
    u32 adopted_ = 0;  // devices on contexts of other owners
};

}  // namespace

std::vector<BackendStatus> backends() {
    detail::check_not_forked("backends");
    return Registry::instance().statuses();
}

std::vector<std::string> detail::backend_names() {
    check_not_forked("backend_names");
    return Registry::instance().backend_names();
}

BackendStatus detail::backend_status(const std::string& name) {
    check_not_forked("backend_status");
    return Registry::instance().status(name);
}

std::vector<DeviceProperty> backend_libraries(const std::string& name) {
    detail::check_not_forked("backend_libraries");
    return Registry::instance().libraries(name);
}

std::vector<std::string> device_selectors() {
    detail::check_not_forked("device_selectors");
    return Registry::instance().selectors();
}

std::vector<std::string> device_selectors(std::string_view pattern) {
    detail::check_not_forked("device_selectors");
    return Registry::instance().selectors(pattern);
}

std::shared_ptr<Device> open_device(std::string_view selector) {
    detail::check_not_forked("open_device");
    if (!selector.empty()) return Registry::instance().open("open_device", selector);
    const std::string_view forced = detail::environment_variable("CONCORD_DEVICE");
    if (!forced.empty()) return Registry::instance().open("CONCORD_DEVICE", forced);
    return Registry::instance().open("open_device", "auto");
}

std::shared_ptr<Device> adopt_device(std::string_view backend, const ForeignDevice& device) {
    detail::check_not_forked("adopt_device");
    if (device.context == nullptr)
        throw Error(ErrorCode::invalid_argument, "adopt_device", "null handle; pass the context");
    return Registry::instance().adopt(backend, device);
}

}  // namespace concord
