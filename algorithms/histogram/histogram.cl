// Histogram, `multi_copy`, `shared_atomic`, `passes` and `packed16`, OpenCL C. The parallel source histogram.cu
// describes it. C++: histogram_count.hpp. On CPUs: private_bins, histogram_bins.cl.

#include "histogram_counter.cl"

#if defined(CONCORD_CPU)  // work-items are emulated: unrolling takes compile time and is not faster
#undef UNROLL
#define UNROLL 1
#define AHEAD (SIZE < 4 ? 4 / SIZE : 1)
#endif
#ifndef AHEAD
#define AHEAD 4  // packed16: the same, and as many loaded ahead, for samples of at least 4 bytes
#endif

#define PACK (16 / SIZE)  // samples per access
typedef struct { T item[PACK]; } __attribute__((aligned(16))) Samples;

// Splits n samples into aligned packs and the samples before and after them.
typedef struct {
    u64 head, packs;
    u32 ends;
} Layout;

static inline Layout layout_of(__global const T* in, u64 n) {
    Layout layout;
    layout.head = min((u64)((16 - (ulong)in % 16) % 16 / SIZE), n);
    layout.packs = (n - layout.head) / PACK;
    layout.ends = (u32)(n - layout.packs * PACK);
    return layout;
}
// The index of the i-th sample outside the packs.
static inline u64 end_of(const Layout layout, u32 i) { return i < layout.head ? i : i + layout.packs * PACK; }

// --- private --------------------------------------------------------------------------------------------------------

// mine: the work-item's copy; first, held: first bin and number of bins of the group.
static inline void count_one(T x, volatile __local u32* mine, BIN first, u32 held, const Op op) {
    const BIN bin = (BIN)apply(op, x) - first;
    if (bin < held) atomic_inc(mine + (u32)bin * COPIES);
}

static inline void count_pack(const Samples x, volatile __local u32* mine, BIN first, u32 held, const Op op) {
#pragma unroll
    for (int j = 0; j < PACK; ++j) count_one(x.item[j], mine, first, held, op);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_private(__global const T* in, ulong in_at, __global u32* out, ulong out_at, u64 n, u64 bins, u64 range,
                       u64 passes, u32 copies, u32 words, const Op op, __local u32* table) {
    in += in_at;
    out += out_at;
    const u32 local_id = get_local_id(0);
#if PASSES
    const u32 part = get_group_id(0) / (u32)passes, parts = get_num_groups(0) / (u32)passes;
    const BIN first = (BIN)(get_group_id(0) % (u32)passes * range);
    const u32 held = (u32)(bins < first + range ? (bins > first ? bins - first : 0) : range);
#else
    const u32 part = get_group_id(0), parts = get_num_groups(0);
    const BIN first = 0;
    const u32 held = (u32)range;
#endif

    for (u32 i = local_id; i < held * COPIES; i += GROUP) table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    __local u32* mine = table + local_id % COPIES;
    const Layout layout = layout_of(in, n);
    __global const Samples* packs = (__global const Samples*)(in + layout.head);
    const u64 tile = (u64)GROUP * UNROLL;
    u64 at = part * tile + local_id;
    for (; at - local_id + tile <= layout.packs; at += parts * tile) {
        Samples x[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) x[k] = packs[at + k * GROUP];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) count_pack(x[k], mine, first, held, op);
    }
    // One group has an incomplete tile.
    for (int k = 0; k < UNROLL; ++k) {
        if (at + k * GROUP < layout.packs) count_pack(packs[at + k * GROUP], mine, first, held, op);
    }
    if (part == 0 && local_id < layout.ends) count_one(in[end_of(layout, local_id)], mine, first, held, op);
    barrier(CLK_LOCAL_MEM_FENCE);

    // Adds up the copies. Groups begin at different counters, work-items at different banks, to avoid conflicts.
    const u32 begin = (u32)((u64)part * GROUP % (held + 1));
    for (u32 i = local_id; i < held; i += GROUP) {
        const u32 b = i + begin < held ? i + begin : i + begin - held;
        u32 sum = 0;
#pragma unroll
        for (u32 k = 0; k < COPIES; ++k) sum += table[b * COPIES + (k + local_id) % COPIES];
        if (sum != 0) add_to(out, (u64)first + b, sum);
    }
}

// --- packed16 -------------------------------------------------------------------------------------------------------

#define RUN_LENGTH (PACK < 4 ? PACK : 4)  // samples whose equal bins are added in one step
#define LOADS_AHEAD (SIZE >= 4 ? AHEAD : SIZE * AHEAD / 4)  // accesses; fewer for small samples
#define HALF_FULL (1u << 15)
#if LOADS_AHEAD < 1 || GROUP * LOADS_AHEAD * PACK + 2 * PACK >= 32768
#error a counter could carry between barriers
#endif

// Adds runs of equal bins. halves: words of the table.
static inline void count_runs(const T* x, u32 bins, u32 halves, __global u32* out, volatile __local u32* table,
                              const Op op) {
    u32 word[RUN_LENGTH], add[RUN_LENGTH], old[RUN_LENGTH];
    const BIN b0 = (BIN)apply(op, x[0]);
    u32 run = 1, bin = b0 < bins ? (u32)b0 : bins;
#pragma unroll
    for (int j = 0; j < RUN_LENGTH; ++j) {
        u32 next = bins;
        if (j + 1 < RUN_LENGTH) {
            const BIN b = (BIN)apply(op, x[j + 1]);
            next = b < bins ? (u32)b : bins;
        }
        const bool ends = j + 1 == RUN_LENGTH || next != bin;
        const bool upper = bin >= halves;
        word[j] = upper ? bin - halves : bin;
        add[j] = ends && bin < bins ? (upper ? run << 16 : run) : 0;
        run = ends ? 1 : run + 1;
        bin = next;
    }
#pragma unroll
    for (int j = 0; j < RUN_LENGTH; ++j) old[j] = add[j] != 0 ? atomic_add(table + word[j], add[j]) : 0;
    u32 full = 0;
#pragma unroll
    for (int j = 0; j < RUN_LENGTH; ++j) {
        // The top bit of the half that was added to, if it went from 0 to 1.
        add[j] = ~old[j] & (old[j] + add[j]) & (HALF_FULL << 16 | HALF_FULL);
        full |= add[j];
    }
    if (full == 0) return;
#pragma unroll
    for (int j = 0; j < RUN_LENGTH; ++j) {
        if (add[j] == 0) continue;
        atomic_sub(table + word[j], add[j]);
        add_to(out, word[j] + (add[j] > HALF_FULL ? halves : 0), HALF_FULL);
    }
}

static inline void count_packed(const Samples x, u32 bins, u32 halves, __global u32* out, __local u32* table,
                                const Op op) {
#pragma unroll
    for (int j = 0; j < PACK; j += RUN_LENGTH) count_runs(x.item + j, bins, halves, out, table, op);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_packed16(__global const T* in, ulong in_at, __global u32* out, ulong out_at, u64 n, u64 all_bins,
                        u32 words, const Op op, __local u32* table) {
    in += in_at;
    out += out_at;
    const u32 local_id = get_local_id(0), bins = (u32)all_bins, halves = (bins + 1) / 2;
    const Layout layout = layout_of(in, n);
    __global const Samples* packs = (__global const Samples*)(in + layout.head);
    const u64 tile = (u64)GROUP * LOADS_AHEAD, step = get_num_groups(0) * tile;
    u64 first = get_group_id(0) * tile;  // equal for all work-items, as barriers require
    Samples next[LOADS_AHEAD];
    if (first + tile <= layout.packs) {
#pragma unroll
        for (int k = 0; k < LOADS_AHEAD; ++k) next[k] = packs[first + local_id + k * GROUP];
    }

    for (u32 i = local_id; i < halves; i += GROUP) table[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (; first + tile <= layout.packs; first += step) {
        Samples x[LOADS_AHEAD];
#pragma unroll
        for (int k = 0; k < LOADS_AHEAD; ++k) x[k] = next[k];
        if (first + step + tile <= layout.packs) {
#pragma unroll
            for (int k = 0; k < LOADS_AHEAD; ++k) next[k] = packs[first + step + local_id + k * GROUP];
        }
#pragma unroll
        for (int k = 0; k < LOADS_AHEAD; ++k) count_packed(x[k], bins, halves, out, table, op);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    // One group has an incomplete tile.
    for (int k = 0; k < LOADS_AHEAD; ++k) {
        const u64 i = first + local_id + k * GROUP;
        if (i < layout.packs) count_packed(packs[i], bins, halves, out, table, op);
    }
    if (get_group_id(0) == 0 && local_id < layout.ends) {
        const BIN bin = (BIN)apply(op, in[end_of(layout, local_id)]);
        if (bin < bins) add_to(out, bin, 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Groups begin at different counters, to avoid conflicts.
    const u32 begin = (u32)((u64)get_group_id(0) * GROUP % halves);
    for (u32 i = local_id; i < halves; i += GROUP) {
        const u32 w = i + begin < halves ? i + begin : i + begin - halves;
        const u32 lower = table[w] & 0xffffu, upper = table[w] >> 16;
        if (lower != 0) add_to(out, w, lower);
        if (upper != 0) add_to(out, halves + w, upper);
    }
}
