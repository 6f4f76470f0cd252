#pragma once
// Helpers of host kernels: non-temporal stores, and waiting for another group.

#include <concord/host_kernel.hpp>

#include <cstdint>
#include <cstring>

namespace concord::detail::host {

// Number of elements from `to` to the next cache line.
template <class T>
[[gnu::always_inline]] inline u64 elements_to_line(const T* to) {
    return (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64 / sizeof(T);
}

#if defined(__x86_64__)
// Copies 16 bytes with a non-temporal store to an aligned address. Not by intrinsics, whose headers are long.
[[gnu::always_inline]] inline void stream_16(void* to, const void* from) {
    typedef long long Pair __attribute__((vector_size(16), may_alias));
    Pair pair;
    std::memcpy(&pair, from, sizeof pair);
#if defined(__clang__)
    __builtin_nontemporal_store(pair, static_cast<Pair*>(to));
#else
    __builtin_ia32_movntdq(static_cast<Pair*>(to), pair);
#endif
}
#endif

// Copies a cache line with non-temporal stores. Both are aligned to 64 bytes.
[[gnu::always_inline]] inline void stream_line(void* to, const void* from) {
#if defined(__x86_64__)
    for (u64 i = 0; i < 64; i += 16)
        stream_16(static_cast<char*>(to) + i, static_cast<const char*>(from) + i);
#else
    std::memcpy(to, from, 64);
#endif
}

// Copies `bytes` with non-temporal stores of whole cache lines, which neither read the target nor keep it in cache.
// Later stores of this thread are ordered after them only by stream_fence().
[[gnu::always_inline]] inline void stream_store(void* to, const void* from, u64 bytes) {
#if defined(__x86_64__)
    auto* target = static_cast<char*>(to);
    const auto* source = static_cast<const char*>(from);
    const u64 head = (64 - reinterpret_cast<std::uintptr_t>(target) % 64) % 64;
    if (bytes >= head + 64) {
        std::memcpy(target, source, head);
        u64 i = head;
        for (; i + 64 <= bytes; i += 64) {
            for (u64 j = i; j < i + 64; j += 16)
                stream_16(target + j, source + j);
        }
        std::memcpy(target + i, source + i, bytes - i);
        return;
    }
#endif
    std::memcpy(to, from, bytes);
}

// Lets another thread run, for loops that wait for another group. Throws Cancelled if a group of the launch has thrown,
// because the awaited group may be that one.
void yield(const Group& group);
struct Cancelled {};

inline void stream_fence() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

}  // namespace concord::detail::host
