// Reduce in the canonical order, OpenCL C, the shape for CPUs. reduce.kernel describes the order. Parallel source:
// reduce_host.hpp.
//
// Algorithm  One work-item per group reduces a run of consecutive chunks, all 128 columns in vectors.
// Passes     one launch. Traffic: reads every element once. The last group to finish reduces the upper levels. On
//            devices without a fence between groups, a second launch of one group does so (reduce_upper).
// Tunables   none.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the fixed columns are Concord's.
//
// T: element type; apply(op, x, y): the operator.

#include "reduce_chunk_wide.cl"

// A group reduces `run` consecutive chunks.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_wide(INPUT(in), __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                 __global u32* ticket, ulong ticket_at, u64 n, u64 chunk, u64 upper_chunk, u64 run, u32 finish,
                 T identity, const Op op) {
    __local u32 last;
    AT_INPUT(in);
    out += out_at;
    sums += sums_at;
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk;
    if (chunks == 1) {
        *out = reduce_chunk(in, n, identity, op);
        return;
    }
    const u64 first = get_group_id(0) * run;
    reduce_level(input_from(in, first * chunk), min(n - first * chunk, run * chunk), chunk, sums + first, identity, op);
    if (!finish || !last_group(ticket + ticket_at, get_num_groups(0), &last)) return;
    reduce_sums(sums, chunks, upper_chunk, out, identity, op);
}

// The spine in a launch of its own.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_upper(__global T* sums, ulong sums_at, __global T* out, ulong out_at, u64 chunks, u64 upper_chunk,
                  T identity, const Op op) {
    reduce_sums(sums + sums_at, chunks, upper_chunk, out + out_at, identity, op);
}
