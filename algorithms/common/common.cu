// What most CUDA kernels use, CUDA C++. Parallel source: common.cl.
// NVRTC compiles it after the names f32, u64, ... and the constants of the kernel.

constexpr u32 all_lanes = 0xffffffffu;
constexpr u32 warp_width = 32;

// N elements that one access moves.
template <class E, int N>
struct alignas(sizeof(E) * N) Pack {
    E item[N];
};

// The value of another type with the same bits.
template <class R, class E>
__device__ __forceinline__ R bits_as(E value) {
    static_assert(sizeof(R) == sizeof(E));
    R result;
    memcpy(&result, &value, sizeof result);
    return result;
}

// --- Shuffles -------------------------------------------------------------------------------------------------------

// The value of the lane `distance` below this one. The first `distance` lanes get their own value.
template <class E>
__device__ __forceinline__ E shuffle_up(E value, u32 distance) {
    if constexpr (sizeof(E) < 4) {
        return static_cast<E>(__shfl_up_sync(all_lanes, static_cast<i32>(value), distance));
    } else {
        return __shfl_up_sync(all_lanes, value, distance);
    }
}

// The value of the lane `distance` above this one. The last `distance` lanes get their own value.
template <class E>
__device__ __forceinline__ E shuffle_down(E value, u32 distance) {
    if constexpr (sizeof(E) < 4) {
        return static_cast<E>(__shfl_down_sync(all_lanes, static_cast<i32>(value), distance));
    } else {
        return __shfl_down_sync(all_lanes, value, distance);
    }
}

// The value of that lane, modulo 32.
template <class E>
__device__ __forceinline__ E shuffle_from(E value, u32 lane) {
    if constexpr (sizeof(E) < 4) {
        return static_cast<E>(__shfl_sync(all_lanes, static_cast<i32>(value), lane));
    } else {
        return __shfl_sync(all_lanes, value, lane);
    }
}

// --- The last group -------------------------------------------------------------------------------------------------

// Returns true in the group of the launch that calls it last. That group sees what all others stored before their call.
// All threads of each group call it. It leaves the ticket zero.
__device__ __forceinline__ bool last_group(u32* ticket, u32 groups) {
    __shared__ u32 last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1u) == groups - 1;
        if (last) {
            *ticket = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return last != 0;
}
