// Host kernels of stencil, one set per element type. The radius is an argument.

#include "stencil_variants.hpp"

namespace concord::detail {
namespace {

template <class T>
const StencilHost& host_of() {
    static constexpr StencilHost kernels{
        .naive = host_kernel<&detail::host::stencil_naive<T>>(),
        .blocked = dispatching_host_kernel<&detail::host::stencil_blocked<T>>()};
    return kernels;
}

}  // namespace

const StencilHost& stencil_host(Type type) {
    return visit_float(type, []<class T>(TypeTag<T>) -> const StencilHost& { return host_of<T>(); });
}

}  // namespace concord::detail
