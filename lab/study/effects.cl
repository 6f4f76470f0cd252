// Microbenchmarks of single effects, OpenCL C. effects.cu describes them; effects_host.hpp holds the host kernels.

// Without the attribute NVIDIA's compiler assumes groups of 256 work-items.
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void chain(__global const f32* in, ulong in_at, __global f32* out, ulong out_at, u64 n, u32 steps, u32 group_size) {
    const u64 i = get_group_id(0) * (u64)group_size + get_local_id(0);
    if (i >= n) return;
    f32 x = in[in_at + i];
    for (u32 s = 0; s < steps; ++s) x = fma(x, 0.75f, 0.25f);
    out[out_at + i] = x;
}

__kernel void diverge(__global const f32* in, ulong in_at, __global f32* out, ulong out_at, u64 n, u32 steps, u32 paths,
                      u32 width) {
    const u64 i = get_global_id(0);
    if (i >= n) return;
    const u32 mine = (u32)(i / width % paths);
    f32 x = in[in_at + i];
    for (u32 p = 0; p < paths; ++p) {
        if (p != mine) continue;
        for (u32 s = 0; s < steps; ++s) x = fma(x, 0.75f, 0.25f);
    }
    out[out_at + i] = x;
}

__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void banks(__global const u32* in, ulong in_at, __global u32* out, ulong out_at, u64 n, u32 stride) {
    __local u32 tile[1024];
    const u32 local_id = get_local_id(0);
    for (u32 k = local_id; k < 1024; k += 256) {
        const u64 i = get_group_id(0) * (u64)1024 + k;
        tile[k] = i < n ? in[in_at + i] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    u32 sum = 0;
    for (u32 r = 0; r < 1024; ++r) sum += tile[(local_id * stride + r) & 1023];
    out[out_at + get_group_id(0) * (u64)256 + local_id] = sum;
}

__kernel void strided(__global const f32* in, ulong in_at, __global f32* out, ulong out_at, u64 n, u64 stride) {
    const u64 i = get_global_id(0), columns = n / stride;
    if (i >= n) return;
    const u64 at = i < columns * stride ? i % columns * stride + i / columns : i;
    out[out_at + at] = in[in_at + at];
}

__kernel void fields(__global const f32* records, ulong records_at, __global const f32* arrays, ulong arrays_at,
                     __global f32* out, ulong out_at, u64 n, u32 used, u32 soa) {
    const u64 i = get_global_id(0);
    if (i >= n) return;
    f32 sum = 0;
    for (u32 k = 0; k < used; ++k) sum += soa ? arrays[arrays_at + k * n + i] : records[records_at + i * 8 + k];
    out[out_at + i] = sum;
}
