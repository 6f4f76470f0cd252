// A step of the heat equation on width x height points, by tiles of 64 x 8 with a halo of one point in shared memory.
// Rows have `pitch` elements; the points begin at (1, 1). width is a multiple of 64, height of 8.
extern "C" __global__ void heat(float* __restrict__ next,
                                const float* __restrict__ now, float c,
                                size_t pitch) {
    __shared__ float tile[10][66];
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t at = (blockIdx.y * 8 + y) * pitch + blockIdx.x * 64 + x;
    tile[y][x] = now[at];
    if (x < 2) tile[y][x + 64] = now[at + 64];
    if (y < 2) tile[y + 8][x] = now[at + 8 * pitch];
    if (x < 2 && y < 2) tile[y + 8][x + 64] = now[at + 8 * pitch + 64];
    __syncthreads();
    float sum = tile[y + 1][x] + tile[y + 1][x + 2] +
                tile[y][x + 1] + tile[y + 2][x + 1];
    float old = tile[y + 1][x + 1];
    next[at + pitch + 1] = old + c * (sum - 4 * old);
}
