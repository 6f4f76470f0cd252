// Histogram, `global_atomic`, and the last launch for counters of 16 bits, CUDA C++. Parallel sources:
// histogram_steps.cl, histogram_count.hpp.
//
// Algorithm  global: every sample adds to its counter in global memory, one sample per thread at a time.
//            saturate: turns counts of 32 or 64 bits into counters of 16 bits that saturate at 65535.
// Passes     one launch each
// Traffic    global: one read and one atomic addition per sample; saturate: one read and one write per counter
// Tunables   GROUP threads per group
// Source     textbook
//
// T: type of the samples; apply(op, x): bin of a sample, at least N if it is not counted; BIN: unsigned type of
// bins; WORDS: 32-bit words per count.

template <int Words> struct CounterOf { using Type = u32; };
template <> struct CounterOf<2> { using Type = u64; };
using Counter = CounterOf<WORDS>::Type;

#if defined(T)

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_global(const T* in, Counter* out, u64 n, u64 bins, u32 /*words*/, const Op op) {
    for (u64 i = u64(blockIdx.x) * GROUP + threadIdx.x; i < n; i += u64(gridDim.x) * GROUP) {
        const BIN bin = BIN(apply(op, in[i]));
        if (bin < bins) atomicAdd(out + bin, Counter(1));
    }
}

#else

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_saturate(const Counter* counts, u16* out, u64 bins, u32 /*words*/) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < bins) out[i] = u16(counts[i] < 65535 ? counts[i] : 65535);
}

#endif
