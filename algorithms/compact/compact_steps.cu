// Compact by flags, scan and scatter, `scan_scatter`, CUDA C++. Parallel sources: compact_steps.cl,
// compact_move.hpp.
//
// Algorithm  flags: evaluates the predicate for every element; one more flag is 0. Concord's exclusive scan turns
//            flags into positions in place. scatter: an element is kept if the position after it is greater.
// Passes     two launches and those of the scan
// Traffic    24 bytes per element and two reads of the element, 16 or 24 bytes per element for the scan, one write
//            per stored element
// Tunables   GROUP threads per group
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990.
//
// T: element type; B: unsigned integer of its size, as which elements move; apply(op, x): predicate.

extern "C" __global__ void __launch_bounds__(GROUP) compact_flags(const T* in, u64* flags, u64 n, const Op op) {
    const u64 i = u64(blockIdx.x) * GROUP + threadIdx.x;
    if (i < n) flags[i] = apply(op, in[i]) != 0 ? 1 : 0;
    if (i == n) flags[i] = 0;
}

// partition: stores the other elements behind all kept ones.
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
