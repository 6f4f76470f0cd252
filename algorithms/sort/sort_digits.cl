// Digits of 8 bits, OpenCL C: the digit of a key in a pass, and the scan of one count per digit. Parallel source:
// sort_digits.cu, with scan_group of group_scan.cu.
//
// COUNT: type of counts.

#include "lanes.cl"
#include "sort_keys.cl"

#define DIGITS 256
#define DIGIT_BITS 8

typedef struct {
    u32 shift, mask;
    Code code;
} Digit;

// The digit of the pass that begins at bit `shift`, of bits below `last`.
INLINED Digit digit_at(u32 shift, u32 last, Code code) {
    Digit digit;
    digit.shift = shift;
    digit.mask = last - shift < DIGIT_BITS ? (1u << (last - shift)) - 1 : DIGITS - 1;
    digit.code = code;
    return digit;
}

INLINED u32 digit_in(K key, Digit digit) { return digit_of(key, digit.shift, digit.mask, digit.code); }

// --- Scan of counts --------------------------------------------------------------------------------------------------

// Its local memory.
typedef struct {
    COUNT rows[2][DIGITS];
    COUNT totals[DIGITS / LANES];  // of the warps
} Scan;

// Returns the sum of the values of earlier work-items. Work-items from DIGITS on have the value 0 and ignore the
// result. All work-items of the group must call it. Two calls need a barrier between them.
INLINED COUNT scan_digits(COUNT value, __local Scan* scan) {
    const u32 local_id = get_local_id(0), lane = lane_id(), warp = local_id / LANES;
    const bool takes_part = local_id < DIGITS;
    COUNT through = value;
#pragma unroll
    for (u32 step = 0; step < 5; ++step) {
        __local COUNT* const row = scan->rows[step % 2];
        if (takes_part) row[local_id] = through;
        lanes_barrier();
        if (takes_part && lane >> step != 0) through += row[local_id - (1u << step)];
    }
    if (takes_part && lane == LANES - 1) scan->totals[warp] = through;
    barrier(CLK_LOCAL_MEM_FENCE);
    COUNT before = through - value;
#pragma unroll
    for (u32 w = 0; w < DIGITS / LANES; ++w) before += w < warp ? scan->totals[w] : 0;
    return before;
}
