#pragma once
/// @file
/// Textbook variants of reduce on the CPU for user operators (CONCORD_FUNCTION). See concord/textbook.hpp.

#include <concord/reduce.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

template <class T, class Op>
struct ReduceTextbook {
    static constexpr ReduceHost kernels{
        .fixed = host_kernel<&detail::host::reduce_wide<T, Op>>(),
        .serial = host_kernel<&detail::host::reduce_serial<T, Op>>(),
        .global_step = host_kernel<&detail::host::reduce_global_step<T, Op>>(),
        .interleaved = host_kernel<&detail::host::reduce_interleaved<T, Op>>(),
        .sequential = host_kernel<&detail::host::reduce_sequential<T, Op>>(),
        .first_add = host_kernel<&detail::host::reduce_first_add<T, Op>>()};
};

}  // namespace concord::detail
