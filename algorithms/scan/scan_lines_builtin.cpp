// Host kernels of scan over an axis with the built-in operators, in a separate file because they take long to compile.

#include "scan_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/scan_axes.hpp>

namespace concord::detail {

const HostKernel& scan_lines_builtin(ReduceOp op, Type type) {
    return visit_few_builtins(op, type, [](auto tag, auto functor) -> const HostKernel& {
        return scan_lines_host<typename decltype(tag)::type, decltype(functor)>();
    });
}

}  // namespace concord::detail
