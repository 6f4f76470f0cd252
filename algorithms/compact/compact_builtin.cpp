// The host kernels of the built-in predicates.

#include "compact_table.hpp"

#include <concord/compact_textbook.hpp>

namespace concord::detail {
namespace {

template <class T>
const CompactHost* host_of(KeepRule rule) {
    switch (rule) {
        case KeepRule::nonzero:
            return &CompactTextbook<T, detail::host::keep::Nonzero>::kernels;
        case KeepRule::positive:
            return &CompactTextbook<T, detail::host::keep::Positive>::kernels;
        case KeepRule::greater:
            return &CompactTextbook<T, detail::host::keep::Greater<T>>::kernels;
        case KeepRule::less:
            return &CompactTextbook<T, detail::host::keep::Less<T>>::kernels;
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (rule == KeepRule::even) return &CompactTextbook<T, detail::host::keep::Even>::kernels;
        return &CompactTextbook<T, detail::host::keep::Odd>::kernels;
    }
    return nullptr;
}

}  // namespace

const CompactHost* compact_builtin_host(KeepRule rule, Type type) {
    return visit_type(type, [&](auto tag) { return host_of<typename decltype(tag)::type>(rule); });
}

}  // namespace concord::detail
