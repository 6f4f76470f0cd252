// Softmax of each row, a block of 256 threads per row, with reductions in shared memory.
extern "C" __global__ void softmax_block(float* out, const float* in, size_t columns) {
    __shared__ float part[256];
    const float* x = in + blockIdx.x * columns;
    float* y = out + blockIdx.x * columns;
    unsigned thread = threadIdx.x;
    float most = -INFINITY;
    for (size_t i = thread; i < columns; i += 256) most = fmaxf(most, x[i]);
    part[thread] = most;
    __syncthreads();
    for (unsigned d = 128; d > 0; d /= 2) {
        if (thread < d) part[thread] = fmaxf(part[thread], part[thread + d]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0;
    for (size_t i = thread; i < columns; i += 256) {
        float e = expf(x[i] - most);
        y[i] = e;
        sum += e;
    }
    part[thread] = sum;
    __syncthreads();
    for (unsigned d = 128; d > 0; d /= 2) {
        if (thread < d) part[thread] += part[thread + d];
        __syncthreads();
    }
    sum = part[0];
    for (size_t i = thread; i < columns; i += 256) y[i] /= sum;
}
