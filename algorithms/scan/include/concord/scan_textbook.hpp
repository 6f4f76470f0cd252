#pragma once
/// @file
/// Textbook variants of scan on the CPU for user operators (CONCORD_FUNCTION). See concord/textbook.hpp.

#include <concord/detail/scan_steps_host.hpp>
#include <concord/scan.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

// Adds the kernels of the textbook variants. They use elements only through the operator and the identity: for built-in
// operators on signed integers, T is the unsigned type.
template <class T, class Op>
constexpr ScanHost with_textbook(ScanHost kernels) {
    kernels.step = plain_host_kernel<&detail::host::scan_step<T, Op>>();
    kernels.shift = plain_host_kernel<&detail::host::scan_shift<T, Op>>();
    kernels.join = plain_host_kernel<&detail::host::scan_join<T, Op>>();
    kernels.up_sweep = plain_host_kernel<&detail::host::scan_up_sweep<T, Op>>();
    kernels.down_sweep = plain_host_kernel<&detail::host::scan_down_sweep<T, Op>>();
    kernels.kogge_stone = plain_host_kernel<&detail::host::scan_kogge_stone<T, Op>>();
    kernels.brent_kung = plain_host_kernel<&detail::host::scan_brent_kung<T, Op>>();
    kernels.recursive = plain_host_kernel<&detail::host::scan_recursive<T, Op>>();
    kernels.recursive_vector = plain_host_kernel<&detail::host::scan_recursive_vector<T, Op>>();
    kernels.offsets = plain_host_kernel<&detail::host::scan_offsets<T, Op>>();
    return kernels;
}

template <class T, class Op>
struct ScanTextbook {
    static constexpr ScanHost kernels = with_textbook<T, Op>(ScanProduction<T, Op>::kernels);
};

}  // namespace concord::detail
