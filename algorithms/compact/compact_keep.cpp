#include <concord/compact_keep.hpp>

namespace concord {
namespace {

constexpr std::string_view names[] = {"even", "odd", "nonzero", "positive", "greater", "less"};
static_assert(std::size(names) == std::size(all_keep_rules));

}  // namespace

std::string_view name_of(KeepRule rule) {
    return names[static_cast<std::size_t>(rule)];
}

std::optional<KeepRule> keep_rule_named(std::string_view name) {
    for (const KeepRule rule : all_keep_rules) {
        if (name_of(rule) == name) return rule;
    }
    return std::nullopt;
}

}  // namespace concord
