// Histogram and scan of `onesweep`, CUDA C++: one launch counts the digits of all passes. Its last group turns the
// counts into offsets and makes the plan. Parallel source: sort_histograms.cl.
//
// Algorithm  Each group counts its part of the keys in shared memory, for all passes at once, and adds its counts to
//            the totals.
// Passes     one launch
// Traffic    one read per key
// Tunables   GROUP threads per group, COPIES of each counter, UNROLL accesses in flight per thread
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
//
// COUNT: type of counts of look-back, u32 or, from 2^30 elements on, u64.

#include "group_scan.cu"
#include "sort_digits.cu"
#include "sort_keys.cu"
#include "sort_plan.cu"

constexpr u32 max_passes = SIZE;
constexpr u32 pack = 16 / SIZE;

extern __shared__ u32 table[];  // COPIES counters per pass and digit

__device__ __forceinline__ void count_key(K key, u32 passes, u32 first, u32 last_mask, Code code, u32* mine) {
    const K bits = code_of(key, code) >> first;
#pragma unroll
    for (u32 p = 0; p < max_passes; ++p) {
        if (p < passes) {
            const u32 d = u32(bits >> (digit_bits * p)) & (p + 1 == passes ? last_mask : digits - 1);
            atomicAdd(mine + (p * digits + d) * COPIES, 1u);
        }
    }
}

// Scan, by one thread: makes the plan of all passes.
__device__ __forceinline__ void make_plan(u64* memory, u32 constant, u32 passes, u32 in_place) {
    const u32 all = (1u << passes) - 1;
    u32 moves = all & ~constant;
    if (moves == 0 && !in_place) moves = 1;  // one pass copies
    const u32 odd = __popc(moves) % 2;
    u32 from = in_place_of, half = 0;
    for (u32 p = 0; p < passes; ++p) {
        if (moves >> p & 1) {
            const u32 left = __popc(moves >> p >> 1);
            const u32 to = (in_place ? left % 2 == odd : left % 2 == 0) ? out_place : other_place;
            memory[plan_at + p] = step_of(from, to, half);
            from = to;
            half ^= 1;
        } else {
            memory[plan_at + p] = skipped;
        }
    }
    memory[copy_follows] = from == other_place;
}

// Histogram and scan. Positions count from the 16-byte boundary at or before the input's first key, so every pack
// is aligned. status: the words of the first pass, which this kernel clears.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_histograms(const K* in, u64* memory, COUNT* status, u64 words, u64 n, u32 passes, u32 first, u32 last,
                    u32 in_place, u64 flip, u64 fold) {
    const Code code = make_code(flip, fold);
    const u32 used = passes * digits, last_mask = digit_at(first + digit_bits * (passes - 1), last, code).mask;
    for (u32 k = threadIdx.x; k < used * COPIES; k += GROUP) table[k] = 0;
    for (u64 w = u64(blockIdx.x) * GROUP + threadIdx.x; w < words; w += u64(gridDim.x) * GROUP) status[w] = 0;
    __syncthreads();

    u32* const mine = table + threadIdx.x % COPIES;
    const u64 begin = reinterpret_cast<u64>(in) / SIZE % pack, end = begin + n;
    const K* const base = in - begin;
    const u64 packs = (end + pack - 1) / pack, tile = u64(GROUP) * UNROLL;
    for (u64 t = u64(blockIdx.x) * tile; t < packs; t += u64(gridDim.x) * tile) {
        if (t * pack >= begin && (t + tile) * pack <= end) {
            Pack<K, pack> loaded[UNROLL];
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k)
                loaded[k] = *reinterpret_cast<const Pack<K, pack>*>(base + (t + k * GROUP + threadIdx.x) * pack);
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k) {
#pragma unroll
                for (u32 j = 0; j < pack; ++j) count_key(loaded[k].item[j], passes, first, last_mask, code, mine);
            }
        } else {
            const u64 to = min((t + tile) * pack, end);
            for (u64 i = max(t * pack, begin) + threadIdx.x; i < to; i += GROUP)
                count_key(base[i], passes, first, last_mask, code, mine);
        }
    }
    __syncthreads();
    auto* const totals = reinterpret_cast<unsigned long long*>(memory + totals_at);
    for (u32 k = threadIdx.x; k < used; k += GROUP) {
        u32 sum = 0;
#pragma unroll
        for (u32 c = 0; c < COPIES; ++c) sum += table[k * COPIES + (c + threadIdx.x) % COPIES];
        if (sum != 0) atomicAdd(totals + k, static_cast<unsigned long long>(sum));
    }

    __shared__ u32 is_last;
    if (!last_group(reinterpret_cast<u32*>(memory + counting_ticket), gridDim.x, &is_last)) return;
    __shared__ u64 sums[digits / warp_width];
    u32 constant = 0;
    for (u32 p = 0; p < passes; ++p) {
        const bool counts = threadIdx.x < digits;
        const u64 total = counts ? __ldcg(memory + totals_at + p * digits + threadIdx.x) : 0;
        const u64 before = scan_group<digits / warp_width>(total, sums).before;
        if (counts) memory[totals_at + p * digits + threadIdx.x] = before;
        constant |= u32(__syncthreads_or(total == n) != 0) << p;
    }
    if (threadIdx.x == 0) make_plan(memory, constant, passes, in_place);
}
