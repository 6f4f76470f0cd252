#pragma once
// Everything that the driver reports about a device.

#include "opencl_api.hpp"

#include <concord/traits.hpp>

#include <vector>

namespace concord::opencl {

// One entry per constant, named as in cl.h. The value is "not supported" if the driver does not know the constant.
std::vector<DeviceProperty> properties_of(cl_device_id device);

}  // namespace concord::opencl
