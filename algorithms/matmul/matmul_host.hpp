#pragma once
// Matmul, `serial`, and the call of all host kernels.
//
// Algorithm  One chain per element, operands from memory.
// Passes     one; 2 m n k operations; two elements loaded per fma.
// Tunables   none.
// Source     textbook.
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

}  // namespace concord::detail::host
