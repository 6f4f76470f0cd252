// Host kernels of matmul's textbook steps, one set per element type.

#include "matmul_table.hpp"

namespace concord::detail {
namespace {

template <class T>
const MatmulHost& host_of() {
    static constexpr MatmulHost kernels{.serial = host_kernel<&detail::host::matmul_serial<T>>(),
                                        .naive = host_kernel<&detail::host::matmul_naive<T>>(),
                                        .tiled = host_kernel<&detail::host::matmul_tiled<T>>(),
                                        .blocks = host_kernel<&detail::host::matmul_blocks<T>>(),
                                        .blocks_tiled = host_kernel<&detail::host::matmul_blocks_tiled<T>>()};
    return kernels;
}

}  // namespace

const MatmulHost& matmul_host(Type type) {
    return type == Type::f32 ? host_of<f32>() : host_of<f64>();
}

}  // namespace concord::detail
