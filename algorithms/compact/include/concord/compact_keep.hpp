#pragma once
/// @file
/// The built-in predicates of compact and partition.
///
/// Comparisons with NaN are false: positive, greater and less drop NaN, nonzero keeps it and drops the zeros of both
/// signs.

#include <concord/error.hpp>
#include <concord/function.hpp>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace concord {

/// Built-in predicate.
enum class KeepRule : u8 {
    even,      ///< x is even; integers only
    odd,       ///< x is odd; integers only
    nonzero,   ///< x != 0
    positive,  ///< x > 0
    greater,   ///< x > operand
    less       ///< x < operand
};
/// All built-in predicates.
inline constexpr KeepRule all_keep_rules[] = {KeepRule::even,     KeepRule::odd,     KeepRule::nonzero,
                                              KeepRule::positive, KeepRule::greater, KeepRule::less};

/// Name of a built-in predicate, such as "even".
std::string_view name_of(KeepRule rule);
/// The built-in predicate of that name; nothing if there is none.
std::optional<KeepRule> keep_rule_named(std::string_view name);

namespace detail {
// Whether the rule compares with an operand: greater and less do.
constexpr bool has_operand(KeepRule rule) {
    return rule == KeepRule::greater || rule == KeepRule::less;
}
}  // namespace detail

/// Built-in predicate with its operand, such as KeepRule::even or Keep::greater(0.5f).
struct Keep {
    KeepRule rule = KeepRule::nonzero;      ///< the predicate
    std::optional<Type> operand_type;       ///< type of the operand; nothing for a rule without one
    std::array<std::byte, 8> operand = {};  ///< the operand's bytes, from the front

    /// A rule without operand. Implicit, so that a call can pass a KeepRule.
    constexpr Keep(KeepRule rule)
        : rule(rule) {}  // NOLINT(google-explicit-constructor): a rule is a predicate
    /// Keeps x > limit. limit has the elements' type.
    template <class T>
    static Keep greater(T limit) {
        return Keep(KeepRule::greater, limit);
    }
    /// Keeps x < limit. limit has the elements' type.
    template <class T>
    static Keep less(T limit) {
        return Keep(KeepRule::less, limit);
    }
    /// A rule with an operand. Throws invalid_argument if the rule has none.
    template <class T>
    Keep(KeepRule rule, T limit) : rule(rule), operand_type(type_of<T>()) {
        if (!detail::has_operand(rule))
            throw Error(ErrorCode::invalid_argument, "Keep",
                        "rule '" + std::string(name_of(rule)) + "' has no operand; pass the rule alone");
        std::memcpy(operand.data(), &limit, sizeof limit);
    }
};

}  // namespace concord
