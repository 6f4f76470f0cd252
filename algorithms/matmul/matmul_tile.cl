// Argument and epilogue of all matmul kernels, OpenCL C. The parallel source matmul_tile.cu describes it. C++:
// matmul_host.hpp.

#include "common.cl"

// The call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides lead to the next product of the batch. A
// product has `parts` parts of k terms; the last one lacks `missing`. Each has its own plane of C.
typedef struct {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride, parts, missing;
    T alpha, beta;
} Product;

// Offsets of the operands for a plane of C, and the number of terms.
typedef struct {
    u64 a, b, k;
} Part;
INLINED Part part_of(const Product* p, u64 plane) {
    const u64 product = p->parts == 1 ? plane : plane / p->parts, part = plane - product * p->parts;
    Part of;
    of.a = product * p->a_stride + part * p->k * p->a_column;
    of.b = product * p->b_stride + part * p->k * p->b_row;
    of.k = part + 1 == p->parts ? p->k - p->missing : p->k;
    return of;
}

// Stores an element of C from its chain t. C is not read if beta is 0.
INLINED void finish(const Product* p, T t, __global T* c) {
    *c = canonical(p->beta == 0 ? p->alpha * t : fma(p->alpha, t, p->beta * *c));
}
