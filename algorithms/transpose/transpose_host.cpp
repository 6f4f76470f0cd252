// The host kernels, one set for each element size. They move 16 bytes at a time, which every instruction set
// supports. `direct` moves whole cache lines with AVX-512.

#include "transpose_variants.hpp"

namespace concord::detail {
namespace {

// 32 registers hold a block of 16 x 16 elements twice. Blocks of more rows do not fit.
template <class B>
constexpr HostKernel direct() {
    constexpr HostKernel kernel = plain_host_kernel<&detail::host::transpose_direct<B, 16>>();
    if constexpr (sizeof(B) < 4) {
        return kernel;
    } else {
        return with_version<&detail::host::transpose_direct<B, 64>, HostIsa::avx512>(kernel);
    }
}

template <class B>
const TransposeHost& host_of() {
    static const TransposeHost kernels{.serial = plain_host_kernel<&detail::host::transpose_serial<B>>(),
                                       .naive = plain_host_kernel<&detail::host::transpose_naive<B>>(),
                                       .tiled = plain_host_kernel<&detail::host::transpose_tiled<B>>(),
                                       .blocked = plain_host_kernel<&detail::host::transpose_blocked<B>>(),
                                       .exchange = plain_host_kernel<&detail::host::transpose_exchange<B>>(),
                                       .direct = direct<B>(),
                                       .wide_bytes = sizeof(B) >= 4 ? u64{64} : u64{16}};
    return kernels;
}

}  // namespace

const TransposeHost& transpose_host(u32 size) {
    return size == 1   ? host_of<u8>()
           : size == 2 ? host_of<u16>()
           : size == 4 ? host_of<u32>()
                       : host_of<u64>();
}

}  // namespace concord::detail
