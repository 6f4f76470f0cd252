#pragma once
// Host side of decoupled look-back: the workspace through which tiles exchange their totals. See lookback.cu.

#include <concord/stream_memory.hpp>
#include <concord/variant.hpp>

namespace concord::detail {

// Groups of 256 work-items per unit for which the compiler limits registers in kernels that compute an expression: more
// of them leave fewer registers than expressions need.
inline constexpr u64 expression_resident = 4;

inline constexpr u64 lookback_fan = 16;   // children of a node
inline constexpr u64 lookback_head = 16;  // words before the first total

// Number of totals on all levels of a tree over `tiles` tiles.
constexpr u64 lookback_totals(u64 tiles) {
    u64 totals = 0;
    for (; tiles > 1; tiles = divide_up(tiles, lookback_fan))
        totals += tiles;
    return totals;
}

// The stream's workspace for a launch over `tiles` tiles with totals of `value_bytes` bytes. Keep it until the launch
// is enqueued.
struct Lookback {
    Lookback(Stream& stream, u64 tiles, u32 value_bytes) {
        const u64 words = lookback_head + lookback_totals(tiles) * (value_bytes <= 4 ? 1 : 2);
        buffer = workspace(stream, words * sizeof(u64));
        view = {buffer.get(), 0, words, Type::u64};
    }
    std::shared_ptr<Buffer> buffer;
    View view;
};

}  // namespace concord::detail
