// Compact as the textbook has it, `scan_scatter`, CUDA C++. Parallel texts: compact_steps.cl, compact_host.hpp.
//
// Algorithm  flags, the predicate of every element; positions, the exclusive scan of the flags; scatter.
// Passes     a launch each, the scan one up and one down a level: positions are 32 bits, counted from the beginning of
//            a block of GROUP, and 64-bit sums of the blocks are scanned in turn. Traffic: 16 bytes and twice the
//            element a lane, plus what is stored.
// Tunables   GROUP lanes a group.
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990; W. D. Hillis, G. Steele, Data Parallel Algorithms,
//            1986 (the scan within a group).
//
// T: element type; B: unsigned integer of its size, as which elements move; apply(op, x): the predicate.

extern "C" __global__ void __launch_bounds__(GROUP) compact_flags(const T* in, u32* flags, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) flags[i] = apply(op, in[i]) != 0 ? 1 : 0;
}

// A group's values become the sums of those before them in the group; their total goes one level up.
template <class V>
__device__ __forceinline__ void scan_block(const V* in, V* out, u64* sums, u64 n) {
    __shared__ V shared[GROUP];
    const u32 lane = threadIdx.x;
    const u64 i = u64(blockIdx.x) * GROUP + lane;
    const V mine = i < n ? in[i] : V(0);
    shared[lane] = mine;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        __syncthreads();
        const V other = lane >= distance ? shared[lane - distance] : V(0);
        __syncthreads();
        shared[lane] += other;
    }
    if (i < n) out[i] = shared[lane] - mine;
    if (lane == GROUP - 1) sums[blockIdx.x] = shared[lane];
}

extern "C" __global__ void __launch_bounds__(GROUP)
    compact_scan_flags(const u32* flags, u32* positions, u64* sums, u64 n) {
    scan_block(flags, positions, sums, n);
}

// x is scanned in place.
extern "C" __global__ void __launch_bounds__(GROUP) compact_scan_sums(const u64* in, u64* x, u64* sums, u64 n) {
    scan_block(in, x, sums, n);
}

// On the way down: every block's beginning is added to its values.
extern "C" __global__ void __launch_bounds__(GROUP) compact_add_sums(u64* x, const u64* sums, u64 n) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) x[i] += sums[blockIdx.x];
}

// blocks: where the positions of each block begin. With `partition`, the others go behind all that are kept.
extern "C" __global__ void __launch_bounds__(GROUP)
    compact_scatter(const B* in, const u32* flags, const u32* positions, const u64* blocks, B* out, u64* count, u64 n,
                    u32 partition) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x, last = n - 1;
    if (i >= n) return;
    const u64 kept = blocks[last / GROUP] + positions[last] + flags[last];
    const u64 position = blocks[blockIdx.x] + positions[i];
    if (flags[i]) {
        out[position] = in[i];
    } else if (partition) {
        out[kept + (i - position)] = in[i];
    }
    if (i == last) *count = kept;
}
