// Radix sort with one sweep over the data per digit, `onesweep`, CUDA C++. The tile is in sort_tile.cu. Parallel
// source: sort_onesweep.cl.
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
// one tile   all passes of an input that fits one tile, in one launch
// Passes     two launches, and one per digit
// Traffic    one read per key; then per pass one read and one write per element, and 3 KiB per tile (6 KiB from
//            2^30 elements on)
// Progress   A tile waits only for tiles of lower tickets, which have begun.
// Tunables   GROUP threads per group, ITEMS elements per thread, RESIDENT groups per multiprocessor, AHEAD, MATCH;
//            histogram: COPIES of each counter, UNROLL accesses in flight per thread
// Source     A. Adinets, D. Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022; D.
//            Merrill, M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
//
// COUNT: type of counts, u32 or, from 2^30 elements on, u64. Two bits are flags.

// The words of `memory`, zero at first: tickets of the passes, the ticket of the histogram, whether a copy follows,
// the plan, and the counts of the passes, which become offsets.
constexpr u32 counting_ticket = 8, copy_follows = 9, plan_at = 16, totals_at = 32;

// Where the elements are before or after a pass.
enum Place : u32 { in_place_of = 0, out_place = 1, other_place = 2 };
// An entry of the plan: `skipped`, or source, destination and half of the status words.
constexpr u32 skipped = 64;
__device__ __forceinline__ u32 step_of(u32 from, u32 to, u32 half) { return from | to << 2 | half << 4; }

#ifdef COPIES

constexpr u32 most_passes = SIZE;
constexpr u32 pack = 16 / SIZE;

__device__ __forceinline__ void count_key(K key, u32 passes, u32 first, u32 last_mask, Code code, u32* mine) {
    const K bits = code_of(key, code) >> first;
#pragma unroll
    for (u32 p = 0; p < most_passes; ++p) {
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
    u32* const table = reinterpret_cast<u32*>(staged);
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

    if (!last_group(reinterpret_cast<u32*>(memory + counting_ticket), gridDim.x)) return;
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

#elif defined(AHEAD)

constexpr u32 count_bits = 8 * sizeof(COUNT);
constexpr COUNT is_own = COUNT(1) << (count_bits - 2);  // count of the tile alone
constexpr COUNT is_through = COUNT(2) << (count_bits - 2);  // count of all tiles up to and including it
constexpr COUNT value_bits = is_own - 1;

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
        for (u32 k = 0; k < AHEAD; ++k) word[k] = at > k ? look(status + u64(at - 1 - k) * digits) : is_through;
#pragma unroll
        for (u32 k = 0; k < AHEAD; ++k) {
            while (word[k] < is_own) word[k] = look(status + u64(at - 1 - k) * digits);
            before += word[k] & value_bits;
            if (word[k] >= is_through) return before;
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
    const u32 step = u32(memory[plan_at + pass]);
    if (step == skipped) return;
    if (threadIdx.x == 0) ticket = atomicAdd(reinterpret_cast<u32*>(memory + pass), 1u);
    __syncthreads();
    const u32 tile = ticket, from_place = step & 3, to_place = step >> 2 & 3, half = step >> 4 & 1;
    const u64 begin = u64(tile) * tile_length;
    const u32 count = u32(min(n - begin, u64(tile_length)));
    const K* const from = (from_place == in_place_of ? in : from_place == out_place ? out : other) + begin;
    const Digit digit = digit_at(shift, last, make_code(flip, fold));
    // The words of this thread's digit for this pass and for the next one.
    COUNT* const words = status + u64(half) * tiles * digits + threadIdx.x;
    COUNT* const next_words = status + u64(half ^ 1) * tiles * digits + threadIdx.x;

    K key[ITEMS];
    u32 place[ITEMS];
    load_items(from, count, key);
    rank_items(key, count, digit, place, shared);
    u32 own = 0;
    const u32 start = scan_counts(shared, [&](u32 total) {
        own = total;
        publish(words + u64(tile) * digits, (tile == 0 ? is_through : is_own) | own);
    });
    stage_keys(key, place, shared);
    V value[has_values ? ITEMS : 1];
    if constexpr (has_values) {
        const V* const from_values =
            from_place == in_place_of ? in_values : from_place == out_place ? out_values : other_values;
        load_items(from_values + begin, count, value);
    }
    if (threadIdx.x < digits) {
        next_words[u64(tile) * digits] = 0;
        const COUNT before = look_back(words, tile);
        if (tile != 0) publish(words + u64(tile) * digits, is_through | (before + own));
        shared.base[threadIdx.x] = COUNT(memory[totals_at + pass * digits + threadIdx.x]) + before - start;
    }
    __syncthreads();
    store_items(to_place == out_place ? out : other, to_place == out_place ? out_values : other_values, value, count,
                digit, place, shared);
}

// In place, after an odd number of passes: copies the elements back to out.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_copy_back(const u64* memory, const K* other, const V* other_values, K* out, V* out_values, u64 n) {
    if (memory[copy_follows] == 0) return;
    for (u64 i = u64(blockIdx.x) * GROUP + threadIdx.x; i < n; i += u64(gridDim.x) * GROUP) {
        out[i] = other[i];
        if constexpr (has_values) out_values[i] = other_values[i];
    }
}

#else

// Sorts by the bits [first, last). One group. out may be in: it reads all elements before it stores any.
extern "C" __global__ void __launch_bounds__(GROUP)
    sort_one_tile(const K* in, const V* in_values, K* out, V* out_values, u32 count, u32 first, u32 last, u64 flip,
                  u64 fold) {
    __shared__ Shared shared;
    K* const keys = reinterpret_cast<K*>(staged);
    V* const values = reinterpret_cast<V*>(staged);
    K key[ITEMS];
    V value[has_values ? ITEMS : 1];
    u32 place[ITEMS];
    load_items(in, count, key);
    if constexpr (has_values) load_items(in_values, count, value);
    for (u32 shift = first; shift < last; shift += digit_bits) {
        const Digit digit = digit_at(shift, last, make_code(flip, fold));
        rank_items(key, count, digit, place, shared);
        scan_counts(shared, [](u32) {});
        stage_keys(key, place, shared);
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < ITEMS; ++i) key[i] = keys[place_of(i)];
        if constexpr (has_values) {
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) values[place[i]] = value[i];
            __syncthreads();
#pragma unroll
            for (u32 i = 0; i < ITEMS; ++i) value[i] = values[place_of(i)];
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < ITEMS; ++i) {
        if (place_of(i) < count) {
            out[place_of(i)] = key[i];
            if constexpr (has_values) out_values[place_of(i)] = value[i];
        }
    }
}

#endif
