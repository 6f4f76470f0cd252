// What the CUDA kernels of several algorithms use. Text for NVRTC; f32, u64 ... are defined ahead of it.

constexpr u32 all_lanes = 0xffffffffu;
constexpr u32 warp_width = 32;

// N elements that move in one access.
template <class E, int N>
struct alignas(sizeof(E) * N) Pack {
    E item[N];
};

// Loads from L2, past an L1 that may hold what was there before.
template <int N, class E>
__device__ __forceinline__ Pack<E, N> load_pack_l2(const E* from) {
    constexpr int bytes = sizeof(E) * N;
    Pack<E, N> pack;
    if constexpr (bytes == 16) {
        const uint4 raw = __ldcg(reinterpret_cast<const uint4*>(from));
        memcpy(&pack, &raw, bytes);
    } else if constexpr (bytes == 8) {
        const uint2 raw = __ldcg(reinterpret_cast<const uint2*>(from));
        memcpy(&pack, &raw, bytes);
    } else {
        static_assert(bytes == 4);
        const u32 raw = __ldcg(reinterpret_cast<const u32*>(from));
        memcpy(&pack, &raw, bytes);
    }
    return pack;
}

// The value of the lane `distance` further up in this warp.
template <class E>
__device__ __forceinline__ E shuffle_down(E value, u32 distance) {
    if constexpr (sizeof(E) < 4) {
        return static_cast<E>(__shfl_down_sync(all_lanes, static_cast<i32>(value), distance));
    } else {
        return __shfl_down_sync(all_lanes, value, distance);
    }
}

// The value of another lane of this warp.
template <class E>
__device__ __forceinline__ E shuffle_from(E value, u32 lane) {
    if constexpr (sizeof(E) < 4) {
        return static_cast<E>(__shfl_sync(all_lanes, static_cast<i32>(value), lane));
    } else {
        return __shfl_sync(all_lanes, value, lane);
    }
}

// Called by all lanes of a group once the group's results are stored: true in the last group of the launch to get
// here, which then sees the results of all others. Leaves the ticket zero.
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
