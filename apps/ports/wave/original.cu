// One step of the wave equation on a grid of width x height points, a thread per point. The boundary stays.
extern "C" __global__ void wave(float* __restrict__ next, const float* __restrict__ now,
                                float c, size_t width, size_t height) {
    size_t x = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t y = size_t(blockIdx.y) * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x + 1 >= width || y + 1 >= height) return;
    size_t i = y * width + x;
    float sum = now[i - 1] + now[i + 1] + now[i - width] + now[i + width];
    next[i] = 2 * now[i] - next[i] + c * (sum - 4 * now[i]);
}
