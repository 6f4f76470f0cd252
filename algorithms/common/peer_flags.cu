// Flags between kernels of different devices, and counters between groups of a launch, CUDA C++. OpenCL has no memory
// that kernels of two devices share.
//
// Algorithm  A flag is a counter of turns in the memory of the device that waits for it. A kernel of another device
//            raises it over the link between the devices, after it has written what belongs to the turn. Turns wrap
//            around.
// Passes     none of its own.
// Traffic    one atomic operation per call.
// Tunables   none.
// Source     NVIDIA, PTX ISA, memory consistency model.

#include "common.cu"

// Waits until a flag has reached a turn. One thread calls it, and a barrier follows.
__device__ __forceinline__ void await_flag(const u32* flag, u32 turn) {
    u32 reached;
    do {
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(reached) : "l"(flag) : "memory");
    } while (static_cast<i32>(reached - turn) < 0);
}

// Raises a flag of another device. The other device then sees what this thread has written or seen. A barrier precedes
// the call if other threads of the group have written.
__device__ __forceinline__ void raise_flag(u32* flag, u32 turn) {
    __threadfence_system();
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(turn) : "memory");
}

// Returns true to the last of `groups` callers. It sees what they have written, and may publish it to other devices.
// ticket: zero before and after the launch.
__device__ __forceinline__ bool is_last(u32* ticket, u32 groups) {
    if (groups == 1) return true;
    __threadfence_system();
    if (atomicInc(ticket, groups - 1) != groups - 1) return false;
    __threadfence_system();
    return true;
}

// Counts a group whose threads have written before a barrier, and waits for a number of them on the same device.
__device__ __forceinline__ void add_one(u32* counter) {
    __threadfence();
    atomicAdd(counter, 1u);
}
__device__ __forceinline__ void await_count(const u32* counter, u32 count) {
    u32 reached;
    do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(reached) : "l"(counter) : "memory");
    } while (reached < count);
}
