// Sums of counts of digits, CUDA C++: the scan of one count per digit, and the addition to a total. Parallel source:
// sort_sums.cl.
//
// COUNT: type of counts.

#include "group_scan"
#include "sort_digits"

// --- Scan ------------------------------------------------------------------------------------------------------------

// Its shared memory.
struct Scan {
    COUNT totals[DIGITS / warp_width];  // of the warps
};

// Returns the sum of the values of earlier threads. Threads from DIGITS on have the value 0 and ignore the result. All
// threads of the group must call it. Two calls need a barrier between them. E: COUNT or u32.
template <class E>
INLINED E scan_digits(E value, Scan* scan) {
    return scan_group<DIGITS / warp_width>(value, (E*)scan->totals).before;
}

// --- Totals ----------------------------------------------------------------------------------------------------------

// Adds to a count of 64 bits.
INLINED void add_total(u64* total, u32 sum) { atomicAdd((unsigned long long*)total, (unsigned long long)sum); }
