// Radix sort with one sweep over the data per digit, `onesweep`, CUDA C++. Parallel source:
// sort_onesweep.cl. The tile is in sort_tile.kernel, the histogram in sort_histograms.kernel.
//
// Algorithm  Histogram: one launch counts the digits of all passes. Scan: its last group turns the counts into
//            offsets and makes the plan. A pass whose digit is equal in all keys is skipped; the other passes
//            alternate between out and a buffer, and the last one ends in out. Chained scan and scatter: one launch
//            per digit, lowest digit first. A group takes a tile by ticket and ranks it by the digit. Decoupled
//            look-back gives the number of elements of each digit in earlier tiles. The group gathers equal digits
//            in shared memory and stores them. The first pass over keys without values, compared by all bits, may
//            reorder equal digits.
// Look-back  One thread per digit. A tile first publishes its own count, then the count of all tiles up to and
//            including it. Both are one word with two bits that say which. A thread reads AHEAD earlier tiles at a
//            time, back to the nearest count of the second kind, and adds the counts of the first kind on the way.
//            Words must be zero before a pass: the histogram clears those of the first pass, each pass clears those
//            of the next one.
// Passes     two launches, and one per digit
// Traffic    one read per key; then per pass one read and one write per element, and 3 KiB per tile (6 KiB from
//            2^30 elements on)
// Progress   A tile waits only for tiles of lower tickets, which have begun.
// Tunables   GROUP threads per group, ITEMS elements per thread, RESIDENT groups per multiprocessor, AHEAD
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022; D.
//            Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// COUNT: type of counts, u32 or, from 2^30 elements on, u64. Two bits are flags.

#include "sort_plan"
#include "sort_tile"
#include "tile.cu"

__device__ __forceinline__ void publish(COUNT* word, COUNT value) {
    *static_cast<volatile COUNT*>(word) = value;
}
__device__ __forceinline__ COUNT look(const COUNT* word) {
    return *static_cast<const volatile COUNT*>(word);
}

// The number of elements of the thread's digit in earlier tiles. status: the words of the digit.
__device__ __forceinline__ COUNT look_back(const COUNT* status, u32 tile) {
    COUNT before = 0;
    for (u32 at = tile; at > 0; at -= min(at, u32(AHEAD))) {
        COUNT word[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) word[k] = at > k ? look(status + u64(at - 1 - k) * DIGITS) : IS_THROUGH;
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) {
            while (word[k] < IS_OWN) word[k] = look(status + u64(at - 1 - k) * DIGITS);
            before += word[k] & VALUE_BITS;
            if (word[k] >= IS_THROUGH) return before;
        }
    }
    return before;
}

// Chained scan and scatter of one digit.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    sort_onesweep(u64* memory, COUNT* status, const K* in, const V* in_values, K* out, V* out_values, K* other,
                  V* other_values, u64 n, u32 tiles, u32 pass, u32 shift, u32 last, u64 flip, u64 fold) {
    __shared__ Shared shared;
    __shared__ u32 ticket;
    if (threadIdx.x == 0) ticket = atomic_inc(LOW_HALF(memory, pass));
    const u32 step = u32(memory[PLAN_AT + pass]);
    if (step == SKIPPED) return;
    const u32 from_place = step & 3, to_place = step >> 2 & 3, upper = step >> 4 & 1;
    const K* const all = AT(from_place, K, in, out, other);
    // Tickets come in about the order of the groups' numbers: another group may take the tile of this number, soon.
    const u64 likely = u64(blockIdx.x) * TILE;
    prefetch_tile<GROUP>(all + likely, min(n - likely, u64(TILE)));
    __syncthreads();
    const u32 tile = ticket;
    const u64 begin = u64(tile) * TILE;
    const u32 count = u32(min(n - begin, u64(TILE)));
    const K* const from = all + begin;
    const Digit digit = digit_at(shift, last, make_code(flip, fold));
    // The words of this thread's digit for this pass and for the next one.
    COUNT* const words = status + u64(upper) * tiles * DIGITS + threadIdx.x;
    COUNT* const next_words = status + u64(upper ^ 1) * tiles * DIGITS + threadIdx.x;

    K key[ITEMS];
    u32 place[ITEMS];
    load_tile(from, count, digit.code, key);
    rank_items(key, count, digit, place, &shared);
    const u32 own = total_count(&shared);
    if (threadIdx.x < DIGITS) publish(words + u64(tile) * DIGITS, (tile == 0 ? IS_THROUGH : IS_OWN) | own);
    const u32 start = scan_counts(own, &shared);
    stage_keys(key, place, &shared);
    V value[VALUE_SIZE ? ITEMS : 1];
    if (VALUE_SIZE)
        load_values(AT(from_place, V, in_values, out_values, other_values) + begin, count, value);
    if (threadIdx.x < DIGITS) {
        next_words[u64(tile) * DIGITS] = 0;
        const COUNT before = look_back(words, tile);
        if (tile != 0) publish(words + u64(tile) * DIGITS, IS_THROUGH | (before + own));
        shared.base[threadIdx.x] = COUNT(memory[TOTALS_AT + pass * DIGITS + threadIdx.x]) + before - start;
    }
    __syncthreads();
    store_items(to_place == OUT_PLACE ? out : other, to_place == OUT_PLACE ? out_values : other_values, value, count,
                digit, place, &shared);
}
