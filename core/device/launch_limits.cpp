#include <concord/backend/launch_limits.hpp>

#include <concord/detail/checked_size.hpp>
#include <concord/error.hpp>

namespace concord::backend {

std::string triple(u64 x, u64 y, u64 z) {
    return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

void refuse_launch(std::string_view kernel, std::string_view why) {
    throw Error(ErrorCode::invalid_argument, "Stream::launch", std::string(kernel).append(": ").append(why));
}

void check_group(std::string_view kernel, const GroupLimits& limits, const LaunchShape& shape) {
    const u64 x = shape.group_size_x, y = shape.group_size_y, z = shape.group_size_z;
    const auto& [max_x, max_y, max_z] = limits.sizes;
    if (x > max_x || y > max_y || z > max_z || !(detail::CheckedSize(x) * y * z).fits(limits.size))
        refuse_launch(kernel, "group too large, got " + triple(x, y, z) + " work-items; " +
                                  (limits.size == 1 ? "groups on this device have one work-item"
                                                    : "the limits are " + std::to_string(limits.size) +
                                                          " work-items and " + triple(max_x, max_y, max_z) +
                                                          " per dimension"));
    if (limits.static_local > limits.local_memory ||
        shape.local_bytes > limits.local_memory - limits.static_local)
        refuse_launch(kernel,
                      "too much local memory, got " + std::to_string(shape.local_bytes) + " bytes" +
                          (limits.static_local == 0
                               ? ""
                               : " in addition to the kernel's " + std::to_string(limits.static_local)) +
                          "; the limit is " + std::to_string(limits.local_memory) + " bytes per group");
}

void check_argument_count(std::string_view kernel, u64 given, u64 wanted, std::string_view parameters) {
    if (given == wanted) return;
    refuse_launch(kernel, "wrong number of arguments, got " + std::to_string(given) + "; the kernel has " +
                              std::to_string(wanted) + " " + std::string(parameters));
}

}  // namespace concord::backend
