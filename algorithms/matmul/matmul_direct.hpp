#pragma once
// Matmul, `direct`, host dialect. There is no parallel source.
//
// Algorithm  A group computes some rows or columns of C, or several products of a batch: tiles of up to `direct_rows` x
//            `vectors` vectors in registers, operands from memory. Rows past the last whole tile are computed 4, 2 and
//            1 at a time; columns past the last whole vector use masks. If op(B) is B's transpose, the group first
//            copies its part of op(B) to local memory, row by row.
// Passes     one; 2 m n k operations; elements loaded per fma: 1 / rows + 1 / columns of a tile.
// Tunables   matmul.direct_work, matmul.groups.
// Source     A. Heinecke, G. Henry, M. Hutchinson, H. Pabst, LIBXSMM, 2016.
//
// R: a set of vector registers. Every element is one chain of fma, l ascending from 0.

#include "matmul_packed.hpp"

namespace concord::detail::host {

// The part of the batch, or of a product, per group.
struct DirectPlan {
    u64 products;       // of the batch per group
    u64 rows, columns;  // of C per group
    u64 down, across;   // groups per product
};

// Vectors side by side in a tile of few rows: as many sums as hide the latency of an fma.
template <class R, u64 ROWS>
inline constexpr u64 direct_vectors = ROWS >= R::direct_rows ? R::vectors : 4;

// Computes a tile of ROWS x `width` elements, width <= VECTORS * R::width. b_pitch: elements from row to row of op(B).
// PARTIAL: the tile has fewer columns than its vectors.
template <class R, u64 ROWS, u64 VECTORS, bool PARTIAL, class T>
[[gnu::always_inline]] inline void multiply_direct(const Product<T>& p, const T* a, const T* b, u64 b_pitch,
                                                   T* c, u64 k, u64 width) {
    typename R::Vector t[ROWS][VECTORS] = {}, of_a, of_b[VECTORS];
    auto load = [&](typename R::Vector & v, const T* from, u64 at) __attribute__((always_inline)) {
        if constexpr (PARTIAL) {
            R::load_part(v, from + at, width > at ? width - at : 0);
        } else {
            R::load(v, from + at);
        }
    };
#pragma GCC unroll 8
    for (u64 i = 0; i < ROWS; ++i)
        __builtin_prefetch(c + i * p.c_pitch, 1);
    for (u64 l = 0; l < k; ++l, a += p.a_column, b += b_pitch) {
#pragma GCC unroll 4
        for (u64 v = 0; v < VECTORS; ++v)
            load(of_b[v], b, v * R::width);
#pragma GCC unroll 8
        for (u64 i = 0; i < ROWS; ++i) {
            R::spread(of_a, a + i * p.a_row);
#pragma GCC unroll 4
            for (u64 v = 0; v < VECTORS; ++v)
                R::multiply_add(t[i][v], of_a, of_b[v]);
        }
    }
    if (p.alpha == 1 && p.beta == 0) {
#pragma GCC unroll 8
        for (u64 i = 0; i < ROWS; ++i) {
#pragma GCC unroll 4
            for (u64 v = 0; v < VECTORS; ++v) {
                T* const to = c + i * p.c_pitch + v * R::width;
                R::make_canonical(t[i][v]);
                if constexpr (PARTIAL) {
                    R::store_part(to, t[i][v], width > v * R::width ? width - v * R::width : 0);
                } else {
                    R::store(to, t[i][v]);
                }
            }
        }
        return;
    }
    alignas(64) T tile[ROWS][VECTORS * R::width];
#pragma GCC unroll 8
    for (u64 i = 0; i < ROWS; ++i) {
#pragma GCC unroll 4
        for (u64 v = 0; v < VECTORS; ++v)
            R::store(tile[i] + v * R::width, t[i][v]);
    }
    for (u64 i = 0; i < ROWS; ++i) {
        for (u64 j = 0; j < width; ++j)
            finish(p, tile[i][j], c + i * p.c_pitch + j);
    }
}

// Computes ROWS rows of C.
template <class R, u64 ROWS, class T>
[[gnu::always_inline]] inline void multiply_rows(const Product<T>& p, const T* a, const T* b, u64 b_pitch,
                                                 T* c, u64 k, u64 columns) {
    constexpr u64 vectors = direct_vectors<R, ROWS>, wide = vectors * R::width;
    u64 j = 0;
    for (; j + wide <= columns; j += wide)
        multiply_direct<R, ROWS, vectors, false>(p, a, b + j, b_pitch, c + j, k, wide);
    for (; j < columns; j += std::min(R::width, columns - j))
        multiply_direct<R, ROWS, 1, true>(p, a, b + j, b_pitch, c + j, k, std::min(R::width, columns - j));
}

// Copies op(B) from B's rows of k elements, `pitch` elements apart. The rows are read side by side, a line of each at a
// time.
template <class T>
[[gnu::always_inline]] inline void copy_transposed(const T* from, u64 pitch, u64 columns, u64 k, T* to) {
    constexpr u64 side = 16;
    for (u64 j = 0; j < columns; j += side) {
        const u64 count = std::min(side, columns - j);
        for (u64 l = 0; l < k; ++l) {
            if (count == side) {
#pragma GCC unroll 16
                for (u64 s = 0; s < side; ++s)
                    to[l * columns + j + s] = from[(j + s) * pitch + l];
            } else {
                for (u64 s = 0; s < count; ++s)
                    to[l * columns + j + s] = from[(j + s) * pitch + l];
            }
        }
    }
}

template <class R, class T>
[[gnu::always_inline]] inline void matmul_direct(const Group& group, const T* a, const T* b, T* c,
                                                 const Product<T> p, u64 batch, const DirectPlan plan) {
    constexpr u64 high = R::direct_rows;
    const u64 pieces = plan.down * plan.across, piece = group.x % pieces;
    const u64 row = piece % plan.down * plan.rows, column = piece / plan.down * plan.columns;
    const u64 rows = std::min(plan.rows, p.m - row), columns = std::min(plan.columns, p.n - column);
    const u64 first = group.x / pieces * plan.products, last = std::min(batch, first + plan.products);
    T* const copy = reinterpret_cast<T*>(group.local);
    const bool copies = p.b_column != 1 && p.k > 0;
    if (p.k == 0) a = b = c;  // null, and not read
    for (u64 product = first; product < last; ++product) {
        const MatmulPart terms = part_of(p, product);
        const T *from_a = a + terms.a + row * p.a_row, *from_b = b + terms.b + column * p.b_column;
        T* to = c + product * p.c_stride + row * p.c_pitch + column;
        u64 b_pitch = p.b_row;
        if (copies) {
            b_pitch = columns;
            if (p.b_stride != 0 || p.parts > 1 || product == first)
                copy_transposed(from_b, p.b_column, columns, terms.k, copy);
            from_b = copy;
        }
        u64 i = 0;
        auto rows_of = [&]<u64 ROWS>(u64 at) __attribute__((always_inline)) {
            multiply_rows<R, ROWS>(p, from_a + at * p.a_row, from_b, b_pitch, to + at * p.c_pitch, terms.k,
                                   columns);
        };
        for (; i + high <= rows; i += high) {
            // The rows of A for the next tiles. Hardware prefetchers do not follow that many short rows.
            if (p.a_column == 1 && i + 2 * high <= rows) {
                for (u64 r = i + high; r < i + 2 * high; ++r) {
                    for (u64 l = 0; l < terms.k; l += 64 / sizeof(T))
                        __builtin_prefetch(from_a + r * p.a_row + l);
                }
            }
            rows_of.template operator()<high>(i);
        }
        for (; i + 4 <= rows; i += 4)
            rows_of.template operator()<4>(i);
        if (i + 2 <= rows) {
            rows_of.template operator()<2>(i);
            i += 2;
        }
        if (i < rows) rows_of.template operator()<1>(i);
    }
}

}  // namespace concord::detail::host
