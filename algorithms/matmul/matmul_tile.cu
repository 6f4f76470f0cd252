// Argument and epilogue of all matmul kernels, CUDA C++. Parallel sources: matmul_tile.cl, matmul_host.hpp.
//
// Algorithm  c = alpha t + beta c, where t is an element's chain of fused multiply-adds over k.
// Passes     none of its own: the last step of each kernel.
// Traffic    Writes each element of C once. Reads it once if beta is not 0.
// Tunables   none.
// Source     BLAS, gemm: J. Dongarra et al., A Set of Level 3 Basic Linear Algebra Subprograms, 1990.
//
// T: element type.

#include "common.cu"

// The call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides lead to the next product of the batch. A
// product has `parts` parts of k terms; the last one lacks `missing`. Each has its own plane of C.
struct Product {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride, parts, missing;
    T alpha, beta;
};

// Offsets of the operands for a plane of C, and the number of terms.
struct Part {
    u64 a, b, k;
};
__device__ __forceinline__ Part part_of(const Product& p, u32 plane) {
    const u32 parts = static_cast<u32>(p.parts), product = plane / parts, part = plane % parts;
    return {product * p.a_stride + part * p.k * p.a_column, product * p.b_stride + part * p.k * p.b_row,
            part + 1 == parts ? p.k - p.missing : p.k};
}

// Stores an element of C from its chain t. C is not read if beta is 0.
__device__ __forceinline__ void finish(const Product& p, T t, T* c) {
    *c = canonical(p.beta == T(0) ? p.alpha * t : fma(p.alpha, t, p.beta * *c));
}
