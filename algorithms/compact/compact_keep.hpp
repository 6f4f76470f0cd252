#pragma once
/// Which elements compact and partition keep: the built-in predicates, as text for the JIT compilers and as functors
/// for the host.

#include <concord/error.hpp>
#include <concord/function.hpp>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace concord {

/// The built-in predicates. even and odd are for integers. Comparisons with NaN are false, so that positive, greater
/// and less drop NaN; nonzero drops the zeros of both signs and keeps NaN.
enum class KeepRule : u8 { even, odd, nonzero, positive, greater, less };
inline constexpr KeepRule all_keep_rules[] = {KeepRule::even,     KeepRule::odd,     KeepRule::nonzero,
                                              KeepRule::positive, KeepRule::greater, KeepRule::less};

std::string_view name_of(KeepRule rule);
std::optional<KeepRule> keep_rule_named(std::string_view name);
/// Whether the rule compares with an operand: greater and less do.
constexpr bool has_operand(KeepRule rule) {
    return rule == KeepRule::greater || rule == KeepRule::less;
}

/// A built-in predicate with its operand: KeepRule::even, Keep::greater(0.5f).
struct Keep {
    KeepRule rule = KeepRule::nonzero;
    std::optional<Type> operand_type;       ///< nothing: no operand
    std::array<std::byte, 8> operand = {};  ///< its bytes, at the front

    /// A rule without an operand.
    constexpr Keep(KeepRule rule)
        : rule(rule) {}  // NOLINT(google-explicit-constructor): a rule is a predicate
    /// x > limit. The limit has the elements' type.
    template <class T>
    static Keep greater(T limit) {
        return Keep(KeepRule::greater, limit);
    }
    /// x < limit.
    template <class T>
    static Keep less(T limit) {
        return Keep(KeepRule::less, limit);
    }
    /// A rule with an operand; throws invalid_argument if it takes none.
    template <class T>
    Keep(KeepRule rule, T limit) : rule(rule), operand_type(type_of<T>()) {
        if (!has_operand(rule))
            throw Error(ErrorCode::invalid_argument, "Keep",
                        std::string(name_of(rule)) + " takes no operand");
        std::memcpy(operand.data(), &limit, sizeof limit);
    }
};

namespace detail {
/// The predicate's source for elements of `type`, an integer type for even and odd. The same object at every call.
const Operator& builtin(KeepRule rule, Type type);
}  // namespace detail

namespace detail::host::keep {

/// What an operand is bound as: of small integers a 32-bit one.
template <class T>
using Operand = std::conditional_t<(std::is_integral_v<T> && sizeof(T) < 4),
                                   std::conditional_t<std::is_signed_v<T>, i32, u32>, T>;

struct Even {
    template <class T>
    bool operator()(T x) const {
        return (x & 1) == 0;
    }
};
struct Odd {
    template <class T>
    bool operator()(T x) const {
        return (x & 1) != 0;
    }
};
struct Nonzero {
    template <class T>
    bool operator()(T x) const {
        return x != T(0);
    }
};
struct Positive {
    template <class T>
    bool operator()(T x) const {
        return x > T(0);
    }
};
template <class T>
struct Greater {
    Operand<T> limit;
    bool operator()(T x) const { return x > static_cast<T>(limit); }
};
template <class T>
struct Less {
    Operand<T> limit;
    bool operator()(T x) const { return x < static_cast<T>(limit); }
};

}  // namespace detail::host::keep
}  // namespace concord
