#include "cuda_launch.hpp"

#include <concord/backend/launch_limits.hpp>

namespace concord::cuda {
namespace {

void check_arguments(const KernelLimits& limits, const std::vector<u32>& sizes,
                     std::span<const KernelArgument> arguments) {
    backend::check_argument_count(limits.kernel, arguments.size(), sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const u32 given = arguments[i].buffer != nullptr ? sizeof(void*) : arguments[i].size;
        if (given != sizes[i])
            backend::refuse_launch(limits.kernel,
                                   "argument " + std::to_string(i) + " has the wrong size, got " +
                                       std::to_string(given) +
                                       (arguments[i].buffer != nullptr ? " bytes (a buffer)" : " bytes") +
                                       "; the kernel's parameter has " + std::to_string(sizes[i]) + " bytes");
    }
}

}  // namespace

void check_launch(const KernelLimits& limits, const LaunchShape& shape,
                  std::span<const KernelArgument> arguments) {
    const LaunchLimits& device = limits.device;
    backend::check_group(limits.kernel,
                         {.size = limits.max_group_size,
                          .sizes = {device.group_size_x, device.group_size_y, device.group_size_z},
                          .local_memory = device.local_memory,
                          .static_local = limits.static_local},
                         shape);
    if (shape.groups_x > device.groups_x || shape.groups_y > device.groups_y ||
        shape.groups_z > device.groups_z)
        backend::refuse_launch(limits.kernel,
                               "grid too large, got " +
                                   backend::triple(shape.groups_x, shape.groups_y, shape.groups_z) +
                                   " groups; the limit is " +
                                   backend::triple(device.groups_x, device.groups_y, device.groups_z));
    if (arguments.size() > max_arguments)
        backend::refuse_launch(limits.kernel, "too many arguments, got " + std::to_string(arguments.size()) +
                                                  "; the limit is " + std::to_string(max_arguments));
    if (limits.parameter_sizes) check_arguments(limits, *limits.parameter_sizes, arguments);
}

}  // namespace concord::cuda
