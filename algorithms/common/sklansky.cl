// Sklansky's network, OpenCL C: the scan of 16 values that defines the order of Concord's scans. Parallel source:
// sklansky.cu. In vectors, for CPUs: sklansky_wide.cl.
//
// Algorithm  Joins halves of 2, 4, 8 and 16 values: combines the last value of the left half with all values of the
//            right half. Four steps, 32 operations.
// Passes     none of its own: works in registers or local memory. No global memory traffic.
// Tunables   none.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.
//
// T: element type; apply(op, x, y): the operator, x is the earlier element.

#include "common.cl"

typedef struct { T item[16]; } Block;

// Inclusive scan: item i becomes the combination of items 0 to i.
INLINED void scan_sixteen(Block* b, const Op op) {
#pragma unroll
    for (int half_ = 1; half_ < 16; half_ *= 2) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            if (j & half_) b->item[j] = apply(op, b->item[(j & ~(half_ - 1)) - 1], b->item[j]);
        }
    }
}

// The same for values in local memory, by one work-item.
static inline void scan_sixteen_local(__local T* values, const Op op) {
    Block b;
#pragma unroll
    for (int j = 0; j < 16; ++j) b.item[j] = values[j];
    scan_sixteen(&b, op);
#pragma unroll
    for (int j = 0; j < 16; ++j) values[j] = b.item[j];
}

// The same as a loop, for rare calls: smaller but slower code.
static inline void scan_sixteen_loop(__local T* values, const Op op) {
    for (u32 half_ = 1; half_ < 16; half_ *= 2) {
#pragma unroll 1
        for (u32 j = half_; j < 16; ++j) {
            if (j & half_) values[j] = apply(op, values[(j & ~(half_ - 1)) - 1], values[j]);
        }
    }
}
