#pragma once
// Convolve, host dialect. Parallel sources: convolve_steps.cu and .cl for `naive`; convolve_wide.cl for `sliding`.
//
// Algorithm  naive, serial: one result at a time. sliding: a group computes a band of rows, 4 rows at a time, as
//            vectors along the rows. Sums are in registers; a loaded vector of cells is used for all rows of results
//            that it reaches. The taps of 3 x 3, 5 x 5 and 7 x 7 masks are unrolled. Cells at the borders are staged
//            in local memory.
// Passes     one; traffic: every element of the image is read once from memory, every result is written once, with
//            non-temporal stores if the data exceed the caches.
// Tunables   vector width and vectors side by side per instruction set; bands and spans of a group (convolve.groups,
//            convolve.group_work).
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result.

#include <concord/convolve.hpp>
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
    u32 clamps = 0;      // 1: cells outside have the value of the nearest cell inside; 0: they are 0
    u32 past_cache = 0;  // 1: the data exceed the caches, use non-temporal stores
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
            out[y * p.out_pitch + x] = convolve_cell(in, mask, p, y, x);
    }
}

// --- sliding --------------------------------------------------------------------------------------------------------

inline constexpr u64 convolve_tall = 4;      // rows of results in registers
inline constexpr u64 convolve_chunk = 1024;  // columns computed before the next rows
inline constexpr u64 convolve_segment = 64;  // columns staged at once at a border
inline constexpr u64 convolve_most_rows = convolve_longest_side - 1 + convolve_tall;

// A group's local memory.
template <class I, class T>
struct ConvolveStage {
    // The row pitch is not a power of two, which avoids cache set conflicts.
    alignas(64) T results[convolve_tall][convolve_chunk + 64 / sizeof(T)];
    alignas(64) T segment[convolve_tall][convolve_segment];
    alignas(64) T zeros[convolve_chunk + convolve_longest_side];
    alignas(64) T cells[convolve_most_rows][convolve_segment + convolve_longest_side];
    // Cells of an image whose type is not T, converted once for all rows of results that use them.
    static constexpr bool converts = !std::is_same_v<I, T>;
    alignas(64) T converted[converts ? convolve_most_rows : 1][convolve_chunk + convolve_longest_side];
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
            for (int w = 0; w < Wide; ++w)
                std::memcpy(out[b] + x + static_cast<u64>(w) * width, &sum[b][w], Bytes);
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

// Rows of cells under the mask for `tall` rows of results, which begin at row y.
template <class I, class T>
struct ConvolveRows {
    const I* in;
    const ConvolvePlan& p;
    ConvolveStage<I, T>& stage;
    u64 y, count;

    // Image row of row k, or -1 if its cells are 0.
    [[gnu::always_inline]] i64 row(u64 k) const {
        const i64 r = static_cast<i64>(y + k) - p.mask_rows / 2, last = static_cast<i64>(p.rows) - 1;
        if (p.clamps == 0 && (r < 0 || r > last)) return -1;
        return std::clamp<i64>(r, 0, last);
    }
    // Sets rows[k] to the cells of `width` columns from column c, all inside the image. If cells are converted, the
    // first `known` rows have been converted for the previous rows of results.
    [[gnu::always_inline]] void inside(const T** rows, u64 c, u64 width, u64 known) const {
        for (u64 k = 0; k < count; ++k) {
            if (row(k) < 0) {
                rows[k] = stage.zeros;
                continue;
            }
            const I* from = in + static_cast<u64>(row(k)) * p.in_pitch + c;
            if constexpr (!std::is_same_v<I, T>) {
                T* __restrict to = stage.converted[(y + k) % count];
                if (k >= known) {
                    for (u64 i = 0; i < width; ++i)
                        to[i] = static_cast<T>(from[i]);
                }
                rows[k] = to;
            } else {
                rows[k] = from;
            }
        }
    }
    // Stages the cells of `width` columns from column c, inside or outside the image, and sets rows[k] to them.
    [[gnu::always_inline]] void staged(const T** rows, i64 c, u64 width) const {
        // Cells [first, last) are in columns inside the image.
        const u64 first = static_cast<u64>(std::clamp<i64>(-c, 0, static_cast<i64>(width)));
        const u64 last = static_cast<u64>(std::clamp<i64>(static_cast<i64>(p.columns) - c,
                                                          static_cast<i64>(first), static_cast<i64>(width)));
        for (u64 k = 0; k < count; ++k) {
            T* const to = stage.cells[k];
            rows[k] = to;
            if (row(k) < 0) {
                std::fill_n(to, width, T(0));
                continue;
            }
            const I* from = in + static_cast<u64>(row(k)) * p.in_pitch;
            const bool clamps = p.clamps != 0;
            std::fill_n(to, first, clamps ? static_cast<T>(from[0]) : T(0));
            const I* const there = from + (c + static_cast<i64>(first));
            for (u64 i = first; i < last; ++i)
                to[i] = static_cast<T>(there[i - first]);
            std::fill(to + last, to + width, clamps ? static_cast<T>(from[p.columns - 1]) : T(0));
        }
    }
};

// Whether the taps of 3 x 3, 5 x 5 and 7 x 7 masks are unrolled. That pays only with FMA instructions.
enum class MaskLoops { rolled, unrolled };

// A group computes `band` rows by `span` columns, in strips of `convolve_tall` rows, chunk by chunk.
template <class I, class T, u64 Bytes, int Side, MaskLoops Loops>
void convolve_sliding(const Group& group, const I* in, const T* mask, T* out, const ConvolvePlan p) {
    using Blocks = ConvolveBlocks<T, Bytes, Side>;
    constexpr bool unrolls = Loops == MaskLoops::unrolled;
    auto& stage = *reinterpret_cast<ConvolveStage<I, T>*>(group.local);
    std::fill(std::begin(stage.zeros), std::end(stage.zeros), T(0));
    const u64 first_row = group.x / p.across * p.band, first_column = group.x % p.across * p.span;
    const u64 last_row = std::min(p.rows, first_row + p.band),
              last_column = std::min(p.columns, first_column + p.span);
    const u64 before = p.mask_columns / 2, reach = p.mask_columns - 1;
    const T* rows[convolve_most_rows];
    for (u64 c = first_column; c < last_column; c += convolve_chunk) {
        const u64 end = std::min(last_column, c + convolve_chunk);
        // Columns [from, to) have all cells inside the image. If they are fewer than a vector, all columns are
        // staged.
        u64 from = std::min(end, std::max(c, before));
        u64 to = std::max(from, std::min(end, p.columns - std::min(p.columns, reach - before)));
        if (to - from < Blocks::width) from = to = end;
        for (u64 y = first_row; y < last_row; y += convolve_tall) {
            const u64 high = std::min(convolve_tall, last_row - y);
            const ConvolveRows<I, T> cells{in, p, stage, y, p.mask_rows - 1 + convolve_tall};
            // Results of rows past the last are discarded.
            T* target[convolve_tall];
            for (u64 b = 0; b < convolve_tall; ++b)
                target[b] =
                    p.past_cache != 0 || b >= high ? stage.results[b] : out + (y + b) * p.out_pitch + c;
            auto edge = [&](u64 begin, u64 stop) __attribute__((always_inline)) {
                for (u64 x = begin; x < stop; x += convolve_segment) {
                    const u64 width = std::min(convolve_segment, stop - x);
                    const u64 whole = (width + Blocks::width - 1) / Blocks::width * Blocks::width;
                    cells.staged(rows, static_cast<i64>(x) - static_cast<i64>(before), whole + reach);
                    T* segment[convolve_tall];
                    for (u64 b = 0; b < convolve_tall; ++b)
                        segment[b] = stage.segment[b];
                    Blocks::template slide<0, 0>(rows, mask, p.mask_rows, p.mask_columns, segment, whole,
                                                 [](u64) {});
                    for (u64 b = 0; b < convolve_tall; ++b)
                        std::copy_n(segment[b], width, target[b] + (x - c));
                }
            };
            if (from > c) edge(c, from);
            if (to > from) {
                cells.inside(rows, from - before, to - from + reach,
                             y == first_row ? 0 : cells.count - convolve_tall);
                T* inner[convolve_tall];
                for (u64 b = 0; b < convolve_tall; ++b)
                    inner[b] = target[b] + (from - c);
                // Prefetches the new rows of the next strip: the hardware does not predict these short pieces.
                const I* next[convolve_tall];
                for (u64 b = 0; b < convolve_tall; ++b)
                    next[b] = in +
                              static_cast<u64>(std::max<i64>(cells.row(cells.count + b), 0)) * p.in_pitch +
                              (from - before);
                auto ahead = [&](u64 x) __attribute__((always_inline)) {
                    for (u64 b = 0; b < convolve_tall; ++b) {
                        for (u64 i = 0; i < Side * Blocks::width; i += 64 / sizeof(I))
                            __builtin_prefetch(next[b] + x + i);
                    }
                };
                auto slide = [&]<u32 Rows, u32 Columns>() __attribute__((always_inline)) {
                    Blocks::template slide<Rows, Columns>(rows, mask, p.mask_rows, p.mask_columns, inner,
                                                          to - from, ahead);
                };
                const u32 side = unrolls && p.mask_rows == p.mask_columns ? p.mask_rows : 0;
                if constexpr (unrolls) {
                    if (side == 3) slide.template operator()<3, 3>();
                    if (side == 5) slide.template operator()<5, 5>();
                    if (side == 7) slide.template operator()<7, 7>();
                }
                if (side != 3 && side != 5 && side != 7) slide.template operator()<0, 0>();
            }
            if (to < end) edge(to, end);
            if (p.past_cache == 0) continue;
            for (u64 b = 0; b < high; ++b)
                stream_store(out + (y + b) * p.out_pitch + c, stage.results[b], (end - c) * sizeof(T));
        }
    }
    if (p.past_cache != 0) stream_fence();
}

}  // namespace concord::detail::host
