#pragma once
/// @file
/// Counts along x, y and z: the extents of an index space, the groups of a launch.

#include <concord/error.hpp>
#include <concord/types.hpp>

#include <array>
#include <concepts>
#include <string>

namespace concord {

/// The extents of an index space along x, y and z. They are counts: negative ones throw invalid_argument.
template <u32 Rank>
class Extents {
  public:
    /// One extent per dimension.
    template <std::integral... N>
    requires(sizeof...(N) == Rank) constexpr Extents(N... n) : values_{as_extent(n)...} {
        for (u32 dimension = Rank; dimension < values_.size(); ++dimension)
            values_[dimension] = 1;
    }
    /// The extents along x, y and z; 1 beyond the rank.
    constexpr const std::array<u64, 3>& values() const { return values_; }

  private:
    template <std::integral N>
    static constexpr u64 as_extent(N n) {
        if constexpr (std::is_signed_v<N>) {
            if (n < 0)
                throw Error(ErrorCode::invalid_argument, "Extents",
                            "negative extent, got " + std::to_string(n));
        }
        return static_cast<u64>(n);
    }
    std::array<u64, 3> values_{};
};

/// The extents of an index space along x, y and z whose number of dimensions is known at run time. They are counts:
/// negative ones throw invalid_argument.
class AnyExtents {
  public:
    /// One extent per dimension: one, two or three.
    template <std::integral... N>
    requires(sizeof...(N) >= 1 && sizeof...(N) <= 3) constexpr AnyExtents(N... n)
        : rank_(sizeof...(N)), values_(Extents<sizeof...(N)>(n...).values()) {}

    /// The number of dimensions.
    constexpr u32 rank() const { return rank_; }
    /// The extents along x, y and z; 1 beyond the rank.
    constexpr const std::array<u64, 3>& values() const { return values_; }

  private:
    u32 rank_;
    std::array<u64, 3> values_;
};

}  // namespace concord
