// Backends that fail in one way each. The build links this module under the names of its entry points,
// concord-backend-NAME.so. The registry must name the reason and continue with the other backends.
#include <concord/backend.hpp>

#include <memory>
#include <new>
#include <stdexcept>

using namespace concord;

namespace {

struct NotAnException {};

struct NoDevices : Backend {
    std::vector<DeviceInfo> devices() override { return {}; }
    std::unique_ptr<backend::Device> open(u32) override { return nullptr; }
};

struct ThrowingDevices : NoDevices {
    std::vector<DeviceInfo> devices() override { throw NotAnException{}; }
};

// A device of the best rank that does not open. `auto` must use another one.
struct Unopened : NoDevices {
    explicit Unopened(std::string name) : name_(std::move(name)) {}
    std::vector<DeviceInfo> devices() override { return {{name_ + ":0", name_, "a device", "a driver", 0}}; }

  private:
    std::string name_;
};

struct ThrowingOpen : Unopened {
    using Unopened::Unopened;
    std::unique_ptr<backend::Device> open(u32) override { throw NotAnException{}; }
    std::vector<DeviceProperty> libraries() override { throw NotAnException{}; }
};

Backend* fail_once() {
    static bool failed = false;
    if (!failed) {
        failed = true;
        throw std::bad_alloc();
    }
    return new NoDevices;
}

}  // namespace

#define ENTRY(NAME) \
    extern "C" __attribute__((visibility("default"))) const BackendModule* concord_backend_##NAME()

ENTRY(null_entry) {
    return nullptr;
}
ENTRY(throwing_entry) {
    throw std::runtime_error("thrown by the entry point");
}
ENTRY(no_create) {
    static const BackendModule module{backend_interface_version, CONCORD_VERSION, "no_create", nullptr};
    return &module;
}
ENTRY(other_name) {
    static const BackendModule module{backend_interface_version, CONCORD_VERSION, "tbb",
                                      []() -> Backend* { return new NoDevices; }};
    return &module;
}

CONCORD_BACKEND_MODULE(null_backend, []() -> Backend* { return nullptr; })
CONCORD_BACKEND_MODULE(throwing_create, []() -> Backend* { throw std::logic_error("thrown by create"); })
CONCORD_BACKEND_MODULE(throwing_devices, []() -> Backend* { return new ThrowingDevices; })
CONCORD_BACKEND_MODULE(out_of_memory_once, fail_once)
// In a folder of their own, because they have devices.
CONCORD_BACKEND_MODULE(null_open, []() -> Backend* { return new Unopened("null_open"); })
CONCORD_BACKEND_MODULE(throwing_open, []() -> Backend* { return new ThrowingOpen("throwing_open"); })
