#pragma once
// Runs of elements at a fixed distance from one another, in the host dialect. Parallel sources: halo.cu, halo.cl.

#include <concord/host_kernel.hpp>

#include <algorithm>

namespace concord::detail::host {

/// A group: `piece` elements of one run. E: unsigned integer of the elements' size.
template <class E>
void halo_runs(const Group& group, const E* from, E* to, u64 length, u64 from_stride, u64 to_stride,
               u32 pieces, u64 piece) {
    const u64 run = group.x / pieces, begin = group.x % pieces * piece;
    const u64 end = std::min(length, begin + piece);
    std::memcpy(to + run * to_stride + begin, from + run * from_stride + begin, (end - begin) * sizeof(E));
}

}  // namespace concord::detail::host
