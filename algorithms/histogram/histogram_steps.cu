// The first step to a fast histogram, CUDA C++, and the last of counters of 16 bits. Parallel sources:
// histogram_steps.cl, histogram_host.hpp.
//
// global     every sample adds to its counter in global memory; a sample a thread at a time.
// saturate   counters of 16 bits from counts of 32 or 64: those past 65535 stop there.
// Traffic    every sample once, and the atomic additions; saturate: counts and counters once.
// Tunables   GROUP threads a group.
// Source     textbook.
//
// T: type of the samples; apply(op, x): the bin of a sample, N or more if it is not counted; BIN: the unsigned type of
// bins; WORDS: of 32 bits in a count.

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
