// The host kernels, one set for each element size. They move 16 bytes at a time, which every instruction set
// supports. Wider vectors were not faster.

#include "transpose_table.hpp"

namespace concord::detail {
namespace {

template <class B>
const TransposeHost& host_of() {
    static constexpr TransposeHost kernels{
        .serial = plain_host_kernel<&detail::host::transpose_serial<B>>(),
        .naive = plain_host_kernel<&detail::host::transpose_naive<B>>(),
        .tiled = plain_host_kernel<&detail::host::transpose_tiled<B>>(),
        .blocked = plain_host_kernel<&detail::host::transpose_blocked<B>>(),
        .exchange = plain_host_kernel<&detail::host::transpose_exchange<B>>()};
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
