// Scan of sums within a group, OpenCL C. Parallel source: group_scan.cu.
//
// Algorithm  Hillis and Steele's: log2(GROUP) steps, in each of which a work-item adds the value `distance` before its own.
//            Two rows of local memory take turns, so that a step costs one barrier. It relies on no work-items that run in
//            lock-step.
// Source     W. D. Hillis, G. L. Steele, Data Parallel Algorithms, 1986.

// Defines a function for values of type E. It returns the sum of the group's values up to and with this work-item's;
// *all: of all of them. sums: local memory for 2 * GROUP values. All work-items of the group call it.
#define SCAN_GROUP(NAME, E)                                                      \
    INLINED E NAME(E value, __local E* sums, E* all) {                           \
        const u32 local_id = get_local_id(0);                                    \
        u32 row = 0;                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                            \
        sums[local_id] = value;                                                  \
        for (u32 distance = 1; distance < GROUP; distance *= 2) {                \
            barrier(CLK_LOCAL_MEM_FENCE);                                        \
            if (local_id >= distance) value += sums[row + local_id - distance];  \
            row ^= GROUP;                                                        \
            sums[row + local_id] = value;                                        \
        }                                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                            \
        *all = sums[row + GROUP - 1];                                            \
        return value;                                                            \
    }
