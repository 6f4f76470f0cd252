#pragma once
// The bin function of histogram in the host dialect: all that the kernels of histogram_count.hpp know of it. T: type of
// the samples; Op: bin of a sample.

#include <concord/host_kernel.hpp>

namespace concord::detail::host {

// A bin function that mostly decides in fewer operations: guess() returns 0xfffffffe if it does not.
template <class Op, class T>
concept Guesses = requires(const Op op, T x) {
    op.guess(x);
};

// Stores the bins of a block of samples; `none` for a bin from `none` on, as for a sample that is not counted. Bin:
// u32 if none is at most 2^30, else u64. Inlined, because g++ does not vectorise loops over a functor of 16 bytes that
// comes in registers.
template <class T, class Bin, class Op>
[[gnu::always_inline]] inline void histogram_bin(const Group& /*group*/, const T* x, u64 count, Bin* bins,
                                                 Bin none, const Op op) {
    Bin* __restrict to = bins;
    if constexpr (Guesses<Op, T>) {
        u32 unsure = 0;
        for (u64 i = 0; i < count; ++i) {
            const u32 bin = op.guess(x[i]);
            unsure |= bin == 0xfffffffe ? 1 : 0;
            to[i] = min_of(static_cast<Bin>(bin), none);
        }
        if (unsure == 0) return;
    }
    for (u64 i = 0; i < count; ++i) {
        const auto bin = op(x[i]);
        if constexpr (sizeof bin > sizeof(Bin)) {
            to[i] = static_cast<u64>(bin) < none ? static_cast<Bin>(bin) : none;
        } else {
            to[i] = min_of(static_cast<Bin>(bin), none);
        }
    }
}

}  // namespace concord::detail::host
