// Host kernels of convolve, one set per image type.

#include "convolve_host.hpp"
#include "convolve_variants.hpp"

namespace concord::detail {
namespace {

// One kernel per instruction set. 32 registers of 64 bytes hold four rows of four vectors; 16 registers of 32 bytes
// hold four rows of two. Without FMA instructions every multiply-add is a function call.
template <class I, class T>
constexpr HostKernel sliding() {
    using detail::host::MaskLoops;
    constexpr HostKernel calls =
        plain_host_kernel<&detail::host::convolve_sliding<I, T, 32, 2, MaskLoops::rolled>>();
    constexpr HostKernel narrow =
        with_version<&detail::host::convolve_sliding<I, T, 32, 2, MaskLoops::unrolled>, HostIsa::avx2>(calls);
    return with_version<&detail::host::convolve_sliding<I, T, 64, 4, MaskLoops::unrolled>, HostIsa::avx512>(
        narrow);
}

template <class I, class T>
const ConvolveHost& host_of() {
    static constexpr ConvolveHost kernels{.naive = host_kernel<&detail::host::convolve_naive<I, T>>(),
                                          .sliding = sliding<I, T>()};
    return kernels;
}

}  // namespace

const ConvolveHost& convolve_host(Type image) {
    if (image == Type::u8) return host_of<u8, f32>();
    return visit_float(image, []<class T>(TypeTag<T>) -> const ConvolveHost& { return host_of<T, T>(); });
}

}  // namespace concord::detail
