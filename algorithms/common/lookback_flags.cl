// How the tiles of one launch exchange totals by flags, OpenCL C. lookback.cu describes the tree of totals.
//
// Algorithm  A writer stores a total, then sets its flag. A reader polls the flag, then reads the total.
// Memory     The totals of the levels, one level after another, and a flag per total, initially zero.
// Progress   look() always ends. await() relies on forward progress of started groups while others spin.
// Traffic    One total and one flag written per tile and node; at most 15 of each read per tile and level.
// Tunables   none.
// Source     D. Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// T: type of a total.

#include "common.cl"

// Stores a total, then sets its flag.
INLINED void publish(__global T* totals, volatile __global u32* flags, u64 at, T total) {
    totals[at] = total;
    device_fence();
    atomic_xchg(flags + at, 1);
}

// Reads a total whose flag this work-item has seen set.
INLINED T published(__global const T* totals, u64 at) {
    device_fence();
    return ((volatile __global const T*)totals)[at];
}

// Polls the flag at most `looks` times. Returns whether the total is published, and sets *total if it is.
INLINED bool look(__global const T* totals, volatile __global u32* flags, u64 at, u32 looks, T* total) {
    while (flags[at] == 0) {
        if (--looks == 0) return false;
    }
    *total = published(totals, at);
    return true;
}

// Waits until the total is published, and returns it.
INLINED T await(__global const T* totals, volatile __global u32* flags, u64 at) {
    while (flags[at] == 0) {}
    return published(totals, at);
}
