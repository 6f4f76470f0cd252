// Functions that most kernels use, CUDA C++: packs, the canonical NaN, shuffles and the last group. Parallel source:
// common.cl.
//
// NVRTC compiles this file after the type names f32, u64, ..., the constants of the kernel and the operator.
// Constants are macros. Template parameters of files that others include therefore must not have the name of a
// constant, for example T or SIZE.
//
// Passes     none of its own.
// Traffic    last_group: one atomic operation per group.
// Tunables   none.
// Source     S. Rennich, CUDA threadFenceReduction sample (last_group).

#include "prelude.cu"

constexpr u32 all_lanes = 0xffffffffu;
constexpr u32 warp_width = 32;

// N elements that one access loads or stores.
template <class E, int N>
struct alignas(sizeof(E) * N) Pack {
    E item[N];
};

// Reinterprets a value as another type of the same size.
template <class R, class E>
__device__ __forceinline__ R bits_as(E value) {
    static_assert(sizeof(R) == sizeof(E));
    R result;
    memcpy(&result, &value, sizeof result);
    return result;
}

// --- The canonical NaN ---------------------------------------------------------------------------------------------

// Returns the canonical NaN for every NaN, and any other value unchanged. Kernels pass each floating-point result
// through it where they store it, because devices give different NaNs for the same operation. It selects bits, not
// values, so that no compiler may choose the NaN. Parallel source: detail/canonical.hpp.
__device__ __forceinline__ f32 canonical(f32 x) {
    return __uint_as_float(x != x ? 0x7fc00000u : __float_as_uint(x));
}
__device__ __forceinline__ f64 canonical(f64 x) {
    return __longlong_as_double(x != x ? 0x7ff8000000000000 : __double_as_longlong(x));
}
// Other types have no NaN.
template <class E>
__device__ __forceinline__ E canonical(E x) {
    return x;
}

// --- Shuffles ------------------------------------------------------------------------------------------------------

#define CONCORD_SUB_GROUP 32  // lanes; in OpenCL C it is defined if the device has shuffles

// Shuffles a value as bits. Those of fewer than 4 bytes travel in a word.
template <class E, class F>
__device__ __forceinline__ E shuffled(E value, F shuffle) {
    if constexpr (sizeof(E) < 4) {
        u32 word = 0;
        memcpy(&word, &value, sizeof value);
        word = shuffle(word);
        memcpy(&value, &word, sizeof value);
        return value;
    } else {
        return shuffle(value);
    }
}

// Returns the value of the lane `distance` below this one. The first `distance` lanes receive their own value.
template <class E>
__device__ __forceinline__ E shuffle_up(E value, u32 distance) {
    return shuffled(value, [=](auto bits) { return __shfl_up_sync(all_lanes, bits, distance); });
}

// Returns the value of the lane `distance` above this one. The last `distance` lanes receive their own value.
template <class E>
__device__ __forceinline__ E shuffle_down(E value, u32 distance) {
    return shuffled(value, [=](auto bits) { return __shfl_down_sync(all_lanes, bits, distance); });
}

// Returns the value of lane `lane` % 32.
template <class E>
__device__ __forceinline__ E shuffle_from(E value, u32 lane) {
    return shuffled(value, [=](auto bits) { return __shfl_sync(all_lanes, bits, lane); });
}

// --- The last group ------------------------------------------------------------------------------------------------

#define DEVICE_FENCE  // in OpenCL C it is defined if the device has a fence between groups

// Returns true in the group that calls it last. That group sees all stores that other groups made before their call.
// All threads of each group call it. ticket: zero before and after the launch. last: a word of shared memory.
__device__ __forceinline__ bool last_group(u32* ticket, u32 groups, u32* last) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        *last = atomicAdd(ticket, 1u) == groups - 1;
        if (*last) {
            *ticket = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return *last != 0;
}
