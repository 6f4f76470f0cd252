// Exchange of values between lanes, OpenCL C. Parallel source: lanes.cu.
//
// Algorithm  A team is LANES neighbouring work-items. With NVIDIA's compiler a team is a warp, and its lanes exchange
//            registers by shuffles in PTX. Elsewhere values pass through local memory between two barriers.
// Passes     none of its own. No global memory traffic.
// Tunables   none.
// Source     NVIDIA, PTX ISA, shfl.sync and bar.warp.sync.
//
// All work-items of the group call these functions together, because they may contain barriers.

#include "common.cl"

#define LANES 32

INLINED u32 lane_id(void) { return (u32)get_local_id(0) % LANES; }
INLINED u32 lowest_bit(u32 x) { return popcount((x & (0 - x)) - 1); }  // the number of the lowest bit of x that is set

// SHUFFLE_FROM(NAME, E) defines NAME(value, lane, meet), which returns the value of lane `lane` % LANES of the team.
// meet: local memory for LANE_ROOM values, which the shuffles do not use.
#if defined(CONCORD_SHUFFLE_PTX)

#define LANE_ROOM 1

// shuffle_word_from(word, lane) exists.
#define LANES_SHUFFLE
INLINED u32 shuffle_word_from(u32 word, u32 lane) {
    u32 result;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(word), "r"(lane));
    return result;
}

#define SHUFFLE_FROM(NAME, E)                                                                                  \
    INLINED E NAME(E value, u32 lane, __local E* meet) {                                                       \
        union {                                                                                                \
            E value;                                                                                           \
            u32 words[(sizeof(E) + 3) / 4];                                                                    \
        } both;                                                                                                \
        both.words[0] = 0;                                                                                     \
        both.value = value;                                                                                    \
        for (u32 i = 0; i < (sizeof(E) + 3) / 4; ++i) both.words[i] = shuffle_word_from(both.words[i], lane);  \
        return both.value;                                                                                     \
    }

// Orders the accesses of a team's lanes to local memory.
INLINED void lanes_barrier(void) { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

#else

#define LANE_ROOM GROUP

#define SHUFFLE_FROM(NAME, E)                                              \
    INLINED E NAME(E value, u32 lane, __local E* meet) {                   \
        const u32 local_id = get_local_id(0);                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                      \
        meet[local_id] = value;                                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                      \
        return meet[local_id / LANES * LANES + lane % LANES];              \
    }

INLINED void lanes_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE); }

#endif

// SHUFFLE_BY(NAME, E) defines NAME(value, distance, meet), which returns the value of the lane `distance` above this
// one, or below it if `distance` is negative. Where that lane is not in the team, the result is unspecified.
#define SHUFFLE_BY(NAME, E)                                           \
    SHUFFLE_FROM(NAME##_from, E)                                      \
    INLINED E NAME(E value, i32 distance, __local E* meet) {          \
        return NAME##_from(value, lane_id() + (u32)distance, meet);   \
    }
