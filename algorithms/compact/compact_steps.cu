// Compact as the textbook has it, `scan_scatter`, CUDA C++. Parallel sources: compact_steps.cl, compact_host.hpp.
//
// Algorithm  flags, the predicate of every element, and one more that is 0; positions, their exclusive scan, in place:
//            where it rises, an element is kept; scatter. The scan is Concord's own.
// Passes     a launch each, and the scan's. Traffic: 24 bytes and twice the element a thread, the scan's 16 or 24, and what
//            is stored.
// Tunables   GROUP threads a group.
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990.
//
// T: element type; B: unsigned integer of its size, as which elements move; apply(op, x): the predicate.

extern "C" __global__ void __launch_bounds__(GROUP) compact_flags(const T* in, u64* flags, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) flags[i] = apply(op, in[i]) != 0 ? 1 : 0;
    if (i == n) flags[i] = 0;
}

// With `partition`, the others go behind all that are kept.
extern "C" __global__ void __launch_bounds__(GROUP)
    compact_scatter(const B* in, const u64* positions, B* out, u64* count, u64 n, u32 partition) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i >= n) return;
    const u64 kept = positions[n], position = positions[i];
    if (positions[i + 1] != position) {
        out[position] = in[i];
    } else if (partition) {
        out[kept + (i - position)] = in[i];
    }
    if (i == 0) *count = kept;
}
