// Map, OpenCL C. Parallel sources: map.cu, map_host.hpp.
//
// Algorithm  out[i] = f(a[i], b[i]); F(x, y) is f. For an f of one element F ignores y, and b, which is then a again,
//            is not read.
// Passes     one; traffic: every input once, the output once.
// naive      one element a work-item.
// vectorized each work-item moves PACK elements an access (16 bytes of the widest type), with UNROLL accesses in flight;
//            elements before the first and after the last whole pack are done one by one. The host side gives
//            PACK = 1 where the operands are not aligned alike. Many short groups: on an H200 one access a work-item is
//            fastest, and what a group does before its first load is what counts.
// wide       the shape for CPUs: one work-item a group walks over a contiguous tile, past the cache with non-temporal
//            stores.
// Tunables   GROUP work-items a group, UNROLL packs a work-item, PACK elements a pack.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// A, B, U: element types of the inputs and the output.

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

// head: elements before the first whole pack; packs: whole packs; ends: elements in no whole pack, before and after.
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

    // The ends, by the first group: fewer than two packs in all.
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

// `past_cache` is the host side's word that the data does not fit the caches: results then leave for memory in whole
// lines.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void map_wide(__global const A* a, ulong a_at, __global const B* b, ulong b_at, __global U* out, ulong out_at, u64 n,
              u64 tile, u32 past_cache, const Op op) {
    const u64 end = min(n, (get_group_id(0) + 1) * tile);
    u64 i = get_group_id(0) * tile;
    a += a_at;
    b += b_at;
    out += out_at;
    if (CAN_STREAM && past_cache) {
        for (; i < end && (ulong)(out + i) % LINE_BYTES != 0; ++i) out[i] = F(a[i], b[i]);
        for (; i + LINE <= end; i += LINE) {
            Line line;
#pragma unroll
            for (int j = 0; j < LINE; ++j) line.item[j] = F(a[i + j], b[i + j]);
            stream_line(out + i, line.all);
        }
    }
    // Not `restrict`: in place is allowed. Safe all the same, for no iteration reads what another writes.
#pragma clang loop vectorize(assume_safety)
    for (; i < end; ++i) out[i] = F(a[i], b[i]);
}
