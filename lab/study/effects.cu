// Microbenchmarks of single effects, CUDA C++. Parallel sources: effects.cl, effects_host.hpp.
//
// Algorithm  chain    one element per work-item, `steps` fused multiply-adds: effect of the group size and the number
//                     of groups
//            diverge  the same work; each of `paths` kinds of work-items does it in its own loop iteration: effect of
//                     divergence
//            banks    each work-item sums a tile in local memory; neighbours start `stride` words apart: effect of
//                     bank conflicts
//            strided  a copy; neighbouring work-items are `stride` elements apart: effect of coalescing
//            fields   sum of the first `used` of 8 fields, as an array of structures or a structure of arrays (soa)
// Passes     one each.
// Traffic    8 B per element, or 4 * (used + 1) B for fields.
// Tunables   group size (chain).
// Source     NVIDIA, CUDA C++ Best Practices Guide: coalesced access, shared memory banks, branches, occupancy.

extern "C" __global__ void chain(const f32* in, f32* out, u64 n, u32 steps, u32 group_size) {
    const u64 i = u64(blockIdx.x) * group_size + threadIdx.x;
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
    const u32 local_id = threadIdx.x;
    for (u32 k = local_id; k < 1024; k += 256) {
        const u64 i = u64(blockIdx.x) * 1024 + k;
        tile[k] = i < n ? in[i] : 0;
    }
    __syncthreads();
    u32 sum = 0;
    for (u32 r = 0; r < 1024; ++r) sum += tile[(local_id * stride + r) & 1023];
    out[u64(blockIdx.x) * 256 + local_id] = sum;
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
