// A module with another interface version. The registry must reject it and never call create().
#include <concord/backend.hpp>

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) const concord::BackendModule* concord_backend_old() {
    static const concord::BackendModule module{concord::backend_interface_version + 1, "9.9.9", "old",
                                               []() -> concord::Backend* { std::abort(); }};
    return &module;
}
