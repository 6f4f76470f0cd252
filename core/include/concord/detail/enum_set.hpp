#pragma once
// Sets of values of an enumeration.

#include <concord/types.hpp>

#include <initializer_list>

namespace concord::detail {

// A set of values of an enumeration.
template <class E>
class EnumSet {
  public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<E> values) {
        for (const E value : values)
            add(value);
    }
    constexpr void add(E value) { bits_ |= bit(value); }
    constexpr bool has(E value) const { return (bits_ & bit(value)) != 0; }
    bool operator==(const EnumSet&) const = default;

  private:
    static constexpr u32 bit(E value) { return u32{1} << static_cast<u32>(value); }
    u32 bits_ = 0;
};

}  // namespace concord::detail
