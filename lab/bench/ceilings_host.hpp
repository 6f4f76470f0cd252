#pragma once
// Attainable rates of the CPU, in C++. ceilings.cu and ceilings.cl are the parallel sources and describe the kernels.

#include <concord/host_kernel.hpp>

#include <algorithm>
#include <cmath>

namespace concord::lab::host {

inline void read_words(const Group& group, const u32* in, u32* out, u64 n, u32 never) {
    const u64 part = (n / group.count_x / 64 + 1) * 64;
    const u64 begin = std::min(n, group.x * part), end = std::min(n, begin + part);
    u32 all = 0;
    for (u64 i = begin; i < end; ++i)
        all ^= in[i];
    if (all == never) *out = all;
}

// Elements that a core processes side by side to hide latency. Each goes through fma_unroll steps in a register.
constexpr u64 fma_elements = 256;
constexpr u32 fma_unroll = 8;

template <class T>
void fma_chains(const Group& group, T* out, T a, T b, u32 steps) {
    alignas(64) T x[fma_elements];
    for (u64 i = 0; i < fma_elements; ++i)
        x[i] = static_cast<T>(i);
    for (u32 s = 0; s < steps; s += fma_unroll) {
        for (u64 i = 0; i < fma_elements; ++i) {
            const T y = std::fma(std::fma(std::fma(std::fma(x[i], a, b), a, b), a, b), a, b);
            x[i] = std::fma(std::fma(std::fma(std::fma(y, a, b), a, b), a, b), a, b);
        }
    }
    if (x[group.x % fma_elements] == a) *out = a;
}

inline void idle(const Group& /*group*/, u32 /*unused*/) {}

}  // namespace concord::lab::host
