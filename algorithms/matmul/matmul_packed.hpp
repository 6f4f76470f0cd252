#pragma once
// Matmul, `packed`, host dialect. Parallel source: matmul_wide.cl.
//
// Algorithm  Pass 1 packs op(A) into strips of `rows` rows, column by column, and op(B) into panels of `columns`
//            columns, row by row, padded with zeros. In pass 2 a group multiplies several strips by several panels, k
//            in blocks of `block_depth`. A block of a panel stays in the L1 cache, the blocks of the strips in L2,
//            and rows x columns elements of C in vector registers. Between blocks the partial chains are stored in C,
//            or in a scratch array if C is still needed (beta != 0). So the order of operations is that of one
//            unbroken chain.
// Passes     two: 2 k (m + n) elements moved, then 2 m n k operations.
// Tunables   rows and vectors per instruction set; matmul.panel_kib, matmul.strips_kib, matmul.panels, matmul.groups.
// Source     K. Goto, R. van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008.
//
// R: a set of vector registers, see below. Every element is one chain of fma, l ascending from 0.

#include "matmul_host.hpp"

#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace concord::detail::host {

// --- Registers ------------------------------------------------------------------------------------------------------
// Vectors are passed by reference: these functions have their own target instruction set and are inlined only into
// kernels that are compiled for it. The kernels are always_inline because clang flattens one level of calls only.

template <class T>
struct PlainRegisters {
    using Element = T;
    using Vector = T;
    static constexpr u64 width = 1, rows = 4, vectors = 4, direct_rows = 4;
    static void load(Vector& v, const T* from) { v = *from; }
    static void store(T* to, const Vector& v) { *to = v; }
    static void load_part(Vector& v, const T* from, u64 count) { v = count != 0 ? *from : T(0); }
    static void store_part(T* to, const Vector& v, u64 count) {
        if (count != 0) *to = v;
    }
    static void spread(Vector& v, const T* from) { v = *from; }
    static void multiply_add(Vector& t, const Vector& a, const Vector& b) { t = std::fma(a, b, t); }
    static void make_canonical(Vector& v) { v = canonical(v); }
};

#if defined(__x86_64__)
#define CONCORD_AVX2 [[gnu::target("avx2,fma")]]
#define CONCORD_AVX512 [[gnu::target("avx512f")]]

template <class T>
struct Avx2Registers;
template <>
struct Avx2Registers<f32> {
    using Element = f32;
    using Vector = __m256;
    static constexpr u64 width = 8, rows = 6, vectors = 2, direct_rows = 6;
    CONCORD_AVX2 static void load(Vector& v, const f32* from) { v = _mm256_loadu_ps(from); }
    CONCORD_AVX2 static void store(f32* to, const Vector& v) { _mm256_storeu_ps(to, v); }
    // All bits of the first `count` elements.
    CONCORD_AVX2 static __m256i part(u64 count) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::min(count, width))),
                                  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    CONCORD_AVX2 static void load_part(Vector& v, const f32* from, u64 count) {
        v = _mm256_maskload_ps(from, part(count));
    }
    CONCORD_AVX2 static void store_part(f32* to, const Vector& v, u64 count) {
        _mm256_maskstore_ps(to, part(count), v);
    }
    CONCORD_AVX2 static void spread(Vector& v, const f32* from) { v = _mm256_broadcast_ss(from); }
    CONCORD_AVX2 static void multiply_add(Vector& t, const Vector& a, const Vector& b) {
        t = _mm256_fmadd_ps(a, b, t);
    }
    CONCORD_AVX2 static void make_canonical(Vector& v) {
        v = _mm256_blendv_ps(v, _mm256_set1_ps(std::bit_cast<f32>(canonical_nan_f32)),
                             _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    }
};
template <>
struct Avx2Registers<f64> {
    using Element = f64;
    using Vector = __m256d;
    static constexpr u64 width = 4, rows = 6, vectors = 2, direct_rows = 6;
    CONCORD_AVX2 static void load(Vector& v, const f64* from) { v = _mm256_loadu_pd(from); }
    CONCORD_AVX2 static void store(f64* to, const Vector& v) { _mm256_storeu_pd(to, v); }
    // All bits of the first `count` elements.
    CONCORD_AVX2 static __m256i part(u64 count) {
        return _mm256_cmpgt_epi64(_mm256_set1_epi64x(static_cast<long long>(std::min(count, width))),
                                  _mm256_setr_epi64x(0, 1, 2, 3));
    }
    CONCORD_AVX2 static void load_part(Vector& v, const f64* from, u64 count) {
        v = _mm256_maskload_pd(from, part(count));
    }
    CONCORD_AVX2 static void store_part(f64* to, const Vector& v, u64 count) {
        _mm256_maskstore_pd(to, part(count), v);
    }
    CONCORD_AVX2 static void spread(Vector& v, const f64* from) { v = _mm256_broadcast_sd(from); }
    CONCORD_AVX2 static void multiply_add(Vector& t, const Vector& a, const Vector& b) {
        t = _mm256_fmadd_pd(a, b, t);
    }
    CONCORD_AVX2 static void make_canonical(Vector& v) {
        v = _mm256_blendv_pd(v, _mm256_set1_pd(std::bit_cast<f64>(canonical_nan_f64)),
                             _mm256_cmp_pd(v, v, _CMP_UNORD_Q));
    }
};

template <class T>
struct Avx512Registers;
template <>
struct Avx512Registers<f32> {
    using Element = f32;
    using Vector = __m512;
    static constexpr u64 width = 16, rows = 14, vectors = 2, direct_rows = 8;
    CONCORD_AVX512 static void load(Vector& v, const f32* from) { v = _mm512_loadu_ps(from); }
    CONCORD_AVX512 static void store(f32* to, const Vector& v) { _mm512_storeu_ps(to, v); }
    static __mmask16 part(u64 count) { return static_cast<__mmask16>((1U << std::min(count, width)) - 1); }
    CONCORD_AVX512 static void load_part(Vector& v, const f32* from, u64 count) {
        v = _mm512_maskz_loadu_ps(part(count), from);
    }
    CONCORD_AVX512 static void store_part(f32* to, const Vector& v, u64 count) {
        _mm512_mask_storeu_ps(to, part(count), v);
    }
    CONCORD_AVX512 static void spread(Vector& v, const f32* from) { v = _mm512_set1_ps(*from); }
    CONCORD_AVX512 static void multiply_add(Vector& t, const Vector& a, const Vector& b) {
        t = _mm512_fmadd_ps(a, b, t);
    }
    CONCORD_AVX512 static void make_canonical(Vector& v) {
        v = _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                               _mm512_set1_ps(std::bit_cast<f32>(canonical_nan_f32)));
    }
};
template <>
struct Avx512Registers<f64> {
    using Element = f64;
    using Vector = __m512d;
    static constexpr u64 width = 8, rows = 14, vectors = 2, direct_rows = 8;
    CONCORD_AVX512 static void load(Vector& v, const f64* from) { v = _mm512_loadu_pd(from); }
    CONCORD_AVX512 static void store(f64* to, const Vector& v) { _mm512_storeu_pd(to, v); }
    static __mmask8 part(u64 count) { return static_cast<__mmask8>((1U << std::min(count, width)) - 1); }
    CONCORD_AVX512 static void load_part(Vector& v, const f64* from, u64 count) {
        v = _mm512_maskz_loadu_pd(part(count), from);
    }
    CONCORD_AVX512 static void store_part(f64* to, const Vector& v, u64 count) {
        _mm512_mask_storeu_pd(to, part(count), v);
    }
    CONCORD_AVX512 static void spread(Vector& v, const f64* from) { v = _mm512_set1_pd(*from); }
    CONCORD_AVX512 static void multiply_add(Vector& t, const Vector& a, const Vector& b) {
        t = _mm512_fmadd_pd(a, b, t);
    }
    CONCORD_AVX512 static void make_canonical(Vector& v) {
        v = _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q),
                               _mm512_set1_pd(std::bit_cast<f64>(canonical_nan_f64)));
    }
};
#undef CONCORD_AVX2
#undef CONCORD_AVX512
#endif

template <class R>
inline constexpr u64 panel_columns = R::width* R::vectors;

// --- Packing --------------------------------------------------------------------------------------------------------

// Packs one strip or panel: element (l, s), s < SIDE, is from[l * l_step + s * side_step], or 0 if s >= side.
template <u64 SIDE, class T>
[[gnu::always_inline]] inline void pack_side(const T* from, u64 l_step, u64 side_step, u64 side, u64 k,
                                             T* to) {
    if (side >= SIDE && side_step == 1) {
        for (u64 l = 0; l < k; ++l)
            std::memcpy(to + l * SIDE, from + l * l_step, SIDE * sizeof(T));
    } else if (side >= SIDE) {
        for (u64 l = 0; l < k; ++l) {
#pragma GCC unroll 32
            for (u64 s = 0; s < SIDE; ++s)
                to[l * SIDE + s] = from[l * l_step + s * side_step];
        }
    } else {
        for (u64 l = 0; l < k; ++l) {
            for (u64 s = 0; s < SIDE; ++s)
                to[l * SIDE + s] = s < side ? from[l * l_step + s * side_step] : T(0);
        }
    }
}

// A group packs `depth` steps of k of one strip or panel. The strips of all planes come first.
template <class R, class T>
[[gnu::always_inline]] inline void matmul_pack(const Group& group, const T* a, const T* b, T* strips,
                                               T* panels, const Product<T> p, u64 batch, u64 depth) {
    constexpr u64 rows = R::rows, columns = panel_columns<R>;
    const u64 down = (p.m + rows - 1) / rows, across = (p.n + columns - 1) / columns,
              pieces = (p.k + depth - 1) / depth;
    const u64 at = group.x / pieces, l = group.x % pieces * depth;
    if (at < down * batch) {
        const u64 strip = at % down;
        const MatmulPart part = part_of(p, at / down);
        const u64 k = std::min(depth, part.k - std::min(part.k, l));
        pack_side<rows>(a + part.a + strip * rows * p.a_row + l * p.a_column, p.a_column, p.a_row,
                        p.m - strip * rows, k, strips + (at * p.k + l) * rows);
    } else {
        const u64 panel = (at - down * batch) % across;
        const MatmulPart part = part_of(p, (at - down * batch) / across);
        const u64 k = std::min(depth, part.k - std::min(part.k, l));
        pack_side<columns>(b + part.b + panel * columns * p.b_column + l * p.b_row, p.b_row, p.b_column,
                           p.n - panel * columns, k, panels + ((at - down * batch) * p.k + l) * columns);
    }
}

// --- Multiplying ----------------------------------------------------------------------------------------------------

// Continues rows x columns chains for k steps: loads them from `from` (zeros if null) and stores them to `to`, with
// canonical NaNs, because they may be results.
template <class R, class T>
[[gnu::always_inline]] inline void multiply_packed(const T* strip, const T* panel, u64 k, const T* from,
                                                   u64 from_pitch, T* to, u64 to_pitch) {
    constexpr u64 rows = R::rows, vectors = R::vectors, width = R::width;
    typename R::Vector t[rows][vectors], of_a, of_b[vectors];
#pragma GCC unroll 16
    for (u64 i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (u64 v = 0; v < vectors; ++v) {
            if (from == nullptr) {
                t[i][v] = typename R::Vector{};
            } else {
                R::load(t[i][v], from + i * from_pitch + v * width);
            }
        }
    }
    for (u64 l = 0; l < k; ++l, strip += rows, panel += vectors * width) {
#pragma GCC unroll 4
        for (u64 v = 0; v < vectors; ++v)
            R::load(of_b[v], panel + v * width);
#pragma GCC unroll 16
        for (u64 i = 0; i < rows; ++i) {
            R::spread(of_a, strip + i);
#pragma GCC unroll 4
            for (u64 v = 0; v < vectors; ++v)
                R::multiply_add(t[i][v], of_a, of_b[v]);
        }
    }
#pragma GCC unroll 16
    for (u64 i = 0; i < rows; ++i) {
#pragma GCC unroll 4
        for (u64 v = 0; v < vectors; ++v) {
            R::make_canonical(t[i][v]);
            R::store(to + i * to_pitch + v * width, t[i][v]);
        }
    }
}

// Work of a group of `packed`.
struct PackedPlan {
    u64 strips, panels;  // per group
    u64 groups_down, groups_across;
    u64 block_depth;
};

template <class T>
[[gnu::always_inline]] inline void copy_part(const T* from, u64 from_pitch, T* to, u64 to_pitch, u64 rows,
                                             u64 columns) {
    for (u64 i = 0; i < rows; ++i)
        std::memcpy(to + i * to_pitch, from + i * from_pitch, columns * sizeof(T));
}

// Between blocks of k the chains are stored in C, or in `partial` with n elements per row if beta is not 0.
template <class R, class T>
[[gnu::always_inline]] inline void matmul_packed(const Group& group, const T* strips, const T* panels, T* c,
                                                 T* partial, const Product<T> p, const PackedPlan plan) {
    constexpr u64 rows = R::rows, columns = panel_columns<R>;
    alignas(64) T tile[rows * columns];
    const u64 down = (p.m + rows - 1) / rows, across = (p.n + columns - 1) / columns;
    const u64 per_product = plan.groups_down * plan.groups_across, product = group.x / per_product,
              at = group.x % per_product;
    const u64 first_strip = at % plan.groups_down * plan.strips,
              last_strip = std::min(down, first_strip + plan.strips),
              first_panel = at / plan.groups_down * plan.panels,
              last_panel = std::min(across, first_panel + plan.panels);
    strips += product * down * p.k * rows;
    panels += product * across * p.k * columns;
    c += product * p.c_stride;
    const bool reads_c = p.beta != 0;
    T* const waits = reads_c ? partial + product * p.m * p.n : c;
    const u64 waits_pitch = reads_c ? p.n : p.c_pitch;
    const u64 terms = part_of(p, product).k;
    for (u64 l = 0; l < std::max<u64>(terms, 1); l += plan.block_depth) {
        const u64 k = std::min(plan.block_depth, terms - l);
        const bool first = l == 0, last = l + k == terms;
        for (u64 panel = first_panel; panel < last_panel; ++panel) {
            const u64 j = panel * columns, width = std::min(columns, p.n - j);
            for (u64 strip = first_strip; strip < last_strip; ++strip) {
                const u64 i = strip * rows, height = std::min(rows, p.m - i);
                const T *a = strips + (strip * p.k + l) * rows, *b = panels + (panel * p.k + l) * columns;
                T *part = waits + i * waits_pitch + j, *end = c + i * p.c_pitch + j;
                if (height == rows && width == columns && !(last && (reads_c || p.alpha != 1))) {
                    multiply_packed<R>(a, b, k, first ? nullptr : part, waits_pitch, part, waits_pitch);
                    continue;
                }
                if (!first) copy_part(part, waits_pitch, tile, columns, height, width);
                multiply_packed<R>(a, b, k, first ? nullptr : tile, columns, tile, columns);
                if (!last) {
                    copy_part(tile, columns, part, waits_pitch, height, width);
                    continue;
                }
                for (u64 e = 0; e < height; ++e) {
                    for (u64 f = 0; f < width; ++f)
                        finish(p, tile[e * columns + f], end + e * p.c_pitch + f);
                }
            }
        }
    }
}

}  // namespace concord::detail::host
