// Host kernels of reduce over axes with the built-in operators, in a separate file because they take long to compile.

#include "reduce_variants.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/reduce_axes.hpp>

namespace concord::detail {
const HostKernel& reduce_lines_builtin(ReduceOp op, Type type) {
    return visit_few_builtins(op, type, [](auto tag, auto functor) -> const HostKernel& {
        return reduce_lines_host<typename decltype(tag)::type, decltype(functor)>();
    });
}

}  // namespace concord::detail
