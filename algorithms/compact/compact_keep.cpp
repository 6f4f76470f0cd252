#include <concord/compact_keep.hpp>

#include <string>

namespace concord {
namespace {

constexpr std::string_view names[] = {"even", "odd", "nonzero", "positive", "greater", "less"};
static_assert(std::size(names) == std::size(all_keep_rules));

std::string body(KeepRule rule, const std::string& t) {
    switch (rule) {
        case KeepRule::even:
            return "(x & 1) == 0";
        case KeepRule::odd:
            return "(x & 1) != 0";
        case KeepRule::nonzero:
            return "x != (" + t + ")0";
        case KeepRule::positive:
            return "x > (" + t + ")0";
        case KeepRule::greater:
            return "x > (" + t + ")limit";
        default:
            return "x < (" + t + ")limit";
    }
}

Operator make(KeepRule rule, Type type) {
    const std::string t(name_of(type));
    Operator op;
    op.name = name_of(rule);
    op.result = Type::i32;
    op.arguments = {type};
    std::string parameters = t + " x";
    if (detail::has_operand(rule)) {
        op.bound = {detail::visit_type(type, [](auto tag) {
            return type_of<detail::host::keep::Operand<typename decltype(tag)::type>>();
        })};
        parameters.append(", ").append(name_of(op.bound.front())).append(" limit");
    }
    op.text = "i32 concord_function(" + parameters + ") { return " + body(rule, t) + " ? 1 : 0; }";
    op.file = "builtin";
    op.line = 1;
    return detail::finish(std::move(op));
}

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

const Operator& detail::builtin(KeepRule rule, Type type) {
    static const auto table = [] {
        std::array<std::array<Operator, all_types.size()>, std::size(names)> made;
        for (const KeepRule r : all_keep_rules) {
            for (const Type t : all_types)
                if (!is_storage(t))
                    made[static_cast<std::size_t>(r)][static_cast<std::size_t>(t)] = make(r, t);
        }
        return made;
    }();
    return table[static_cast<std::size_t>(rule)][static_cast<std::size_t>(type)];
}

}  // namespace concord
