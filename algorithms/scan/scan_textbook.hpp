#pragma once
/// @file
/// Textbook variants of scan on the CPU for user operators (CONCORD_FUNCTION). See concord/textbook.hpp.

#include <concord/detail/scan_steps_host.hpp>
#include <concord/scan.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

template <class T, class Op>
struct ScanTextbook {
    static constexpr ScanHost kernels{
        .serial = plain_host_kernel<&detail::host::scan_serial<T, Op>>(),
        .partitioned = host_kernel<&detail::host::scan_partitioned<T, Op>>(),
        .totals = host_kernel<&detail::host::scan_totals<T, Op>>(),
        .step = plain_host_kernel<&detail::host::scan_step<T, Op>>(),
        .shift = plain_host_kernel<&detail::host::scan_shift<T, Op>>(),
        .join = plain_host_kernel<&detail::host::scan_join<T, Op>>(),
        .up_sweep = plain_host_kernel<&detail::host::scan_up_sweep<T, Op>>(),
        .down_sweep = plain_host_kernel<&detail::host::scan_down_sweep<T, Op>>(),
        .kogge_stone = plain_host_kernel<&detail::host::scan_kogge_stone<T, Op>>(),
        .brent_kung = plain_host_kernel<&detail::host::scan_brent_kung<T, Op>>(),
        .recursive = plain_host_kernel<&detail::host::scan_recursive<T, Op>>(),
        .recursive_vector = plain_host_kernel<&detail::host::scan_recursive_vector<T, Op>>(),
        .offsets = plain_host_kernel<&detail::host::scan_offsets<T, Op>>()};
};

}  // namespace concord::detail
