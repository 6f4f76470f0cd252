// Histogram of more bins than local memory holds, `sorted`, CUDA C++. Parallel sources: histogram_sorted.cl,
// histogram_host.hpp.
//
// Algorithm  ids: every sample's bin; these are sorted by their coarse bin, 2^shift bins each, by Concord's radix sort of
//            a range of bits; positions: where each coarse bin begins; segments: a group takes a segment of the sorted
//            ids, counts those of one coarse bin after another in shared memory, and adds the counts to the counters.
// Traffic    every sample once; 4 bytes an id written, sorted (sort.hpp) and read; and the counters of a coarse bin are
//            added to once for each segment that meets it.
// Tunables   GROUP threads a group; shift and the segments' length: histogram_run.cpp.
// Source     textbook.
//
// T: type of the samples; apply(op, x): the bin of a sample, N or more if it is not counted; BIN: the unsigned type of
// bins; WORDS: of 32 bits in a count.

template <int Words> struct CounterOf { using Type = u32; };
template <> struct CounterOf<2> { using Type = unsigned long long; };
using Counter = CounterOf<WORDS>::Type;

#if defined(T)

// none: the id of a sample that is not counted; it is in a coarse bin past all others.
extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_ids(const T* in, u32* ids, u64 n, u64 bins, u32 none, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i >= n) return;
    const BIN bin = BIN(apply(op, in[i]));
    ids[i] = bin < bins ? u32(bin) : none;
}

#else

// A thread a coarse bin, and one for their end: the first id that is in it or past it.
extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_positions(const u32* ids, u64* positions, u64 n, u32 coarse, u32 shift) {
    const u32 c = blockIdx.x * GROUP + threadIdx.x;
    if (c > coarse) return;
    u64 low = 0, high = n;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (ids[middle] >> shift < c) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    positions[c] = low;
}

extern __shared__ u32 table[];

extern "C" __global__ void __launch_bounds__(GROUP)
    histogram_segments(const u32* ids, const u64* positions, Counter* out, u64 n, u64 bins, u64 segment, u32 coarse,
                       u32 shift, u32 /*words*/) {
    const u32 thread = threadIdx.x, fine = 1u << shift;
    const u64 begin = blockIdx.x * segment, end = min(n, begin + segment);
    for (u32 c = ids[begin] >> shift; c < coarse; ++c) {
        const u64 first = max(begin, positions[c]), last = min(end, positions[c + 1]);
        if (first >= end) break;
        if (first >= last) continue;
        for (u32 b = thread; b < fine; b += GROUP) table[b] = 0;
        __syncthreads();
        for (u64 i = first + thread; i < last; i += GROUP) atomicAdd(table + (ids[i] & (fine - 1)), 1u);
        __syncthreads();
        for (u32 b = thread; b < fine; b += GROUP) {
            if (table[b] != 0) atomicAdd(out + ((u64(c) << shift) + b), Counter(table[b]));
        }
        __syncthreads();
    }
}

#endif
