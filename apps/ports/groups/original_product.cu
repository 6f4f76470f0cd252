// Product of two n x n matrices by tiles of 32 x 32 in shared memory. n is a multiple of 32. A block has
// 32 x 8 threads. Each computes four elements.
extern "C" __global__ void product(float* __restrict__ c, const float* __restrict__ a,
                                   const float* __restrict__ b, size_t n) {
    __shared__ float left[32][32], right[32][32];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum[4] = {};
    for (size_t k = 0; k < n; k += 32) {
        for (int j = 0; j < 4; ++j) {
            left[y + 8 * j][x] = a[(row + 8 * j) * n + k + x];
            right[y + 8 * j][x] = b[(k + y + 8 * j) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            for (int j = 0; j < 4; ++j) sum[j] += left[y + 8 * j][i] * right[i][x];
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) c[(row + 8 * j) * n + column] = sum[j];
}
