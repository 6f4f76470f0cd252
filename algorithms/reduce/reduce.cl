// Reduce in the canonical order, OpenCL C. The parallel source reduce.cu describes it. C++: reduce_host.hpp. On CPUs:
// reduce_wide.cl.
//
// On devices without a fence between groups, a second launch of one group reduces the upper levels (reduce_upper).

#include "group_reduce.cl"

#define ORDER_COLUMNS 128

// A team of 32 work-items reduces one chunk: each member holds four of the 128 columns.
#define TEAM 32
#define TEAMS (GROUP / TEAM)
#define HELD (ORDER_COLUMNS / TEAM)
#define PACK (SIZE == 8 ? 2 : HELD)  // elements per access, at most 16 bytes
#define PACKS (HELD / PACK)          // accesses per row of 128

// A member's part of a row of 128: item[k * PACK + j] holds column PACK * member + j + 64 * k.
typedef struct { T item[HELD]; } Row;
typedef struct { T item[PACK]; } __attribute__((aligned(SIZE * PACK))) PackT;

static inline Row load_row(__global const T* row, u32 member, bool aligned) {
    Row r;
#pragma unroll
    for (int k = 0; k < PACKS; ++k) {
        __global const T* from = row + k * (ORDER_COLUMNS / 2) + member * PACK;
        if (aligned) {
            const PackT p = *(__global const PackT*)from;
#pragma unroll
            for (int j = 0; j < PACK; ++j) r.item[k * PACK + j] = p.item[j];
        } else {
#pragma unroll
            for (int j = 0; j < PACK; ++j) r.item[k * PACK + j] = from[j];
        }
    }
    return r;
}

// Reduces one chunk with one team. The result is valid in the team's first member. All teams of the group call it
// together, those without a chunk with length 0. meet: local memory for GROUP * PACK elements.
static inline T reduce_chunk(__global const T* chunk, u64 length, T identity, const Op op, __local T* meet) {
    const u32 member = get_local_id(0) % TEAM;
    const bool aligned = (ulong)chunk % (SIZE * PACK) == 0;
    T sum[HELD];
#pragma unroll
    for (int j = 0; j < HELD; ++j) sum[j] = identity;

    // Whole rows, UNROLL in flight.
    const u64 rows = length / ORDER_COLUMNS;
    u64 row = 0;
    for (; row + UNROLL <= rows; row += UNROLL) {
        Row r[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) r[k] = load_row(chunk + (row + k) * ORDER_COLUMNS, member, aligned);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
            for (int j = 0; j < HELD; ++j) sum[j] = apply(op, sum[j], r[k].item[j]);
        }
    }
    for (; row < rows; ++row) {
        const Row r = load_row(chunk + row * ORDER_COLUMNS, member, aligned);
#pragma unroll
        for (int j = 0; j < HELD; ++j) sum[j] = apply(op, sum[j], r.item[j]);
    }
    // The last, partial row.
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const u64 i = rows * ORDER_COLUMNS + (j / PACK) * (ORDER_COLUMNS / 2) + member * PACK + j % PACK;
        if (i < length) sum[j] = apply(op, sum[j], chunk[i]);
    }

    // Combine columns: 64 apart in registers if an access holds two, then across the team, then within an access.
#if SIZE == 8
#pragma unroll
    for (int j = 0; j < PACK; ++j) sum[j] = apply(op, sum[j], sum[PACK + j]);
#endif
    reduce_team(sum, PACK, TEAM, meet, op);
#pragma unroll
    for (int distance = PACK / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int j = 0; j < distance; ++j) sum[j] = apply(op, sum[j], sum[j + distance]);
    }
    return sum[0];
}

// Spine, one group. Level 2: the chunks' sums. Level 3: the sums of level 2, at most 32.
static inline void reduce_sums(__global T* sums, u64 chunks, u64 upper_chunk, __global T* out, T identity,
                               const Op op, __local T* meet) {
    const u32 team = get_local_id(0) / TEAM;
    const bool first_member = get_local_id(0) % TEAM == 0;
    const u32 upper_chunks = (u32)((chunks + upper_chunk - 1) / upper_chunk);
    __global T* upper = sums + chunks;
    for (u32 first = 0; first < upper_chunks; first += TEAMS) {
        const u32 c = first + team;
        const u64 begin = c * upper_chunk;
        const T sum = reduce_chunk(sums + begin, begin < chunks ? min(upper_chunk, chunks - begin) : 0, identity, op, meet);
        if (first_member && c < upper_chunks) (upper_chunks == 1 ? out : upper)[c] = canonical(sum);
    }
    if (upper_chunks == 1) return;
    barrier(CLK_GLOBAL_MEM_FENCE);
    const T sum = reduce_chunk(upper, team == 0 ? upper_chunks : 0, identity, op, meet);
    if (team == 0 && first_member) *out = canonical(sum);
}

// sums: room for the first two levels; ticket: zero before and after the launch; finish: whether the last group
// reduces the upper levels.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_fixed(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                  __global u32* ticket, ulong ticket_at, u64 n, u64 chunk, u64 upper_chunk, u32 finish, T identity,
                  const Op op) {
    __local T meet[GROUP * PACK];
    __local u32 last;
    in += in_at;
    out += out_at;
    sums += sums_at;
    const u32 team = get_local_id(0) / TEAM;
    const bool first_member = get_local_id(0) % TEAM == 0;
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk;

    // Upsweep, level 1: one chunk per team.
    for (u64 first = get_group_id(0) * TEAMS; first < chunks; first += get_num_groups(0) * TEAMS) {
        const u64 c = first + team, begin = c * chunk;
        const T sum = reduce_chunk(in + begin, begin < n ? min(chunk, n - begin) : 0, identity, op, meet);
        if (first_member && c < chunks) (chunks == 1 ? out : sums)[c] = canonical(sum);
    }
    if (chunks == 1 || !finish || !last_group(ticket + ticket_at, get_num_groups(0), &last)) return;
    reduce_sums(sums, chunks, upper_chunk, out, identity, op, meet);
}

// The spine in a launch of its own, one group.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_upper(__global T* sums, ulong sums_at, __global T* out, ulong out_at, u64 chunks, u64 upper_chunk,
                  T identity, const Op op) {
    __local T meet[GROUP * PACK];
    reduce_sums(sums + sums_at, chunks, upper_chunk, out + out_at, identity, op, meet);
}
