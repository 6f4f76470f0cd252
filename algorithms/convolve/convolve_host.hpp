#pragma once
// Convolve, host dialect. Parallel sources: convolve_steps.kernel for `naive`; convolve_wide.cl for `sliding`.
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
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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

// sum += a * b with one rounding, for the elements of a vector. Vectors are passed by reference: these functions have
// their own target instruction set and are inlined only into kernels that are compiled for it. Loops of std::fma take
// g++ ten times as long to compile.
struct PlainFma {
    template <class T, class V>
    [[gnu::always_inline]] static void add(V& sum, T a, const V& b) {
        for (u64 e = 0; e < sizeof(V) / sizeof(T); ++e)
            sum[e] = std::fma(a, b[e], sum[e]);
    }
};
#if defined(__x86_64__)
struct Avx2Fma {
    [[gnu::target("avx2,fma")]] static void add(__m256& sum, f32 a, const __m256& b) {
        sum = _mm256_fmadd_ps(_mm256_set1_ps(a), b, sum);
    }
    [[gnu::target("avx2,fma")]] static void add(__m256d& sum, f64 a, const __m256d& b) {
        sum = _mm256_fmadd_pd(_mm256_set1_pd(a), b, sum);
    }
};
struct Avx512Fma {
    [[gnu::target("avx512f")]] static void add(__m512& sum, f32 a, const __m512& b) {
        sum = _mm512_fmadd_ps(_mm512_set1_ps(a), b, sum);
    }
    [[gnu::target("avx512f")]] static void add(__m512d& sum, f64 a, const __m512d& b) {
        sum = _mm512_fmadd_pd(_mm512_set1_pd(a), b, sum);
    }
};
#endif

// A piece of a strip: `convolve_tall` rows of results, and the rows of cells under the mask.
template <class T>
struct ConvolveStrip {
    const T* rows[convolve_max_rows];
    T* out[convolve_tall];
    u64 count;  // of columns, at least one vector
    const T* mask;
    u32 mask_rows, mask_columns;
    // Prefetched along with the columns: cells of the next strip.
    const std::byte* next[convolve_tall];
    u64 cell_bytes;
};

// Whether the taps of 3 x 3, 5 x 5 and 7 x 7 masks are unrolled. That pays only with FMA instructions.
enum class MaskLoops { rolled, unrolled };

// Sums of `tall` rows by `Side` vectors of `Bytes` bytes, in registers. `Rows` and `Columns` are the sides of the
// mask; 0 means that they are known at run time only.
template <class T, u64 Bytes, int Side, class Fma>
struct ConvolveBlocks {
    static constexpr u64 width = Bytes / sizeof(T);  // elements per vector
    static constexpr int tall = convolve_tall;
    typedef T V __attribute__((vector_size(Bytes)));

    [[gnu::always_inline]] static V load(const T* from) {
        V cells;
        std::memcpy(&cells, from, sizeof cells);
        return cells;
    }

    // Computes the results at columns [x, x + Wide * width) of `tall` rows. strip.rows[r] + x is the first cell of
    // row r under the mask.
    template <int Wide, u32 Rows, u32 Columns>
    [[gnu::always_inline]] static void block(const ConvolveStrip<T>& strip, u64 x) {
        const u32 high = Rows != 0 ? Rows : strip.mask_rows,
                  across = Columns != 0 ? Columns : strip.mask_columns;
        V sum[tall][Wide] = {};
        auto taps = [&](u32 r, u32 i, auto has) __attribute__((always_inline)) {
            V cells[Wide];
#pragma GCC unroll 4
            for (int w = 0; w < Wide; ++w)
                cells[w] = load(strip.rows[r] + x + i + static_cast<u64>(w) * width);
            // Keeps the cells in registers: g++ would reload them in every multiply-add.
            asm volatile("" ::: "memory");
#pragma GCC unroll 8
            for (u32 b = 0; b < tall; ++b) {
                if (!has(b)) continue;
                const T m = strip.mask[(r - b) * across + i];
#pragma GCC unroll 4
                for (int w = 0; w < Wide; ++w)
                    Fma::add(sum[b][w], m, cells[w]);
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
                std::memcpy(strip.out[b] + x + static_cast<u64>(w) * width, &sum[b][w], Bytes);
            }
        }
    }

    // Computes the columns of the strip; the last vectors may overlap.
    template <u32 Rows, u32 Columns>
    [[gnu::always_inline]] static void slide(const ConvolveStrip<T>& strip) {
        u64 x = 0;
        for (; x + Side * width <= strip.count; x += Side * width) {
            for (const std::byte* next : strip.next) {
                for (u64 at = 0; at < Side * width * strip.cell_bytes; at += 64)
                    __builtin_prefetch(next + x * strip.cell_bytes + at);
            }
            block<Side, Rows, Columns>(strip, x);
        }
        for (; x < strip.count; x += width)
            block<1, Rows, Columns>(strip, std::min(x, strip.count - width));
    }
};

template <class T, u64 Bytes, int Side, MaskLoops Loops, class Fma>
[[gnu::always_inline]] inline void convolve_strip(const Group& /*group*/, const ConvolveStrip<T>* strip) {
    using Blocks = ConvolveBlocks<T, Bytes, Side, Fma>;
    if constexpr (Loops == MaskLoops::unrolled) {
        const u32 side = strip->mask_rows == strip->mask_columns ? strip->mask_rows : 0;
        if (side == 3) return Blocks::template slide<3, 3>(*strip);
        if (side == 5) return Blocks::template slide<5, 5>(*strip);
        if (side == 7) return Blocks::template slide<7, 7>(*strip);
    }
    Blocks::template slide<0, 0>(*strip);
}

// One version for each instruction set. 32 registers of 64 bytes hold four rows of four vectors; 16 registers of 32
// bytes hold four rows of two. Without FMA instructions every multiply-add is a function call.
template <class T>
constexpr HostKernel convolve_strips() {
    HostKernel kernel = plain_host_kernel<&convolve_strip<T, 32, 2, MaskLoops::rolled, PlainFma>>();
#if defined(__x86_64__)
    kernel = with_version<&convolve_strip<T, 32, 2, MaskLoops::unrolled, Avx2Fma>, HostIsa::avx2>(kernel);
    kernel = with_version<&convolve_strip<T, 64, 4, MaskLoops::unrolled, Avx512Fma>, HostIsa::avx512>(kernel);
#endif
    return kernel;
}

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
template <class I, class T>
[[gnu::always_inline]] inline void convolve_sliding(const Group& group, const I* in, const T* mask, T* out,
                                                    const ConvolvePlan p) {
    static constexpr HostKernel strips = convolve_strips<T>();
    constexpr u64 width = 64 / sizeof(T);  // of the longest vectors
    using Stage = ConvolveStage<T>;
    auto& stage = *reinterpret_cast<Stage*>(group.local);
    const u64 first_row = group.x / p.across * p.band, first_column = group.x % p.across * p.span;
    const u64 last_row = std::min(p.rows, first_row + p.band),
              last_column = std::min(p.columns, first_column + p.span);
    const u64 before = p.mask_columns / 2, reach = p.mask_columns - 1,
              count = p.mask_rows - 1 + convolve_tall;
    ConvolveStrip<T> strip;
    strip.mask = mask;
    strip.mask_rows = p.mask_rows;
    strip.mask_columns = p.mask_columns;
    strip.cell_bytes = sizeof(I);
    u64 end = 0;
    for (u64 c = first_column; c < last_column; c = end) {
        end = piece_end<I, T>(p, c, last_column);
        const u64 columns = end - c;
        // Pieces of wide images are read in place, except for those at the borders.
        const bool in_place = reads_in_place<I, T>(p) && c >= before && end + reach - before <= p.columns;
        const ConvolveRows<I, T> cells{in, p, c, std::max(columns, width)};
        const bool staged = p.non_temporal != 0 || columns < width;
        strip.count = cells.width;
        // The row of the stage where the first row of cells is.
        u64 turn = 0;
        for (u64 y = first_row; y < last_row; y += convolve_tall) {
            const u64 high = std::min(convolve_tall, last_row - y);
            for (u64 k = 0; k < count; ++k) {
                const i64 row = cells.row(y, k);
                T* const to = stage.cells[turn + k < count ? turn + k : turn + k - count];
                strip.rows[k] = to;
                if constexpr (std::is_same_v<I, T>) {
                    if (in_place && row >= 0) {
                        strip.rows[k] = in + static_cast<u64>(row) * p.in_pitch + (c - before);
                        continue;
                    }
                }
                if (y == first_row || k >= count - convolve_tall) cells.load(to, row);
            }
            turn = turn + convolve_tall < count ? turn + convolve_tall : turn + convolve_tall - count;
            for (u64 b = 0; b < convolve_tall; ++b) {
                // Results of rows past the last are discarded.
                strip.out[b] = staged || b >= high ? stage.results[b] : out + (y + b) * p.out_pitch + c;
                // The new rows of the next strip: the hardware does not predict these short pieces.
                strip.next[b] = reinterpret_cast<const std::byte*>(
                    in + static_cast<u64>(std::max<i64>(cells.row(y, count + b), 0)) * p.in_pitch +
                    (c - std::min(c, before)));
            }
            const ConvolveStrip<T>* const argument = &strip;
            const void* const arguments[] = {&argument};
            strips.entry(group.isa)(group, arguments);
            for (u64 b = 0; staged && b < high; ++b)
                store_results(out + (y + b) * p.out_pitch + c, stage.results[b], columns, p.non_temporal);
        }
    }
    if (p.non_temporal != 0) stream_fence();
}

}  // namespace concord::detail::host
