#pragma once
// Convolve, host dialect. Parallel sources: convolve_steps.cu and .cl for `naive`; convolve_wide.cl for `sliding`.
//
// Algorithm  naive, serial: one result at a time. sliding: a group computes a band of rows, 4 rows at a time, as
//            vectors along the rows. Sums are in registers; a loaded vector of cells is used for all rows of results
//            that it reaches. The taps of 3 x 3, 5 x 5 and 7 x 7 masks are unrolled. Cells are copied to local
//            memory first, once per band: with the borders, and at a pitch without cache set conflicts.
// Passes     one; traffic: every element of the image is read once from memory, every result is written once, with
//            non-temporal stores if the data exceed the caches.
// Tunables   vector width and vectors side by side per instruction set; bands and spans of a group (convolve.groups,
//            convolve.group_work).
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result.

#include <concord/convolve.hpp>
#include <concord/detail/canonical.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <algorithm>
#include <cmath>

namespace concord::detail::host {

// Shapes and pitches of the image and the mask, and the part of the image per group.
struct ConvolvePlan {
    u64 rows = 0, columns = 0;
    u64 in_pitch = 0, out_pitch = 0;
    u64 band = 0, span = 0;  // rows and columns per group
    u64 across = 0;          // groups along a row
    u32 mask_rows = 0, mask_columns = 0;
    u32 clamps = 0;        // 1: cells outside have the value of the nearest cell inside; 0: they are 0
    u32 non_temporal = 0;  // 1: the data exceed the caches, use non-temporal stores
};

// --- Textbook steps ------------------------------------------------------------------------------------------------

template <class I, class T>
[[gnu::always_inline]] inline T convolve_cell(const I* in, const T* mask, const ConvolvePlan& p, u64 y,
                                              u64 x) {
    const i64 rows = static_cast<i64>(p.rows), columns = static_cast<i64>(p.columns);
    const i64 top = static_cast<i64>(y) - p.mask_rows / 2, left = static_cast<i64>(x) - p.mask_columns / 2;
    T sum = 0;
    for (u32 j = 0; j < p.mask_rows; ++j) {
        for (u32 i = 0; i < p.mask_columns; ++i) {
            i64 r = top + j, c = left + i;
            const bool inside = r >= 0 && r < rows && c >= 0 && c < columns;
            r = std::clamp<i64>(r, 0, rows - 1);
            c = std::clamp<i64>(c, 0, columns - 1);
            const T cell = inside || p.clamps != 0
                               ? static_cast<T>(in[static_cast<u64>(r) * p.in_pitch + static_cast<u64>(c)])
                               : T(0);
            sum = std::fma(mask[j * p.mask_columns + i], cell, sum);
        }
    }
    return sum;
}

// A group computes `band` rows; `serial` runs one group with all rows.
template <class I, class T>
void convolve_naive(const Group& group, const I* in, const T* mask, T* out, const ConvolvePlan p) {
    const u64 end = std::min(p.rows, (group.x + 1) * p.band);
    for (u64 y = group.x * p.band; y < end; ++y) {
        for (u64 x = 0; x < p.columns; ++x)
            out[y * p.out_pitch + x] = canonical(convolve_cell(in, mask, p, y, x));
    }
}

// --- sliding --------------------------------------------------------------------------------------------------------

inline constexpr u64 convolve_tall = 4;      // rows of results in registers
inline constexpr u64 convolve_chunk = 1024;  // columns of a group are a multiple of this
// Length in bytes of the pieces of rows that a group computes before the next rows.
inline constexpr u64 convolve_piece_bytes = 4096;
inline constexpr u64 convolve_max_rows = convolve_longest_side - 1 + convolve_tall;

// A group's local memory. Row pitches are not a power of two, which avoids cache set conflicts.
template <class T>
struct ConvolveStage {
    static constexpr u64 piece = convolve_piece_bytes / sizeof(T), line = 64 / sizeof(T);
    alignas(64) T results[convolve_tall][piece + line];
    // Rows of cells with the borders, used in turn.
    alignas(64) T cells[convolve_max_rows][(piece + convolve_longest_side + line) / line * line + line];
};

// Sums of `tall` rows by `Side` vectors of `Bytes` bytes, in registers. `Rows` and `Columns` are the sides of the
// mask; 0 means that they are known at run time only.
template <class T, u64 Bytes, int Side>
struct ConvolveBlocks {
    static constexpr u64 width = Bytes / sizeof(T);  // elements per vector
    static constexpr int tall = convolve_tall;
    typedef T V __attribute__((vector_size(Bytes)));

    [[gnu::always_inline]] static V load(const T* from) {
        V cells;
        std::memcpy(&cells, from, sizeof cells);
        return cells;
    }
    [[gnu::always_inline]] static V fused(T a, V b, V c) {
        V r;
#pragma GCC unroll 16
        for (u64 e = 0; e < width; ++e)
            r[e] = std::fma(a, b[e], c[e]);
        return r;
    }

    // Computes the results at columns [x, x + Wide * width) of `tall` rows. rows[r] + x is the first cell of row r
    // under the mask.
    template <int Wide, u32 Rows, u32 Columns>
    [[gnu::always_inline]] static void block(const T* const* rows, const T* mask, u32 mask_rows,
                                             u32 mask_columns, T* const* out, u64 x) {
        const u32 high = Rows != 0 ? Rows : mask_rows, across = Columns != 0 ? Columns : mask_columns;
        V sum[tall][Wide] = {};
        auto taps = [&](u32 r, u32 i, auto has) __attribute__((always_inline)) {
            V cells[Wide];
#pragma GCC unroll 4
            for (int w = 0; w < Wide; ++w)
                cells[w] = load(rows[r] + x + i + static_cast<u64>(w) * width);
            // Keeps the cells in registers: g++ would reload them in every multiply-add.
            asm volatile("" ::: "memory");
#pragma GCC unroll 8
            for (u32 b = 0; b < tall; ++b) {
                if (!has(b)) continue;
                const T m = mask[(r - b) * across + i];
#pragma GCC unroll 4
                for (int w = 0; w < Wide; ++w)
                    sum[b][w] = fused(m, cells[w], sum[b][w]);
            }
        };
        if constexpr (Rows != 0) {
#pragma GCC unroll 16
            for (u32 r = 0; r < Rows + tall - 1; ++r) {
#pragma GCC unroll 16
                for (u32 i = 0; i < Columns; ++i)
                    taps(r, i, [&](u32 b) { return r - b < Rows; });
            }
        } else {
            for (u32 r = 0; r < high + tall - 1; ++r) {
                if (r >= tall - 1 && r < high) {
                    for (u32 i = 0; i < across; ++i)
                        taps(r, i, [](u32) { return true; });
                } else {
                    for (u32 i = 0; i < across; ++i)
                        taps(r, i, [&](u32 b) { return r - b < high; });
                }
            }
        }
#pragma GCC unroll 8
        for (int b = 0; b < tall; ++b) {
#pragma GCC unroll 4
            for (int w = 0; w < Wide; ++w) {
                make_canonical<T>(sum[b][w]);
                std::memcpy(out[b] + x + static_cast<u64>(w) * width, &sum[b][w], Bytes);
            }
        }
    }

    // Computes `count` columns, at least one vector; the last vectors may overlap. Calls ahead(x) before every `Side`
    // vectors.
    template <u32 Rows, u32 Columns, class F>
    [[gnu::always_inline]] static void slide(const T* const* rows, const T* mask, u32 mask_rows,
                                             u32 mask_columns, T* const* out, u64 count, const F& ahead) {
        u64 x = 0;
        for (; x + Side * width <= count; x += Side * width) {
            ahead(x);
            block<Side, Rows, Columns>(rows, mask, mask_rows, mask_columns, out, x);
        }
        for (; x < count; x += width)
            block<1, Rows, Columns>(rows, mask, mask_rows, mask_columns, out, std::min(x, count - width));
    }
};

// Copies rows of cells, converted to T, and the cells outside the image.
template <class I, class T>
struct ConvolveRows {
    const I* in;
    const ConvolvePlan& p;
    u64 column, width;  // the results that the cells are for

    // Row of the image that mask row k reads for results of row y, or -1 if its cells are 0.
    [[gnu::always_inline]] i64 row(u64 y, u64 k) const {
        const i64 r = static_cast<i64>(y + k) - p.mask_rows / 2, last = static_cast<i64>(p.rows) - 1;
        if (p.clamps == 0 && (r < 0 || r > last)) return -1;
        return std::clamp<i64>(r, 0, last);
    }
    [[gnu::always_inline]] void load(T* __restrict to, i64 row) const {
        const u64 before = p.mask_columns / 2, count = width + p.mask_columns - 1;
        if (row < 0) {
            std::fill_n(to, count, T(0));
            return;
        }
        const I* from = in + static_cast<u64>(row) * p.in_pitch;
        const bool clamps = p.clamps != 0;
        // Cells [first, last) are inside the image.
        const u64 first = std::min(count, before - std::min(before, column)),
                  last = std::clamp(p.columns + before - column, first, count);
        for (u64 i = 0; i < first; ++i)
            to[i] = clamps ? static_cast<T>(from[0]) : T(0);
        const I* const there = from + (column + first - before);
        for (u64 i = first; i < last; ++i)
            to[i] = static_cast<T>(there[i - first]);
        for (u64 i = last; i < count; ++i)
            to[i] = clamps ? static_cast<T>(from[p.columns - 1]) : T(0);
    }
};

// Whether the taps of 3 x 3, 5 x 5 and 7 x 7 masks are unrolled. That pays only with FMA instructions.
enum class MaskLoops { rolled, unrolled };

// Whether the rows of an image are read in place where that is possible. Narrow images are copied: separate borders
// would cost more.
template <class I, class T>
[[gnu::always_inline]] inline bool reads_in_place(const ConvolvePlan& p) {
    return std::is_same_v<I, T> && p.columns > convolve_chunk;
}

// The end of the piece at column c. Pieces at the borders of a wide image are short.
template <class I, class T>
[[gnu::always_inline]] inline u64 piece_end(const ConvolvePlan& p, u64 c, u64 last_column) {
    constexpr u64 border = 64;
    static_assert(border >= convolve_longest_side);
    const u64 end = std::min(last_column, c + ConvolveStage<T>::piece);
    if (!reads_in_place<I, T>(p)) return end;
    const u64 inner_end = p.columns - border;
    return c == 0 ? border : c < inner_end ? std::min(end, inner_end) : end;
}

// Copies results, past the cache if `non_temporal` is not 0.
template <class T>
[[gnu::always_inline]] inline void store_results(T* to, const T* from, u64 count, u32 non_temporal) {
    if (non_temporal != 0) {
        stream_store(to, from, count * sizeof(T));
    } else {
        std::memcpy(to, from, count * sizeof(T));
    }
}

// A group computes `band` rows by `span` columns, in strips of `convolve_tall` rows, piece by piece.
template <class I, class T, u64 Bytes, int Side, MaskLoops Loops>
void convolve_sliding(const Group& group, const I* in, const T* mask, T* out, const ConvolvePlan p) {
    using Blocks = ConvolveBlocks<T, Bytes, Side>;
    using Stage = ConvolveStage<T>;
    constexpr bool unrolls = Loops == MaskLoops::unrolled;
    auto& stage = *reinterpret_cast<Stage*>(group.local);
    const u64 first_row = group.x / p.across * p.band, first_column = group.x % p.across * p.span;
    const u64 last_row = std::min(p.rows, first_row + p.band),
              last_column = std::min(p.columns, first_column + p.span);
    const u64 before = p.mask_columns / 2, reach = p.mask_columns - 1,
              count = p.mask_rows - 1 + convolve_tall;
    const T* rows[convolve_max_rows];
    u64 end = 0;
    for (u64 c = first_column; c < last_column; c = end) {
        end = piece_end<I, T>(p, c, last_column);
        const u64 width = end - c;
        // Pieces of wide images are read in place, except for those at the borders.
        const bool in_place = reads_in_place<I, T>(p) && c >= before && end + reach - before <= p.columns;
        const ConvolveRows<I, T> cells{in, p, c, std::max(width, Blocks::width)};
        const bool staged = p.non_temporal != 0 || width < Blocks::width;
        // The row of the stage where the first row of cells is.
        u64 turn = 0;
        for (u64 y = first_row; y < last_row; y += convolve_tall) {
            const u64 high = std::min(convolve_tall, last_row - y);
            for (u64 k = 0; k < count; ++k) {
                const i64 row = cells.row(y, k);
                T* const to = stage.cells[turn + k < count ? turn + k : turn + k - count];
                rows[k] = to;
                if constexpr (std::is_same_v<I, T>) {
                    if (in_place && row >= 0) {
                        rows[k] = in + static_cast<u64>(row) * p.in_pitch + (c - before);
                        continue;
                    }
                }
                if (y == first_row || k >= count - convolve_tall) cells.load(to, row);
            }
            turn = turn + convolve_tall < count ? turn + convolve_tall : turn + convolve_tall - count;
            // Results of rows past the last are discarded.
            T* target[convolve_tall];
            for (u64 b = 0; b < convolve_tall; ++b)
                target[b] = staged || b >= high ? stage.results[b] : out + (y + b) * p.out_pitch + c;
            // Prefetches the new rows of the next strip: the hardware does not predict these short pieces.
            const I* next[convolve_tall];
            for (u64 b = 0; b < convolve_tall; ++b)
                next[b] = in + static_cast<u64>(std::max<i64>(cells.row(y, count + b), 0)) * p.in_pitch +
                          (c - std::min(c, before));
            auto ahead = [&](u64 x) __attribute__((always_inline)) {
                for (u64 b = 0; b < convolve_tall; ++b) {
                    for (u64 i = 0; i < Side * Blocks::width; i += 64 / sizeof(I))
                        __builtin_prefetch(next[b] + x + i);
                }
            };
            auto slide = [&]<u32 Rows, u32 Columns>() __attribute__((always_inline)) {
                Blocks::template slide<Rows, Columns>(rows, mask, p.mask_rows, p.mask_columns, target,
                                                      cells.width, ahead);
            };
            const u32 side = unrolls && p.mask_rows == p.mask_columns ? p.mask_rows : 0;
            if constexpr (unrolls) {
                if (side == 3) slide.template operator()<3, 3>();
                if (side == 5) slide.template operator()<5, 5>();
                if (side == 7) slide.template operator()<7, 7>();
            }
            if (side != 3 && side != 5 && side != 7) slide.template operator()<0, 0>();
            for (u64 b = 0; staged && b < high; ++b)
                store_results(out + (y + b) * p.out_pitch + c, stage.results[b], width, p.non_temporal);
        }
    }
    if (p.non_temporal != 0) stream_fence();
}

}  // namespace concord::detail::host
