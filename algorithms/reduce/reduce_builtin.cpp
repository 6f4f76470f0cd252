// Host kernels of reduce with the built-in operators, in a separate file because they take long to compile.

#include "reduce_steps_host.hpp"
#include "reduce_variants.hpp"

#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
namespace {

template <class T, class Op>
struct ReduceBuiltin {
    static constexpr ReduceHost kernels = reduce_kernels<T, Op>(&reduce_steps<Wrapping<T>, SelectedOp>);
};

}  // namespace

const ReduceHost& reduce_builtin(ReduceOp op, Type type) {
    return visit_builtin(op, type, [](auto tag, auto functor) -> const ReduceHost& {
        return ReduceBuiltin<typename decltype(tag)::type, decltype(functor)>::kernels;
    });
}

}  // namespace concord::detail
