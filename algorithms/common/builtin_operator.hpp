#pragma once
// Host kernels of the built-in operators: which kernels are instantiated, and their arguments.

#include <concord/operators.hpp>
#include <concord/span.hpp>

#include <type_traits>

namespace concord::detail {

// The type whose kernels a type's sum and product use. Wrapping arithmetic is the same for signed and unsigned
// integers.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// The operator that its value selects. Kernels that need no speed are instantiated with it once for each Wrapping type.
struct SelectedOp {
    ReduceOp op;
    bool is_signed;  // whether elements are signed integers

    template <class T>
    T operator()(T a, T b) const {
        if constexpr (std::is_integral_v<T>) {
            using Signed = std::make_signed_t<T>;
            if (is_signed)
                return ops::visit(op, [&](auto f) {
                    return static_cast<T>(f(static_cast<Signed>(a), static_cast<Signed>(b)));
                });
        }
        return ops::visit(op, [&](auto f) { return f(a, b); });
    }
};

// The bound values of a built-in operator: the bytes of its SelectedOp, padded to the size that other languages expect.
// Kernels of one operator ignore them.
ValueBytes builtin_values(ReduceOp op, Type type);

// The bytes of identity_of().
ValueBytes builtin_identity(ReduceOp op, Type type);

// Calls f(TypeTag<T>{}, functor) with the type and operator whose kernels compute `op` for elements of `type`.
template <class F>
decltype(auto) visit_builtin(ReduceOp op, Type type, F&& f) {
    return visit_type(type, [&](auto tag) -> decltype(auto) {
        using T = typename decltype(tag)::type;
        switch (op) {
            case ReduceOp::sum:
                return f(TypeTag<Wrapping<T>>{}, ops::Sum{});
            case ReduceOp::product:
                return f(TypeTag<Wrapping<T>>{}, ops::Product{});
            case ReduceOp::min:
                return f(tag, ops::Min{});
            default:
                return f(tag, ops::Max{});
        }
    });
}

}  // namespace concord::detail
