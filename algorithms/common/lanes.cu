// Lanes of a warp, CUDA C++: their numbers, their barrier and the exchange of values. Parallel source: lanes.cl.
//
// Passes     none of its own. No global memory traffic.
// Tunables   none.
// Source     textbook.

#include "common.cu"

#define LANES warp_width

INLINED u32 lane_id() { return threadIdx.x % LANES; }

// Lanes exchange registers: shuffle_word_from(word, lane) exists. In OpenCL C only with NVIDIA's compiler.
#define LANES_SHUFFLE
INLINED u32 shuffle_word_from(u32 word, u32 lane) { return shuffle_from(word, lane); }
INLINED u32 lowest_bit(u32 x) { return __ffs(x) - 1; }  // the number of the lowest bit of x that is set

// SHUFFLE_FROM(NAME, E) defines NAME(value, lane, meet), which returns the value of lane `lane` % LANES. meet: unused.
#define LANE_ROOM 1
#define SHUFFLE_FROM(NAME, E) \
    INLINED E NAME(E value, u32 lane, E* meet) { return shuffle_from(value, lane); }

// SHUFFLE_BY(NAME, E) defines NAME(value, distance, meet), which returns the value of the lane `distance` above this
// one, or below it if `distance` is negative. Where that lane is not in the warp, the result is unspecified.
#define SHUFFLE_BY(NAME, E)                                                                 \
    INLINED E NAME(E value, i32 distance, E* meet) {                                        \
        return distance < 0 ? shuffle_up(value, -distance) : shuffle_down(value, distance); \
    }

// Orders the accesses of a warp's lanes to shared memory.
INLINED void lanes_barrier() { __syncwarp(); }
