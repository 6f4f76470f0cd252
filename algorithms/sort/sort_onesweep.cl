// Radix sort with one sweep over the data per digit, `onesweep`, OpenCL C. The parallel source sort_onesweep.cu
// describes it.
//
// A word of look-back has flag and count, so it needs no fence, only accesses that are not torn: volatile accesses of
// 4 or 8 aligned bytes.

#include "sort_plan"
#include "sort_tile"

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
    const u32 local_id = get_local_id(0);
    if (local_id == 0) ticket = atomic_inc(LOW_HALF(memory, pass));
    const u32 step = (u32)memory[PLAN_AT + pass];
    if (step == SKIPPED) return;
    const u32 from_place = step & 3, to_place = step >> 2 & 3, upper = step >> 4 & 1;
    __global const K* const all = AT(from_place, K, in + in_at, out + out_at, other + other_at);
    // Tickets come in about the order of the groups' numbers: another group may take the tile of this number, soon.
    const u64 likely = (u64)get_group_id(0) * TILE;
    prefetch_bytes(all + likely, (u32)min(n - likely, (u64)TILE) * SIZE);
    barrier(CLK_LOCAL_MEM_FENCE);
    const u32 tile = ticket;
    const u64 begin = (u64)tile * TILE;
    const u32 count = (u32)min(n - begin, (u64)TILE);
    __global const K* const from = all + begin;
    const Digit digit = digit_at(shift, last, make_code(flip, fold));
    // The words of this work-item's digit for this pass and for the next one.
    __global COUNT* const words = status + status_at + (u64)upper * tiles * DIGITS + local_id;
    __global COUNT* const next_words = status + status_at + (u64)(upper ^ 1) * tiles * DIGITS + local_id;

    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    load_tile(from, count, digit.code, key);
    rank_items(key, count, digit, place, &shared);
    const u32 own = total_count(&shared);
    if (local_id < DIGITS) publish(words + (u64)tile * DIGITS, (tile == 0 ? IS_THROUGH : IS_OWN) | own);
    const u32 start = scan_counts(own, &shared);
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
