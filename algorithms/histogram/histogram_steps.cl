// Histogram, `global_atomic`, and the last launch for counters of 16 bits, OpenCL C. Parallel sources:
// histogram_steps.cu, histogram_count.hpp.
//
// Algorithm  global: every sample adds to its counter in global memory, one sample per work-item at a time.
//            saturate: turns counts of 32 or 64 bits into counters of 16 bits that saturate at 65535.
// Passes     one launch each
// Traffic    global: one read and one atomic addition per sample; saturate: one read and one write per counter
// Tunables   GROUP work-items per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins; WORDS: 32-bit words per count.

#if defined(T)

// OpenCL C 1.2 has no 64-bit atomics, so the lower word carries.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_global(__global const T* in, ulong in_at, volatile __global u32* out, ulong out_at, u64 n, u64 bins,
                      u32 words, const Op op) {
    for (u64 i = get_global_id(0); i < n; i += get_global_size(0)) {
        const BIN bin = (BIN)apply(op, in[in_at + i]);
        if (bin >= bins) continue;
        volatile __global u32* counter = out + out_at + (u64)bin * WORDS;
        const u32 old = atomic_inc(counter);
        if (WORDS == 2 && old == 0xffffffffu) atomic_inc(counter + 1);
    }
}

#else

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void histogram_saturate(__global const u32* counts, ulong counts_at, __global u16* out, ulong out_at, u64 bins,
                        u32 words) {
    const u64 i = get_global_id(0);
    if (i >= bins) return;
    __global const u32* count = counts + counts_at + i * WORDS;
    bool full = count[0] > 65535;
#if WORDS == 2
    full = full || count[1] != 0;
#endif
    out[out_at + i] = full ? (u16)65535 : (u16)count[0];
}

#endif
