// What the OpenCL kernels of several algorithms use. f32, u64 ... are defined ahead of it; so are, where the device
// has them, CONCORD_FP64, CONCORD_CPU and one of the fences CONCORD_FENCE_CL3, CONCORD_FENCE_PTX.

// Orders this work-item's stores before what other work-groups see of it next. OpenCL C 1.2 has no such fence: the
// host side asks the device for it before it launches a kernel that relies on it.
static inline void device_fence(void) {
#if defined(CONCORD_FENCE_CL3)
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
#elif defined(CONCORD_FENCE_PTX)
    asm volatile("membar.gl;" ::: "memory");
#else
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#endif
}

// Called by all lanes of a group once the group's results are stored: true in the last group of the launch to get
// here, which then sees the results of all others. Leaves the ticket zero. `last` is the group's own local word.
static inline bool last_group(volatile __global u32* ticket, u32 groups, __local u32* last) {
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

#if defined(T) && (defined(CONCORD_SHUFFLE_PTX) || defined(CONCORD_SHUFFLE_KHR))

// 32 bits of the lane `distance` further up in this sub-group.
static inline u32 shuffle_down_word(u32 word, u32 distance) {
#if defined(CONCORD_SHUFFLE_PTX)
    u32 result;
    asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(word), "r"(distance));
    return result;
#else
    return sub_group_shuffle_down(word, distance);
#endif
}

// The value of the lane `distance` further up in this sub-group; SIZE: bytes of T.
static inline T shuffle_down(T value, u32 distance) {
#if SIZE < 4
    return (T)shuffle_down_word((u32)value, distance);
#else
    union {
        T value;
        u32 words[SIZE / 4];
    } both;
    both.value = value;
    for (int i = 0; i < SIZE / 4; ++i) both.words[i] = shuffle_down_word(both.words[i], distance);
    return both.value;
#endif
}

#endif
