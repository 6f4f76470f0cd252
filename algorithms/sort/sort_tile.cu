// A tile of a radix sort, CUDA C++: one group loads it, ranks it by a digit of 8 bits and stores it. Parallel source:
// sort_tile.cl.
//
// A warp owns warp_width * ITEMS neighbouring elements of the tile, a lane every warp_width-th of these. So loads
// are coalesced, and the order of the input is by item, then by lane. group_rank.cu describes how a warp ranks an
// item.
//
// GROUP threads per group, at least 256; ITEMS elements per thread; COUNT: u32 or u64, type of counts; UNORDERED: items
// of equal digits may come in any order, and one counter per digit serves the whole group.

#include "group_rank.cu"
#include "group_scan.cu"
#include "sort_digits.cu"
#include "sort_keys.cu"

constexpr u32 warps = GROUP / warp_width;
constexpr u32 tile_length = GROUP * ITEMS;
constexpr u32 tables = UNORDERED ? 1 : warps;  // of counters
static_assert(GROUP >= digits && GROUP % warp_width == 0 && tile_length <= 65536);

// The group's shared memory, in addition to the staged elements.
struct Shared {
    u32 counts[tables][digits];
    u32 lanes[UNORDERED ? 1 : warps][digits];
    u32 sums[digits / warp_width];
    COUNT base[digits];  // place of each digit in the output, minus its place in the tile
};
extern __shared__ __align__(16) unsigned char staged[];  // tile_length keys, then as many values

// The place in the tile of the thread's i-th item.
__device__ __forceinline__ u32 place_of(u32 i) {
    return threadIdx.x / warp_width * (warp_width * ITEMS) + i * warp_width + threadIdx.x % warp_width;
}

// N: ITEMS, or 1 without values.
template <class E, u32 N>
__device__ __forceinline__ void load_items(const E* from, u32 count, E (&item)[N]) {
    if (count == tile_length) {
#pragma unroll
        for (u32 i = 0; i < N; ++i) item[i] = from[place_of(i)];
    } else {
#pragma unroll
        for (u32 i = 0; i < N; ++i) {
            if (place_of(i) < count) item[i] = from[place_of(i)];
        }
    }
}

// Loads keys. Those past the tile's first `count` become the last key in the order of codes.
__device__ __forceinline__ void load_keys(const K* from, u32 count, Code code, K (&key)[ITEMS]) {
    load_items(from, count, key);
    if (count == tile_length) return;
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) >= count) key[i] = key_of(K(~K(0)), code);
    }
}

// The table of the thread's warp.
__device__ __forceinline__ u32 own_table() {
    return UNORDERED ? 0 : threadIdx.x / warp_width;
}

constexpr u32 nowhere = ~0u;  // the rank of an item that is not ranked

#if UNORDERED

// Gives each item its rank among those of its digit in the tile, with the digit from bit 16 on, and counts the
// digits. Items past the tile's first `count` are not counted and get the rank `nowhere`. All threads of the group
// must call it.
__device__ __forceinline__ void rank_items(const K (&key)[ITEMS], u32 count, const Digit& digit, u32 (&rank)[ITEMS],
                                           Shared& shared) {
    if (threadIdx.x < digits) shared.counts[0][threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 d = digit.of(key[i]);
        rank[i] = nowhere;
        if (place_of(i) < count) rank[i] = atomicAdd(&shared.counts[0][d], 1u) | d << 16;
    }
}

#else

// Gives each item its rank among those of its digit in this warp, with the digit from bit 16 on, and counts the
// digits. Items past the tile's end, which have the last key, come last in their digit.
__device__ __forceinline__ void rank_items(const K (&key)[ITEMS], u32 /*count*/, const Digit& digit, u32 (&rank)[ITEMS],
                                           Shared& shared) {
    const u32 lane = threadIdx.x % warp_width;
    u32 *const counts = shared.counts[own_table()], *const lanes = shared.lanes[own_table()];
#pragma unroll
    for (u32 d = lane; d < digits; d += warp_width) counts[d] = lanes[d] = 0;
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 d = digit.of(key[i]);
        rank[i] = rank_digit(d, match_by_words(d, lanes), counts) | d << 16;
    }
}

#endif

// Turns the warps' counts into the places in the tile of each warp's first item of each digit. Calls publish(total)
// as soon as the tile's count of the thread's digit is known. Returns the place of the digit's first item. All
// threads of the group must call it; those from `digits` on have no digit.
template <class F>
__device__ __forceinline__ u32 scan_counts(Shared& shared, const F publish) {
    u32 total = 0;
    __syncthreads();
    if (threadIdx.x < digits) {
#pragma unroll 4
        for (u32 w = 0; w < tables; ++w) total += shared.counts[w][threadIdx.x];
        publish(total);
    }
    const u32 start = scan_group<digits / warp_width>(total, shared.sums).before;
    if (threadIdx.x < digits) {
        u32 before = start;
#pragma unroll 4
        for (u32 w = 0; w < tables; ++w) {
            const u32 count = shared.counts[w][threadIdx.x];
            shared.counts[w][threadIdx.x] = before;
            before += count;
        }
    }
    __syncthreads();
    return start;
}

// Turns ranks into places in the tile and stages the keys there. The caller must add a barrier.
__device__ __forceinline__ void stage_keys(const K (&key)[ITEMS], u32 (&rank)[ITEMS], const Shared& shared) {
    K* const keys = reinterpret_cast<K*>(staged);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (UNORDERED && rank[i] == nowhere) continue;
        rank[i] = (rank[i] & 0xffff) + shared.counts[own_table()][rank[i] >> 16];
        keys[rank[i]] = key[i];
    }
}

// Stores the staged keys, and then the values, at the places that shared.base gives. place: each item's place in
// the tile. All threads of the group must call it, after a barrier.
__device__ __forceinline__ void store_items(K* to, V* to_values, const V (&value)[has_values ? ITEMS : 1], u32 count,
                                            const Digit& digit, u32 (&place)[ITEMS], const Shared& shared) {
    const K* const keys = reinterpret_cast<const K*>(staged);
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        const u32 j = i * GROUP + threadIdx.x;
        if (j < count) {
            const K key = keys[j];
            const u32 d = digit.of(key);
            to[COUNT(shared.base[d] + j)] = key;
            if constexpr (has_values) place[i] |= d << 16;  // the digit of the value that will be staged there
        }
    }
    if constexpr (has_values) {
        V* const values = reinterpret_cast<V*>(staged);
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) values[place[i] & 0xffff] = value[i];
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) {
            const u32 j = i * GROUP + threadIdx.x;
            if (j < count) to_values[COUNT(shared.base[place[i] >> 16] + j)] = values[j];
        }
    }
}
