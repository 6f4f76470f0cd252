#pragma once
// Microbenchmarks of single effects, as host kernels. effects.cu describes them; effects.cl is the OpenCL source. A
// call processes the work-items of a group one after another.

#include <concord/host_kernel.hpp>

#include <algorithm>
#include <cmath>

namespace concord::study::host {

constexpr u32 default_group_size = 256;  // of kernels without a group size parameter

inline f32 chain_of(f32 x, u32 steps) {
    for (u32 s = 0; s < steps; ++s)
        x = std::fma(x, 0.75F, 0.25F);
    return x;
}

inline void chain(const Group& group, const f32* in, f32* out, u64 n, u32 steps, u32 group_size) {
    const u64 begin = group.x * group_size, end = std::min(n, begin + group_size);
    for (u64 i = begin; i < end; ++i)
        out[i] = chain_of(in[i], steps);
}

inline void diverge(const Group& group, const f32* in, f32* out, u64 n, u32 steps, u32 paths, u32 width) {
    const u64 begin = group.x * default_group_size, end = std::min(n, begin + default_group_size);
    for (u64 i = begin; i < end; ++i) {
        const u32 mine = static_cast<u32>(i / width % paths);
        f32 x = in[i];
        for (u32 p = 0; p < paths; ++p) {
            if (p == mine) x = chain_of(x, steps);
        }
        out[i] = x;
    }
}

inline void banks(const Group& group, const u32* in, u32* out, u64 n, u32 stride) {
    u32 tile[1024];
    for (u32 k = 0; k < 1024; ++k) {
        const u64 i = group.x * 1024 + k;
        tile[k] = i < n ? in[i] : 0;
    }
    for (u32 item = 0; item < default_group_size; ++item) {
        u32 sum = 0;
        for (u32 r = 0; r < 1024; ++r)
            sum += tile[(item * stride + r) & 1023];
        out[group.x * default_group_size + item] = sum;
    }
}

inline void strided(const Group& group, const f32* in, f32* out, u64 n, u64 stride) {
    const u64 begin = group.x * default_group_size, end = std::min(n, begin + default_group_size),
              columns = n / stride;
    for (u64 i = begin; i < end; ++i) {
        const u64 at = i < columns * stride ? i % columns * stride + i / columns : i;
        out[at] = in[at];
    }
}

inline void fields(const Group& group, const f32* records, const f32* arrays, f32* out, u64 n, u32 used,
                   u32 soa) {
    const u64 begin = group.x * default_group_size, end = std::min(n, begin + default_group_size);
    for (u64 i = begin; i < end; ++i) {
        f32 sum = 0;
        for (u32 k = 0; k < used; ++k)
            sum += soa != 0 ? arrays[k * n + i] : records[i * 8 + k];
        out[i] = sum;
    }
}

}  // namespace concord::study::host
