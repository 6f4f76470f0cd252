// Reduce in the canonical order, OpenCL C. Parallel texts: reduce.cu, reduce_host.hpp.
//
// Algorithm  The input is cut into chunks of a length that depends on n alone. Element i of a chunk belongs to lane
//            i mod 128; a lane starts from the identity and adds its elements in order; lanes l and l + 64 meet, then
//            l and l + 32, ..., l and l + 1. The chunks' sums are reduced by the same rule: there are at most 32768
//            of them, and so at most three levels.
// Passes     one launch; traffic: every element once. The group that finishes last does the upper levels; where the
//            device has no fence for that, a second launch of one group does them (reduce_upper).
// wide       the shape for CPUs: one lane a group takes a contiguous run of chunks, all 128 order lanes in vectors.
// Tunables   GROUP lanes a group, UNROLL loads in flight a lane.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); the fixed lanes are Concord's.
//
// T: element type; apply(op, x, y): the operator.

#define ORDER_LANES 128

#if !defined(WIDE)

// A team of 32 lanes reduces one chunk: each lane of it holds four of the 128.
#define TEAM 32
#define TEAMS (GROUP / TEAM)
#define HELD (ORDER_LANES / TEAM)
#define PACK (SIZE == 8 ? 2 : HELD)  // elements of an access: 16 bytes at most
#define PACKS (HELD / PACK)          // accesses a row of 128

// What a lane holds: order lanes PACK * lane + j + 64 * k, at item[k * PACK + j].
typedef struct { T item[HELD]; } Row;
typedef struct { T item[PACK]; } __attribute__((aligned(SIZE * PACK))) PackT;

static inline Row load_row(__global const T* row, u32 lane, bool aligned) {
    Row r;
#pragma unroll
    for (int k = 0; k < PACKS; ++k) {
        __global const T* from = row + k * (ORDER_LANES / 2) + lane * PACK;
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

// The reduction of one chunk, by one team; valid in its lane 0. All teams of the group call it together, those
// without a chunk with length 0. meet: GROUP * PACK elements of local memory.
static inline T reduce_chunk(__global const T* chunk, u64 length, T identity, const Op op, __local T* meet) {
    const u32 lane = get_local_id(0) % TEAM;
    const bool aligned = (ulong)chunk % (SIZE * PACK) == 0;
    T sum[HELD];
#pragma unroll
    for (int j = 0; j < HELD; ++j) sum[j] = identity;

    // Whole rows, UNROLL in flight.
    const u64 rows = length / ORDER_LANES;
    u64 row = 0;
    for (; row + UNROLL <= rows; row += UNROLL) {
        Row r[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) r[k] = load_row(chunk + (row + k) * ORDER_LANES, lane, aligned);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
            for (int j = 0; j < HELD; ++j) sum[j] = apply(op, sum[j], r[k].item[j]);
        }
    }
    for (; row < rows; ++row) {
        const Row r = load_row(chunk + row * ORDER_LANES, lane, aligned);
#pragma unroll
        for (int j = 0; j < HELD; ++j) sum[j] = apply(op, sum[j], r.item[j]);
    }
    // The last, broken row.
#pragma unroll
    for (int j = 0; j < HELD; ++j) {
        const u64 i = rows * ORDER_LANES + (j / PACK) * (ORDER_LANES / 2) + lane * PACK + j % PACK;
        if (i < length) sum[j] = apply(op, sum[j], chunk[i]);
    }

    // Lanes meet: 64 apart in registers if an access holds two, then across the team, then within an access.
#if SIZE == 8
#pragma unroll
    for (int j = 0; j < PACK; ++j) sum[j] = apply(op, sum[j], sum[PACK + j]);
#endif
    __local T* mine = meet + get_local_id(0) * PACK;
#pragma unroll
    for (int j = 0; j < PACK; ++j) mine[j] = sum[j];
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) mine[j] = sum[j] = apply(op, sum[j], mine[distance * PACK + j]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int distance = PACK / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int j = 0; j < distance; ++j) sum[j] = apply(op, sum[j], sum[j + distance]);
    }
    return sum[0];
}

// Level 2: the chunks' sums, by one group alone. Level 3: what is left of them, at most 32.
static inline void reduce_sums(__global T* sums, u64 chunks, u64 upper_chunk, __global T* out, T identity,
                               const Op op, __local T* meet) {
    const u32 team = get_local_id(0) / TEAM;
    const bool first_lane = get_local_id(0) % TEAM == 0;
    const u32 upper_chunks = (u32)((chunks + upper_chunk - 1) / upper_chunk);
    __global T* upper = sums + chunks;
    for (u32 first = 0; first < upper_chunks; first += TEAMS) {
        const u32 c = first + team;
        const u64 begin = c * upper_chunk;
        const T sum = reduce_chunk(sums + begin, begin < chunks ? min(upper_chunk, chunks - begin) : 0, identity, op, meet);
        if (first_lane && c < upper_chunks) (upper_chunks == 1 ? out : upper)[c] = sum;
    }
    if (upper_chunks == 1) return;
    barrier(CLK_GLOBAL_MEM_FENCE);
    const T sum = reduce_chunk(upper, team == 0 ? upper_chunks : 0, identity, op, meet);
    if (team == 0 && first_lane) *out = sum;
}

// sums: room for the first two levels; ticket: zero, and left zero; finish: whether the last group does the upper
// levels.
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
    const bool first_lane = get_local_id(0) % TEAM == 0;
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk;

    // Level 1: a chunk a team.
    for (u64 first = get_group_id(0) * TEAMS; first < chunks; first += get_num_groups(0) * TEAMS) {
        const u64 c = first + team, begin = c * chunk;
        const T sum = reduce_chunk(in + begin, begin < n ? min(chunk, n - begin) : 0, identity, op, meet);
        if (first_lane && c < chunks) (chunks == 1 ? out : sums)[c] = sum;
    }
    if (chunks == 1 || !finish || !last_group(ticket + ticket_at, get_num_groups(0), &last)) return;
    reduce_sums(sums, chunks, upper_chunk, out, identity, op, meet);
}

// The upper levels as a launch of their own, one group.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void reduce_upper(__global T* sums, ulong sums_at, __global T* out, ulong out_at, u64 chunks, u64 upper_chunk,
                  T identity, const Op op) {
    __local T meet[GROUP * PACK];
    reduce_sums(sums + sums_at, chunks, upper_chunk, out + out_at, identity, op, meet);
}

#else

// The reduction of one chunk by one lane: a row of 128 at a time, then the tree. The loops stay loops: unrolled, they
// take the compiler a second and run no faster.
static inline T reduce_chunk(__global const T* chunk, u64 length, T identity, const Op op) {
    T sum[ORDER_LANES];
#pragma clang loop vectorize(enable) unroll(disable)
    for (int l = 0; l < ORDER_LANES; ++l) sum[l] = identity;
    const u64 rows = length / ORDER_LANES;
    for (u64 row = 0; row < rows; ++row, chunk += ORDER_LANES) {
#pragma clang loop vectorize(enable) unroll(disable)
        for (int l = 0; l < ORDER_LANES; ++l) sum[l] = apply(op, sum[l], chunk[l]);
    }
    const int rest = (int)(length % ORDER_LANES);
#pragma clang loop unroll(disable)
    for (int l = 0; l < rest; ++l) sum[l] = apply(op, sum[l], chunk[l]);

    for (int distance = ORDER_LANES / 2; distance > 0; distance /= 2) {
#pragma clang loop unroll(disable)
        for (int l = 0; l < distance; ++l) sum[l] = apply(op, sum[l], sum[l + distance]);
    }
    return sum[0];
}

// Reduces n elements chunk by chunk to the sums.
static inline void reduce_level(__global const T* in, u64 n, u64 chunk, __global T* sums, T identity, const Op op) {
    for (u64 c = 0; c * chunk < n; ++c) sums[c] = reduce_chunk(in + c * chunk, min(chunk, n - c * chunk), identity, op);
}

static inline void reduce_sums(__global T* sums, u64 chunks, u64 upper_chunk, __global T* out, T identity,
                               const Op op) {
    __global T* upper = sums + chunks;
    reduce_level(sums, chunks, upper_chunk, upper, identity, op);
    *out = chunks <= upper_chunk ? *upper : reduce_chunk(upper, (chunks + upper_chunk - 1) / upper_chunk, identity, op);
}

// A group takes `run` chunks that lie one after another.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_wide(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* sums, ulong sums_at,
                 __global u32* ticket, ulong ticket_at, u64 n, u64 chunk, u64 upper_chunk, u64 run, u32 finish,
                 T identity, const Op op) {
    __local u32 last;
    in += in_at;
    out += out_at;
    sums += sums_at;
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk;
    if (chunks == 1) {
        *out = reduce_chunk(in, n, identity, op);
        return;
    }
    const u64 first = get_group_id(0) * run;
    reduce_level(in + first * chunk, min(n - first * chunk, run * chunk), chunk, sums + first, identity, op);
    if (!finish || !last_group(ticket + ticket_at, get_num_groups(0), &last)) return;
    reduce_sums(sums, chunks, upper_chunk, out, identity, op);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void reduce_upper(__global T* sums, ulong sums_at, __global T* out, ulong out_at, u64 chunks, u64 upper_chunk,
                  T identity, const Op op) {
    reduce_sums(sums + sums_at, chunks, upper_chunk, out + out_at, identity, op);
}

#endif
