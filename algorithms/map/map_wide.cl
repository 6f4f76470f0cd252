// Map, OpenCL C, the shape for CPUs. map.kernel describes the types and F. Parallel source: map_host.hpp.
//
// Algorithm  One work-item per group processes a contiguous tile, with non-temporal stores if the data exceeds the
//            caches.
// Passes     one. Traffic: reads every input once, writes the output once.
// Tunables   tile: elements per group.
// Source     textbook.

#include "lines.cl"

// A cache line of results.
#define LINE (LINE_BYTES / (int)sizeof(U))
typedef union {
    U item[LINE];
    ulong8 all;
} Line;

// non_temporal: the data exceeds the caches, so results are stored to memory in whole cache lines.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void map_wide(__global const A* a, ulong a_at, __global const B* b, ulong b_at, __global U* out, ulong out_at, u64 n,
              u64 tile, u32 non_temporal, const Op op) {
    const u64 end = min(n, (get_group_id(0) + 1) * tile);
    u64 i = get_group_id(0) * tile;
    a += a_at;
    b += b_at;
    out += out_at;
    if (CAN_STREAM && non_temporal) {
        for (; i < end && (ulong)(out + i) % LINE_BYTES != 0; ++i) out[i] = F(a[i], b[i]);
        for (; i + LINE <= end; i += LINE) {
            Line line;
#pragma unroll
            for (int j = 0; j < LINE; ++j) line.item[j] = F(a[i + j], b[i + j]);
            stream_line(out + i, line.all);
        }
    }
    // The pointers are not `restrict` because out may be an input. Vectorizing is safe: no iteration reads what
    // another writes.
#pragma clang loop vectorize(assume_safety)
    for (; i < end; ++i) out[i] = F(a[i], b[i]);
}
