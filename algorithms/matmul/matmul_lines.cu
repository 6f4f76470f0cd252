// Copies of matmul's operands to shared memory in their order in memory, CUDA C++ for sm_80 and later.
//
// Algorithm  A stage holds the lines of an operand as they are in memory. A copy moves WIDTH elements. Elements past
//            the operand's edges become +0. A line is 4 elements longer than its content: the lanes of half a warp that
//            load 4 consecutive elements of each of 4 lines access different banks.
//            Barriers in shared memory hand over the stages. A barrier `full` counts the threads whose copies have
//            arrived. A barrier `empty` counts the warps that have loaded their elements. A warp waits for another one
//            only if it is a whole stage ahead.
// Modes      How an operand lies in memory. MODE_K: consecutive elements have consecutive l. MODE_SIDE: they are
//            consecutive rows of op(A) or columns of op(B).
// Passes     part of the kernels' main loop; every element of a step is read once from global memory per group.
// Tunables   those of the kernel: GROUP threads, DEPTH, STAGES.
// Source     NVIDIA, PTX ISA, cp.async and mbarrier.
//
// T: element type of SIZE bytes; DEPTH: length of a step along k.

#define MODE_K 0
#define MODE_SIDE 1

// Where element (side, l) of an operand lies in a stage.
template <u32 MODE, u32 SIDE>
struct Lines {
    static constexpr u32 length = MODE == MODE_K ? DEPTH : SIDE, count = MODE == MODE_K ? SIDE : DEPTH;
    static constexpr u32 pitch = length + 4, size = count * pitch;
    static_assert(length % 8 == 0);

    __device__ static constexpr u32 at(u32 side, u32 l) { return MODE == MODE_K ? side * pitch + l : l * pitch + side; }
};

// Starts to copy BYTES (8 or 16) if `wanted`, else to store zeros. to: an address in shared memory.
template <u32 BYTES, class E>
__device__ __forceinline__ void copy_async_or_zero(bool wanted, u32 to, const E* from) {
    const u32 bytes = wanted ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
                     "r"(bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
                     "r"(bytes), "n"(BYTES)
                     : "memory");
    }
}

// Copies of one thread per operand and step. Adjacent threads copy one line; consecutive copies are `lines` apart.
template <u32 MODE, u32 SIDE, u32 WIDTH>
struct LineCopier {
    using Layout = Lines<MODE, SIDE>;
    static constexpr u32 line = Layout::length / WIDTH;  // threads per line
    static constexpr u32 lines = GROUP / line;           // lines that the group copies at once
    static constexpr u32 copies = Layout::count / lines;
    static_assert(GROUP % line == 0 && Layout::count % lines == 0 && copies > 0);

    const T* from;
    u64 step;  // elements to the next copy
    u32 to;    // byte offset in the stage
    i32 side_left, k_left;

    // operand: first element of the tile; side, k: number of elements from there on.
    __device__ __forceinline__ LineCopier(const T* operand, u64 pitch, u64 side, u32 k) : step(lines * pitch) {
        const u32 across = threadIdx.x % line * WIDTH, down = threadIdx.x / line;
        from = operand + down * pitch + across;
        to = (down * Layout::pitch + across) * SIZE;
        side_left = static_cast<i32>(min(side, u64(SIDE))) - static_cast<i32>(MODE == MODE_K ? down : across);
        k_left = static_cast<i32>(k - (MODE == MODE_K ? across : down));
    }

    // Starts the copies of the next step to the stage at that address, and advances to the following step.
    __device__ __forceinline__ void copy(u32 stage) {
        const T* at = from;
#pragma unroll
        for (u32 i = 0; i < copies; ++i, at += step) {
            const i32 first = static_cast<i32>(i * lines);
            const bool wanted = MODE == MODE_K ? first < side_left && k_left > 0 : side_left > 0 && first < k_left;
            copy_async_or_zero<WIDTH * SIZE>(wanted, stage + to + i * lines * Layout::pitch * SIZE, at);
        }
        from = MODE == MODE_K ? from + DEPTH : at;
        k_left -= DEPTH;
    }
};

// --- Stages ---------------------------------------------------------------------------------------------------------

// Position in the ring of stages. odd: parity of the number of laps.
struct RingPlace {
    u32 stage, odd;

    __device__ __forceinline__ void advance() {
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        odd ^= stage == 0;
    }
};

// The ring's barriers, 2 * STAGES of 8 bytes from an address in shared memory on.
struct Ring {
    static constexpr u32 bytes = 2 * STAGES * 8;
    u32 first;

    __device__ __forceinline__ u32 full(u32 stage) const { return first + stage * 8; }
    __device__ __forceinline__ u32 empty(u32 stage) const { return first + (STAGES + stage) * 8; }

    __device__ __forceinline__ void begin() const {
        if (threadIdx.x == 0) {
#pragma unroll
            for (u32 s = 0; s < STAGES; ++s) {
                asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(full(s)), "r"(GROUP) : "memory");
                asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(empty(s)), "r"(GROUP / 32) : "memory");
            }
        }
        __syncthreads();
    }

    __device__ __forceinline__ static void await(u32 barrier, u32 odd) {
        u32 passed;
        do {
#if __CUDA_ARCH__ >= 900
            asm volatile("{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared.b64 p, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(passed)
                         : "r"(barrier), "r"(odd)
                         : "memory");
#else
            asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, p;\n\t}"
                         : "=r"(passed)
                         : "r"(barrier), "r"(odd)
                         : "memory");
#endif
        } while (passed == 0);
    }

    // The thread's copies to that stage have all been started.
    __device__ __forceinline__ void commit(u32 stage) const {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(full(stage)) : "memory");
    }
    __device__ __forceinline__ void await_full(RingPlace place) const { await(full(place.stage), place.odd); }
    __device__ __forceinline__ void await_empty(RingPlace place) const { await(empty(place.stage), place.odd ^ 1); }
    // The warp has loaded what it needs from that stage.
    __device__ __forceinline__ void release(u32 stage) const {
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}" ::"r"(empty(stage))
                         : "memory");
    }
};
