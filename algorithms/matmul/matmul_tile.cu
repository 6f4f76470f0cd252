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

// The call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides lead to the next product of the batch.
struct Product {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride;
    T alpha, beta;
};

// Stores an element of C from its chain t. C is not read if beta is 0.
__device__ __forceinline__ void finish(const Product& p, T t, T* c) {
    *c = canonical(p.beta == T(0) ? p.alpha * t : fma(p.alpha, t, p.beta * *c));
}
