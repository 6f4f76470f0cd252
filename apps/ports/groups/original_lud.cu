// Tiled LU decomposition of an n x n matrix in place, without pivoting: tiles of 16 x 16. n is a multiple of 16.
// The tile on the diagonal, one block of 16 threads.
extern "C" __global__ void lud_diagonal(float* m, size_t n, size_t offset) {
    __shared__ float tile[16][17];
    unsigned t = threadIdx.x;
    m += offset * n + offset;
    for (int i = 0; i < 16; ++i) tile[i][t] = m[i * n + t];
    __syncthreads();
    for (int k = 0; k < 15; ++k) {
        if (t > k) {
            tile[t][k] /= tile[k][k];
            for (int j = k + 1; j < 16; ++j) tile[t][j] -= tile[t][k] * tile[k][j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 16; ++i) m[i * n + t] = tile[i][t];
}
// The tiles to the right of it and below it, a block of 16 x 2 threads for one of each.
extern "C" __global__ void lud_perimeter(float* m, size_t n, size_t offset) {
    __shared__ float diagonal[16][16], top[16][16], left[16][17];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t at = offset + 16 * (blockIdx.x + 1);
    for (int i = y; i < 16; i += 2) {
        diagonal[i][x] = m[(offset + i) * n + offset + x];
        top[i][x] = m[(offset + i) * n + at + x];
        left[x][i] = m[(at + i) * n + offset + x];
    }
    __syncthreads();
    if (y == 0) {
        for (int i = 1; i < 16; ++i) {
            float value = top[i][x];
            for (int j = 0; j < i; ++j) value -= diagonal[i][j] * top[j][x];
            top[i][x] = value;
        }
    } else {
        for (int i = 0; i < 16; ++i) {
            float value = left[i][x];
            for (int j = 0; j < i; ++j) value -= left[j][x] * diagonal[j][i];
            left[i][x] = value / diagonal[i][i];
        }
    }
    __syncthreads();
    for (int i = y; i < 16; i += 2) {
        m[(offset + i) * n + at + x] = top[i][x];
        m[(at + i) * n + offset + x] = left[x][i];
    }
}
// The other tiles, a block of 16 x 16 threads for each.
extern "C" __global__ void lud_internal(float* m, size_t n, size_t offset) {
    __shared__ float left[16][16], top[16][16];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t row = offset + 16 * (blockIdx.y + 1) + y;
    size_t column = offset + 16 * (blockIdx.x + 1) + x;
    left[y][x] = m[row * n + offset + x];
    top[y][x] = m[(offset + y) * n + column];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 16; ++i) sum += left[y][i] * top[i][x];
    m[row * n + column] -= sum;
}
