// Radix sort with one sweep over the data per digit, `onesweep`, OpenCL C. The tile is in sort_tile.cl. Parallel
// source: sort_onesweep.cu.
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
// one tile   all passes of an input that fits one tile, in one launch
// Passes     two launches, and one per digit
// Traffic    one read per key; then per pass one read and one write per element, and 3 KiB per tile (6 KiB from
//            2^30 elements on)
// Progress   A tile waits only for tiles of lower tickets, which have begun.
// Tunables   GROUP work-items per group, ITEMS elements per work-item, AHEAD; histogram: COPIES of each counter,
//            UNROLL accesses in flight per work-item
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022; D.
//            Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// COUNT: type of counts, u32 or, from 2^30 elements on, u64. Two bits are flags.

// The words of `memory`, zero at first: tickets of the passes, the ticket of the histogram, whether a copy follows,
// the plan, and the counts of the passes, which become offsets.
#define COUNTING_TICKET 8
#define COPY_FOLLOWS 9
#define PLAN_AT 16
#define TOTALS_AT 32

// Where the elements are before or after a pass.
#define IN_PLACE_OF 0
#define OUT_PLACE 1
#define OTHER_PLACE 2
// The elements of type E at a place.
#define AT(place, E, in, out, other)                    \
    ((place) == IN_PLACE_OF ? (in)                      \
     : (place) == OUT_PLACE ? (__global const E*)(out)  \
                            : (__global const E*)(other))
// An entry of the plan: SKIPPED, or source, destination and whether it uses the upper half of the status words.
#define SKIPPED 64
#define STEP_OF(from, to, upper) ((from) | (to) << 2 | (upper) << 4)

// The lower half of a word, for atomic operations.
#define LOW_HALF(memory, at) ((volatile __global u32*)((memory) + (at)))

#ifdef COPIES

#define MOST_PASSES SIZE
#define PACK (16 / SIZE)

// A pack of keys, loaded as 16 bytes.
typedef union {
    uint4 all;
    K item[PACK];
} KeyPack;

INLINED void count_key(K key, u32 passes, u32 first, u32 last_mask, Code code, __local u32* mine) {
    const K bits = code_of(key, code) >> first;
#pragma unroll
    for (u32 p = 0; p < MOST_PASSES; ++p) {
        if (p < passes) {
            const u32 d = (u32)(bits >> (DIGIT_BITS * p)) & (p + 1 == passes ? last_mask : DIGITS - 1);
            atomic_inc(mine + (p * DIGITS + d) * COPIES);
        }
    }
}

// Adds to a count of 64 bits, low word first, by operations on 32 bits.
INLINED void add_total(volatile __global u32* total, u32 sum) {
    if (atomic_add(total, sum) > 0xffffffffu - sum) atomic_inc(total + 1);
}

// Scan, by one work-item: makes the plan of all passes.
INLINED void make_plan(__global u64* memory, u32 constant_passes, u32 passes, u32 in_place) {
    const u32 all = (1u << passes) - 1;
    u32 moves = all & ~constant_passes;
    if (moves == 0 && !in_place) moves = 1;  // one pass copies
    const u32 odd = popcount(moves) % 2;
    u32 from = IN_PLACE_OF, upper = 0;
    for (u32 p = 0; p < passes; ++p) {
        if (moves >> p & 1) {
            const u32 left = popcount(moves >> p >> 1);
            const u32 to = (in_place ? left % 2 == odd : left % 2 == 0) ? OUT_PLACE : OTHER_PLACE;
            memory[PLAN_AT + p] = STEP_OF(from, to, upper);
            from = to;
            upper ^= 1;
        } else {
            memory[PLAN_AT + p] = SKIPPED;
        }
    }
    memory[COPY_FOLLOWS] = from == OTHER_PLACE;
}

// Histogram and scan. Positions count from the 16-byte boundary at or before the input's first key, so every pack
// is aligned. status: the words of the first pass, which this kernel clears. table: COPIES counters per pass and
// digit.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_histograms(__global const K* in, ulong in_at, __global u64* memory, ulong memory_at, __global COUNT* status,
                     ulong status_at, u64 words, u64 n, u32 passes, u32 first, u32 last, u32 in_place, u64 flip,
                     u64 fold, __local u32* table) {
    __local Scan scan;
    __local u32 is_last, constant_passes;
    const Code code = make_code(flip, fold);
    const u32 local_id = get_local_id(0), groups = get_num_groups(0);
    const u32 used = passes * DIGITS, last_mask = digit_at(first + DIGIT_BITS * (passes - 1), last, code).mask;
    in += in_at;
    memory += memory_at;
    status += status_at;
    for (u32 k = local_id; k < used * COPIES; k += GROUP) table[k] = 0;
    for (u64 w = get_global_id(0); w < words; w += (u64)groups * GROUP) status[w] = 0;
    if (local_id == 0) constant_passes = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    __local u32* const mine = table + local_id % COPIES;
    const u64 begin = (u64)(size_t)in / SIZE % PACK, end = begin + n;
    __global const K* const base = in - begin;
    const u64 packs = (end + PACK - 1) / PACK, tile = (u64)GROUP * UNROLL;
    for (u64 t = get_group_id(0) * tile; t < packs; t += groups * tile) {
        if (t * PACK >= begin && (t + tile) * PACK <= end) {
            KeyPack loaded[UNROLL];
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k)
                loaded[k].all = *(__global const uint4*)(base + (t + k * GROUP + local_id) * PACK);
#pragma unroll
            for (u32 k = 0; k < UNROLL; ++k) {
#pragma unroll
                for (u32 j = 0; j < PACK; ++j) count_key(loaded[k].item[j], passes, first, last_mask, code, mine);
            }
        } else {
            const u64 to = min((t + tile) * PACK, end);
            for (u64 i = max(t * PACK, begin) + local_id; i < to; i += GROUP)
                count_key(base[i], passes, first, last_mask, code, mine);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 k = local_id; k < used; k += GROUP) {
        u32 sum = 0;
#pragma unroll
        for (u32 c = 0; c < COPIES; ++c) sum += table[k * COPIES + (c + local_id) % COPIES];
        if (sum != 0) add_total(LOW_HALF(memory, TOTALS_AT + k), sum);
    }

    if (!last_group(LOW_HALF(memory, COUNTING_TICKET), groups, &is_last)) return;
    for (u32 p = 0; p < passes; ++p) {
        const bool counts = local_id < DIGITS;
        const u32 at = TOTALS_AT + p * DIGITS + local_id;
        const u64 total = counts ? ((volatile __global u64*)memory)[at] : 0;
        if (counts && total == n) atomic_or(&constant_passes, 1u << p);
        const u64 before = scan_digits((COUNT)total, &scan);
        if (counts) memory[at] = before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (local_id == 0) make_plan(memory, constant_passes, passes, in_place);
}

#elif defined(AHEAD)

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

#else

// Sorts by the bits [first, last). One group. out may be in: it reads all elements before it stores any.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_one_tile(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at, __global K* out,
                   ulong out_at, __global V* out_values, ulong out_values_at, u32 count, u32 first, u32 last, u64 flip,
                   u64 fold) {
    __local Shared shared;
    K key[ITEMS];
    V value[VALUE_SIZE ? ITEMS : 1];
    u32 place[ITEMS];
    load_keys(in + in_at, count, key);
#if VALUE_SIZE
    load_values(in_values + in_values_at, count, value);
#endif
    for (u32 shift = first; shift < last; shift += DIGIT_BITS) {
        const Digit digit = digit_at(shift, last, make_code(flip, fold));
        rank_items(key, count, digit, place, &shared.tile.ranks);
        scan_counts(total_count(&shared.tile.ranks), &shared.tile.ranks);
        stage_keys(key, place, &shared);
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) key[i] = shared.tile.keys[place_of(i)];
#if VALUE_SIZE
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) shared.tile.values[place[i]] = value[i];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) value[i] = shared.tile.values[place_of(i)];
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) < count) {
            out[out_at + place_of(i)] = key[i];
#if VALUE_SIZE
            out_values[out_values_at + place_of(i)] = value[i];
#endif
        }
    }
}

#endif
