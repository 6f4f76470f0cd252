#pragma once
/// @file
/// The interface between a backend module and the registry. Only backends include this header.
///
/// A backend implements Backend below and the five classes in <concord/backend/...>: Device, Memory, Kernel, Event,
/// Queue.

#include <concord/backend/device.hpp>
#include <concord/error.hpp>

#include <span>

namespace concord {

/// The version of the interfaces in core/ that a module uses. Increases with every incompatible change.
inline constexpr u32 backend_interface_version = 11;

/// What Backend::adopt returns.
struct AdoptedDevice {
    std::unique_ptr<backend::Device> device;  ///< a new device, or null
    std::string selector = {};                ///< without a new device: the one that uses the context already
};

/// A backend. The process has one object per backend, which lives until the process ends.
class Backend {
  public:
    virtual ~Backend() = default;
    /// The available devices, in the order of their indices. Throws unavailable with the reason if there are none.
    virtual std::vector<DeviceInfo> devices() = 0;
    /// Opens device `index` of devices().
    virtual std::unique_ptr<backend::Device> open(u32 index) = 0;
    /// Opens a device for the target of a selector "BACKEND@TARGET", such as an instruction set. A device for hardware
    /// that the machine does not have ("sm_90") only compiles: launches are checked, copies to the device do nothing,
    /// and calls that need results throw unavailable. Default: throws unsupported.
    virtual std::unique_ptr<backend::Device> open_target(std::string_view target);
    /// A device on a context of another owner, see adopt_device(). A new device has the selector `selector`. `open` has
    /// the open devices of this backend, whose contexts need no new device. Throws invalid_argument, unavailable, and
    /// unsupported, the default.
    virtual AdoptedDevice adopt(const ForeignDevice& device, const std::string& selector,
                                std::span<backend::Device* const> open);
    /// The driver libraries with paths and versions, for `concord doctor`. Default: none.
    virtual std::vector<DeviceProperty> libraries() { return {}; }
};

/// The description that a module's entry point returns. The first member never moves.
struct BackendModule {
    u32 interface_version;        ///< backend_interface_version of the module
    const char* concord_version;  ///< version of Concord that the module was built with
    const char* name;             ///< name of the backend: "cuda"
    Backend* (*create)();         ///< creates the backend; called once
};

/// The entry point of a module.
using BackendEntry = const BackendModule* (*)();

}  // namespace concord

/// Defines the entry point of the module `concord-backend-NAME.so`, or of a backend that is part of the library. CREATE
/// is a function that returns a new Backend.
#define CONCORD_BACKEND_MODULE(NAME, CREATE)                                                                \
    extern "C" __attribute__((visibility("default")))                                                       \
    const ::concord::BackendModule* concord_backend_##NAME() {                                              \
        static const ::concord::BackendModule module{::concord::backend_interface_version, CONCORD_VERSION, \
                                                     #NAME, CREATE};                                        \
        return &module;                                                                                     \
    }
