// Softmax of each row, a thread per row. The maximum is subtracted first, so that exp does not overflow.
extern "C" __global__ void softmax(float* out, const float* in, size_t rows,
                                   size_t columns) {
    size_t row = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = in + row * columns;
    float* y = out + row * columns;
    float most = -INFINITY;
    for (size_t i = 0; i < columns; ++i) most = fmaxf(most, x[i]);
    float sum = 0;
    for (size_t i = 0; i < columns; ++i) {
        y[i] = expf(x[i] - most);
        sum += y[i];
    }
    for (size_t i = 0; i < columns; ++i) y[i] /= sum;
}
