// Totals that the tiles of one launch publish for others, OpenCL C. Parallel source: lookback.cu, where the tree of totals
// and the fixed order are described.
//
// Memory     The totals of the levels, one level after another, and for each a flag, which is zero until the total is there.
// Progress   look() ends by itself. await() relies on groups that have begun going on while others spin.
//
// T: type of a total.

// Stores a total, then sets its flag.
static inline void publish(__global T* totals, volatile __global u32* flags, u64 at, T total) {
    totals[at] = total;
    device_fence();
    atomic_xchg(flags + at, 1);
}

// A total whose flag this work-item has seen.
static inline T published(__global const T* totals, u64 at) {
    device_fence();
    return ((volatile __global const T*)totals)[at];
}

// Looks up to `looks` times; returns whether the total is there, and then *total.
static inline bool look(__global const T* totals, volatile __global u32* flags, u64 at, u32 looks, T* total) {
    while (flags[at] == 0) {
        if (--looks == 0) return false;
    }
    *total = published(totals, at);
    return true;
}

// Waits until the total is there.
static inline T await(__global const T* totals, volatile __global u32* flags, u64 at) {
    while (flags[at] == 0) {}
    return published(totals, at);
}
