// Host kernels of matmul, one set per element type.

#include "matmul_direct.hpp"
#include "matmul_packed.hpp"
#include "matmul_parts.hpp"
#include "matmul_variants.hpp"

namespace concord::detail {
namespace {

template <class T>
const MatmulHost& host_of() {
    static constexpr MatmulHost kernels{.serial = host_kernel<&detail::host::matmul_serial<T>>(),
                                        .sum_parts = host_kernel<&detail::host::matmul_sum_parts<T>>()};
    return kernels;
}

template <class T>
PackedHost packed_host([[maybe_unused]] HostIsa isa) {
    using Plain = detail::host::PlainRegisters<T>;
#if defined(__x86_64__)
    using Avx2 = detail::host::Avx2Registers<T>;
    using Avx512 = detail::host::Avx512Registers<T>;
    // Each instruction set has its own kernel.
    auto of = []<auto PLAIN, auto AVX2, auto AVX512>() {
        const HostKernel plain = plain_host_kernel<PLAIN>();
        return with_version<AVX512, HostIsa::avx512>(with_version<AVX2, HostIsa::avx2>(plain));
    };
    const HostKernel pack =
        of.template operator()<&detail::host::matmul_pack<Plain, T>, &detail::host::matmul_pack<Avx2, T>,
                               &detail::host::matmul_pack<Avx512, T>>();
    const HostKernel packed =
        of.template operator()<&detail::host::matmul_packed<Plain, T>, &detail::host::matmul_packed<Avx2, T>,
                               &detail::host::matmul_packed<Avx512, T>>();
    if (isa == HostIsa::avx512) return {pack, packed, Avx512::rows, detail::host::panel_columns<Avx512>};
    if (isa == HostIsa::avx2) return {pack, packed, Avx2::rows, detail::host::panel_columns<Avx2>};
#else
    const HostKernel pack = host_kernel<&detail::host::matmul_pack<Plain, T>>();
    const HostKernel packed = host_kernel<&detail::host::matmul_packed<Plain, T>>();
#endif
    return {pack, packed, Plain::rows, detail::host::panel_columns<Plain>};
}

template <class T>
DirectHost direct_host([[maybe_unused]] HostIsa isa) {
    using Plain = detail::host::PlainRegisters<T>;
    HostKernel kernel = plain_host_kernel<&detail::host::matmul_direct<Plain, T>>();
#if defined(__x86_64__)
    // Each instruction set has its own kernel.
    using Avx2 = detail::host::Avx2Registers<T>;
    using Avx512 = detail::host::Avx512Registers<T>;
    kernel = with_version<&detail::host::matmul_direct<Avx2, T>, HostIsa::avx2>(kernel);
    kernel = with_version<&detail::host::matmul_direct<Avx512, T>, HostIsa::avx512>(kernel);
    if (isa == HostIsa::avx512) return {kernel, Avx512::direct_rows, detail::host::panel_columns<Avx512>};
    if (isa == HostIsa::avx2) return {kernel, Avx2::direct_rows, detail::host::panel_columns<Avx2>};
#endif
    return {kernel, Plain::direct_rows, detail::host::panel_columns<Plain>};
}

}  // namespace

const MatmulHost& matmul_host(Type type) {
    return visit_float(type, []<class T>(TypeTag<T>) -> const MatmulHost& { return host_of<T>(); });
}

PackedHost packed_host(Type type, HostIsa isa) {
    return visit_float(type, [&]<class T>(TypeTag<T>) { return packed_host<T>(isa); });
}

DirectHost direct_host(Type type, HostIsa isa) {
    return visit_float(type, [&]<class T>(TypeTag<T>) { return direct_host<T>(isa); });
}

}  // namespace concord::detail
