// Lanes of a warp, CUDA C++: numbers and barrier. Parallel source: lanes.cl, with shuffle_from of common.cu.
//
// Passes     none of its own. No global memory traffic.
// Tunables   none.
// Source     textbook.

#include "common.cu"

#define LANES warp_width

INLINED u32 lane_id() { return threadIdx.x % LANES; }

// Orders the accesses of a warp's lanes to shared memory.
INLINED void lanes_barrier() { __syncwarp(); }
