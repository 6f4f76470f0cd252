// Host kernels of reduce with the built-in operators, in a separate file because they take long to compile.

#include "reduce_variants.hpp"

#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
const ReduceHost& reduce_builtin(ReduceOp op, Type type) {
    return visit_builtin(op, type, [](auto tag, auto functor) -> const ReduceHost& {
        return reduce_host<typename decltype(tag)::type, decltype(functor)>();
    });
}

}  // namespace concord::detail
