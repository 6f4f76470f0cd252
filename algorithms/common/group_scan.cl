// Scan of sums within a group, OpenCL C. Parallel source: group_scan.cu.
//
// Algorithm  Hillis and Steele's: log2(GROUP) steps, in each of which a work-item adds the value `distance` before its own.
//            Two rows of local memory take turns, so that a step costs one barrier. It relies on no work-items that run in
//            lock-step.
// Source     W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986.

// Defines two functions for values of type E. All work-items of the group call them. sums: local memory for 2 * GROUP values.
// NAME(value, sums, last) returns the sum of the group's values up to and with this work-item's. After the next barrier,
// sums[*last] is the sum of all of them. A barrier has to lie between an earlier use of `sums` and the call.
// NAME_total(value, sums, all) returns the same; *all: the sum of all values. It has these barriers.
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
    }
