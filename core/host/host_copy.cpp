#include <concord/internal/host_copy.hpp>

#include <concord/detail/host_vector.hpp>

#include "host/helper_threads.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace concord::detail {

void copy_non_temporal(std::byte* to, const std::byte* from, u64 bytes) {
    constexpr u64 block_bytes = 4096;
    alignas(64) std::byte block[block_bytes];
    for (u64 at = 0; at < bytes; at += block_bytes) {
        const u64 count = std::min(block_bytes, bytes - at);
        std::memcpy(block, from + at, count);
        host::stream_store(to + at, block, count);
    }
    host::stream_fence();
}

void copy_in_parallel(void* to, const void* from, u64 bytes) {
    constexpr u64 piece = u64{256} << 10, max_cached = u64{8} << 20, max_helpers = 7;
    auto* const to_bytes = static_cast<std::byte*>(to);
    const auto* const from_bytes = static_cast<const std::byte*>(from);
    std::atomic<u64> next = 0;
    const std::function<void()> work = [&] {
        for (u64 at = next.fetch_add(piece); at < bytes; at = next.fetch_add(piece)) {
            const u64 count = std::min(piece, bytes - at);
            // A small copy may be used soon and should stay in cache.
            if (bytes <= max_cached) {
                std::memcpy(to_bytes + at, from_bytes + at, count);
            } else {
                copy_non_temporal(to_bytes + at, from_bytes + at, count);
            }
        }
    };
    const Helpers helpers(static_cast<u32>(std::min(max_helpers, bytes / piece)), work);
    work();
}

}  // namespace concord::detail
