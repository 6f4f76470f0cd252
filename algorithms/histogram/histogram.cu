// Histogram, `multi_copy`, `shared_atomic`, `passes` and `packed16`, CUDA C++. Parallel sources: histogram.cl,
// histogram_count.hpp.
//
// Algorithm  A group counts its share of the samples in shared memory and adds its row of counts to the counters.
// private    shared_atomic has one copy of the counters, multi_copy COPIES of them. The counters of one bin are
//            neighbours, and a thread counts in the copy of its own number, so with 32 copies every thread of a
//            warp has its own bank. Atomic additions of the constant 1 that ignore the old value let the hardware
//            combine equal bins of a warp. PASSES: a group counts one range of bins. Groups of all ranges read the
//            same samples together, so one of them brings the samples into the cache for all.
// packed16   Two counters of 16 bits per word: bins [0, N/2) in the lower halves, the others in the upper ones. The
//            thread whose addition takes a half to 2^15 moves 2^15 to the counters. Between two barriers a group
//            adds less than 2^15, so a half is below 2^15 after each barrier and never carries. Runs of equal bins
//            of neighbouring samples are added in one step.
// Passes     one launch, on counters that are zero
// Traffic    one read per sample, one row of atomic additions per group
// Tunables   GROUP threads per group; COPIES; UNROLL (private) and AHEAD (packed16) accesses of 16 bytes in flight per
//            thread; RESIDENT groups per multiprocessor
// Source     V. Podlozhnyuk, Histogram calculation in CUDA, 2007; J. Gomez-Luna et al., An optimized approach to
//            histogram computation on GPU, 2013 (copies); packed16: Concord.
//
// T: type of the samples, of SIZE bytes; apply(op, x): bin of a sample, at least N if it is not counted; BIN:
// unsigned type of bins; WORDS: 32-bit words per counter.

#include "histogram_counter.cu"
#include "tile.cu"

#ifndef AHEAD
#define AHEAD 4  // packed16: the same, and as many loaded ahead, for samples of at least 4 bytes
#endif
#ifndef RESIDENT
#define RESIDENT (PASSES || BIN(-1) > 0xffffffffu ? 1 : 2)  // private: resident groups per multiprocessor
#endif

constexpr int pack = 16 / SIZE;  // samples per access
using Samples = Pack<T, pack>;

extern __shared__ u32 table[];

// Samples are read once, so they need not stay in L1.
__device__ __forceinline__ Samples load_samples(const Samples* from) {
    return load_pack_l2<pack>(reinterpret_cast<const T*>(from));
}

// Splits n samples into aligned packs and the samples before and after them.
struct Layout {
    u64 head, packs;
    u32 ends;

    __device__ __forceinline__ Layout(const T* in, u64 n) {
        head = (16 - reinterpret_cast<u64>(in) % 16) % 16 / SIZE;
        if (head > n) head = n;
        packs = (n - head) / pack;
        ends = u32(n - packs * pack);
    }
    // The index of the i-th sample outside the packs.
    __device__ __forceinline__ u64 end(u32 i) const { return i < head ? i : i + packs * pack; }
};

// --- private --------------------------------------------------------------------------------------------------------

// mine: the thread's copy; first, held: first bin and number of bins of the group.
__device__ __forceinline__ void count_one(T x, u32* mine, BIN first, u32 held, const Op op) {
    const BIN bin = BIN(apply(op, x)) - first;
    if (bin < held) atomicAdd(mine + u32(bin) * COPIES, 1u);
}

__device__ __forceinline__ void count_pack(const Samples& x, u32* mine, BIN first, u32 held, const Op op) {
#pragma unroll
    for (int j = 0; j < pack; ++j) count_one(x.item[j], mine, first, held, op);
}

extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    histogram_private(const T* in, Counter* out, u64 n, u64 bins, u64 range, u64 passes, u32 /*copies*/, u32 /*words*/,
                      const Op op) {
    const u32 thread = threadIdx.x;
    const u32 part = PASSES ? blockIdx.x / u32(passes) : blockIdx.x;
    const u32 parts = PASSES ? gridDim.x / u32(passes) : gridDim.x;
    const BIN first = PASSES ? BIN(blockIdx.x % u32(passes) * range) : 0;
    const u32 held = u32(PASSES && bins < first + range ? (bins > first ? bins - first : 0) : range);

    for (u32 i = thread; i < held * COPIES; i += GROUP) table[i] = 0;
    __syncthreads();

    u32* mine = table + thread % COPIES;
    const Layout layout(in, n);
    const Samples* packs = reinterpret_cast<const Samples*>(in + layout.head);
    constexpr u64 tile = u64(GROUP) * UNROLL;
    u64 at = part * tile + thread;
    for (; at - thread + tile <= layout.packs; at += parts * tile) {
        Samples x[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) x[k] = load_samples(packs + at + k * GROUP);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) count_pack(x[k], mine, first, held, op);
    }
    // One group has an incomplete tile.
    for (int k = 0; k < UNROLL; ++k) {
        if (at + k * GROUP < layout.packs) count_pack(load_samples(packs + at + k * GROUP), mine, first, held, op);
    }
    if (part == 0 && thread < layout.ends) count_one(in[layout.end(thread)], mine, first, held, op);
    __syncthreads();

    // Adds up the copies. Groups begin at different counters, threads at different banks, to avoid conflicts.
    const u32 begin = u32(u64(part) * GROUP % (held + 1));
    for (u32 i = thread; i < held; i += GROUP) {
        const u32 b = i + begin < held ? i + begin : i + begin - held;
        u32 sum = 0;
#pragma unroll
        for (u32 k = 0; k < COPIES; ++k) sum += table[b * COPIES + (k + thread) % COPIES];
        if (sum != 0) atomicAdd(out + first + b, Counter(sum));
    }
}

// --- packed16 -------------------------------------------------------------------------------------------------------

constexpr int run_length = pack < 4 ? pack : 4;  // samples whose equal bins are added in one step
constexpr int ahead = SIZE >= 4 ? AHEAD : SIZE * AHEAD / 4;  // accesses; fewer for small samples
constexpr u32 half_full = 1u << 15;
static_assert(ahead >= 1 && GROUP * ahead * pack + 2 * pack < half_full, "a counter could carry between barriers");

// Adds runs of equal bins. halves: words of the table.
__device__ __forceinline__ void count_runs(const T* x, u32 bins, u32 halves, Counter* out, const Op op) {
    u32 word[run_length], add[run_length], old[run_length];
    u32 run = 1, bin = u32(BIN(apply(op, x[0])) < bins ? BIN(apply(op, x[0])) : bins);
#pragma unroll
    for (int j = 0; j < run_length; ++j) {
        u32 next = bins;
        if (j + 1 < run_length) {
            const BIN b = BIN(apply(op, x[j + 1]));
            next = b < bins ? u32(b) : bins;
        }
        const bool ends = j + 1 == run_length || next != bin;
        const bool upper = bin >= halves;
        word[j] = upper ? bin - halves : bin;
        add[j] = ends && bin < bins ? (upper ? run << 16 : run) : 0;
        run = ends ? 1 : run + 1;
        bin = next;
    }
#pragma unroll
    for (int j = 0; j < run_length; ++j) old[j] = add[j] != 0 ? atomicAdd(table + word[j], add[j]) : 0;
    u32 full = 0;
#pragma unroll
    for (int j = 0; j < run_length; ++j) {
        // The top bit of the half that was added to, if it went from 0 to 1.
        add[j] = ~old[j] & (old[j] + add[j]) & (half_full << 16 | half_full);
        full |= add[j];
    }
    if (full == 0) return;
#pragma unroll
    for (int j = 0; j < run_length; ++j) {
        if (add[j] == 0) continue;
        atomicSub(table + word[j], add[j]);
        atomicAdd(out + word[j] + (add[j] > half_full ? halves : 0), Counter(half_full));
    }
}

__device__ __forceinline__ void count_packed(const Samples& x, u32 bins, u32 halves, Counter* out, const Op op) {
#pragma unroll
    for (int j = 0; j < pack; j += run_length) count_runs(x.item + j, bins, halves, out, op);
}

extern "C" __global__ void __launch_bounds__(GROUP, 1)
    histogram_packed16(const T* in, Counter* out, u64 n, u64 all_bins, u32 /*words*/, const Op op) {
    const u32 thread = threadIdx.x, bins = u32(all_bins), halves = (bins + 1) / 2;
    const Layout layout(in, n);
    const Samples* packs = reinterpret_cast<const Samples*>(in + layout.head);
    constexpr u64 tile = u64(GROUP) * ahead;
    const u64 step = gridDim.x * tile;
    u64 at = blockIdx.x * tile + thread;
    Samples next[ahead];
    if (at - thread + tile <= layout.packs) {
#pragma unroll
        for (int k = 0; k < ahead; ++k) next[k] = load_samples(packs + at + k * GROUP);
    }

    for (u32 i = thread; i < halves; i += GROUP) table[i] = 0;
    __syncthreads();

    for (; at - thread + tile <= layout.packs; at += step) {
        Samples x[ahead];
#pragma unroll
        for (int k = 0; k < ahead; ++k) x[k] = next[k];
        if (at - thread + step + tile <= layout.packs) {
#pragma unroll
            for (int k = 0; k < ahead; ++k) next[k] = load_samples(packs + at + step + k * GROUP);
        }
#pragma unroll
        for (int k = 0; k < ahead; ++k) count_packed(x[k], bins, halves, out, op);
        __syncthreads();
    }
    // One group has an incomplete tile.
    for (int k = 0; k < ahead; ++k) {
        if (at + k * GROUP < layout.packs) count_packed(load_samples(packs + at + k * GROUP), bins, halves, out, op);
    }
    if (blockIdx.x == 0 && thread < layout.ends) {
        const BIN bin = BIN(apply(op, in[layout.end(thread)]));
        if (bin < bins) atomicAdd(out + bin, Counter(1));
    }
    __syncthreads();

    // Groups begin at different counters, to avoid conflicts.
    const u32 begin = u32(u64(blockIdx.x) * GROUP % halves);
    for (u32 i = thread; i < halves; i += GROUP) {
        const u32 w = i + begin < halves ? i + begin : i + begin - halves;
        const u32 lower = table[w] & 0xffffu, upper = table[w] >> 16;
        if (lower != 0) atomicAdd(out + w, Counter(lower));
        if (upper != 0) atomicAdd(out + halves + w, Counter(upper));
    }
}
