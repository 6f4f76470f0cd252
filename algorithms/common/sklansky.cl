// Sklansky's network, OpenCL C: the scan of 16 values that defines the order of Concord's scans. Parallel source:
// sklansky.cu. In vectors, for CPUs: sklansky_wide.cl.
//
// Algorithm  Joins halves of 2, 4, 8 and 16 values: combines the last value of the left half with all values of the
//            right half. Four steps, 32 operations. Where lanes do not exchange registers, one work-item scans the
//            values of 16 lanes in local memory.
// Passes     none of its own. No global memory traffic.
// Tunables   none.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.
//
// TOTAL: type of the values; JOIN(op, x, y): combines two values, x is the earlier one. meet: local memory for
// LANE_ROOM values.

#include "lanes.cl"

SHUFFLE_FROM(shuffle_total, TOTAL)

// Inclusive scan over `width` neighbouring lanes with `count` values each, in the order of the lanes. Both are powers
// of two. All work-items of the group call it.
INLINED void scan_network(TOTAL* value, u32 count, u32 width, __local TOTAL* meet, const Op op) {
    const u32 lane = lane_id();
#pragma unroll
    for (u32 half_ = 1; half_ < count; half_ *= 2) {
#pragma unroll
        for (u32 j = 0; j < count; ++j) {
            if (j & half_) value[j] = JOIN(op, value[(j & ~(half_ - 1)) - 1], value[j]);
        }
    }
#pragma unroll
    for (u32 half_ = 1; half_ < width; half_ *= 2) {
        const TOTAL left = shuffle_total(value[count - 1], (lane & ~(half_ - 1)) - 1, meet);
#pragma unroll
        for (u32 j = 0; j < count; ++j) {
            if (lane & half_) value[j] = JOIN(op, left, value[j]);
        }
    }
}

// Inclusive scan of 16 values by one work-item, as a loop: smaller but slower code.
static inline void scan_sixteen_loop(__local TOTAL* values, const Op op) {
    for (u32 half_ = 1; half_ < 16; half_ *= 2) {
#pragma unroll 1
        for (u32 j = half_; j < 16; ++j) {
            if (j & half_) values[j] = JOIN(op, values[(j & ~(half_ - 1)) - 1], values[j]);
        }
    }
}

// Inclusive scan of one value per lane over 16 neighbouring lanes. All work-items of the group call it.
INLINED TOTAL scan_sixteen(TOTAL value, __local TOTAL* meet, const Op op) {
#if defined(CONCORD_SHUFFLE_PTX)
    const u32 lane = lane_id();
#pragma unroll
    for (u32 half_ = 1; half_ < 16; half_ *= 2) {
        const TOTAL left = shuffle_total(value, (lane & ~(half_ - 1)) - 1, meet);
        const TOTAL joined = JOIN(op, left, value);
        value = lane & half_ ? joined : value;
    }
    return value;
#else
    const u32 local_id = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    meet[local_id] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id % 16 == 0) scan_sixteen_loop(meet + local_id, op);
    barrier(CLK_LOCAL_MEM_FENCE);
    return meet[local_id];
#endif
}
