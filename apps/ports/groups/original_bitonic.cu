// Bitonic sort of 2^k >= 1024 keys: tiles of 1024 keys in shared memory, and steps over larger distances in global
// memory. 512 threads.
__device__ void exchange(float& low, float& high, bool up) {
    float a = low, b = high;
    if ((a > b) == up) {
        low = b;
        high = a;
    }
}
// Sorts tiles, with even ones up and odd ones down.
extern "C" __global__ void bitonic_sort(float* keys) {
    __shared__ float tile[1024];
    unsigned t = threadIdx.x;
    keys += size_t(blockIdx.x) * 1024;
    tile[t] = keys[t];
    tile[t + 512] = keys[t + 512];
    for (unsigned size = 2; size <= 1024; size *= 2) {
        for (unsigned d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            unsigned low = 2 * t - (t & (d - 1));
            exchange(tile[low], tile[low + d], ((blockIdx.x * 1024 + low) & size) == 0);
        }
    }
    __syncthreads();
    keys[t] = tile[t];
    keys[t + 512] = tile[t + 512];
}
// A step with a distance of at least 1024.
extern "C" __global__ void bitonic_step(float* keys, size_t size, size_t d) {
    size_t t = size_t(blockIdx.x) * 512 + threadIdx.x;
    size_t low = 2 * t - (t & (d - 1));
    exchange(keys[low], keys[low + d], (low & size) == 0);
}
// The steps with distances of 512 and less.
extern "C" __global__ void bitonic_merge(float* keys, size_t size) {
    __shared__ float tile[1024];
    unsigned t = threadIdx.x;
    bool up = (blockIdx.x * 1024 & size) == 0;
    keys += size_t(blockIdx.x) * 1024;
    tile[t] = keys[t];
    tile[t + 512] = keys[t + 512];
    for (unsigned d = 512; d > 0; d /= 2) {
        __syncthreads();
        unsigned low = 2 * t - (t & (d - 1));
        exchange(tile[low], tile[low + d], up);
    }
    __syncthreads();
    keys[t] = tile[t];
    keys[t + 512] = tile[t + 512];
}
