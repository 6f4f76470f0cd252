#pragma once
// A few commands that show whether a driver does what Concord relies on.

#include "opencl_api.hpp"

#include <concord/traits.hpp>

namespace concord::opencl {

// Tests the driver of a device and returns the largest group that it runs: its limit for the test's kernel, or for the
// device if that is lower. Throws unavailable with the test that failed. A driver that passed is not tested again while
// the kernel cache has its entry. CONCORD_OPENCL_SELF_TEST=off skips the test, as does PoCL on CPUs, which Concord's
// own tests run on, and which ends the process if it cannot link a kernel.
u32 self_test(cl_device_id device, cl_context context, cl_command_queue queue, const DeviceInfo& info);

}  // namespace concord::opencl
