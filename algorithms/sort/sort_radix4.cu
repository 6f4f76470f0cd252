// Textbook radix sorts by four bits per pass, least significant digit first, `radix4`, `radix4_local` and
// `radix4_vector`, CUDA C++. Parallel source: sort_radix4.cl.
//
// Algorithm  A stable pass per digit moves the elements to the places of their digits. Each thread owns CHUNK elements.
//            Upsweep: it counts their digits. Spine: an exclusive scan of the counts, by digit and then by thread,
//            gives the place of its first element of each digit. Downsweep: the thread moves its elements one by one.
// COUNTS_LOCALLY: radix4_local, radix4_vector: counters are in shared memory, one column per thread, not in local
//            memory.
// VECTOR     radix4_vector: 16 elements per load, in accesses of 16 bytes if they are aligned.
// Passes     per digit one launch to count, those of a scan, one launch to move
// Traffic    per pass two reads per key, one per value, one write per element, and 3 * 16 / CHUNK COUNTs per element
// Tunables   GROUP threads per group, CHUNK
// Source     M. Zagha, G. Blelloch, Radix Sort for Vector Multiprocessors, 1991; N. Satish, M. Harris, M. Garland,
//            Designing Efficient Sorting Algorithms for Manycore GPUs, 2009.
//
// COUNT: type of counts of elements, u32 or, from 2^32 elements on, u64.

#include "common.cu"
#include "sort_keys.cu"

constexpr u32 digits = 16;
constexpr u32 step = VECTOR ? 16 : 1;

// A thread's counters.
#if COUNTS_LOCALLY
#define TABLE __shared__ COUNT table[digits * GROUP]
#define COUNTER(d) table[(d) * GROUP + threadIdx.x]
#else
#define TABLE COUNT table[digits]
#define COUNTER(d) table[d]
#endif

// Loads `step` keys, or fewer at the end.
__device__ __forceinline__ void load_keys(const K* in, u64 i, u64 end, K (&key)[step]) {
    if constexpr (VECTOR) {
        constexpr u32 pack = 16 / SIZE;
        if (i + step <= end && reinterpret_cast<u64>(in + i) % 16 == 0) {
#pragma unroll
            for (u32 j = 0; j < step; j += pack) {
                const auto loaded = *reinterpret_cast<const Pack<K, pack>*>(in + i + j);
#pragma unroll
                for (u32 k = 0; k < pack; ++k) key[j + k] = loaded.item[k];
            }
            return;
        }
    }
#pragma unroll
    for (u32 j = 0; j < step; ++j) {
        if (i + j < end) key[j] = in[i + j];
    }
}

// Upsweep. counts: for each digit, the counts of all threads.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_count(const K* in, COUNT* counts, u64 n, u64 items, u32 shift, u32 mask, u64 flip, u64 fold) {
    TABLE;
    const Code code = make_code(flip, fold);
    const u64 item = u64(blockIdx.x) * GROUP + threadIdx.x, begin = item * CHUNK, end = min(begin + CHUNK, n);
    if (item >= items) return;
    for (u32 d = 0; d < digits; ++d) COUNTER(d) = 0;
    for (u64 i = begin; i < end; i += step) {
        K key[step];
        load_keys(in, i, end, key);
#pragma unroll
        for (u32 j = 0; j < step; ++j) {
            if (i + j < end) ++COUNTER(digit_of(key[j], shift, mask, code));
        }
    }
    for (u32 d = 0; d < digits; ++d) counts[d * items + item] = COUNTER(d);
}

// Downsweep. offsets: the exclusive scan of the counts.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_permute(const K* in, const V* in_values, const COUNT* offsets, K* out, V* out_values, u64 n, u64 items,
                 u32 shift, u32 mask, u64 flip, u64 fold) {
    TABLE;
    const Code code = make_code(flip, fold);
    const u64 item = u64(blockIdx.x) * GROUP + threadIdx.x, begin = item * CHUNK, end = min(begin + CHUNK, n);
    if (item >= items) return;
    for (u32 d = 0; d < digits; ++d) COUNTER(d) = offsets[d * items + item];
    for (u64 i = begin; i < end; i += step) {
        K key[step];
        load_keys(in, i, end, key);
#pragma unroll
        for (u32 j = 0; j < step; ++j) {
            if (i + j < end) {
                const u64 to = COUNTER(digit_of(key[j], shift, mask, code))++;
                out[to] = key[j];
                if constexpr (has_values) out_values[to] = in_values[i + j];
            }
        }
    }
}
