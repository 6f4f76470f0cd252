// Host kernels of segmented scan with the built-in operators, in a separate file because they take long to compile.

#include <concord/internal/builtin_operator.hpp>
#include <concord/segmented_scan.hpp>

namespace concord::detail {
const HostKernel& segmented_scan_builtin(ReduceOp op, Type type);
const HostKernel& segmented_scan_builtin(ReduceOp op, Type type) {
    return visit_few_builtins(op, type, [](auto tag, auto functor) -> const HostKernel& {
        using T = typename decltype(tag)::type;
        using Op = decltype(functor);
        constexpr bool rounds =
            std::is_floating_point_v<T> && (std::is_same_v<Op, ops::Sum> || std::is_same_v<Op, ops::Product>);
        return segmented_scan_host<T, Op, !rounds>();
    });
}

}  // namespace concord::detail
