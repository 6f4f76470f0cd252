// Lanes of a warp, CUDA C++: their numbers, exchange and barrier. Parallel source: lanes.cl.
//
// Passes     none of its own. No global memory traffic.
// Tunables   none.
// Source     textbook.

#include "common.cu"

#define LANES warp_width

INLINED u32 lane_id() { return threadIdx.x % LANES; }

// SHUFFLE_FROM as lanes.cl describes it.
#define LANE_ROOM 1
#define SHUFFLE_FROM(NAME, E) \
    INLINED E NAME(E value, u32 lane, E* /*meet*/) { return shuffle_from(value, lane); }

// Orders the accesses of a warp's lanes to shared memory.
INLINED void lanes_barrier() { __syncwarp(); }
