// Sums of counts of digits, OpenCL C: the scan of one count per digit, and the addition to a total. Parallel source:
// sort_sums.cu.
//
// COUNT: type of counts.

#include "lanes"
#include "sort_digits"

// --- Scan ------------------------------------------------------------------------------------------------------------

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

// --- Totals ----------------------------------------------------------------------------------------------------------

// Adds to a count of 64 bits, low word first, by operations on 32 bits.
INLINED void add_total(__global u64* total, u32 sum) {
    volatile __global u32* const low = (volatile __global u32*)total;
    if (atomic_add(low, sum) > 0xffffffffu - sum) atomic_inc(low + 1);
}
