// Compact in three launches, `fused`, OpenCL C, the shape for CPUs. Parallel source: compact_move.hpp.
//
// Algorithm  The input is cut into one chunk per group. Upsweep: each group counts the kept elements of its chunk.
//            Spine: one group turns counts into offsets. Downsweep: one work-item per group walks over its chunk. It
//            flags a block with vectors, closes it up without branches, and writes whole lines by non-temporal
//            stores.
// Passes     three launches
// Traffic    two reads per element, one write per stored element
// Tunables   BLOCK elements
// Source     D. Merrill, A. Grimshaw, Parallel Scan for Stream Architectures, 2009 (reduce, then scan).
//
// T: element type; B: unsigned integer of its size, as which elements move; AS_T(x): an x of B as a T; apply(op,
// x): predicate; PARTITION: whether the other elements are stored too. The input may be an expression with
// flags: flags are computed in each of both reads, elements in the second one.

#include "compact_input"
#include "lines.cl"

static inline bool keeps(const Op op, B bits) { return apply(op, AS_T(bits)) != 0; }

#define BLOCK 512
#define LINE (LINE_BYTES / SIZE)

// Upsweep.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void compact_count(INPUT(in), __global u64* counts, ulong counts_at, u64 n, u64 chunk, const Op op) {
    const u64 begin = get_group_id(0) * chunk, end = min(begin + chunk, n);
    AT_INPUT(in);
    const Items items = items_of(in, 0);
    u64 kept = 0;
    u64 i = begin;
    for (; i + BLOCK <= end; i += BLOCK) {
        u32 sum = 0;
#pragma clang loop vectorize(enable) unroll(disable)
        for (int j = 0; j < BLOCK; ++j) sum += IS_KEPT(items, i + j, op, item_at(items, i + j));
        kept += sum;
    }
    for (; i < end; ++i) kept += IS_KEPT(items, i, op, item_at(items, i));
    counts[counts_at + get_group_id(0)] = kept;
}

// Spine: turns counts into offsets and stores their sum in *count.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void compact_offsets(__global u64* counts, ulong counts_at, __global u64* count, ulong count_at, u64 chunks) {
    u64 sum = 0;
    for (u64 c = 0; c < chunks; ++c) {
        const u64 kept = counts[counts_at + c];
        counts[counts_at + c] = sum;
        sum += kept;
    }
    count[count_at] = sum;
}

// A buffer of output elements, laid out as in out from the beginning of a cache line on.
typedef struct {
    __global B* line;  // destination of held[0]
    u32 first;  // elements of the first line that precede this group's output
    u32 count;  // elements in `held`, including those
    B held[BLOCK + LINE + 1] __attribute__((aligned(64)));
} Gather;

static inline void gather_from(Gather* g, __global B* out) {
    g->first = g->count = (u32)((ulong)out / SIZE % LINE);
    g->line = out - g->first;
}

// Stores whole lines and moves the rest of the last one to the front.
static inline void leave_lines(Gather* g, u32 non_temporal) {
    const u32 whole = g->count / LINE * LINE;
    u32 i = 0;
    if (g->first != 0 && whole != 0) {
        for (i = g->first; i < LINE; ++i) g->line[i] = g->held[i];
        g->first = 0;
    }
    if (CAN_STREAM && non_temporal) {
        for (; i < whole; i += LINE) stream_line(g->line + i, *(const ulong8*)(g->held + i));
    }
    for (; i < whole; i += LINE) *(__global ulong8*)(g->line + i) = *(const ulong8*)(g->held + i);
    *(ulong8*)g->held = *(const ulong8*)(g->held + whole);
    g->line += whole;
    g->count -= whole;
}

static inline void leave_rest(Gather* g) {
    for (u32 i = g->first; i < g->count; ++i) g->line[i] = g->held[i];
}

// Downsweep. PARTITION: stores the other elements behind all *count kept elements.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void compact_write(INPUT(in), __global B* out, ulong out_at, __global const u64* offsets,
                   ulong offsets_at, __global const u64* count, ulong count_at, u64 n, u64 chunk, u32 non_temporal,
                   const Op op) {
    Gather kept;
    u32 flags[BLOCK];  // 32 bits wide: for narrower flags PoCL's compiler emits branches, which are twenty times slower
    const u64 begin = get_group_id(0) * chunk, end = min(begin + chunk, n);
    const u64 before = offsets[offsets_at + get_group_id(0)];
    AT_INPUT(in);
    const Items items = items_of(in, 0);
    out += out_at;
    gather_from(&kept, out + before);
#if PARTITION
    Gather rest;
    gather_from(&rest, out + count[count_at] + (begin - before));
#endif
    for (u64 i = begin; i < end; i += BLOCK) {
        const u32 length = (u32)min((u64)BLOCK, end - i);
#ifdef CONCORD_EXPRESSION
        B x[BLOCK];
#pragma clang loop vectorize(enable) unroll(disable)
        for (u32 j = 0; j < length; ++j) x[j] = item_at(items, i + j);
#else
        const Items x = items + i;
#endif
        if (length == BLOCK) {
#pragma clang loop vectorize(enable) unroll(disable)
            for (int j = 0; j < BLOCK; ++j) flags[j] = IS_KEPT(items, i + j, op, x[j]);
        } else {
            for (u32 j = 0; j < length; ++j) flags[j] = IS_KEPT(items, i + j, op, x[j]);
        }
        u32 k = kept.count;
#pragma clang loop vectorize(disable) unroll_count(8)
        for (u32 j = 0; j < length; ++j) {
            kept.held[k] = x[j];
            k += flags[j];
        }
        kept.count = k;
        leave_lines(&kept, non_temporal);
#if PARTITION
        k = rest.count;
#pragma clang loop vectorize(disable) unroll_count(8)
        for (u32 j = 0; j < length; ++j) {
            rest.held[k] = x[j];
            k += 1 - flags[j];
        }
        rest.count = k;
        leave_lines(&rest, non_temporal);
#endif
    }
    leave_rest(&kept);
#if PARTITION
    leave_rest(&rest);
#endif
}
