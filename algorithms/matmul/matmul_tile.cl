// Argument and epilogue of all matmul kernels, OpenCL C. The parallel source matmul_tile.cu describes it. C++:
// matmul_host.hpp.

#include "common.cl"

// The call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides lead to the next product of the batch.
typedef struct {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride;
    T alpha, beta;
} Product;

// Stores an element of C from its chain t. C is not read if beta is 0.
INLINED void finish(const Product* p, T t, __global T* c) {
    *c = canonical(p->beta == 0 ? p->alpha * t : fma(p->alpha, t, p->beta * *c));
}
