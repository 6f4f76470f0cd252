#pragma once
// Loads backends and calls their code, which may fail in any way that C++ knows.

#include <concord/backend.hpp>
#include <concord/detail/float_environment.hpp>
#include <concord/internal/modules.hpp>

#include <exception>
#include <new>

namespace concord::detail {

// A backend, or the reason why it is unusable.
struct LoadedBackend {
    BackendStatus status = {};
    std::unique_ptr<Backend> backend = nullptr;  // null if the module is unusable
    // Whether memory ran out, so that another attempt may succeed.
    bool out_of_memory = false;
};

// Loads the backend `name` from a module. Throws only std::bad_alloc.
LoadedBackend load_backend(const std::string& name, const ModulePath& module);
// A backend that is part of the library.
LoadedBackend load_backend(const BackendModule* built_in);

// Calls code of a backend. It may throw Error and std::bad_alloc; everything else that it throws becomes an Error that
// names the module. Drivers start threads here, which inherit the floating-point environment, and load libraries that
// change it.
template <class F>
auto call_backend(std::string_view call, const std::string& module, F&& f) {
    auto failed = [&](std::string_view why) {
        return Error(ErrorCode::device_failed, call, "backend " + module + " threw " + std::string(why));
    };
    const DefaultFloatEnvironment environment;
    try {
        return f();
    } catch (const Error&) {
        throw;
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& error) {
        throw failed(error.what());
    } catch (...) {
        throw failed("an object that is not a std::exception");
    }
}

}  // namespace concord::detail
