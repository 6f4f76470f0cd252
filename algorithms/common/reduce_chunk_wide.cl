// Chunks and levels in the canonical order, OpenCL C, the shape for CPUs. reduce.kernel describes the order.
//
// Algorithm  One work-item reduces a chunk, all 128 columns in vectors.
// Passes     none of its own. Traffic: reads every element once.
// Tunables   none.
// Source     as reduce.kernel.
//
// T: element type; apply(op, x, y): the operator.

#include "common.cl"
#include "input"

#define ORDER_COLUMNS 128

// Reduces one chunk: a row of 128 elements at a time, then the tree. Unrolled loops take a second to compile and
// run no faster.
static inline T reduce_chunk(const Input chunk, u64 length, T identity, const Op op) {
    T sum[ORDER_COLUMNS];
#pragma clang loop vectorize(enable) unroll(disable)
    for (int l = 0; l < ORDER_COLUMNS; ++l) sum[l] = identity;
    const u64 rows = length / ORDER_COLUMNS;
    for (u64 row = 0; row < rows; ++row) {
        const Input in = input_from(chunk, row * ORDER_COLUMNS);
#pragma clang loop vectorize(enable) unroll(disable)
        for (int l = 0; l < ORDER_COLUMNS; ++l) sum[l] = apply(op, sum[l], load_item(in, l));
    }
    const Input last = input_from(chunk, rows * ORDER_COLUMNS);
    const int rest = (int)(length % ORDER_COLUMNS);
#pragma clang loop unroll(disable)
    for (int l = 0; l < rest; ++l) sum[l] = apply(op, sum[l], load_item(last, l));

    for (int distance = ORDER_COLUMNS / 2; distance > 0; distance /= 2) {
#pragma clang loop unroll(disable)
        for (int l = 0; l < distance; ++l) sum[l] = apply(op, sum[l], sum[l + distance]);
    }
    return canonical(sum[0]);
}

// Reduces n elements to the sums of their chunks.
static inline void reduce_level(const Input in, u64 n, u64 chunk, __global T* sums, T identity, const Op op) {
    for (u64 c = 0; c * chunk < n; ++c)
        sums[c] = reduce_chunk(input_from(in, c * chunk), min(chunk, n - c * chunk), identity, op);
}

static inline void reduce_sums(__global T* sums, u64 chunks, u64 upper_chunk, __global T* out, T identity,
                               const Op op) {
    __global T* upper = sums + chunks;
    reduce_level(input_of(sums), chunks, upper_chunk, upper, identity, op);
    *out = chunks <= upper_chunk ? *upper
                                 : reduce_chunk(input_of(upper), (chunks + upper_chunk - 1) / upper_chunk, identity, op);
}
