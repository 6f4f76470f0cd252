// Stores past the caches, OpenCL C, for the kernels in the shape for CPUs.

#define LINE_BYTES 64

// Whether the compiler can store past the caches.
#if __has_builtin(__builtin_nontemporal_store)
#define CAN_STREAM 1
#else
#define CAN_STREAM 0
#endif

// Stores a line, which is aligned, past the caches where the compiler can.
INLINED void stream_line(__global void* to, ulong8 line) {
#if CAN_STREAM
    __builtin_nontemporal_store(line, (__global ulong8*)to);
#else
    *(__global ulong8*)to = line;
#endif
}
