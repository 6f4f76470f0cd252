#pragma once
// What a device is, in Concord's terms, and how kernels are compiled for it.

#include "opencl_api.hpp"

#include <concord/traits.hpp>

namespace concord::opencl {

DeviceInfo info_of(cl_device_id device, u32 index);
/// many work-items per group on GPUs, one on CPUs. CONCORD_OPENCL_ITEMS=many or one overrules that: tests run both
/// shapes of kernels on any device.
DeviceTraits traits_of(cl_device_id device);

/// PoCL on a CPU.
bool is_pocl_cpu(cl_device_id device);

/// Why Concord cannot use the device; empty if it can.
std::string why_unusable(cl_device_id device);

/// What every kernel source is compiled with.
struct Language {
    std::string options;
    std::string prelude;  ///< goes before the text
};

/// The prelude defines, for the kernel sources, what goes beyond OpenCL C 1.2 on this device:
///   CONCORD_CPU          it is a CPU: one work-item a group, wide vectors
///   CONCORD_FP64         double works
///   CONCORD_FENCE_CL3    a device-wide fence: atomic_work_item_fence with scope memory_scope_device
///   CONCORD_FENCE_PTX    a device-wide fence: asm volatile("membar.gl;" ::: "memory")
///   CONCORD_SHUFFLE_KHR  sub_group_shuffle(), sub_group_shuffle_down() and ..._up()
///   CONCORD_SHUFFLE_PTX  inline PTX shfl.sync
///   CONCORD_SUB_GROUP    lanes of a sub-group, where there are shuffles
Language language_of(cl_device_id device, const DeviceTraits& traits);

/// Major and minor version of "OpenCL 1.2 ..." and the like, as 102.
u32 parse_version(std::string_view text);

}  // namespace concord::opencl
