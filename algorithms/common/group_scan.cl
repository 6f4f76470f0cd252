// Scan of sums within a group, OpenCL C. Parallel source: group_scan.cu.
//
// Algorithm  Hillis and Steele: log2(GROUP) steps. In each step a work-item adds the value `distance` before its own.
//            Two rows of local memory alternate, so that a step needs one barrier. It does not rely on work-items
//            that run in lock-step.
// Passes     log2(GROUP) barriers. No global memory traffic.
// Tunables   none.
// Source     W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986.

#include "common.cl"

#define SCAN_ROOM (2 * GROUP)

// Defines three functions for values of type E. All work-items of the group call them. sums: local memory for SCAN_ROOM
// values. NAME(value, sums, last) returns the inclusive sum up to this work-item. After the next barrier, sums[*last]
// is the sum of all values. An earlier use of `sums` and the call need a barrier between them.
// NAME_total(value, sums, all) returns the same and sets *all to the sum of all values. It contains these barriers.
// NAME_sum(value, sums) returns the sum of all values.
#define SCAN_GROUP(NAME, E)                                                     \
    INLINED E NAME(E value, __local E* sums, u32* last) {                       \
        const u32 local_id = get_local_id(0);                                   \
        u32 row = 0;                                                            \
        sums[local_id] = value;                                                 \
        for (u32 distance = 1; distance < GROUP; distance *= 2) {               \
            barrier(CLK_LOCAL_MEM_FENCE);                                       \
            if (local_id >= distance) value += sums[row + local_id - distance]; \
            row ^= GROUP;                                                       \
            sums[row + local_id] = value;                                       \
        }                                                                       \
        *last = row + GROUP - 1;                                                \
        return value;                                                           \
    }                                                                           \
    INLINED E NAME##_total(E value, __local E* sums, E* all) {                  \
        u32 last;                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                           \
        const E through = NAME(value, sums, &last);                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                           \
        *all = sums[last];                                                      \
        return through;                                                         \
    }                                                                           \
    INLINED E NAME##_sum(E value, __local E* sums) {                            \
        E all;                                                                  \
        NAME##_total(value, sums, &all);                                        \
        return all;                                                             \
    }
