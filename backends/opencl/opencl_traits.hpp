#pragma once
// DeviceInfo and DeviceTraits of an OpenCL device, and the compiler options for it.

#include "opencl_api.hpp"

#include <concord/traits.hpp>

namespace concord::opencl {

DeviceInfo info_of(cl_device_id device, u32 index);
// max_group_size: the largest group that the device runs. The launch model is `groups` on GPUs whose groups
// have at least DeviceTraits::min_group_size work-items. The environment variable CONCORD_OPENCL_ITEMS=many or one
// overrides it.
DeviceTraits traits_of(cl_device_id device, u32 max_group_size);

// Limit of work-items per group for a kernel: CL_KERNEL_WORK_GROUP_SIZE. NVIDIA's driver reports 256 for every kernel
// and launches the size that a kernel states by reqd_work_group_size; there it is at least that size.
u64 group_limit_of(cl_kernel kernel, cl_device_id device);

// DeviceTraits::f64_matrix_units. Compiles a kernel with inline PTX on devices of NVIDIA's driver that may have them.
// Returns false at once for all other devices.
bool has_f64_matrix_units(cl_device_id device, cl_context context, const DeviceTraits& traits);

bool is_pocl(cl_platform_id platform);
// Whether the device is a CPU driven by PoCL.
bool is_pocl_cpu(cl_device_id device);

// Why Concord cannot use the device. Empty if it can.
std::string why_unusable(cl_device_id device);

// What every kernel source is compiled with.
struct CompilerSetup {
    std::string options;
    std::string prelude;  // precedes the source
};

// The prelude defines macros for what the device supports in addition to OpenCL C 1.2:
//   CONCORD_CPU          the device is a CPU: groups of one work-item, wide vectors
//   CONCORD_FP64         double is supported
//   CONCORD_FENCE_CL3    device-wide fence: atomic_work_item_fence with scope memory_scope_device
//   CONCORD_FENCE_PTX    device-wide fence: asm volatile("membar.gl;" ::: "memory")
//   CONCORD_SHUFFLE_KHR  shuffles: sub_group_shuffle(), sub_group_shuffle_down() and ..._up()
//   CONCORD_SHUFFLE_PTX  shuffles: inline PTX shfl.sync
//   CONCORD_SUB_GROUP    lanes of a sub-group; defined together with the shuffles
//   CONCORD_CAPABILITY   compute capability, 90 for 9.0; defined if DeviceTraits::f64_matrix_units
CompilerSetup setup_of(cl_device_id device, const DeviceTraits& traits);

// The version in a text like "OpenCL 1.2 ..." as 100 * major + minor. 0 if there is none.
u32 parse_version(std::string_view text);

}  // namespace concord::opencl
