// What all of matmul's kernels share, CUDA C++. Parallel sources: matmul_tile.cl, matmul_host.hpp. T: element type.

// A call: element (i, l) of op(A) is a[i * a_row + l * a_column]; strides are from one product of the batch to the next.
struct Product {
    u64 m, n, k, a_row, a_column, b_row, b_column, c_pitch, a_stride, b_stride, c_stride;
    T alpha, beta;
};

// The end of a chain: t becomes an element of C, which is not read where beta is 0.
__device__ __forceinline__ void finish(const Product& p, T t, T* c) {
    *c = p.beta == T(0) ? p.alpha * t : fma(p.alpha, t, p.beta * *c);
}
