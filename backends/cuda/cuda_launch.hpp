#pragma once
// Limits of launches, for GPUs and for devices that only compile.

#include <concord/stream.hpp>

#include <optional>
#include <vector>

namespace concord::cuda {

// Limits of a device.
struct LaunchLimits {
    u64 groups_x = 2147483647, groups_y = 65535, groups_z = 65535;
    u32 group_size_x = 1024, group_size_y = 1024, group_size_z = 64;
    u64 local_memory = 0;  // bytes per group, static and dynamic
};

// Limits of a kernel on a device.
struct KernelLimits {
    std::string kernel;  // "reduce_f32 on cuda:0", for messages
    LaunchLimits device;
    u64 max_group_size = 0;                           // work-items per group
    u64 static_local = 0;                             // bytes
    std::optional<std::vector<u32>> parameter_sizes;  // bytes; empty: unknown
};

// The limit of arguments in a launch, whose addresses are on the stack.
inline constexpr std::size_t max_arguments = 128;

// Throws invalid_argument if a launch exceeds a limit or does not match the kernel's parameters.
void check_launch(const KernelLimits& limits, const LaunchShape& shape,
                  std::span<const KernelArgument> arguments);

}  // namespace concord::cuda
