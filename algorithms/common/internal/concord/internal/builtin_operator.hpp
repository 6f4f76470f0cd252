#pragma once
// Host kernels of the built-in operators: which kernels are instantiated, and their arguments.

#include <concord/detail/canonical.hpp>
#include <concord/operators.hpp>
#include <concord/span.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace concord::detail {

// The type whose kernels a type's sum and product use. Wrapping arithmetic is the same for signed and unsigned
// integers.
template <class T>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

// The operator that its value selects. Kernels that take it are compiled once for each Wrapping type.
struct SelectedOp {
    ReduceOp op;
    bool is_signed;  // whether elements are signed integers

    // Conditions, not a switch: g++ moves them out of loops.
    template <class T>
    [[gnu::always_inline]] T operator()(T a, T b) const {
        if (op == ReduceOp::sum) return ops::Sum{}(a, b);
        if (op == ReduceOp::product) return ops::Product{}(a, b);
        if constexpr (std::is_integral_v<T>) {
            // Signed integers have the order of unsigned ones with the other sign bit.
            const T sign = is_signed ? static_cast<T>(T{1} << (8 * sizeof(T) - 1)) : T{0};
            a ^= sign;
            b ^= sign;
            const bool b_wins = (op == ReduceOp::min) == (b < a);
            return static_cast<T>((b_wins ? b : a) ^ sign);
        } else {
            if (op == ReduceOp::min) return ops::Min{}(a, b);
            return ops::Max{}(a, b);
        }
    }
};

// The bound values of a built-in operator: the bytes of its SelectedOp, padded to the size that other languages expect.
// Kernels of one operator ignore them.
ValueBytes builtin_values(ReduceOp op, Type type);

// The bytes of identity_of().
ValueBytes builtin_identity(ReduceOp op, Type type);

// The bytes of a value of `type`. A NaN is canonical.
inline std::array<std::byte, 8> canonical_bytes(const ValueBytes& value, Type type) {
    std::array<std::byte, 8> bytes{};
    std::memcpy(bytes.data(), value.bytes.data(), std::min(bytes.size(), value.bytes.size()));
    if (is_float(type)) {
        visit_float(type, [&](auto tag) {
            typename decltype(tag)::type x;
            std::memcpy(&x, bytes.data(), sizeof x);
            x = canonical(x);
            std::memcpy(bytes.data(), &x, sizeof x);
        });
    }
    return bytes;
}

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
