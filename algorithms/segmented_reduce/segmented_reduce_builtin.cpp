// Host kernels of segmented reduce with the built-in operators, in a separate file because they take long to compile.

#include <concord/internal/builtin_operator.hpp>
#include <concord/segmented_reduce.hpp>

namespace concord::detail {
const HostKernel& segmented_reduce_builtin(ReduceOp op, Type type);
const HostKernel& segmented_reduce_builtin(ReduceOp op, Type type) {
    return visit_few_builtins(op, type, [](auto tag, auto functor) -> const HostKernel& {
        return segmented_reduce_host<typename decltype(tag)::type, decltype(functor)>();
    });
}

}  // namespace concord::detail
