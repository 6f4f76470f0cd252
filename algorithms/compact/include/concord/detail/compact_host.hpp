#pragma once
// The predicate of compact in the host dialect: all that the kernels of compact_move.hpp know of it. T: element type;
// Op: predicate, which returns an integer; nonzero keeps.

#include <concord/host_kernel.hpp>

namespace concord::detail::host {

// flags[i] = 1 if x[i] is kept, else 0. Inlined, because g++ does not vectorise loops over a functor of 16 bytes that
// comes in registers.
template <class T, class Op>
[[gnu::always_inline]] inline void compact_keep(const Group& /*group*/, const T* x, u64 count, u8* flags,
                                                const Op op) {
    u8* __restrict to = flags;
    for (u64 i = 0; i < count; ++i)
        to[i] = op(x[i]) != 0 ? 1 : 0;
}

}  // namespace concord::detail::host
