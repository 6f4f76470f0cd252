// Histogram and scan of `onesweep`, OpenCL C: one launch counts the digits of all passes. Its last group turns the
// counts into offsets and makes the plan. The parallel source sort_histograms.cu describes it.

#include "sort_digits.cl"
#include "sort_keys.cl"
#include "sort_plan.cl"

#define MAX_PASSES SIZE
#define PACK (16 / SIZE)

// A pack of keys, loaded as 16 bytes.
typedef union {
    uint4 all;
    K item[PACK];
} KeyPack;

INLINED void count_key(K key, u32 passes, u32 first, u32 last_mask, Code code, __local u32* mine) {
    const K bits = code_of(key, code) >> first;
#pragma unroll
    for (u32 p = 0; p < MAX_PASSES; ++p) {
        if (p < passes) {
            const u32 d = (u32)(bits >> (DIGIT_BITS * p)) & (p + 1 == passes ? last_mask : DIGITS - 1);
            atomic_inc(mine + (p * DIGITS + d) * COPIES);
        }
    }
}

// Adds to a count of 64 bits, low word first, by operations on 32 bits.
INLINED void add_total(volatile __global u32* total, u32 sum) {
    if (atomic_add(total, sum) > 0xffffffffu - sum) atomic_inc(total + 1);
}

// Scan, by one work-item: makes the plan of all passes.
INLINED void make_plan(__global u64* memory, u32 constant_passes, u32 passes, u32 in_place) {
    const u32 all = (1u << passes) - 1;
    u32 moves = all & ~constant_passes;
    if (moves == 0 && !in_place) moves = 1;  // one pass copies
    const u32 odd = popcount(moves) % 2;
    u32 from = IN_PLACE_OF, upper = 0;
    for (u32 p = 0; p < passes; ++p) {
        if (moves >> p & 1) {
            const u32 left = popcount(moves >> p >> 1);
            const u32 to = (in_place ? left % 2 == odd : left % 2 == 0) ? OUT_PLACE : OTHER_PLACE;
            memory[PLAN_AT + p] = STEP_OF(from, to, upper);
            from = to;
            upper ^= 1;
        } else {
            memory[PLAN_AT + p] = SKIPPED;
        }
    }
    memory[COPY_FOLLOWS] = from == OTHER_PLACE;
}

// Histogram and scan. Positions count from the 16-byte boundary at or before the input's first key, so every pack
// is aligned. status: the words of the first pass, which this kernel clears. table: COPIES counters per pass and
// digit.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_histograms(__global const K* in, ulong in_at, __global u64* memory, ulong memory_at, __global COUNT* status,
                     ulong status_at, u64 words, u64 n, u32 passes, u32 first, u32 last, u32 in_place, u64 flip,
                     u64 fold, __local u32* table) {
    __local Scan scan;
    __local u32 is_last, constant_passes;
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0), groups = get_num_groups(0);
    const u32 used = passes * DIGITS, last_mask = digit_at(first + DIGIT_BITS * (passes - 1), last, code).mask;
    in += in_at;
    memory += memory_at;
    status += status_at;
    for (u32 k = local_id; k < used * COPIES; k += GROUP) table[k] = 0;
    for (u64 w = get_global_id(0); w < words; w += (u64)groups * GROUP) status[w] = 0;
    if (local_id == 0) constant_passes = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    __local u32* const mine = table + local_id % COPIES;
    const u64 begin = (u64)(size_t)in / SIZE % PACK, end = begin + n;
    __global const K* const base = in - begin;
    const u64 packs = (end + PACK - 1) / PACK, tile = (u64)GROUP * UNROLL;
    for (u64 t = get_group_id(0) * tile; t < packs; t += groups * tile) {
        if (t * PACK >= begin && (t + tile) * PACK <= end) {
            KeyPack loaded[UNROLL];
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k)
                loaded[k].all = *(__global const uint4*)(base + (t + k * GROUP + local_id) * PACK);
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k) {
#pragma unroll
                for (u32 j = 0; j < PACK; ++j) count_key(loaded[k].item[j], passes, first, last_mask, code, mine);
            }
        } else {
            const u64 to = min((t + tile) * PACK, end);
            for (u64 i = max(t * PACK, begin) + local_id; i < to; i += GROUP)
                count_key(base[i], passes, first, last_mask, code, mine);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 k = local_id; k < used; k += GROUP) {
        u32 sum = 0;
#pragma unroll
        for (u32 c = 0; c < COPIES; ++c) sum += table[k * COPIES + (c + local_id) % COPIES];
        if (sum != 0) add_total(LOW_HALF(memory, TOTALS_AT + k), sum);
    }

    if (!last_group(LOW_HALF(memory, COUNTING_TICKET), groups, &is_last)) return;
    for (u32 p = 0; p < passes; ++p) {
        const bool counts = local_id < DIGITS;
        const u32 at = TOTALS_AT + p * DIGITS + local_id;
        const u64 total = counts ? ((volatile __global u64*)memory)[at] : 0;
        if (counts && total == n) atomic_or(&constant_passes, 1u << p);
        const u64 before = scan_digits((COUNT)total, &scan);
        if (counts) memory[at] = before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (local_id == 0) make_plan(memory, constant_passes, passes, in_place);
}
