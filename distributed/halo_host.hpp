#pragma once
// Copies runs of elements at a fixed stride, C++. Parallel source: halo.kernel.

#include <concord/host_kernel.hpp>

#include <algorithm>

namespace concord::detail::host {

// A group copies `piece` elements of one run. Element: unsigned integer of the element's size.
template <class Element>
void halo_runs(const Group& group, const Element* from, Element* to, u64 length, u64 from_stride,
               u64 to_stride, u32 pieces, u64 piece) {
    const u64 run = group.x / pieces, begin = group.x % pieces * piece;
    const u64 end = std::min(length, begin + piece);
    std::memcpy(to + run * to_stride + begin, from + run * from_stride + begin,
                (end - begin) * sizeof(Element));
}

}  // namespace concord::detail::host
