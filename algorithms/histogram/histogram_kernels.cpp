// The host kernels that count, which do not depend on the type of the samples. Those of `private_bins`, which `auto`
// takes, are compiled for every instruction set.

#include "histogram_variants.hpp"

#include "histogram_count.hpp"

namespace concord::detail {

const HistogramKernels& histogram_kernels(bool wide) {
    static constexpr HistogramKernels narrow_kernels{
        .bins = host_kernel<&host::histogram_bins>(),
        .bytes = host_kernel<&host::histogram_bytes>(),
        .merge = host_kernel<&host::histogram_merge>(),
        .serial = plain_host_kernel<&host::histogram_serial<u32>>(),
        .global = plain_host_kernel<&host::histogram_global<u32>>(),
        .local = plain_host_kernel<&host::histogram_private<u32>>(),
        .packed16 = plain_host_kernel<&host::histogram_packed16>(),
        .ids = plain_host_kernel<&host::histogram_ids>(),
        .positions = plain_host_kernel<&host::histogram_positions>(),
        .segments = plain_host_kernel<&host::histogram_segments>(),
        .saturate = plain_host_kernel<&host::histogram_saturate>()};
    static constexpr HistogramKernels wide_kernels{
        .serial = plain_host_kernel<&host::histogram_serial<u64>>(),
        .global = plain_host_kernel<&host::histogram_global<u64>>(),
        .local = plain_host_kernel<&host::histogram_private<u64>>()};
    return wide ? wide_kernels : narrow_kernels;
}

}  // namespace concord::detail
