// Host kernels of convolve, one set per image type.

#include "convolve_host.hpp"
#include "convolve_variants.hpp"

namespace concord::detail {
namespace {

template <class I, class T>
const ConvolveHost& host_of() {
    static constexpr ConvolveHost kernels{.naive = host_kernel<&detail::host::convolve_naive<I, T>>(),
                                          .sliding = host_kernel<&detail::host::convolve_sliding<I, T>>()};
    return kernels;
}

}  // namespace

const ConvolveHost& convolve_host(Type image) {
    if (image == Type::u8) return host_of<u8, f32>();
    return visit_float(image, []<class T>(TypeTag<T>) -> const ConvolveHost& { return host_of<T, T>(); });
}

}  // namespace concord::detail
