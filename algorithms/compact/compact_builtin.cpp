// The built-in predicates. Kernels of the host whose flags do not depend on the sign are compiled by element size.

#include "compact_variants.hpp"

#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
namespace {

// even and odd return a bit: g++ does not vectorise loops over them if they return a comparison.
template <class T>
CONCORD_BUILTIN_OF((T), u8, even, (T x), return u8(~x & 1);)
template <class T>
CONCORD_BUILTIN_OF((T), u8, odd, (T x), return u8(x & 1);)
template <class T>
CONCORD_BUILTIN_OF((T), i32, nonzero, (T x), return x != T(0) ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), i32, positive, (T x), return x > T(0) ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), i32, greater, (T x, T limit), return x > limit ? 1 : 0;)
template <class T>
CONCORD_BUILTIN_OF((T), i32, less, (T x, T limit), return x < limit ? 1 : 0;)

// The predicate F for elements of T, with host kernels of U. B: types of bound values.
template <template <class> class F, class T, class U = T, class... B>
CompactBuiltin builtin() {
    return {Function<F<T>, B...>::erased(), &compact_keep<U, typename Function<F<U>, B...>::Host>};
}

}  // namespace

CompactBuiltin compact_builtin(KeepRule rule, Type type) {
    return visit_type(type, [&](auto tag) -> CompactBuiltin {
        using T = typename decltype(tag)::type;
        using U = Wrapping<T>;
        if constexpr (std::is_integral_v<T>) {
            if (rule == KeepRule::even) return builtin<even_function, T, U>();
            if (rule == KeepRule::odd) return builtin<odd_function, T, U>();
        }
        if (rule == KeepRule::positive && !std::is_unsigned_v<T>) return builtin<positive_function, T>();
        if (rule == KeepRule::greater) return builtin<greater_function, T, T, T>();
        if (rule == KeepRule::less) return builtin<less_function, T, T, T>();
        return builtin<nonzero_function, T, U>();
    });
}

}  // namespace concord::detail
