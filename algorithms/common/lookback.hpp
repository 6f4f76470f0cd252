#pragma once
/// The host side of decoupled look-back: the memory in which tiles tell one another their totals. See
/// lookback.cu.

#include <concord/variant.hpp>

namespace concord::detail {

/// Tiles of one level whose totals make one total of the level above.
inline constexpr u64 lookback_fan = 16;
inline constexpr u64 lookback_head = 16;  ///< words ahead of the totals

/// Totals of all levels above `tiles` tiles.
constexpr u64 lookback_totals(u64 tiles) {
    u64 totals = 0;
    for (; tiles > 1; tiles = divide_up(tiles, lookback_fan))
        totals += tiles;
    return totals;
}

/// A stream's workspace for a launch of `tiles` tiles with totals of `value_bytes` bytes; keep it until the launch is
/// enqueued.
struct Lookback {
    Lookback(Stream& stream, u64 tiles, u32 value_bytes) {
        const u64 words = lookback_head + lookback_totals(tiles) * (value_bytes <= 4 ? 1 : 2);
        buffer = stream.workspace(words * sizeof(u64));
        view = {buffer.get(), 0, words, Type::u64};
    }
    std::shared_ptr<Buffer> buffer;
    View view;
};

}  // namespace concord::detail
