#pragma once
// Names and launches that several algorithms share.

#include <concord/span.hpp>
#include <concord/variant.hpp>

namespace concord::detail {

// The OpenCL C name of an element type, as in as_float and float16.
constexpr std::string_view opencl_name(Type type) {
    return row_of(type).opencl;
}

// The unsigned integer of that many bytes; u8 for 0 bytes.
constexpr Type bits_of_size(u32 size) {
    for (const Type type : all_types) {
        if (is_unsigned(type) && size_of(type) == size) return type;
    }
    return Type::u8;
}

// Minimum KiB of data per additional group on a CPU, unless a calibration measured it. oneTBB wakes threads only as
// groups need them, which takes longer than other drivers, which wake all threads at every launch.
constexpr u64 min_group_kib(const DeviceTraits& traits) {
    return traits.launch == LaunchModel::host ? 128 : 64;
}

// A kernel that exists in the host dialect only.
inline std::shared_ptr<Kernel> host_kernel_of(Device& device, const char* entry, const HostKernel& host) {
    return device.kernel({.entry = entry, .host = host, .max_group_size = 1});
}

// Tiles of that side along a length, as kernels count them.
constexpr u32 tiles_in(u64 length, u64 side) {
    return static_cast<u32>(divide_up(length, side));
}

// Stands for an operator's values in the launch of a kernel without an operator.
struct NoOperator {};

// Launches a kernel with one element per work-item over n elements, in groups of `group` work-items. On devices that
// run a group as one call (LaunchModel::host), a group processes many elements. The kernel then receives
// their number as an argument, before the operator's values.
template <class Values, class... A>
void launch_elements(Stream& stream, const Kernel& kernel, u64 n, u32 group, const Values& values,
                     const A&... arguments) {
    constexpr u64 tile = u64{1} << 14;
    auto launch_with = [&](const auto&... last) {
        if (stream.device().traits().launch == LaunchModel::host) {
            launch(stream, kernel, LaunchShape::linear(divide_up(n, tile), 1), arguments..., tile, last...);
        } else {
            launch(stream, kernel, LaunchShape::linear(divide_up(n, group), group), arguments..., last...);
        }
    };
    if constexpr (std::is_same_v<Values, NoOperator>) {
        launch_with();
    } else {
        launch_with(values);
    }
}

}  // namespace concord::detail
