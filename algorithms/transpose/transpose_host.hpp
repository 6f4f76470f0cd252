#pragma once
// Transpose in the host dialect. Parallel sources: transpose_steps.kernel, transpose_wide.cl; they describe
// phases and traffic. B: unsigned integer of the elements' size.

#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace concord::detail::host {

// --- Textbook steps -------------------------------------------------------------------------------------------------

template <class B>
void transpose_serial(const Group& /*group*/, const B* in, B* out, u64 rows, u64 columns, u64 in_pitch,
                      u64 out_pitch) {
    if (in == out) {
        for (u64 r = 0; r < rows; ++r) {
            for (u64 c = r + 1; c < columns; ++c)
                std::swap(out[r * out_pitch + c], out[c * out_pitch + r]);
        }
        return;
    }
    for (u64 r = 0; r < rows; ++r) {
        for (u64 c = 0; c < columns; ++c)
            out[c * out_pitch + r] = in[r * in_pitch + c];
    }
}

// A group transposes `strip` rows of in.
template <class B>
void transpose_naive(const Group& group, const B* in, B* out, u64 rows, u64 columns, u64 in_pitch,
                     u64 out_pitch, u64 strip) {
    const u64 end = std::min(rows, (group.x + 1) * strip);
    for (u64 r = group.x * strip; r < end; ++r) {
        for (u64 c = 0; c < columns; ++c)
            out[c * out_pitch + r] = in[r * in_pitch + c];
    }
}

// A group transposes `count` tiles along the rows of in.
template <class B>
void transpose_tiled(const Group& group, const B* in, B* out, u64 rows, u64 columns, u64 in_pitch,
                     u64 out_pitch, u64 tiles, u64 tile_columns, u64 count) {
    constexpr u64 tile = 32;
    const bool exchange = in == out;
    const u64 end = std::min(tiles, (group.x + 1) * count);
    for (u64 t = group.x * count; t < end; ++t) {
        const u64 row = t / tile_columns * tile, column = t % tile_columns * tile;
        if (exchange && column < row) continue;
        const u64 row_end = std::min(rows, row + tile), column_end = std::min(columns, column + tile);
        for (u64 r = row; r < row_end; ++r) {
            if (exchange) {
                for (u64 c = std::max(column, r + 1); c < column_end; ++c)
                    std::swap(out[r * out_pitch + c], out[c * out_pitch + r]);
            } else {
                for (u64 c = column; c < column_end; ++c)
                    out[c * out_pitch + r] = in[r * in_pitch + c];
            }
        }
    }
}

// --- blocked --------------------------------------------------------------------------------------------------------

// The tiles of a call, numbered down the columns of in, and the two stages of a group, which lie one after the
// other in its local memory. The first stage holds a tile, the second one its transpose. A cache line of free
// memory precedes the rows of the second stage.
struct Tiling {
    u64 rows = 0, columns = 0;         // elements of a tile
    u64 from_pitch = 0, to_pitch = 0;  // elements from row to row in the stages
    u64 tiles = 0, tile_rows = 0;      // tiles in all, and down a column of the matrix
    u64 to_begin = 0, elements = 0;    // element where the second stage begins, and where it ends
    u32 from_whole = 0, to_whole = 0;  // 1: the rows of a tile are contiguous in in, in out
};

// Rows of a block, which is BYTES wide. Registers transpose it.
template <class B, u64 BYTES = 16>
inline constexpr u64 block_side = BYTES / sizeof(B);

template <class B, u64 BYTES>
struct Vector {
    typedef B type __attribute__((vector_size(BYTES)));
};

// Interleave the lower, or the upper, halves of two vectors element by element.
template <class V, std::size_t... I>
[[gnu::always_inline]] inline V interleave_low(V a, V b, std::index_sequence<I...>) {
    constexpr std::size_t count = sizeof...(I);
    return __builtin_shufflevector(a, b, (I % 2 * count + I / 2)...);
}
template <class V, std::size_t... I>
[[gnu::always_inline]] inline V interleave_high(V a, V b, std::index_sequence<I...>) {
    constexpr std::size_t count = sizeof...(I);
    return __builtin_shufflevector(a, b, (I % 2 * count + count / 2 + I / 2)...);
}

// Whether stores go through the cache.
enum class TransposeStores : u8 { cached, non_temporal };

#if defined(__x86_64__)
// Inlined only into kernels for AVX-512.
template <class V>
[[gnu::target("avx512f")]] inline void stream_line(void* to, const V& v) {
    __m512i line;
    std::memcpy(&line, &v, sizeof line);
    _mm512_stream_si512(static_cast<__m512i*>(to), line);
}
#endif

// Stores a vector. Vectors of less than a cache line go through the cache.
template <TransposeStores STORES, class V>
[[gnu::always_inline]] inline void store_vector(void* to, const V& v) {
#if defined(__x86_64__)
    if constexpr (STORES == TransposeStores::non_temporal && sizeof(V) == 64) {
        stream_line(to, v);
        return;
    }
#endif
    std::memcpy(to, &v, sizeof v);
}

// Transposes a block in log2(N) rounds. A round interleaves row k with row k + N/2, which rotates the bits of an
// element's place (row, column) by one. All rounds rotate them by half their length.
template <class B, u64 BYTES = 16, TransposeStores STORES = TransposeStores::cached>
[[gnu::always_inline]] inline void turn_block(const B* from, u64 from_pitch, B* to, u64 to_pitch) {
    constexpr int side = block_side<B, BYTES>;
    using V = typename Vector<B, BYTES>::type;
    constexpr auto lanes = std::make_index_sequence<side>{};
    V row[side], next[side];
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k)
        std::memcpy(&row[k], from + static_cast<u64>(k) * from_pitch, BYTES);
#pragma GCC unroll 4
    for (int round = 1; round < side; round *= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < side / 2; ++k) {
            next[2 * k] = interleave_low(row[k], row[k + side / 2], lanes);
            next[2 * k + 1] = interleave_high(row[k], row[k + side / 2], lanes);
        }
#pragma GCC unroll 16
        for (int k = 0; k < side; ++k)
            row[k] = next[k];
    }
#pragma GCC unroll 16
    for (int k = 0; k < side; ++k)
        store_vector<STORES>(to + static_cast<u64>(k) * to_pitch, row[k]);
}

// Prefetches the rows of the next tile a few lines at a time while the current tile is transposed. Hardware
// prefetchers do not follow from row to row.
struct Ahead {
    const char* row = nullptr;
    u64 rows = 0, row_bytes = 0, pitch_bytes = 0, at = 0;

    [[gnu::always_inline]] void ask(u64 bytes) {
        auto line = [this](u64 byte) { return reinterpret_cast<std::uintptr_t>(row + byte) / 64; };
        for (u64 asked = 0; asked < bytes && rows != 0; asked += 64) {
            __builtin_prefetch(row + at, 0, 2);
            at += 64;
            if (line(at) <= line(row_bytes - 1)) continue;
            at = 0;
            row += pitch_bytes;
            --rows;
        }
    }
};

// Transposes rows x columns elements from one stage to the other in whole blocks. Elements past the last row or
// column move along. Where rows of `to` are contiguous, they are overwritten, because the last blocks of a row come
// first.
template <class B>
[[gnu::always_inline]] inline void turn_tile(const B* from, u64 from_pitch, B* to, u64 to_pitch, u64 rows,
                                             u64 columns, Ahead& ahead) {
    constexpr u64 side = block_side<B>;
    for (u64 c = 0; c < columns; c += side) {
        for (u64 r = (rows + side - 1) / side * side; r > 0;) {
            r -= side;
            turn_block(from + r * from_pitch + c, from_pitch, to + c * to_pitch + r, to_pitch);
            ahead.ask(side * 16);
        }
    }
}

// Whether the rows of a tile follow one another in the matrix without gaps.
enum class RowLayout : u8 { strided, contiguous };

constexpr RowLayout layout_of(u32 whole) {
    return whole != 0 ? RowLayout::contiguous : RowLayout::strided;
}

template <class B>
[[gnu::always_inline]] inline void load_tile(const B* in, u64 pitch, B* stage, u64 stage_pitch, u64 rows,
                                             u64 columns, RowLayout layout) {
    if (layout == RowLayout::contiguous) {
        std::memcpy(stage, in, rows * columns * sizeof(B));
        return;
    }
    for (u64 r = 0; r < rows; ++r)
        std::memcpy(stage + r * stage_pitch, in + r * pitch, columns * sizeof(B));
}

// Elements from the last line boundary at or before `at` to `at`.
template <class B>
[[gnu::always_inline]] inline u64 past_line(const B* at) {
    return reinterpret_cast<std::uintptr_t>(at) % 64 / sizeof(B);
}

// How a tile is stored.
struct TileStore {
    RowLayout layout = RowLayout::strided;
    bool non_temporal = false;  // store whole lines past the cache
    bool first = true;          // no tile precedes this one along its rows of out
    bool last = true;           // no tile follows this one along its rows of out
};

// Non-temporal stores write whole lines only, except for the last tile along a row of out. The rest of a row waits
// in the stage, ahead of the place of the row's next piece.
template <class B>
[[gnu::always_inline]] inline void store_tile(B* out, u64 pitch, B* stage, u64 stage_pitch, u64 rows,
                                              u64 columns, const TileStore& how) {
    if (how.layout == RowLayout::contiguous) {
        columns *= rows;
        rows = 1;
    }
    for (u64 r = 0; r < rows; ++r) {
        B *to = out + r * pitch, *row = stage + r * stage_pitch;
        if (!how.non_temporal) {
            std::memcpy(to, row, columns * sizeof(B));
            continue;
        }
        const u64 waited = how.first ? 0 : past_line(to), waits = how.last ? 0 : past_line(to + columns);
        stream_store(to - waited, row - waited, (waited + columns - waits) * sizeof(B));
        std::memmove(row - waits, row + columns - waits, waits * sizeof(B));
    }
}

// A group transposes `count` tiles down the columns of in. non_temporal: the host side found that the data exceeds
// the caches.
template <class B>
void transpose_blocked(const Group& group, const B* in, B* out, u64 rows, u64 columns, u64 in_pitch,
                       u64 out_pitch, u64 count, u32 non_temporal, const Tiling t) {
    auto* from = reinterpret_cast<B*>(group.local);
    B* to = from + t.to_begin;
    const u64 begin = group.x * count, end = std::min(t.tiles, begin + count);
    for (u64 tile = begin; tile < end; ++tile) {
        const u64 down = tile % t.tile_rows, r = down * t.rows, c = tile / t.tile_rows * t.columns;
        const u64 height = std::min(t.rows, rows - r), width = std::min(t.columns, columns - c);
        Ahead ahead;
        if (non_temporal != 0 && tile + 1 < end) {
            const u64 next_r = (tile + 1) % t.tile_rows * t.rows,
                      next_c = (tile + 1) / t.tile_rows * t.columns;
            ahead.row = reinterpret_cast<const char*>(in + next_r * in_pitch + next_c);
            ahead.rows = std::min(t.rows, rows - next_r);
            ahead.row_bytes = std::min(t.columns, columns - next_c) * sizeof(B);
            ahead.pitch_bytes = in_pitch * sizeof(B);
        }
        load_tile(in + r * in_pitch + c, in_pitch, from, t.from_pitch, height, width,
                  layout_of(t.from_whole));
        turn_tile(from, t.from_pitch, to, t.to_pitch, height, width, ahead);
        const bool whole = t.to_whole != 0;
        store_tile(out + c * out_pitch + r, out_pitch, to, t.to_pitch, width, height,
                   {.layout = layout_of(t.to_whole),
                    .non_temporal = non_temporal != 0,
                    .first = tile == begin || (down == 0 && !whole),
                    .last = tile + 1 == end || (down + 1 == t.tile_rows && !whole)});
    }
    if (non_temporal != 0) stream_fence();
}

// Direct: from in to out without stages. Blocks of whole cache lines are transposed in registers or, where vectors are
// shorter than a line, in the L1 cache.

// The part of the matrix per group, and the tiles that a group takes along the rows of in. A group's part ends at a
// multiple of its size, except for the last ones along a side, which are up to twice as large.
struct TransposeParts {
    u64 rows = 0, columns = 0;            // elements per group
    u64 down = 0, across = 0;             // groups down a column of in and along a row
    u64 tile_rows = 0, tile_columns = 0;  // elements of a tile
    u32 non_temporal = 0;                 // 1: non-temporal stores; out_pitch is a multiple of a cache line
};

// Transposes tiles [row, row_end) x [column, column_end). The last blocks along a side overlap the blocks before them.
template <class B, u64 BYTES, TransposeStores STORES>
[[gnu::always_inline]] inline void turn_part(const B* in, B* out, u64 in_pitch, u64 out_pitch, u64 row,
                                             u64 row_end, u64 column, u64 column_end,
                                             const TransposeParts& p) {
    constexpr u64 line = 64 / sizeof(B), side = block_side<B, BYTES>;
    // The tile at (r, c), or the first one of the next rows if c is past the last column.
    auto tile_at = [&](u64 r, u64 c) __attribute__((always_inline)) {
        if (c >= column_end) {
            r += p.tile_rows;
            c = column;
        }
        Ahead ahead;
        if (r >= row_end) return ahead;
        ahead.row = reinterpret_cast<const char*>(in + r * in_pitch + c);
        ahead.rows = std::min(p.tile_rows, row_end - r);
        ahead.row_bytes = std::min(p.tile_columns, column_end - c) * sizeof(B);
        ahead.pitch_bytes = in_pitch * sizeof(B);
        return ahead;
    };
    Ahead first = tile_at(row, column);
    first.ask(p.tile_rows * p.tile_columns * sizeof(B));
    for (u64 top = row; top < row_end; top += p.tile_rows) {
        const u64 bottom = std::min(row_end, top + p.tile_rows);
        for (u64 left = column; left < column_end; left += p.tile_columns) {
            const u64 right = std::min(column_end, left + p.tile_columns);
            Ahead ahead = tile_at(top, left + p.tile_columns);
            for (u64 c = left; c < right; c += line) {
                const u64 x = std::min(c, column_end - line);
                for (u64 r = top; r < bottom; r += line) {
                    const u64 y = std::min(r, row_end - line);
                    ahead.ask(line * 64);
                    const B* from = in + y * in_pitch + x;
                    B* to = out + x * out_pitch + y;
                    if (STORES == TransposeStores::non_temporal && y == r) {
                        turn_block<B, BYTES, STORES>(from, in_pitch, to, out_pitch);
                        continue;
                    }
                    for (u64 i = 0; i < line; i += side) {
                        for (u64 j = 0; j < line; j += side)
                            turn_block<B, BYTES>(from + j * in_pitch + i, in_pitch, to + i * out_pitch + j,
                                                 out_pitch);
                    }
                }
            }
        }
    }
}

// BYTES: length of a vector, 64 for non-temporal stores. Matrices have at least one line of elements on both sides.
template <class B, u64 BYTES>
void transpose_direct(const Group& group, const B* in, B* out, u64 rows, u64 columns, u64 in_pitch,
                      u64 out_pitch, const TransposeParts p) {
    const u64 down = group.x % p.down, across = group.x / p.down;
    const u64 row = down * p.rows, row_end = down + 1 == p.down ? rows : row + p.rows,
              column = across * p.columns, column_end = across + 1 == p.across ? columns : column + p.columns;
    if constexpr (BYTES == 64) {
        // The memory of another owner may begin within a line.
        if (p.non_temporal != 0 && past_line(out) == 0) {
            turn_part<B, BYTES, TransposeStores::non_temporal>(in, out, in_pitch, out_pitch, row, row_end,
                                                               column, column_end, p);
            return stream_fence();
        }
    }
    turn_part<B, BYTES, TransposeStores::cached>(in, out, in_pitch, out_pitch, row, row_end, column,
                                                 column_end, p);
}

// In place: a group takes `count` tiles on or right of the diagonal, each with its mirror image. Stores go through
// the cache, because their lines were just read. The second stage holds two tiles.
template <class B>
void transpose_exchange(const Group& group, B* both, u64 side, u64 pitch, u64 count, const Tiling t) {
    auto* from = reinterpret_cast<B*>(group.local);
    B *to = from + t.to_begin, *mirrored = to + (t.elements - t.to_begin) / 2;
    const u64 end = std::min(t.tiles, (group.x + 1) * count);
    for (u64 tile = group.x * count; tile < end; ++tile) {
        const u64 r = tile % t.tile_rows * t.rows, c = tile / t.tile_rows * t.columns;
        if (c < r) continue;
        const u64 height = std::min(t.rows, side - r), width = std::min(t.columns, side - c);
        B *here = both + r * pitch + c, *there = both + c * pitch + r;
        Ahead none;
        load_tile(here, pitch, from, t.from_pitch, height, width, RowLayout::strided);
        turn_tile(from, t.from_pitch, to, t.to_pitch, height, width, none);
        if (r != c) {
            load_tile(there, pitch, from, t.from_pitch, width, height, RowLayout::strided);
            turn_tile(from, t.from_pitch, mirrored, t.to_pitch, width, height, none);
            store_tile(here, pitch, mirrored, t.to_pitch, height, width, {});
        }
        store_tile(there, pitch, to, t.to_pitch, width, height, {});
    }
}

}  // namespace concord::detail::host
