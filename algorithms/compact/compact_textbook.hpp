#pragma once
/// @file
/// Textbook variants of compact and partition on the CPU for predicates made with CONCORD_FUNCTION; see
/// `concord/textbook.hpp`.

#include <concord/compact.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

template <class T, class Op>
struct CompactTextbook {
    static constexpr CompactHost kernels{.serial = host_kernel<&detail::host::compact_serial<T, Op>>(),
                                         .two_pass = host_kernel<&detail::host::compact_two_pass<T, Op>>(),
                                         .count = host_kernel<&detail::host::compact_count<T, Op>>(),
                                         .offsets = host_kernel<&detail::host::compact_offsets>(),
                                         .write = host_kernel<&detail::host::compact_write<T, Op>>(),
                                         .flags = host_kernel<&detail::host::compact_flags<T, Op>>(),
                                         .scatter = host_kernel<&detail::host::compact_scatter<T>>()};
};

}  // namespace concord::detail
