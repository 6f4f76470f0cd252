// Reduce in the canonical order, CUDA C++. Parallel sources: reduce.cl, reduce_host.hpp.
//
// Algorithm  The input is split into chunks of a length that depends on n alone. A chunk is summed in 128 columns.
//            Element i belongs to column i mod 128, which starts from the identity and adds its elements in order.
//            Column l is then combined with column l + 64, l + 32, ..., l + 1. The chunks' sums are reduced by the
//            same rule. There are at most 32768 chunks, and so at most three levels.
// Passes     one launch. Traffic: reads every element once. The last group to finish reduces the upper levels.
// Tunables   GROUP: threads per group; UNROLL: loads in flight per thread. On an H200 registers matter more than
//            occupancy: limited to 32 registers, the kernel is 25 % slower.
// Source     M. Harris, Optimizing Parallel Reduction in CUDA, 2007 (the tree); S. Rennich, CUDA threadFenceReduction
//            sample (the last group); the fixed columns are Concord's.
//
// T: element type; apply(op, x, y): the operator. One warp reduces one chunk. Each lane holds four of the 128
// columns.

#include "group_reduce.cu"
#include "tile.cu"

constexpr u32 order_columns = 128;
constexpr u32 warps = GROUP / warp_width;
constexpr int held = order_columns / warp_width;                // columns per lane
constexpr int pack = sizeof(T) == 8 ? 2 : held;                 // elements per access, at most 16 bytes
constexpr int packs = held / pack;                              // accesses per row of 128

// A lane's part of a row of 128: item[k * pack + j] holds column pack * lane + j + 64 * k.
struct Row {
    T item[held];
};

// Loads bypass L1, which may hold stale data of the upper levels, written by other groups.
template <bool Aligned>
__device__ __forceinline__ Row load_row(const T* row, u32 lane) {
    Row r;
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        const T* from = row + k * (order_columns / 2) + lane * pack;
        if constexpr (Aligned) {
            const auto p = load_pack_l2<pack>(from);
#pragma unroll
            for (int j = 0; j < pack; ++j) r.item[k * pack + j] = p.item[j];
        } else {
#pragma unroll
            for (int j = 0; j < pack; ++j) r.item[k * pack + j] = __ldcg(from + j);
        }
    }
    return r;
}

// Adds whole rows to the columns' sums, UNROLL in flight.
template <bool Aligned>
__device__ __forceinline__ void add_rows(const T* chunk, u64 rows, u32 lane, T (&sum)[held], const Op op) {
    u64 row = 0;
    for (; row + UNROLL <= rows; row += UNROLL) {
        Row r[UNROLL];
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) r[k] = load_row<Aligned>(chunk + (row + k) * order_columns, lane);
#pragma unroll
        for (int k = 0; k < UNROLL; ++k) {
#pragma unroll
            for (int j = 0; j < held; ++j) sum[j] = apply(op, sum[j], r[k].item[j]);
        }
    }
    for (; row < rows; ++row) {
        const Row r = load_row<Aligned>(chunk + row * order_columns, lane);
#pragma unroll
        for (int j = 0; j < held; ++j) sum[j] = apply(op, sum[j], r.item[j]);
    }
}

// Reduces one chunk with one warp. The result is valid in lane 0.
__device__ __forceinline__ T reduce_chunk(const T* chunk, u64 length, T identity, const Op op) {
    const u32 lane = threadIdx.x % warp_width;
    T sum[held];
#pragma unroll
    for (int j = 0; j < held; ++j) sum[j] = identity;

    const u64 rows = length / order_columns;
    if (reinterpret_cast<u64>(chunk) % (sizeof(T) * pack) == 0) {
        add_rows<true>(chunk, rows, lane, sum, op);
    } else {
        add_rows<false>(chunk, rows, lane, sum, op);
    }
    // The last, partial row.
#pragma unroll
    for (int j = 0; j < held; ++j) {
        const u64 i = rows * order_columns + (j / pack) * (order_columns / 2) + lane * pack + j % pack;
        if (i < length) sum[j] = apply(op, sum[j], __ldcg(chunk + i));
    }

    // Combine columns: 64 apart in registers if an access holds two, then across the warp, then within an access.
    if constexpr (packs == 2) {
#pragma unroll
        for (int j = 0; j < pack; ++j) sum[j] = apply(op, sum[j], sum[pack + j]);
    }
    T across[pack];
#pragma unroll
    for (int j = 0; j < pack; ++j) across[j] = sum[j];
    reduce_warp(across, [&](T x, T y) { return apply(op, x, y); });
#pragma unroll
    for (int distance = pack / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int j = 0; j < distance; ++j) across[j] = apply(op, across[j], across[j + distance]);
    }
    return across[0];
}

// The launch bound of one group per multiprocessor lets the compiler keep all loads of a batch in flight instead of
// saving registers. sums: room for the first two levels; ticket: zero before and after the launch.
extern "C" __global__ void __launch_bounds__(GROUP, 1)
    reduce_fixed(const T* in, T* out, T* sums, u32* ticket, u64 n, u64 chunk, u64 upper_chunk, u32 /*finish*/,
                 T identity, const Op op) {
    const u32 warp = threadIdx.x / warp_width;
    const bool first_lane = threadIdx.x % warp_width == 0;
    const u64 chunks = n == 0 ? 1 : (n + chunk - 1) / chunk;

    // Upsweep, level 1: one chunk per warp.
    for (u64 c = u64(blockIdx.x) * warps + warp; c < chunks; c += u64(gridDim.x) * warps) {
        const u64 begin = c * chunk;
        const T sum = reduce_chunk(in + begin, n - begin < chunk ? n - begin : chunk, identity, op);
        if (first_lane) (chunks == 1 ? out : sums)[c] = canonical(sum);
    }
    __shared__ u32 last;
    if (chunks == 1 || !last_group(ticket, gridDim.x, &last)) return;

    // Spine, this group only. Level 2: the chunks' sums. Level 3: the sums of level 2, at most 32.
    const u32 upper_chunks = u32((chunks + upper_chunk - 1) / upper_chunk);
    T* upper = sums + chunks;
    for (u32 c = warp; c < upper_chunks; c += warps) {
        const u64 begin = c * upper_chunk;
        const T sum =
            reduce_chunk(sums + begin, chunks - begin < upper_chunk ? chunks - begin : upper_chunk, identity, op);
        if (first_lane) (upper_chunks == 1 ? out : upper)[c] = canonical(sum);
    }
    if (upper_chunks == 1) return;
    __threadfence();
    __syncthreads();
    if (warp != 0) return;
    const T sum = reduce_chunk(upper, upper_chunks, identity, op);
    if (first_lane) *out = canonical(sum);
}
