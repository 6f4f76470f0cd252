// Inclusive sums of blocks of 256 values: shuffles within warps, then the sums of warps.
extern "C" __global__ void block_sums(float* __restrict__ out, const float* __restrict__ in) {
    __shared__ float sums[8];
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    size_t i = size_t(blockIdx.x) * 256 + t;
    float value = in[i];
    for (int d = 1; d < 32; d *= 2) {
        float before = __shfl_up_sync(~0u, value, d);
        if (lane >= d) value += before;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        float sum = lane < 8 ? sums[lane] : 0;
        for (int d = 1; d < 8; d *= 2) {
            float before = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += before;
        }
        if (lane < 8) sums[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    out[i] = value;
}
