// Sklansky's network in vectors, OpenCL C: one work-item scans many blocks of 16 values. sklansky.kernel describes the
// network. Parallel source: scan_host.hpp.
//
// Algorithm  Loops over all blocks for each step of the network. For sums, vector shuffles within each block.
// Passes     none of its own: works in private memory. No global memory traffic.
// Tunables   none.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.
//
// T: element type; apply(op, x, y): the operator, x is the earlier element; T16: 16 elements, defined if the operator
// is the sum.

#define VECTORS _Pragma("clang loop vectorize(enable) interleave(enable)")

// Sklansky's network within groups of four.
static inline void scan_fours(const T* in, T* p, int n, const Op op) {
    VECTORS
    for (int k = 0; k < n; k += 4) {
        const T a = in[k], b = apply(op, a, in[k + 1]), c = in[k + 2], d = apply(op, c, in[k + 3]);
        p[k] = a;
        p[k + 1] = b;
        p[k + 2] = apply(op, b, c);
        p[k + 3] = apply(op, b, d);
    }
}

// One step of the network: combines the last value of each left half with all values of the right half.
static inline void join_fours(T* p, int n, const Op op) {
    for (int k = 4; k < n; k += 8) {
        const T left = p[k - 1];
#pragma unroll
        for (int j = 0; j < 4; ++j) p[k + j] = apply(op, left, p[k + j]);
    }
}
static inline void join_eights(T* p, int n, const Op op) {
    for (int k = 8; k < n; k += 16) {
        const T left = p[k - 1];
#pragma unroll
        for (int j = 0; j < 8; ++j) p[k + j] = apply(op, left, p[k + j]);
    }
}

#if defined(T16) && __has_builtin(__builtin_shufflevector)

// Sums: a step of the network is a shuffle of a block, an addition, and a selection of elements.
#define PICK __builtin_shufflevector
static inline T16 network(T16 v) {
    T16 sum = PICK(v, v, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14) + v;
    v = PICK(v, sum, 0, 17, 2, 19, 4, 21, 6, 23, 8, 25, 10, 27, 12, 29, 14, 31);
    sum = PICK(v, v, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13) + v;
    v = PICK(v, sum, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31);
    sum = PICK(v, v, 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11) + v;
    v = PICK(v, sum, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31);
    sum = (T16)(v.s7) + v;
    return PICK(v, sum, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
}

// Computes the results of n / 16 blocks from their carries. p: unused.
static inline void scan_blocks(const T* in, T* out, const T* before, T* p, int n, bool exclusive, const Op op) {
    for (int b = 0; b < n / 16; ++b) {
        const T16 v = network(vload16(b, in));
        const T16 from = exclusive ? PICK(v, v, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14) : v;
        T16 result = (T16)(before[b]) + from;
        if (exclusive) result.s0 = before[b];
        vstore16(result, b, out);
    }
}

static inline T16 sum_neighbours(T16 a, T16 b) {
    return PICK(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30) +
           PICK(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
}

// Computes the totals of n / 16 consecutive blocks, n a multiple of 256: combines neighbours four times. room:
// unused.
static inline void total_blocks(const T* in, T* totals, T* room, int n, const Op op) {
    for (int k = 0; k < n / 256; ++k) {
        T16 rows[8];
#pragma unroll
        for (int i = 0; i < 8; ++i)
            rows[i] = sum_neighbours(vload16(16 * k + 2 * i, in), vload16(16 * k + 2 * i + 1, in));
#pragma unroll
        for (int i = 0; i < 4; ++i) rows[i] = sum_neighbours(rows[2 * i], rows[2 * i + 1]);
        rows[0] = sum_neighbours(rows[0], rows[1]);
        rows[1] = sum_neighbours(rows[2], rows[3]);
        vstore16(sum_neighbours(rows[0], rows[1]), k, totals);
    }
}

#else

// Computes the results of n / 16 blocks from their carries. p: room for n elements; p[-1] is read but not used.
static inline void scan_blocks(const T* in, T* out, const T* before, T* p, int n, bool exclusive, const Op op) {
    scan_fours(in, p, n, op);
    join_fours(p, n, op);
    join_eights(p, n, op);
    const T* from = exclusive ? p - 1 : p;
    for (int b = 0; b < n / 16; ++b) {
        const T left = before[b];
#pragma unroll
        for (int j = 0; j < 16; ++j) out[16 * b + j] = apply(op, left, from[16 * b + j]);
        if (exclusive) out[16 * b] = left;
    }
}

// Computes the totals of n / 16 consecutive blocks: combines neighbours four times. room: n elements.
static inline void total_pairs(const T* in, T* totals, int n, const Op op) {
    VECTORS
    for (int k = 0; k < n; ++k) totals[k] = apply(op, in[2 * k], in[2 * k + 1]);
}
static inline void total_blocks(const T* in, T* totals, T* room, int n, const Op op) {
    T* twos = room;
    T* fours = twos + n / 2;
    T* eights = fours + n / 4;
    total_pairs(in, twos, n / 2, op);
    total_pairs(twos, fours, n / 4, op);
    total_pairs(fours, eights, n / 8, op);
    total_pairs(eights, totals, n / 16, op);
}

#endif

// Scans 16 values and returns their total.
static inline T scan_node(const T* values, T* p, const Op op) {
    scan_fours(values, p, 16, op);
    join_fours(p, 16, op);
    join_eights(p, 16, op);
    return p[16 - 1];
}
