#pragma once
// The word in which host kernels report an index that is out of range. Parallel sources: prelude.cu and prelude.cl.

#include <concord/types.hpp>

#include <atomic>

namespace concord::detail {

// The value of a word without a report, and the one for positions that a word cannot hold.
inline constexpr u32 no_position = ~u32{0}, far_position = no_position - 1;

// Called by host kernels, from any thread.
inline void report_index(u32* word, u64 position) {
    const u32 low = position < far_position ? static_cast<u32>(position) : far_position;
    std::atomic_ref<u32> least(*word);
    for (u32 seen = least.load(std::memory_order_relaxed);
         low < seen && !least.compare_exchange_weak(seen, low, std::memory_order_relaxed);) {
    }
}

}  // namespace concord::detail
