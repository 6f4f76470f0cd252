// Map, OpenCL C. Parallel sources: map.cu, map_host.hpp.
//
// Algorithm  out[i] = f(a[i], b[i]). F(x, y) is f. For an f of one element, F ignores y, and b is a and is not read.
// Passes     one. Traffic: reads every input once, writes the output once.
// naive      one element per work-item.
// vectorized Each work-item moves PACK elements per access (16 bytes of the widest type), with UNROLL accesses in
//            flight. Elements before the first and after the last whole pack are processed one by one. The host side
//            passes PACK = 1 if the operands are aligned differently. Groups are many and short: on an H200 one access
//            per work-item is fastest, because the instructions before a group's first load dominate.
// wide       The shape for CPUs: one work-item per group processes a contiguous tile, with non-temporal stores if the
//            data exceeds the caches.
// Tunables   GROUP: work-items per group; UNROLL: packs per work-item; PACK: elements per pack.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// A, B, U: element types of the inputs and the output.

#include "lines.cl"

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void map_naive(__global const A* a, ulong a_at, __global const B* b, ulong b_at, __global U* out, ulong out_at, u64 n,
               const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) out[out_at + i] = F(a[a_at + i], b[b_at + i]);
}

// PACK elements that move in one access.
typedef struct { A item[PACK]; } __attribute__((aligned(PACK * sizeof(A)))) PackA;
typedef struct { B item[PACK]; } __attribute__((aligned(PACK * sizeof(B)))) PackB;
typedef struct { U item[PACK]; } __attribute__((aligned(PACK * sizeof(U)))) PackU;

// head: elements before the first whole pack; packs: number of whole packs; ends: elements outside whole packs.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void map_vectorized(__global const A* a, ulong a_at, __global const B* b, ulong b_at, __global U* out, ulong out_at,
                    u64 head, u64 packs, u32 ends, const Op op) {
    a += a_at;
    b += b_at;
    out += out_at;
    __global const PackA* pack_a = (__global const PackA*)(a + head);
    __global const PackB* pack_b = (__global const PackB*)(b + head);
    __global PackU* pack_out = (__global PackU*)(out + head);
    const u32 local_id = get_local_id(0);
    const u64 first = get_group_id(0) * (u64)(GROUP * UNROLL) + local_id;

    // Load.
    PackA x[UNROLL];
    PackB y[UNROLL];
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const u64 i = first + k * GROUP;
        if (i < packs) {
            x[k] = pack_a[i];
            y[k] = pack_b[i];
        }
    }
    // Compute and store.
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        const u64 i = first + k * GROUP;
        if (i < packs) {
            PackU z;
#pragma unroll
            for (int j = 0; j < PACK; ++j) z.item[j] = F(x[k].item[j], y[k].item[j]);
            pack_out[i] = z;
        }
    }

    // The first group processes the ends, fewer than two packs in total.
    if (ends == 0 || get_group_id(0) != 0 || local_id >= ends) return;
    const u64 i = local_id < head ? local_id : local_id + packs * PACK;
    out[i] = F(a[i], b[i]);
}

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
