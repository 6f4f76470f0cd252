// Textbook radix sorts by four bits per pass, least significant digit first, `radix4`, `radix4_local` and
// `radix4_vector`, OpenCL C. The parallel source sort_radix4.cu describes it.

#include "sort_keys.cl"

#define DIGITS 16
#if COUNTS_LOCALLY
#define COUNTER(d) table[(d) * GROUP + get_local_id(0)]
#else
#define COUNTER(d) table[d]
#endif

#if VECTOR
#define STEP 16
#else
#define STEP 1
#endif

// Loads STEP keys, or fewer at the end.
INLINED void load_keys(__global const K* in, u64 i, u64 end, K* key) {
#if VECTOR
    if (i + STEP <= end) {
        vstore16(vload16(0, in + i), 0, key);
        return;
    }
#endif
    for (u32 j = 0; j < STEP; ++j) {
        if (i + j < end) key[j] = in[i + j];
    }
}

// Upsweep. counts: for each digit, the counts of all work-items.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_count(__global const K* in, ulong in_at, __global COUNT* counts, ulong counts_at, u64 n, u64 items, u32 shift,
                u32 mask, u64 flip, u64 fold) {
#if COUNTS_LOCALLY
    __local COUNT table[DIGITS * GROUP];
#else
    COUNT table[DIGITS];
#endif
    const Code code = make_code(flip, fold);
    const u64 item = get_global_id(0), begin = item * CHUNK, end = min(begin + CHUNK, n);
    if (item < items) {
        for (u32 d = 0; d < DIGITS; ++d) COUNTER(d) = 0;
        for (u64 i = begin; i < end; i += STEP) {
            K key[STEP];
            load_keys(in + in_at, i, end, key);
            for (u32 j = 0; j < STEP; ++j) {
                if (i + j < end) ++COUNTER(digit_of(key[j], shift, mask, code));
            }
        }
        for (u32 d = 0; d < DIGITS; ++d) counts[counts_at + d * items + item] = COUNTER(d);
    }
}

// Downsweep. offsets: the exclusive scan of the counts.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void sort_permute(__global const K* in, ulong in_at, __global const V* in_values, ulong in_values_at,
                  __global const COUNT* offsets, ulong offsets_at, __global K* out, ulong out_at,
                  __global V* out_values, ulong out_values_at, u64 n, u64 items, u32 shift, u32 mask, u64 flip,
                  u64 fold) {
#if COUNTS_LOCALLY
    __local COUNT table[DIGITS * GROUP];
#else
    COUNT table[DIGITS];
#endif
    const Code code = make_code(flip, fold);
    const u64 item = get_global_id(0), begin = item * CHUNK, end = min(begin + CHUNK, n);
    if (item < items) {
        for (u32 d = 0; d < DIGITS; ++d) COUNTER(d) = offsets[offsets_at + d * items + item];
        for (u64 i = begin; i < end; i += STEP) {
            K key[STEP];
            load_keys(in + in_at, i, end, key);
            for (u32 j = 0; j < STEP; ++j) {
                if (i + j < end) {
                    const u64 to = COUNTER(digit_of(key[j], shift, mask, code))++;
                    out[out_at + to] = key[j];
#if VALUE_SIZE
                    out_values[out_values_at + to] = in_values[in_values_at + i + j];
#endif
                }
            }
        }
    }
}
