// Layer normalisation of rows, a block of 256 threads per row: mean and variance by shuffles.
__device__ float block_sum(float value, float* part) {
    unsigned lane = threadIdx.x % 32;
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(~0u, value, d);
    if (lane == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[lane % 8];
    for (int d = 4; d > 0; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}
extern "C" __global__ void layernorm(float* __restrict__ out, const float* __restrict__ in,
                                     const float* __restrict__ scale,
                                     const float* __restrict__ shift, size_t columns,
                                     float epsilon) {
    __shared__ float part[2][8];
    const float* x = in + blockIdx.x * columns;
    float* y = out + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (size_t i = threadIdx.x; i < columns; i += 256) sum += x[i];
    float mean = block_sum(sum, part[0]) / columns;
    for (size_t i = threadIdx.x; i < columns; i += 256) {
        float difference = x[i] - mean;
        squares += difference * difference;
    }
    float factor = 1 / sqrtf(block_sum(squares, part[1]) / columns + epsilon);
    for (size_t i = threadIdx.x; i < columns; i += 256)
        y[i] = (x[i] - mean) * factor * scale[i] + shift[i];
}
