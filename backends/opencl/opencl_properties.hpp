#pragma once
// Everything that the driver tells of a device.

#include "opencl_api.hpp"

#include <concord/traits.hpp>

#include <vector>

namespace concord::opencl {

/// One line a constant, under its name in cl.h; what the driver does not know reads "not supported".
std::vector<DeviceProperty> properties_of(cl_device_id device);

}  // namespace concord::opencl
