// Loads and stores of tiles, CUDA C++.
//
// Algorithm  Accesses move packs of at most 16 bytes if the memory is aligned to them. The other elements move one by
//            one.
// Passes     none of its own.
// Traffic    Each element once.
// Tunables   S, N: accesses per thread and elements per access.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).

#include "common.cu"

// Starts to bring `count` elements to L2, for a group that loads them soon. THREADS threads call it together.
template <u32 THREADS, class E>
__device__ __forceinline__ void prefetch_tile(const E* from, u64 count) {
    constexpr u32 line = 128 / sizeof(E);
    for (u64 i = threadIdx.x * line; i < count; i += THREADS * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(from + i)));
}

// --- Striped tiles: a thread holds elements (row * THREADS + thread) * N + j of the tile, at item[row][j] ----------

// Loads a tile that has `left` elements. The others become `filler`.
template <u32 THREADS, class E, int S, int N>
__device__ __forceinline__ void load_striped(const E* from, u64 left, E filler, E (&item)[S][N]) {
    if (left >= THREADS * S * N && reinterpret_cast<u64>(from) % (sizeof(E) * N) == 0) {
#pragma unroll
        for (int r = 0; r < S; ++r) {
            const auto pack = reinterpret_cast<const Pack<E, N>*>(from)[r * THREADS + threadIdx.x];
#pragma unroll
            for (int j = 0; j < N; ++j) item[r][j] = pack.item[j];
        }
    } else {
#pragma unroll
        for (int r = 0; r < S; ++r) {
#pragma unroll
            for (int j = 0; j < N; ++j) {
                const u32 i = (r * THREADS + threadIdx.x) * N + j;
                item[r][j] = i < left ? from[i] : filler;
            }
        }
    }
}

// Stores the first `left` elements of a tile.
template <u32 THREADS, class E, int S, int N>
__device__ __forceinline__ void store_striped(E* to, u64 left, const E (&item)[S][N]) {
    if (left >= THREADS * S * N && reinterpret_cast<u64>(to) % (sizeof(E) * N) == 0) {
#pragma unroll
        for (int r = 0; r < S; ++r) {
            Pack<E, N> pack;
#pragma unroll
            for (int j = 0; j < N; ++j) pack.item[j] = item[r][j];
            reinterpret_cast<Pack<E, N>*>(to)[r * THREADS + threadIdx.x] = pack;
        }
    } else {
#pragma unroll
        for (int r = 0; r < S; ++r) {
#pragma unroll
            for (int j = 0; j < N; ++j) {
                const u32 i = (r * THREADS + threadIdx.x) * N + j;
                if (i < left) to[i] = item[r][j];
            }
        }
    }
}

// --- Staged runs ---------------------------------------------------------------------------------------------------

// Returns the number of elements between a pack's boundary and `to`.
template <int N, class E>
__device__ __forceinline__ u32 pack_offset(const E* to) {
    return u32(reinterpret_cast<u64>(to) / sizeof(E) % N);
}

// Stores `count` elements from staged[shift] on, with shift = pack_offset<N>(to). `staged` is aligned, so its whole
// packs are whole packs of `to`. THREADS threads store together. thread: index of the calling thread.
template <u32 THREADS, int N, class E>
__device__ __forceinline__ void store_staged(E* to, const E* staged, u32 shift, u32 count, u32 thread) {
    E* const base = to - shift;
    for (u32 at = thread * N; at < shift + count; at += THREADS * N) {
        if (at >= shift && at + N <= shift + count) {
            *reinterpret_cast<Pack<E, N>*>(base + at) = *reinterpret_cast<const Pack<E, N>*>(staged + at);
        } else {
#pragma unroll
            for (u32 i = at; i < at + N; ++i) {
                if (i >= shift && i < shift + count) base[i] = staged[i];
            }
        }
    }
}
