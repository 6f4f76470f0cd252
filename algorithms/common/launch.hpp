#pragma once
/// Launches that several algorithms have in common.

#include <concord/span.hpp>
#include <concord/variant.hpp>

namespace concord::detail {

/// Launches a kernel of one element a lane, in groups of `group` lanes, over n elements. In the host dialect, where a
/// group takes many elements, the kernel gets their number as its last argument but the operator's values.
template <class... A>
void launch_elements(Stream& stream, const Kernel& kernel, u64 n, u32 group, const ValueBytes& values,
                     const A&... arguments) {
    constexpr u64 tile = u64{1} << 14;
    if (stream.device().traits().dialect == Dialect::host) {
        launch(stream, kernel, LaunchShape::linear(divide_up(n, tile), 1), arguments..., tile, values);
    } else {
        launch(stream, kernel, LaunchShape::linear(divide_up(n, group), group), arguments..., values);
    }
}

}  // namespace concord::detail
