#pragma once
/// What a backend module offers to the registry. Only backends include this header.
///
/// A backend implements Backend below and the five classes in <concord/backend/...>: Device, Memory, Kernel, Event, Queue.

#include <concord/backend/device.hpp>
#include <concord/error.hpp>

namespace concord {

/// Changes with every change of the interfaces in core/ that a module sees.
inline constexpr u32 backend_interface_version = 5;

/// One per process and backend; lives until the process ends.
class Backend {
  public:
    virtual ~Backend() = default;
    /// The available devices, in the order of their indices. Throws unavailable with the reason if there are none.
    virtual std::vector<DeviceInfo> devices() = 0;
    /// Opens device `index` of devices().
    virtual std::unique_ptr<backend::Device> open(u32 index) = 0;
    /// Opens a device that compiles for `target` ("sm_90") and cannot run: launches and copies do nothing, memory is host
    /// memory. Default: throws unsupported.
    virtual std::unique_ptr<backend::Device> open_offline(std::string_view target);
    /// The libraries that the backend found, with paths and versions, for `concord doctor`. Default: none.
    virtual std::vector<DeviceProperty> libraries() { return {}; }
};

/// What a module's entry point returns. The first member never moves.
struct BackendModule {
    u32 interface_version;
    const char* concord_version;
    const char* name;
    Backend* (*create)();
};

using BackendEntry = const BackendModule* (*)();

}  // namespace concord

/// The entry point of a module `concord-backend-NAME.so`, or of a backend built into the library.
#define CONCORD_BACKEND_MODULE(NAME, CREATE)                                                                \
    extern "C" __attribute__((visibility("default")))                                                       \
    const ::concord::BackendModule* concord_backend_##NAME() {                                              \
        static const ::concord::BackendModule module{::concord::backend_interface_version, CONCORD_VERSION, \
                                                     #NAME, CREATE};                                        \
        return &module;                                                                                     \
    }
