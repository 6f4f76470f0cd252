// The host kernels that move elements, one set per element size. The code that depends on the instruction set is in
// the predicate, in compress() and in the sum of flags.

#include "compact_variants.hpp"

#include "compact_move.hpp"

namespace concord::detail {
namespace {

template <class B>
const CompactKernels& kernels_of() {
    static constexpr CompactKernels kernels{
        .serial = plain_host_kernel<&detail::host::compact_serial<B>>(),
        .two_pass = plain_host_kernel<&detail::host::compact_two_pass<B>>(),
        .count = host_kernel<&detail::host::compact_count>(),
        .offsets = plain_host_kernel<&detail::host::compact_offsets>(),
        .write = plain_host_kernel<&detail::host::compact_write<B>>(),
        .flags = plain_host_kernel<&detail::host::compact_flags>(),
        .scatter = plain_host_kernel<&detail::host::compact_scatter<B>>()};
    return kernels;
}

}  // namespace

const CompactKernels& compact_kernels(u32 size) {
    return visit_size(
        size, [](auto tag) -> const CompactKernels& { return kernels_of<typename decltype(tag)::type>(); });
}

}  // namespace concord::detail
