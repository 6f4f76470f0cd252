// Small kernels that each show one effect, CUDA C++. Parallel texts: effects.cl, effects_host.hpp.
//
// chain     one element a lane, `steps` fused multiply-adds: what the size of a group and the number of groups do.
// diverge   the same; lanes of each of `paths` kinds do their work at another time: lanes that take turns wait.
// banks     the words of a tile in local memory, summed up by each lane, neighbours `stride` words apart.
// strided   a copy; neighbouring lanes are `stride` elements apart.
// fields    the sum of the first `used` fields of records of 8: each field in an array of its own (soa), or records (aos).

extern "C" __global__ void chain(const f32* in, f32* out, u64 n, u32 steps, u32 lanes) {
    const u64 i = u64(blockIdx.x) * lanes + threadIdx.x;
    if (i >= n) return;
    f32 x = in[i];
    for (u32 s = 0; s < steps; ++s) x = fmaf(x, 0.75f, 0.25f);
    out[i] = x;
}

extern "C" __global__ void diverge(const f32* in, f32* out, u64 n, u32 steps, u32 paths, u32 width) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u32 mine = u32(i / width % paths);
    f32 x = in[i];
    for (u32 p = 0; p < paths; ++p) {
        if (p != mine) continue;
        for (u32 s = 0; s < steps; ++s) x = fmaf(x, 0.75f, 0.25f);
    }
    out[i] = x;
}

extern "C" __global__ void banks(const u32* in, u32* out, u64 n, u32 stride) {
    __shared__ u32 tile[1024];
    const u32 lane = threadIdx.x;
    for (u32 k = lane; k < 1024; k += 256) {
        const u64 i = u64(blockIdx.x) * 1024 + k;
        tile[k] = i < n ? in[i] : 0;
    }
    __syncthreads();
    u32 sum = 0;
    for (u32 r = 0; r < 1024; ++r) sum += tile[(lane * stride + r) & 1023];
    out[u64(blockIdx.x) * 256 + lane] = sum;
}

extern "C" __global__ void strided(const f32* in, f32* out, u64 n, u64 stride) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x, columns = n / stride;
    if (i >= n) return;
    const u64 at = i < columns * stride ? i % columns * stride + i / columns : i;
    out[at] = in[at];
}

extern "C" __global__ void fields(const f32* records, const f32* arrays, f32* out, u64 n, u32 used, u32 soa) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    f32 sum = 0;
    for (u32 k = 0; k < used; ++k) sum += soa ? arrays[k * n + i] : records[i * 8 + k];
    out[i] = sum;
}
