// Counters of 32 or 64 bits in global memory, CUDA C++. Parallel source: histogram_counter.cl.
//
// WORDS: 32-bit words per counter.

#include "common.cu"

// Adds to a counter that groups share.
INLINED void add_to(u32* out, u64 bin, u32 count) {
#if WORDS == 1
    atomicAdd(out + bin, count);
#else
    atomicAdd((u64*)out + bin, (u64)count);
#endif
}
