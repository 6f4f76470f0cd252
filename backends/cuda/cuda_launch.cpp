#include "cuda_launch.hpp"

#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>

namespace concord::cuda {
namespace {

[[noreturn]] void refuse(const KernelLimits& limits, const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "Stream::launch", limits.kernel + ": " + why);
}

template <class N>
std::string triple(N x, N y, N z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

void check_arguments(const KernelLimits& limits, const std::vector<u32>& sizes,
                     std::span<const KernelArgument> arguments) {
    if (arguments.size() != sizes.size())
        refuse(limits, "wrong number of arguments, got " + std::to_string(arguments.size()) +
                           "; the kernel has " + std::to_string(sizes.size()) + " parameters");
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const u32 given = arguments[i].buffer != nullptr ? sizeof(void*) : arguments[i].size;
        if (given != sizes[i])
            refuse(limits, "argument " + std::to_string(i) + " has the wrong size, got " +
                               std::to_string(given) +
                               (arguments[i].buffer != nullptr ? " bytes (a buffer)" : " bytes") +
                               "; the kernel's parameter has " + std::to_string(sizes[i]) + " bytes");
    }
}

}  // namespace

void check_launch(const KernelLimits& limits, const LaunchShape& shape,
                  std::span<const KernelArgument> arguments) {
    const LaunchLimits& device = limits.device;
    if (shape.group_size_x > device.group_size_x || shape.group_size_y > device.group_size_y ||
        shape.group_size_z > device.group_size_z ||
        !(detail::CheckedSize(shape.group_size_x) * shape.group_size_y * shape.group_size_z)
             .fits(limits.max_group_size))
        refuse(limits,
               "group too large, got " + triple(shape.group_size_x, shape.group_size_y, shape.group_size_z) +
                   " work-items; the limits are " + std::to_string(limits.max_group_size) +
                   " work-items and " +
                   triple(device.group_size_x, device.group_size_y, device.group_size_z) + " per dimension");
    if (shape.groups_x > device.groups_x || shape.groups_y > device.groups_y ||
        shape.groups_z > device.groups_z)
        refuse(limits, "grid too large, got " + triple(shape.groups_x, shape.groups_y, shape.groups_z) +
                           " groups; the limit is " +
                           triple(device.groups_x, device.groups_y, device.groups_z));
    if (shape.local_bytes > device.local_memory ||
        limits.static_local > device.local_memory - shape.local_bytes)
        refuse(limits, "too much local memory, got " + std::to_string(shape.local_bytes) +
                           " bytes in addition to the kernel's " + std::to_string(limits.static_local) +
                           "; the limit is " + std::to_string(device.local_memory) + " bytes per group");
    if (arguments.size() > max_arguments)
        refuse(limits, "too many arguments, got " + std::to_string(arguments.size()) + "; the limit is " +
                           std::to_string(max_arguments));
    if (limits.parameter_sizes) check_arguments(limits, *limits.parameter_sizes, arguments);
}

}  // namespace concord::cuda
