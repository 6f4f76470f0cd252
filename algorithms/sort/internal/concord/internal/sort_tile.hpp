#pragma once
// How merge sorts divide keys among work-items.

#include <concord/device.hpp>

namespace concord::detail {

// Elements per work-item of a tile that is merged in local memory. Odd numbers avoid bank conflicts.
u32 sort_merge_items(const Device& device, u32 key_size);

}  // namespace concord::detail
