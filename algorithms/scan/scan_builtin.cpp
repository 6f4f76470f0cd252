// Host kernels of scan with the built-in operators, in a separate file because they take long to compile.

#include "scan_steps_host.hpp"
#include "scan_variants.hpp"

#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
namespace {

// Totals of narrow integers read memory as fast with AVX2 as with AVX-512.
template <class T, class Op>
constexpr HostKernel totals_kernel() {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 8) {
        HostKernel kernel = with_version<&detail::host::scan_totals<T, Op>, HostIsa::avx2>(
            plain_host_kernel<&detail::host::scan_totals<T, Op>>());
        kernel.entry(HostIsa::avx512) = kernel.entry(HostIsa::avx2);
        return kernel;
    } else {
        return host_kernel<&detail::host::scan_totals<T, Op>>();
    }
}

template <class T, class Op>
struct ScanBuiltin {
    static constexpr ScanHost kernels{.serial = plain_host_kernel<&detail::host::scan_serial<T, Op>>(),
                                      .partitioned = host_kernel<&detail::host::scan_partitioned<T, Op>>(),
                                      .totals = totals_kernel<T, Op>(),
                                      .steps = &scan_steps<Wrapping<T>, SelectedOp>};
};

}  // namespace

const ScanHost& scan_builtin(ReduceOp op, Type type) {
    return visit_builtin(op, type, [](auto tag, auto functor) -> const ScanHost& {
        return ScanBuiltin<typename decltype(tag)::type, decltype(functor)>::kernels;
    });
}

}  // namespace concord::detail
