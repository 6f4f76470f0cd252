// Compact as the textbook has it, `scan_scatter`, OpenCL C. Parallel texts: compact_steps.cu, compact_host.hpp.
//
// Algorithm  flags, the predicate of every element; positions, the exclusive scan of the flags; scatter.
// Passes     a launch each, the scan one up and one down a level: positions are 32 bits, counted from the beginning of
//            a block of GROUP, and 64-bit sums of the blocks are scanned in turn. Traffic: 16 bytes and twice the
//            element a lane, plus what is stored.
// Tunables   GROUP lanes a group.
// Source     G. Blelloch, Prefix Sums and Their Applications, 1990; W. D. Hillis, G. Steele, Data Parallel Algorithms,
//            1986 (the scan within a group).
//
// T: element type; B: unsigned integer of its size, as which elements move; AS_T(x): such an integer's value; apply(op,
// x): the predicate.

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_flags(__global const B* in, ulong in_at, __global u32* flags, ulong flags_at, u64 n, const Op op) {
    const u64 i = get_global_id(0);
    if (i < n) flags[flags_at + i] = apply(op, AS_T(in[in_at + i])) != 0 ? 1 : 0;
}

// A group's values become the sums of those before them in the group; their total goes one level up.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_scan_flags(__global const u32* flags, ulong flags_at, __global u32* positions, ulong positions_at,
                        __global u64* sums, ulong sums_at, u64 n) {
    __local u32 shared[GROUP];
    const u32 lane = get_local_id(0);
    const u64 i = get_global_id(0);
    const u32 mine = i < n ? flags[flags_at + i] : 0;
    shared[lane] = mine;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u32 other = lane >= distance ? shared[lane - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] += other;
    }
    if (i < n) positions[positions_at + i] = shared[lane] - mine;
    if (lane == GROUP - 1) sums[sums_at + get_group_id(0)] = shared[lane];
}

// The same of 64-bit values; x may be in.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_scan_sums(__global const u64* in, ulong in_at, __global u64* x, ulong x_at, __global u64* sums,
                       ulong sums_at, u64 n) {
    __local u64 shared[GROUP];
    const u32 lane = get_local_id(0);
    const u64 i = get_global_id(0);
    const u64 mine = i < n ? in[in_at + i] : 0;
    shared[lane] = mine;
    for (u32 distance = 1; distance < GROUP; distance *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const u64 other = lane >= distance ? shared[lane - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared[lane] += other;
    }
    if (i < n) x[x_at + i] = shared[lane] - mine;
    if (lane == GROUP - 1) sums[sums_at + get_group_id(0)] = shared[lane];
}

// On the way down: every block's beginning is added to its values.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_add_sums(__global u64* x, ulong x_at, __global const u64* sums, ulong sums_at, u64 n) {
    const u64 i = get_global_id(0);
    if (i < n) x[x_at + i] += sums[sums_at + get_group_id(0)];
}

// blocks: where the positions of each block begin. With `partition`, the others go behind all that are kept.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void compact_scatter(__global const B* in, ulong in_at, __global const u32* flags, ulong flags_at,
                     __global const u32* positions, ulong positions_at, __global const u64* blocks, ulong blocks_at,
                     __global B* out, ulong out_at, __global u64* count, ulong count_at, u64 n, u32 partition) {
    const u64 i = get_global_id(0), last = n - 1;
    if (i >= n) return;
    flags += flags_at;
    positions += positions_at;
    blocks += blocks_at;
    const u64 kept = blocks[last / GROUP] + positions[last] + flags[last];
    const u64 position = blocks[get_group_id(0)] + positions[i];
    if (flags[i]) {
        out[out_at + position] = in[in_at + i];
    } else if (partition) {
        out[out_at + kept + (i - position)] = in[in_at + i];
    }
    if (i == last) count[count_at] = kept;
}
