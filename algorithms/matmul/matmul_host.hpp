#pragma once
// Matmul, textbook steps, host dialect. Parallel sources: matmul_steps.cu and .cl.
//
// Algorithm  A group computes a tile of C. naive, serial: one chain per element, operands from memory. tiled,
//            blocks_tiled: parts of A and B are copied to local memory. blocks: 4 x 4 elements of C in registers.
// Passes     one; 2 m n k operations; elements loaded per fma: naive 2, blocks 1/2, tiled 2 / 16, blocks_tiled 2 /
//            64.
// Tunables   none; tiles have 8 x 32 (naive), 16 x 16 (tiled) or 64 x 64 elements.
// Source     V. Volkov, J. Demmel, Benchmarking GPUs to Tune Dense Linear Algebra, 2008.
//
// T: element type. Every element is one chain of fma, l ascending from 0.

#include <concord/detail/canonical.hpp>
#include <concord/host_kernel.hpp>

#include <algorithm>
#include <cmath>

namespace concord::detail::host {

// The call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides lead to the next product of the batch. A
// product has `parts` parts of k terms; the last one lacks `missing`. Each has its own plane of C.
template <class T>
struct Product {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride, parts, missing;
    T alpha, beta;
};

// Offsets of the operands for a plane of C, and the number of terms.
struct MatmulPart {
    u64 a, b, k;
};
template <class T>
[[gnu::always_inline]] inline MatmulPart part_of(const Product<T>& p, u64 plane) {
    const u64 product = plane / p.parts, part = plane % p.parts;
    return {product * p.a_stride + part * p.k * p.a_column, product * p.b_stride + part * p.k * p.b_row,
            part + 1 == p.parts ? p.k - p.missing : p.k};
}

// A group's product of the batch and its tile of C.
struct MatmulPlace {
    u64 batch, row, column;
};

[[gnu::always_inline]] inline MatmulPlace place_of_tile(u64 group, u64 tile_rows, u64 tile_columns,
                                                        u64 band) {
    const u64 all = tile_rows * tile_columns, tile = group % all;
    const u64 tiles = band * tile_columns, first = tile / tiles * band, rest = tile % tiles;
    const u64 height = std::min(band, tile_rows - first);
    return {group / all, first + rest % height, rest / height};
}

// Stores an element of C from its chain t. C is not read if beta is 0.
template <class T>
[[gnu::always_inline]] inline void finish(const Product<T>& p, T t, T* c) {
    *c = canonical(p.beta == 0 ? p.alpha * t : std::fma(p.alpha, t, p.beta * *c));
}

// One chain, operands from memory.
template <class T>
[[gnu::always_inline]] inline T dot(const Product<T>& p, const T* a, const T* b, u64 k) {
    T t = 0;
    for (u64 l = 0; l < k; ++l)
        t = std::fma(a[l * p.a_column], b[l * p.b_row], t);
    return t;
}

template <class T>
void matmul_serial(const Group& /*group*/, const T* a, const T* b, T* c, const Product<T> p, u64 batch) {
    for (u64 g = 0; g < batch; ++g, c += p.c_stride) {
        const MatmulPart part = part_of(p, g);
        for (u64 i = 0; i < p.m; ++i) {
            for (u64 j = 0; j < p.n; ++j)
                finish(p, dot(p, a + part.a + i * p.a_row, b + part.b + j * p.b_column, part.k),
                       c + i * p.c_pitch + j);
        }
    }
}

inline constexpr u64 matmul_group_size = 256, matmul_tile = 16, matmul_block = 4;

template <class T>
void matmul_naive(const Group& group, const T* a, const T* b, T* c, const Product<T> p, u32 tile_rows,
                  u32 tile_columns, u32 band) {
    constexpr u64 rows = matmul_group_size / 32, columns = 32;
    const MatmulPlace at = place_of_tile(group.x, tile_rows, tile_columns, band);
    const MatmulPart part = part_of(p, at.batch);
    a += part.a;
    b += part.b;
    c += at.batch * p.c_stride;
    const u64 i_end = std::min(p.m, (at.row + 1) * rows), j_end = std::min(p.n, (at.column + 1) * columns);
    for (u64 i = at.row * rows; i < i_end; ++i) {
        for (u64 j = at.column * columns; j < j_end; ++j)
            finish(p, dot(p, a + i * p.a_row, b + j * p.b_column, part.k), c + i * p.c_pitch + j);
    }
}

// Copies parts of A and B to contiguous local memory. The work-items of the other dialects become a loop over a row
// of C.
template <class T, u64 SIDE>
[[gnu::always_inline]] inline void multiply_staged(const Group& group, const T* a, const T* b, T* c,
                                                   const Product<T>& p, u32 tile_rows, u32 tile_columns,
                                                   u32 band) {
    constexpr u64 depth = matmul_tile;
    alignas(64) T from_a[SIDE][depth], from_b[depth][SIDE] = {}, t[SIDE][SIDE] = {};
    const MatmulPlace at = place_of_tile(group.x, tile_rows, tile_columns, band);
    const u64 row = at.row * SIDE, column = at.column * SIDE;
    const u64 rows = std::min(SIDE, p.m - row), columns = std::min(SIDE, p.n - column);
    const MatmulPart part = part_of(p, at.batch);
    a += part.a + row * p.a_row;
    b += part.b + column * p.b_column;
    for (u64 begin = 0; begin < part.k; begin += depth) {
        const u64 count = std::min(depth, part.k - begin);
        for (u64 i = 0; i < rows; ++i) {
            for (u64 l = 0; l < count; ++l)
                from_a[i][l] = a[i * p.a_row + (begin + l) * p.a_column];
        }
        for (u64 l = 0; l < count; ++l) {
            for (u64 j = 0; j < columns; ++j)
                from_b[l][j] = b[(begin + l) * p.b_row + j * p.b_column];
        }
        for (u64 i = 0; i < rows; ++i) {
            for (u64 l = 0; l < count; ++l) {
                for (u64 j = 0; j < SIDE; ++j)
                    t[i][j] = std::fma(from_a[i][l], from_b[l][j], t[i][j]);
            }
        }
    }
    c += at.batch * p.c_stride + row * p.c_pitch + column;
    for (u64 i = 0; i < rows; ++i) {
        for (u64 j = 0; j < columns; ++j)
            finish(p, t[i][j], c + i * p.c_pitch + j);
    }
}

template <class T>
void matmul_tiled(const Group& group, const T* a, const T* b, T* c, const Product<T> p, u32 tile_rows,
                  u32 tile_columns, u32 band) {
    multiply_staged<T, matmul_tile>(group, a, b, c, p, tile_rows, tile_columns, band);
}

template <class T>
void matmul_blocks_tiled(const Group& group, const T* a, const T* b, T* c, const Product<T> p, u32 tile_rows,
                         u32 tile_columns, u32 band) {
    multiply_staged<T, matmul_tile * matmul_block>(group, a, b, c, p, tile_rows, tile_columns, band);
}

// A block of up to 4 x 4 elements.
template <class T>
[[gnu::always_inline]] inline void multiply_block(const Product<T>& p, const T* a, const T* b, T* c, u64 k,
                                                  u64 rows, u64 columns) {
    constexpr u64 block = matmul_block;
    T t[block][block] = {};
    for (u64 l = 0; l < k; ++l) {
        // Rows and columns past the last repeat the last one; their results are not stored.
        for (u64 e = 0; e < block; ++e) {
            const T of_a = a[std::min(e, rows - 1) * p.a_row + l * p.a_column];
            for (u64 f = 0; f < block; ++f)
                t[e][f] = std::fma(of_a, b[l * p.b_row + std::min(f, columns - 1) * p.b_column], t[e][f]);
        }
    }
    for (u64 e = 0; e < rows; ++e) {
        for (u64 f = 0; f < columns; ++f)
            finish(p, t[e][f], c + e * p.c_pitch + f);
    }
}

template <class T>
void matmul_blocks(const Group& group, const T* a, const T* b, T* c, const Product<T> p, u32 tile_rows,
                   u32 tile_columns, u32 band) {
    constexpr u64 block = matmul_block, side = 16 * block;
    const MatmulPlace at = place_of_tile(group.x, tile_rows, tile_columns, band);
    const MatmulPart part = part_of(p, at.batch);
    a += part.a;
    b += part.b;
    c += at.batch * p.c_stride;
    const u64 i_end = std::min(p.m, (at.row + 1) * side), j_end = std::min(p.n, (at.column + 1) * side);
    for (u64 i = at.row * side; i < i_end; i += block) {
        for (u64 j = at.column * side; j < j_end; j += block)
            multiply_block(p, a + i * p.a_row, b + j * p.b_column, c + i * p.c_pitch + j, part.k,
                           std::min(block, i_end - i), std::min(block, j_end - j));
    }
}

}  // namespace concord::detail::host
