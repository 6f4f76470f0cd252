// Host kernels of reduce with the built-in operators, in a separate file because they take long to compile.

#include "reduce_table.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/reduce_textbook.hpp>

namespace concord::detail {
namespace {

template <class T, class Op>
struct ReduceBuiltin {
    static constexpr ReduceHost kernels =
        with_textbook<Wrapping<T>, SelectedOp>(ReduceProduction<T, Op>::kernels);
};

}  // namespace

const ReduceHost& reduce_builtin(ReduceOp op, Type type) {
    return visit_builtin(op, type, [](auto tag, auto functor) -> const ReduceHost& {
        return ReduceBuiltin<typename decltype(tag)::type, decltype(functor)>::kernels;
    });
}

}  // namespace concord::detail
