// The host kernels, one set for each type of image.

#include "convolve_host.hpp"
#include "convolve_table.hpp"

namespace concord::detail {
namespace {

// The same kernel in the widths of the instruction sets: registers for four rows of four vectors where there are 32 of 64
// bytes, of two where there are 16 of 32. Without FMA the multiply-adds are calls, whatever the width.
template <class I, class T>
constexpr HostKernel sliding() {
    using Calls = HostEntry<&detail::host::convolve_sliding<I, T, 32, 2, false>>;
    using Narrow = HostEntry<&detail::host::convolve_sliding<I, T, 32, 2, true>>;
    using Wide = HostEntry<&detail::host::convolve_sliding<I, T, 64, 4, true>>;
    return {Calls::baseline, Narrow::avx2, Wide::avx512, Calls::parameters};
}

template <class I, class T>
const ConvolveHost& host_of() {
    static constexpr ConvolveHost kernels{.naive = host_kernel<&detail::host::convolve_naive<I, T>>(),
                                          .sliding = sliding<I, T>()};
    return kernels;
}

}  // namespace

const ConvolveHost& convolve_host(Type image) {
    return image == Type::u8    ? host_of<u8, f32>()
           : image == Type::f32 ? host_of<f32, f32>()
                                : host_of<f64, f64>();
}

}  // namespace concord::detail
