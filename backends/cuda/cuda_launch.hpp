#pragma once
// What a launch must keep to; the same for a GPU and for a device that only compiles.

#include <concord/stream.hpp>

#include <optional>
#include <vector>

namespace concord::cuda {

/// Limits of a device.
struct LaunchLimits {
    u64 groups_x = 2147483647, groups_y = 65535, groups_z = 65535;
    u32 group_size_x = 1024, group_size_y = 1024, group_size_z = 64;
    u64 local_memory = 0;  ///< bytes, static and dynamic together
};

/// Limits of a kernel on that device.
struct KernelLimits {
    std::string kernel;  ///< "reduce_f32 on cuda:0", for messages
    LaunchLimits device;
    u64 max_group_size = 0;                           ///< of a group
    u64 static_local = 0;                             ///< bytes
    std::optional<std::vector<u32>> parameter_sizes;  ///< nothing: unknown
};

/// Most arguments of a launch: room for their addresses is on the stack.
inline constexpr std::size_t max_arguments = 128;

/// Throws invalid_argument, naming the values, if a launch exceeds a limit or does not fit the kernel's
/// parameters.
void check_launch(const KernelLimits& limits, const LaunchShape& shape,
                  std::span<const KernelArgument> arguments);

}  // namespace concord::cuda
