// Functions that most kernels use, OpenCL C: the canonical NaN, fences and shuffles. Parallel source: common.cu.
//
// The compiler sees this file after the type names f32, u64, ..., the constants of the kernel and the operator.
// Depending on the device, CONCORD_FP64, CONCORD_CPU, and one of CONCORD_FENCE_CL3 and CONCORD_FENCE_PTX are defined.
//
// Passes     none of its own.
// Traffic    last_group: one atomic operation per group.
// Tunables   none.
// Source     S. Rennich, CUDA threadFenceReduction sample (last_group).

#include "prelude.cl"

// --- The canonical NaN ---------------------------------------------------------------------------------------------

// Returns the canonical NaN for every NaN, and any other value unchanged. Kernels pass each floating-point result
// through it where they store it, because devices give different NaNs for the same operation. It selects bits, not
// values, so that no compiler may choose the NaN. Integers are unchanged.
#define OVERLOADED static inline __attribute__((overloadable, always_inline))
OVERLOADED f32 canonical(f32 x) { return as_float(x != x ? 0x7fc00000u : as_uint(x)); }
#ifdef CONCORD_FP64
OVERLOADED f64 canonical(f64 x) { return as_double(x != x ? 0x7ff8000000000000ul : as_ulong(x)); }
#endif
OVERLOADED i8 canonical(i8 x) { return x; }
OVERLOADED u8 canonical(u8 x) { return x; }
OVERLOADED i16 canonical(i16 x) { return x; }
OVERLOADED u16 canonical(u16 x) { return x; }
OVERLOADED i32 canonical(i32 x) { return x; }
OVERLOADED u32 canonical(u32 x) { return x; }
OVERLOADED i64 canonical(i64 x) { return x; }
OVERLOADED u64 canonical(u64 x) { return x; }

// The same for each element of a vector of T.
#define CANONICAL(VECTOR, v) select(v, (VECTOR)(canonical((T)NAN)), (v) != (v))

// --- The last group ------------------------------------------------------------------------------------------------

#if defined(CONCORD_FENCE_CL3) || defined(CONCORD_FENCE_PTX)
#define DEVICE_FENCE
#endif

// Makes this work-item's earlier stores visible to other groups before its later stores. OpenCL C 1.2 has no such
// fence. The host side checks DeviceTraits::device_fence before it launches a kernel that relies on it.
INLINED void device_fence(void) {
#if defined(CONCORD_FENCE_CL3)
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#elif defined(CONCORD_FENCE_PTX)
    asm volatile("membar.gl;" ::: "memory");
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

// Returns true in the group that calls it last. That group sees all stores that other groups made before their call.
// All work-items of each group call it. ticket: zero before and after the launch. last: a word of local memory.
INLINED bool last_group(volatile __global u32* ticket, u32 groups, __local u32* last) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        device_fence();
        *last = atomic_inc(ticket) == groups - 1;
        if (*last) *ticket = 0;
        device_fence();
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *last != 0;
}

// --- Prefetch ------------------------------------------------------------------------------------------------------

// Starts to bring `count` bytes to the cache, for a group that loads them soon. All work-items of the group call it.
// Elsewhere than with NVIDIA's compiler it does nothing.
INLINED void prefetch_bytes(__global const void* from, u32 count) {
#if defined(CONCORD_SHUFFLE_PTX)
    for (u32 i = (u32)get_local_id(0) * 128; i < count; i += (u32)get_local_size(0) * 128)
        asm volatile("prefetch.global.L2 [%0];" ::"l"((ulong)from + i));
#else
    (void)from;
    (void)count;
#endif
}

// --- Shuffles ------------------------------------------------------------------------------------------------------

#if defined(T) && defined(SIZE) && (defined(CONCORD_SHUFFLE_PTX) || defined(CONCORD_SHUFFLE_KHR))

// Returns 32 bits of the lane `distance` above this one.
INLINED u32 shuffle_down_word(u32 word, u32 distance) {
#if defined(CONCORD_SHUFFLE_PTX)
    u32 result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(word), "r"(distance));
    return result;
#else
    return sub_group_shuffle_down(word, distance);
#endif
}

// Returns the value of the lane `distance` above this one in the sub-group. SIZE: size of T in bytes.
INLINED T shuffle_down(T value, u32 distance) {
    union {
        T value;
        u32 words[(SIZE + 3) / 4];
    } both;
    both.words[0] = 0;
    both.value = value;
    for (int i = 0; i < (SIZE + 3) / 4; ++i) both.words[i] = shuffle_down_word(both.words[i], distance);
    return both.value;
}

#endif
