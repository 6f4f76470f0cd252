// Non-temporal stores, OpenCL C, for kernels in the shape for CPUs.
//
// Algorithm  A kernel collects a cache line of results and stores it as a whole, so that the CPU does not read the
//            line first.
// Passes     none of its own.
// Traffic    One write per line, without the read for ownership.
// Tunables   none.
// Source     Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores.

#include "common.cl"

#define LINE_BYTES 64

// Whether the compiler supports non-temporal stores.
#if __has_builtin(__builtin_nontemporal_store)
#define CAN_STREAM 1
#else
#define CAN_STREAM 0
#endif

// Stores an aligned line, with a non-temporal store if the compiler supports it.
INLINED void stream_line(__global void* to, ulong8 line) {
#if CAN_STREAM
    __builtin_nontemporal_store(line, (__global ulong8*)to);
#else
    *(__global ulong8*)to = line;
#endif
}
