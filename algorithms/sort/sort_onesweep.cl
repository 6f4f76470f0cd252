// Radix sort with one sweep over the data per digit, `onesweep`, OpenCL C. Parallel source:
// sort_onesweep.cu. The tile is in sort_tile.cl, the histogram in sort_histograms.cl.
//
// Algorithm  Histogram: one launch counts the digits of all passes. Scan: its last group turns the counts into
//            offsets and makes the plan. A pass whose digit is equal in all keys is skipped; the other passes
//            alternate between out and a buffer, and the last one ends in out. Chained scan and scatter: one launch
//            per digit, lowest digit first. A group takes a tile by ticket and ranks it by the digit. Decoupled
//            look-back gives the number of elements of each digit in earlier tiles. The group gathers equal digits
//            in local memory and stores them. The first pass over keys without values, compared by all bits, may
//            reorder equal digits.
// Look-back  One work-item per digit. A tile first publishes its own count, then the count of all tiles up to and
//            including it. Both are one word with two bits that say which. A work-item reads AHEAD earlier tiles at a
//            time, back to the nearest count of the second kind, and adds the counts of the first kind on the way.
//            Words must be zero before a pass: the histogram clears those of the first pass, each pass clears those
//            of the next one. A word has flag and count, so it needs no fence, only accesses that are not torn:
//            volatile accesses of 4 or 8 aligned bytes.
// Passes     two launches, and one per digit
// Traffic    one read per key; then per pass one read and one write per element, and 3 KiB per tile (6 KiB from
//            2^30 elements on)
// Progress   A tile waits only for tiles of lower tickets, which have begun.
// Tunables   GROUP work-items per group, ITEMS elements per work-item, AHEAD
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022; D.
//            Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// COUNT: type of counts, u32 or, from 2^30 elements on, u64. Two bits are flags.

#include "sort_digits.cl"
#include "sort_keys.cl"
#include "sort_plan.cl"
#include "sort_tile.cl"

#define COUNT_BITS (8 * sizeof(COUNT))
#define IS_OWN ((COUNT)1 << (COUNT_BITS - 2))      // count of the tile alone
#define IS_THROUGH ((COUNT)2 << (COUNT_BITS - 2))  // count of all tiles up to and including it
#define VALUE_BITS (IS_OWN - 1)

INLINED void publish(__global COUNT* word, COUNT value) { *(volatile __global COUNT*)word = value; }
INLINED COUNT look(__global const COUNT* word) { return *(volatile __global const COUNT*)word; }

// The number of elements of the work-item's digit in earlier tiles. status: the words of the digit.
INLINED COUNT look_back(__global const COUNT* status, u32 tile) {
    COUNT before = 0;
    for (u32 at = tile; at > 0; at -= min(at, (u32)AHEAD)) {
        COUNT word[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) word[k] = at > k ? look(status + (u64)(at - 1 - k) * DIGITS) : IS_THROUGH;
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) {
            while (word[k] < IS_OWN) word[k] = look(status + (u64)(at - 1 - k) * DIGITS);
            before += word[k] & VALUE_BITS;
            if (word[k] >= IS_THROUGH) return before;
        }
    }
    return before;
}

// Chained scan and scatter of one digit.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_onesweep(__global u64* memory, ulong memory_at, __global COUNT* status, ulong status_at,
                   __global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at,
                   __global K* out, ulong out_at, __global V* out_values, ulong out_values_at, __global K* other,
                   ulong other_at, __global V* other_values, ulong other_values_at, u64 n, u32 tiles, u32 pass,
                   u32 shift, u32 last, u64 flip, u64 fold) {
    __local Shared shared;
    __local u32 ticket;
    memory += memory_at;
    const u32 local_id = get_local_id(0), step = (u32)memory[PLAN_AT + pass];
    if (step == SKIPPED) return;
    if (local_id == 0) ticket = atomic_inc(LOW_HALF(memory, pass));
    barrier(CLK_LOCAL_MEM_FENCE);
    const u32 tile = ticket, from_place = step & 3, to_place = step >> 2 & 3, upper = step >> 4 & 1;
    const u64 begin = (u64)tile * TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    __global const K* const from = AT(from_place, K, in + in_at, out + out_at, other + other_at);
    const Digit digit = digit_at(shift, last, make_code(flip, fold));
    // The words of this work-item's digit for this pass and for the next one.
    __global COUNT* const words = status + status_at + (u64)upper * tiles * DIGITS + local_id;
    __global COUNT* const next_words = status + status_at + (u64)(upper ^ 1) * tiles * DIGITS + local_id;

    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    load_keys(from + begin, count, key);
    rank_items(key, count, digit, place, &shared.tile.ranks);
    const u32 own = total_count(&shared.tile.ranks);
    if (local_id < DIGITS) publish(words + (u64)tile * DIGITS, (tile == 0 ? IS_THROUGH : IS_OWN) | own);
    const u32 start = scan_counts(own, &shared.tile.ranks);
    stage_keys(key, place, &shared);
#if VALUE_SIZE
    __global const V* const from_values = AT(from_place, V, in_values + in_values_at, out_values + out_values_at,
                                             other_values + other_values_at);
    load_values(from_values + begin, count, value);
#endif
    if (local_id < DIGITS) {
        next_words[(u64)tile * DIGITS] = 0;
        const COUNT before = look_back(words, tile);
        if (tile != 0) publish(words + (u64)tile * DIGITS, IS_THROUGH | (before + own));
        shared.base[local_id] = (COUNT)memory[TOTALS_AT + pass * DIGITS + local_id] + before - start;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_items(to_place == OUT_PLACE ? out + out_at : other + other_at,
                to_place == OUT_PLACE ? out_values + out_values_at : other_values + other_values_at, value, count,
                digit, place, &shared);
}

// In place, after an odd number of passes: copies the elements back to out.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_copy_back(__global const u64* memory, ulong memory_at, __global const K* other, ulong other_at,
                    __global const V* other_values, ulong other_values_at, __global K* out, ulong out_at,
                    __global V* out_values, ulong out_values_at, u64 n) {
    if (memory[memory_at + COPY_FOLLOWS] == 0) return;
    for (u64 i = get_global_id(0); i < n; i += get_global_size(0)) {
        out[out_at + i] = other[other_at + i];
        if (VALUE_SIZE) out_values[out_values_at + i] = other_values[other_values_at + i];
    }
}
