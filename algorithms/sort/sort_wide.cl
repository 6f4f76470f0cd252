// Radix sort with digits of 8 bits for CPUs, `radix8`, OpenCL C: one work-item per group, which owns a chunk. The
// kernels for GPUs are in sort_radix8.cl.
//
// Algorithm  Histogram: counts all digits of all chunks. Plan: a pass whose digit is equal in all keys is skipped;
//            the other passes alternate between out and a buffer, and the last one ends in out. Then one pass per
//            digit, lowest digit first: counts of the chunks (the first pass has them already), and a scatter. The
//            scatter gathers LINE elements per digit in private memory and stores them together as whole cache
//            lines, by non-temporal stores for large data.
// small      the whole sort of a small input, in one launch of one work-item
// Passes     two launches for the plan, two per digit
// Traffic    one read per key; then per pass two reads per key, one per value, one write per element
// Tunables   LINE elements gathered per digit
// Source     D. Jimenez-Gonzalez et al., CC-Radix: a Cache Conscious Sorting Based on Radix Sort, 2003; N. Satish
//            et al., Fast Sort on CPUs and GPUs: a Case for Bandwidth Oblivious SIMD Sort, 2010 (software
//            write-combining).

#include "sort_keys"
#include "lines.cl"

#define DIGITS 256
#define DIGIT_BITS 8
#define PASSES SIZE  // upper limit

// Where the elements are before or after a pass.
#define IN 0
#define OUT 1
#define OTHER 2
// An entry of the plan: SKIPPED, or source and destination.
#define SKIPPED 65535
// Whole bytes, because Oclgrind 21.10 fails on a switch over fewer bits.
#define STEP(from, to) ((from) | (to) << 8)
#define FROM(step) ((step) & 255)
#define TO(step) ((step) >> 8)
// The elements of type E at a place.
#define AT(place, E, in, out, other)                                                                 \
    ((place) == IN ? (in) : (place) == OUT ? (__global const E*)(out) : (__global const E*)(other))

// The digit of a pass: bits from shift_of() on.
INLINED u32 shift_of(u32 pass, u32 first) { return first + pass * DIGIT_BITS; }
INLINED u32 mask_of(u32 pass, u32 first, u32 last) {
    const u32 bits = last - shift_of(pass, first);
    return bits < DIGIT_BITS ? (1u << bits) - 1 : DIGITS - 1;
}

// Adds the digits of all passes to `counts`, one row per pass.
INLINED void count_all(__global const K* in, u64 n, u32* counts, u32 passes, u32 first, u32 last, Code code) {
    for (u64 i = 0; i < n; ++i) {
        const K bits = code_of(in[i], code) >> first;
#pragma unroll
        for (u32 p = 0; p < PASSES; ++p) {
            if (p < passes) ++counts[p * DIGITS + ((u32)(bits >> (p * DIGIT_BITS)) & mask_of(p, first, last))];
        }
    }
}

// rows: per chunk one row for each pass.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_histograms(__global const K* in, ulong in_at, __global u32* rows, ulong rows_at, u64 n, u64 chunk, u32 passes,
                     u32 first, u32 last, u64 flip, u64 fold) {
    const u64 begin = get_group_id(0) * chunk, end = min(begin + chunk, n);
    u32 counts[PASSES * DIGITS];
    for (u32 k = 0; k < passes * DIGITS; ++k) counts[k] = 0;
    count_all(in + in_at + begin, end - begin, counts, passes, first, last, make_code(flip, fold));
    rows += rows_at + get_group_id(0) * passes * DIGITS;
    for (u32 k = 0; k < passes * DIGITS; ++k) rows[k] = counts[k];
}

// Plans each pass that is not skipped. steps: SKIPPED or 0 at first. The last pass ends in out; in place, only an
// even number of passes can. Returns whether the result is in `other` at the end.
INLINED u32 plan_steps(u32* steps, u32 passes, u32 in_place) {
    u32 left = 0, from = IN;
    for (u32 p = 0; p < passes; ++p) left += steps[p] != SKIPPED;
    if (left == 0 && !in_place) {  // one pass copies
        steps[0] = 0;
        left = 1;
    }
    const u32 odd = left % 2;
    for (u32 p = 0; p < passes; ++p) {
        if (steps[p] == SKIPPED) continue;
        --left;
        const u32 to = (in_place ? left % 2 == odd : left % 2 == 0) ? OUT : OTHER;
        steps[p] = STEP(from, to);
        from = to;
    }
    return from == OTHER;
}

// plan: one word per pass, then whether a copy follows.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_plan(__global const u32* rows, ulong rows_at, __global u32* plan, ulong plan_at, u64 n, u64 chunks,
               u32 passes, u32 in_place) {
    u32 steps[PASSES];
    for (u32 p = 0; p < passes; ++p) {
        steps[p] = 0;
        for (u32 d = 0; d < DIGITS; ++d) {
            u64 sum = 0;
            for (u64 c = 0; c < chunks; ++c) sum += rows[rows_at + (c * passes + p) * DIGITS + d];
            if (sum == n) steps[p] = SKIPPED;
        }
    }
    plan[plan_at + passes] = plan_steps(steps, passes, in_place);
    for (u32 p = 0; p < passes; ++p) plan[plan_at + p] = steps[p];
}

// counts: one row per chunk.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_count(__global const u32* plan, ulong plan_at, __global const K* out, ulong out_at, __global const K* other,
                ulong other_at, __global const u32* rows, ulong rows_at, __global u32* counts, ulong counts_at, u64 n,
                u64 chunk, u32 passes, u32 pass, u32 first, u32 last, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u32 step = plan[plan_at + pass], shift = shift_of(pass, first), mask = mask_of(pass, first, last);
    const u64 group = get_group_id(0), begin = group * chunk, end = min(begin + chunk, n);
    if (step == SKIPPED) return;
    counts += counts_at + group * DIGITS;
    if (FROM(step) == IN) {
        rows += rows_at + (group * passes + pass) * DIGITS;
        for (u32 d = 0; d < DIGITS; ++d) counts[d] = rows[d];
        return;
    }
    __global const K* from = FROM(step) == OUT ? out + out_at : other + other_at;
    u32 table[2][DIGITS];  // in turn, so that no counter is loaded right after a store to it
    for (u32 d = 0; d < DIGITS; ++d) table[0][d] = table[1][d] = 0;
    u64 i = begin;
    for (; i + 2 <= end; i += 2) {
        ++table[0][digit_of(from[i], shift, mask, code)];
        ++table[1][digit_of(from[i + 1], shift, mask, code)];
    }
    if (i < end) ++table[0][digit_of(from[i], shift, mask, code)];
    for (u32 d = 0; d < DIGITS; ++d) counts[d] = table[0][d] + table[1][d];
}

// --- The scatter ----------------------------------------------------------------------------------------------------

// Defines a function that stores the elements [first, count) of a line. `to`: place of the line's first element.
#define LEAVE(type, name, line_aligned)                                                                   \
    INLINED void name(const type* held, __global type* to, u32 first, u32 count, u32 non_temporal) {        \
        u32 i = first;                                                                                    \
        if (first == 0 && count == LINE) {                                                                \
            if (non_temporal && line_aligned) {                                                             \
                for (; i < LINE; i += LINE_BYTES / sizeof(type))                                          \
                    stream_line(to + i, *(const ulong8*)(held + i));                                      \
            } else {                                                                                      \
                for (; i < LINE; ++i) to[i] = held[i];                                                    \
            }                                                                                             \
        }                                                                                                 \
        for (; i < count; ++i) to[i] = held[i];                                                           \
    }
LEAVE(K, leave_keys, (LINE * SIZE % 64 == 0 && (ulong)to % 64 == 0))
#if VALUE_SIZE
LEAVE(V, leave_values, (LINE * VALUE_SIZE % 64 == 0 && (ulong)to % 64 == 0))
#endif

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_scatter(__global const u32* plan, ulong plan_at, __global const K* in, ulong in_at,
                  __global const V* in_values, ulong in_values_at, __global K* out, ulong out_at,
                  __global V* out_values, ulong out_values_at, __global K* other, ulong other_at,
                  __global V* other_values, ulong other_values_at, __global const u32* counts, ulong counts_at, u64 n,
                  u64 chunk, u64 chunks, u32 pass, u32 begin_bit, u32 end_bit, u32 non_temporal, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u32 step = plan[plan_at + pass], shift = shift_of(pass, begin_bit), mask = mask_of(pass, begin_bit, end_bit);
    const u64 group = get_group_id(0), begin = group * chunk, end = min(begin + chunk, n);
    if (step == SKIPPED) return;
    __global const K* from = AT(FROM(step), K, in + in_at, out + out_at, other + other_at);
    __global K* to = TO(step) == OUT ? out + out_at : other + other_at;
    // Lines are aligned in memory: `skew` elements precede the first key of the array.
    const u32 skew = (u32)((ulong)to / SIZE % LINE);
    to -= skew;
#if VALUE_SIZE
    __global const V* from_values =
        AT(FROM(step), V, in_values + in_values_at, out_values + out_values_at, other_values + other_values_at);
    __global V* to_values = (TO(step) == OUT ? out_values + out_values_at : other_values + other_values_at) - skew;
    V held_values[DIGITS * LINE] __attribute__((aligned(64)));
#endif
    K held[DIGITS * LINE] __attribute__((aligned(64)));
    u64 next[DIGITS], first[DIGITS];  // per digit: place of the next element, and of this chunk's first one
    u64 before = skew;
    counts += counts_at;
    for (u32 d = 0; d < DIGITS; ++d) {
        for (u64 c = 0; c < chunks; ++c) {
            if (c == group) next[d] = first[d] = before;
            before += counts[c * DIGITS + d];
        }
    }
    for (u64 i = begin; i < end; ++i) {
        const K key = from[i];
        const u32 d = digit_of(key, shift, mask, code);
        const u64 at = next[d]++;
        const u32 slot = (u32)at % LINE;
        held[d * LINE + slot] = key;
#if VALUE_SIZE
        held_values[d * LINE + slot] = from_values[i];
#endif
        if (slot == LINE - 1) {
            const u64 line = at - slot;
            const u32 others = first[d] > line ? (u32)(first[d] - line) : 0;
            leave_keys(held + d * LINE, to + line, others, LINE, non_temporal);
#if VALUE_SIZE
            leave_values(held_values + d * LINE, to_values + line, others, LINE, non_temporal);
#endif
        }
    }
    for (u32 d = 0; d < DIGITS; ++d) {
        const u32 count = (u32)next[d] % LINE;
        const u64 line = next[d] - count;
        const u32 others = first[d] > line ? (u32)(first[d] - line) : 0;
        leave_keys(held + d * LINE, to + line, others, count, 0);
#if VALUE_SIZE
        leave_values(held_values + d * LINE, to_values + line, others, count, 0);
#endif
    }
}

// In place, after an odd number of passes: copies the elements back to out.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_copy_back(__global const u32* copies, ulong copies_at, __global const K* other, ulong other_at,
                    __global const V* other_values, ulong other_values_at, __global K* out, ulong out_at,
                    __global V* out_values, ulong out_values_at, u64 n, u64 chunk) {
    const u64 begin = get_group_id(0) * chunk, end = min(begin + chunk, n);
    if (copies[copies_at] == 0) return;
    for (u64 i = begin; i < end; ++i) out[out_at + i] = other[other_at + i];
#if VALUE_SIZE
    for (u64 i = begin; i < end; ++i) out_values[out_values_at + i] = other_values[other_values_at + i];
#endif
}

// --- small ----------------------------------------------------------------------------------------------------------

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void sort_small(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                ulong out_at, __global V* out_values, ulong out_values_at, __global K* other, ulong other_at,
                __global V* other_values, ulong other_values_at, u64 n, u32 passes, u32 begin_bit, u32 end_bit,
                u32 in_place, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    u32 counts[PASSES * DIGITS], steps[PASSES];
    for (u32 k = 0; k < passes * DIGITS; ++k) counts[k] = 0;
    count_all(in + in_at, n, counts, passes, begin_bit, end_bit, code);
    for (u32 p = 0; p < passes; ++p) {
        const u32 d = digit_of(in[in_at], shift_of(p, begin_bit), mask_of(p, begin_bit, end_bit), code);
        steps[p] = counts[p * DIGITS + d] == n ? SKIPPED : 0;
    }
    const u32 copies = plan_steps(steps, passes, in_place);
    for (u32 p = 0; p < passes; ++p) {
        if (steps[p] == SKIPPED) continue;
        const u32 shift = shift_of(p, begin_bit), mask = mask_of(p, begin_bit, end_bit);
        __global const K* from = AT(FROM(steps[p]), K, in + in_at, out + out_at, other + other_at);
        __global K* to = TO(steps[p]) == OUT ? out + out_at : other + other_at;
#if VALUE_SIZE
        __global const V* from_values = AT(FROM(steps[p]), V, in_values + in_values_at, out_values + out_values_at,
                                           other_values + other_values_at);
        __global V* to_values = TO(steps[p]) == OUT ? out_values + out_values_at : other_values + other_values_at;
#endif
        u32* next = counts + p * DIGITS;
        u32 before = 0;
        for (u32 d = 0; d < DIGITS; ++d) {
            const u32 counted = next[d];
            next[d] = before;
            before += counted;
        }
        for (u64 i = 0; i < n; ++i) {
            const u32 place = next[digit_of(from[i], shift, mask, code)]++;
            to[place] = from[i];
#if VALUE_SIZE
            to_values[place] = from_values[i];
#endif
        }
    }
    for (u64 i = 0; copies && i < n; ++i) {
        out[out_at + i] = other[other_at + i];
#if VALUE_SIZE
        out_values[out_values_at + i] = other_values[other_values_at + i];
#endif
    }
}
