// Asynchronous copies from global to local memory, OpenCL C. The parallel source async_copy.cu describes them.
//
// CONCORD_CAPABILITY: compute capability, 90 for 9.0, where the compiler accepts inline PTX. Elsewhere a copy completes
// before its call returns, and the waits do nothing.

#include "common.cl"

// Four bytes of any type: compilers may otherwise assume that a store of a uint changes no f32.
typedef uint __attribute__((may_alias)) Word;

// An address in local memory, to which a number of bytes can be added.
typedef __local uchar* LocalAddress;
INLINED LocalAddress local_address(__local void* pointer) { return (LocalAddress)pointer; }

// Starts to copy `bytes` (4, 8 or 16, a constant), or to write zeros if not `inside`. Then `from` may be outside of its
// buffer.
INLINED void copy_async_or_zero(u32 bytes, bool inside, LocalAddress to, __global const void* from) {
#if CONCORD_CAPABILITY >= 80
    const u32 at = (u32)(size_t)to, read = inside ? bytes : 0;
    if (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
    } else if (bytes == 8) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
    }
#else
    if (bytes == 16) {
        *(__local uint4*)to = inside ? *(__global const uint4*)from : (uint4)(0);
    } else if (bytes == 8) {
        *(__local uint2*)to = inside ? *(__global const uint2*)from : (uint2)(0);
    } else {
        *(__local Word*)to = inside ? *(__global const Word*)from : 0;
    }
#endif
}

// Ends a step. It consists of the copies started since the end of the previous step.
INLINED void commit_copies(void) {
#if CONCORD_CAPABILITY >= 80
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all steps except the last `later`, a constant of at most 3.
INLINED void await_steps(u32 later) {
#if CONCORD_CAPABILITY >= 80
    if (later == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (later == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
    if (later == 2) asm volatile("cp.async.wait_group 2;" ::: "memory");
    if (later == 3) asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
}
