// The host kernels of the built-in predicates.

#include "compact_table.hpp"

namespace concord::detail {
namespace {

template <class T>
const CompactHost* host_of(KeepRule rule) {
    switch (rule) {
        case KeepRule::nonzero:
            return &compact_host<T, detail::host::keep::Nonzero>();
        case KeepRule::positive:
            return &compact_host<T, detail::host::keep::Positive>();
        case KeepRule::greater:
            return &compact_host<T, detail::host::keep::Greater<T>>();
        case KeepRule::less:
            return &compact_host<T, detail::host::keep::Less<T>>();
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (rule == KeepRule::even) return &compact_host<T, detail::host::keep::Even>();
        return &compact_host<T, detail::host::keep::Odd>();
    }
    return nullptr;
}

}  // namespace

const CompactHost* compact_builtin_host(KeepRule rule, Type type) {
    return visit(type, [&](auto tag) { return host_of<typename decltype(tag)::type>(rule); });
}

}  // namespace concord::detail
