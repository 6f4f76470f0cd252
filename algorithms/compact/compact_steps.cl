// Compact as the textbook has it, `scan_scatter`, OpenCL C. Parallel sources: compact_steps.cu, compact_host.hpp.
//
// Algorithm  flags, the predicate of every element, and one more that is 0; positions, their exclusive scan, in place:
//            where it rises, an element is kept; scatter. The scan is Concord's own.
// Passes     a launch each, and the scan's. Traffic: 24 bytes and twice the element a work-item, the scan's 16 or 24, and what
//            is stored.
// Tunables   GROUP work-items a group.
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990.
//
// T: element type; B: unsigned integer of its size, as which elements move; AS_T(x): such an integer's value; apply(op,
// x): the predicate.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_flags(__global const B* in, ulong in_at, __global u64* flags, ulong flags_at, u64 n, const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) flags[flags_at + i] = apply(op, AS_T(in[in_at + i])) != 0 ? 1 : 0;
    if (i == n) flags[flags_at + i] = 0;
}

// With `partition`, the others go behind all that are kept.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_scatter(__global const B* in, ulong in_at, __global const u64* positions, ulong positions_at,
                     __global B* out, ulong out_at, __global u64* count, ulong count_at, u64 n, u32 partition) {
    const u64 i = get_global_id(0);
    if (i >= n) return;
    positions += positions_at;
    const u64 kept = positions[n], position = positions[i];
    if (positions[i + 1] != position) {
        out[out_at + position] = in[in_at + i];
    } else if (partition) {
        out[out_at + kept + (i - position)] = in[in_at + i];
    }
    if (i == 0) count[count_at] = kept;
}
