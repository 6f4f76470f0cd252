// Compact by flags, scan and scatter, `scan_scatter`, OpenCL C. The parallel source compact_steps.cu describes it.
// C++: compact_move.hpp.
//
// AS_T(x): an x of B as a T.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_flags(__global const B* in, ulong in_at, __global u64* flags, ulong flags_at, u64 n, const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) flags[flags_at + i] = apply(op, AS_T(in[in_at + i])) != 0 ? 1 : 0;
    if (i == n) flags[flags_at + i] = 0;
}

// partition: stores the other elements behind all kept ones.
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
