#pragma once
/// @file
/// Textbook variants of histogram on the CPU for bin functions made with CONCORD_FUNCTION; see
/// `concord/textbook.hpp`.

#include <concord/histogram.hpp>
#include <concord/textbook.hpp>

namespace concord::detail {

template <class T, class Op>
struct HistogramTextbook {
    static constexpr HistogramHost kernels{
        .bins = host_kernel<&detail::host::histogram_bins<T, Op>>(),
        .serial = plain_host_kernel<&detail::host::histogram_serial<T, Op>>(),
        .global = plain_host_kernel<&detail::host::histogram_global<T, Op>>(),
        .local = plain_host_kernel<&detail::host::histogram_private<T, Op>>(),
        .packed16 = plain_host_kernel<&detail::host::histogram_packed16<T, Op>>(),
        .ids = plain_host_kernel<&detail::host::histogram_ids<T, Op>>()};
};

}  // namespace concord::detail
