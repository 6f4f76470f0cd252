#pragma once
// The host kernels of segmented sort.

#include <concord/host_kernel.hpp>

namespace concord::detail {

// value_size: 0 without values.
struct SegmentedSortHost {
    HostKernel borders, tiles, merge;
};
SegmentedSortHost segmented_sort_host(u32 key_size, u32 value_size);
// Scratch bytes of a group that sorts tiles of that many elements.
u64 segmented_sort_scratch(u32 key_size, u32 value_size, u64 tile);

}  // namespace concord::detail
