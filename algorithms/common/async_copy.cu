// Asynchronous copies from global to shared memory, CUDA C++.
//
// Algorithm  A thread starts copies, commits those of a step, and waits for its own copies. Data that other threads
//            copied is visible after a barrier that follows their waits. Before sm_80 a copy completes before its
//            call returns, and the waits do nothing.
// Traffic    Reads the copied bytes once, without passing through registers on sm_80 and later.
// Tunables   none.
// Source     NVIDIA, PTX ISA, cp.async.

#include "common.cu"

// Starts to copy BYTES (4, 8 or 16) through L1 if `wanted`. to: an address in shared memory. The condition is part of
// the instruction, so that addresses are computed once for all copies of a step.
template <u32 BYTES, class E>
__device__ __forceinline__ void copy_async_if(bool wanted, u32 to, const E* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %0, 0;\n\t@p cp.async.ca.shared.global [%1], [%2], %3;\n\t}" ::"r"(
                     static_cast<u32>(wanted)),
                 "r"(to), "l"(__cvta_generic_to_global(from)), "n"(BYTES)
                 : "memory");
#else
    struct alignas(BYTES) Bits {
        u32 word[BYTES / 4];
    };
    if (wanted) *static_cast<Bits*>(__cvta_shared_to_generic(to)) = *reinterpret_cast<const Bits*>(from);
#endif
}

// An address in local memory, to which a number of bytes can be added. Pointers would be converted for each copy.
using LocalAddress = u32;
INLINED LocalAddress local_address(void* pointer) { return static_cast<u32>(__cvta_generic_to_shared(pointer)); }

// Starts to copy `bytes` (4, 8 or 16, a constant), or to write zeros if not `inside`. Then `from` may be outside of its
// buffer.
INLINED void copy_async_or_zero(u32 bytes, bool inside, LocalAddress to, const void* from) {
#if __CUDA_ARCH__ >= 800
    const u32 read = inside ? bytes : 0;
    const u64 global = __cvta_generic_to_global(from);
    if (bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
    } else if (bytes == 8) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global), "r"(read) : "memory");
    }
#else
    void* const local = __cvta_shared_to_generic(to);
    if (bytes == 16) {
        *static_cast<uint4*>(local) = inside ? *static_cast<const uint4*>(from) : uint4{};
    } else if (bytes == 8) {
        *static_cast<uint2*>(local) = inside ? *static_cast<const uint2*>(from) : uint2{};
    } else {
        *static_cast<u32*>(local) = inside ? *static_cast<const u32*>(from) : 0;
    }
#endif
}

// Starts to copy a pack of 16 bytes, bypassing L1.
template <class E>
__device__ __forceinline__ void copy_pack_async(E* to, const E* from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    using Bits = Pack<E, 16 / sizeof(E)>;
    *reinterpret_cast<Bits*>(to) = *reinterpret_cast<const Bits*>(from);
#endif
}

// Ends a step. It consists of the copies started since the end of the previous step.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all steps except the last `later`, a constant of at most 3.
INLINED void await_steps(u32 later) {
#if __CUDA_ARCH__ >= 800
    if (later == 0) asm volatile("cp.async.wait_group 0;" ::: "memory");
    if (later == 1) asm volatile("cp.async.wait_group 1;" ::: "memory");
    if (later == 2) asm volatile("cp.async.wait_group 2;" ::: "memory");
    if (later == 3) asm volatile("cp.async.wait_group 3;" ::: "memory");
#endif
}

// Waits for all copies.
__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
