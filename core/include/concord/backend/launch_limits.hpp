#pragma once
/// @file
/// The limits of a launch that all backends check, with the same messages.

#include <concord/stream.hpp>

#include <array>

namespace concord::backend {

/// Limits of the groups of a kernel on a device.
struct GroupLimits {
    u64 size = 1;                          ///< work-items
    std::array<u64, 3> sizes = {1, 1, 1};  ///< work-items by dimension
    u64 local_memory = 0;                  ///< bytes, declared by the kernel and requested by the launch
    u64 static_local = 0;                  ///< bytes, declared by the kernel
};

/// Throws invalid_argument if the groups exceed the limits. `kernel`: its name, and its device if it depends on it.
void check_group(std::string_view kernel, const GroupLimits& limits, const LaunchShape& shape);

/// Throws invalid_argument unless the counts are equal. `parameters`: what is counted, for the message.
void check_argument_count(std::string_view kernel, u64 given, u64 wanted,
                          std::string_view parameters = "parameters");

/// Throws invalid_argument: the kernel's launch is wrong because of `why`.
[[noreturn]] void refuse_launch(std::string_view kernel, std::string_view why);

/// Three numbers for messages: "256 x 1 x 1".
std::string triple(u64 x, u64 y, u64 z);

}  // namespace concord::backend
