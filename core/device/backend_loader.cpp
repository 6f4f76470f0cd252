#include "device/backend_loader.hpp"

#include <concord/log.hpp>

#include <dlfcn.h>

#include <cerrno>
#include <new>

namespace concord::detail {
namespace {

[[noreturn]] void refuse_module(const std::string& name, const std::string& why) {
    throw Error(ErrorCode::unavailable, name, why);
}

const BackendModule* module_of(const std::string& name, const ModulePath& module) {
    if (!module.refused.empty()) refuse_module(name, "the module is not loaded: it is " + module.refused);
    errno = 0;
    void* library = dlopen(module.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        if (errno == ENOMEM) throw std::bad_alloc();
        const char* why = dlerror();
        refuse_module(name, std::string("cannot load the module: ") + (why == nullptr ? "unknown" : why));
    }
    const std::string entry_name = "concord_backend_" + name;
    const auto entry = reinterpret_cast<BackendEntry>(dlsym(library, entry_name.c_str()));
    if (entry == nullptr) refuse_module(name, "the module has no entry point " + entry_name);
    const BackendModule* described = entry();
    if (described == nullptr) refuse_module(name, "the module's entry point returned null");
    if (described->interface_version != backend_interface_version)
        refuse_module(name, "wrong backend interface, got version " +
                                std::to_string(described->interface_version) +
                                "; this library (" CONCORD_VERSION ") requires " +
                                std::to_string(backend_interface_version) + ", rebuild the module");
    if (described->name == nullptr || described->name != name || described->create == nullptr)
        refuse_module(name, "the module does not describe backend '" + name + "'");
    return described;
}

// `find` returns the description of the module.
template <class F>
LoadedBackend load(const std::string& name, const std::string& path, F find) {
    LoadedBackend loaded;
    BackendStatus& status = loaded.status;
    status.name = name;
    status.path = path;
    const auto ran_out = [&] {
        loaded.backend = nullptr;
        loaded.out_of_memory = true;
        status.devices.clear();
    };
    try {
        call_backend(status.name, status.path, [&] {
            const BackendModule* module = find();
            loaded.backend.reset(module->create());
            if (loaded.backend == nullptr) refuse_module(status.name, "the module created no backend");
            status.devices = loaded.backend->devices();
        });
        if (status.devices.empty()) status.reason = "no device found";
    } catch (const std::bad_alloc&) {
        ran_out();
        status.reason = "out of memory";
    } catch (const Error& error) {
        // Without the backend's name, which precedes the reason wherever it is printed.
        const std::string_view what = error.what();
        const std::string prefix = status.name + ": ";
        status.reason = what.starts_with(prefix) ? what.substr(prefix.size()) : what;
        if (error.code() == ErrorCode::out_of_memory) ran_out();
    }
    status.available = !status.devices.empty();
    return loaded;
}

}  // namespace

LoadedBackend load_backend(const std::string& name, const ModulePath& module) {
    return load(name, module.path.string(), [&] { return module_of(name, module); });
}

LoadedBackend load_backend(const BackendModule* built_in) {
    return load(built_in->name, "built in", [&] { return built_in; });
}

}  // namespace concord::detail
