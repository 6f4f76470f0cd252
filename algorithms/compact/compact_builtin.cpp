// The built-in predicates in the host dialect. Predicates of integers whose flags do not depend on the sign are
// compiled by element size.

#include "compact_variants.hpp"

#include <concord/internal/builtin_operator.hpp>

namespace concord::detail {
namespace {

template <class T>
const HostKernel* host_of(KeepRule rule) {
    namespace keep = host::keep;
    constexpr bool is_integer = std::is_integral_v<T>;
    using U = Wrapping<T>;
    switch (rule) {
        case KeepRule::nonzero:
            return &compact_keep<U, keep::Nonzero>;
        case KeepRule::positive:
            return &compact_keep<T, std::conditional_t<std::is_unsigned_v<T>, keep::Nonzero, keep::Positive>>;
        case KeepRule::greater:
            return &compact_keep<T, keep::Greater<T>>;
        case KeepRule::less:
            return &compact_keep<T, keep::Less<T>>;
        case KeepRule::even:
        case KeepRule::odd:
            if constexpr (is_integer)
                return rule == KeepRule::even ? &compact_keep<U, keep::Even> : &compact_keep<U, keep::Odd>;
            break;
    }
    return nullptr;
}

}  // namespace

const HostKernel* compact_builtin_host(KeepRule rule, Type type) {
    return visit_type(type, [&](auto tag) { return host_of<typename decltype(tag)::type>(rule); });
}

}  // namespace concord::detail
