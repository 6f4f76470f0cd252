// Counters of 32 or 64 bits in global memory, OpenCL C. Parallel source: histogram_counter.cu.
//
// WORDS: 32-bit words per counter.

#include "common.cl"

// Adds to a counter that groups share. OpenCL C 1.2 has no 64-bit atomics, so the lower word carries.
INLINED void add_to(volatile __global u32* out, u64 bin, u32 count) {
#if WORDS == 1
    atomic_add(out + bin, count);
#else
    const u32 old = atomic_add(out + 2 * bin, count);
    if (old + count < old) atomic_inc(out + 2 * bin + 1);
#endif
}
