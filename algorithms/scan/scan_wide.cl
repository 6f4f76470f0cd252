// Scan in the canonical order, OpenCL C, the shape for CPUs: one lane a group works on tiles of 65536 elements in loops
// that the compiler makes vectors of. Parallel text: scan_host.hpp; the order is described in scan.cl.
//
// partitioned       one launch; groups take tiles in turn. Traffic: every element is read from memory once, for its tile's
//                   total, then from the cache for its results, and written once. What lies before a tile comes from the
//                   totals of the tiles before it, as in lookback.cu: for devices whose groups go on while others spin.
// reduce_then_scan  two launches over the tiles, with a scan of the tiles' totals between them, by the same kernels.
// Tunables          PIECE elements that go through the loops at a time.
// Source            J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel
//                   Prefix Scan with Decoupled Look-back, 2016.
//
// T: element type; apply(op, x, y): the operator; x is the earlier one; T16: 16 elements, where the operator is the sum.

#define FAN 16
#define PIECE 1024
#define NODE 4096
#define TILE 65536
#define VECTORS _Pragma("clang loop vectorize(enable) interleave(enable)")

// Sklansky's network up to fours.
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

// One step of it: the last of each left half is combined with all of the right half.
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

// Sums: a step of the network is a shuffle of a block, an addition, and a choice of lanes.
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

// The results of n / 16 blocks, given what lies before each; p: unused.
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

// The totals of n / 16 blocks that lie one after another, n a multiple of 256: neighbours meet, four times; room: unused.
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

// The results of n / 16 blocks in p, given what lies before each; p[-1] is read, and not used.
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

// The totals of n / 16 blocks that lie one after another: neighbours meet, four times; room: n elements.
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

// What a group keeps of its tile: the totals of its blocks, of its nodes of 256 and of its nodes of 4096 elements, and room
// for the loops.
typedef struct {
    T blocks[TILE / 16], chunks[TILE / 256], nodes[TILE / 4096];
    T room[1 + PIECE], piece[PIECE];
} Work;

static inline void fill(T* to, int from, int end, T value) {
    for (int i = from; i < end; ++i) to[i] = value;
}

// A piece of the input in private memory, made whole with identities.
static inline void load_piece(T* piece, __global const T* in, u64 left, T identity) {
    const int count = (int)min(left, (u64)PIECE);
    VECTORS
    for (int i = 0; i < count; ++i) piece[i] = in[i];
    fill(piece, count, PIECE, identity);
}

// Fills in the totals of a tile's nodes: its blocks' piece by piece, then those of each level from the one below. One call
// of total_blocks for all of them: PoCL inlines every function, and takes seconds for each copy.
static inline void reduce_tile(__global const T* in, u64 length, Work* work, T identity, const Op op) {
    const int pieces = (int)((length + PIECE - 1) / PIECE), nodes = (int)((length + NODE - 1) / NODE);
    fill(work->blocks, pieces * (PIECE / 16), nodes * (NODE / 16), identity);
    fill(work->chunks, nodes * 16, TILE / 256, identity);
    for (int k = 0; k < pieces + nodes + 1; ++k) {
        const int node = k - pieces;
        const T* from = work->piece;
        T* to = work->blocks + k * (PIECE / 16);
        if (k < pieces) {
            load_piece(work->piece, in + (u64)k * PIECE, length - (u64)k * PIECE, identity);
        } else {
            from = node < nodes ? work->blocks + node * 256 : work->chunks;
            to = node < nodes ? work->chunks + node * 16 : work->nodes;
        }
        total_blocks(from, to, work->room, k < pieces ? PIECE : 256, op);
    }
}

// A cache line of results.
#define LINE (64 / (int)sizeof(T))
typedef union {
    T item[LINE];
    ulong8 all;
} Line;

static inline void store_piece(__global T* out, const T* piece, int count, u32 past_cache) {
    int i = 0;
#if __has_builtin(__builtin_nontemporal_store)
    if (past_cache) {
        for (; i < count && (ulong)(out + i) % 64 != 0; ++i) out[i] = piece[i];
        for (; i + LINE <= count; i += LINE) {
            Line line;
#pragma unroll
            for (int j = 0; j < LINE; ++j) line.item[j] = piece[i + j];
            __builtin_nontemporal_store(line.all, (__global ulong8*)(out + i));
        }
    }
#endif
    VECTORS
    for (int k = i; k < count; ++k) out[k] = piece[k];
}

// The results of a tile, given what lies before it. past_cache: results leave for memory in whole lines. Before a piece its
// blocks are scanned, before those of a node the node's chunks, before all of them the tile's nodes: one call of scan_blocks
// for all of them, as above.
static inline void finish_tile(__global const T* in, __global T* out, u64 length, Work* work, T carry, u32 exclusive,
                               u32 past_cache, T identity, const Op op) {
    T before_tile[1], before_nodes[16], before_chunks[16], before_blocks[PIECE / 16];
    before_tile[0] = carry;
    for (u64 first = 0; first < length; first += PIECE) {
        const int node = (int)(first / NODE), chunk = (int)(first % NODE / 256);
        for (int level = first == 0 ? 3 : chunk == 0 ? 2 : 1; level >= 0; --level) {
            const T* from = level == 3   ? work->nodes
                            : level == 2 ? work->chunks + node * 16
                            : level == 1 ? work->blocks + first / 16
                                         : work->piece;
            const T* before = level == 3   ? before_tile
                              : level == 2 ? before_nodes + node
                              : level == 1 ? before_chunks + chunk
                                           : before_blocks;
            T* to = level == 3 ? before_nodes : level == 2 ? before_chunks : level == 1 ? before_blocks : work->piece;
            const int n = level == 0 ? PIECE : level == 1 ? PIECE / 16 : 16;
            if (level == 0) load_piece(work->piece, in + first, length - first, identity);
            scan_blocks(from, to, before, work->room + 1, n, level != 0 || exclusive, op);
        }
        store_piece(out + first, work->piece, (int)min(length - first, (u64)PIECE), past_cache);
    }
}

static inline T scan_node(const T* values, T* p, const Op op) {
    scan_fours(values, p, FAN, op);
    join_fours(p, FAN, op);
    join_eights(p, FAN, op);
    return p[FAN - 1];
}

// Tiles tell one another their totals: flags[0] is the ticket, flags[1 + i] is set once totals[i] is there.
static inline void publish(__global T* totals, volatile __global u32* flags, u64 index, T total) {
    totals[index] = total;
    device_fence();
    flags[1 + index] = 1;
}

static inline T await(__global const T* totals, volatile __global u32* flags, u64 index) {
    while (flags[1 + index] == 0) {}
    device_fence();
    return ((volatile __global const T*)totals)[index];
}

// Gives what lies before the tile.
static inline T tile_carry(__global T* totals, volatile __global u32* flags, u64 tile, u64 tiles, T total, T identity,
                           const Op op) {
    T values[FAN], p[FAN], before[16];
    u64 level = 0, at = tile, count = tiles;
    int levels = 0;
    for (bool complete = true; count > 1; ++levels) {
        if (complete) publish(totals, flags, level + at, total);
        const int digit = (int)(at % FAN);
        for (int i = 0; i < FAN; ++i)
            values[i] = i < digit ? await(totals, flags, level + at - digit + i) : i == digit ? total : identity;
        total = scan_node(values, p, op);
        before[levels] = p[(digit + FAN - 1) % FAN];
        complete = complete && digit == FAN - 1;
        level += count;
        at /= FAN;
        count = (count + FAN - 1) / FAN;
    }
    T carry = identity;
    while (levels-- > 0) {
        if ((tile >> (4 * levels)) % FAN != 0) carry = apply(op, carry, before[levels]);
    }
    return carry;
}

// Groups take tiles in turn, one after the other until none is left. A tile's total is published before anything is
// waited for, and what a tile waits for was begun before it.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_partitioned(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* totals, ulong totals_at,
                      __global u32* flags, ulong flags_at, u64 n, u32 exclusive, u32 past_cache, T identity, const Op op) {
    Work work;
    work.room[0] = identity;
    const u64 tiles = (n + TILE - 1) / TILE;
    in += in_at;
    out += out_at;
    for (u64 tile = 0; tile < tiles; ++tile) {
        if (tiles > 1) tile = atomic_inc(flags + flags_at);
        if (tile >= tiles) break;
        const u64 first = tile * TILE, length = min(n - first, (u64)TILE);
        reduce_tile(in + first, length, &work, identity, op);
        T p[FAN];
        const T total = scan_node(work.nodes, p, op);
        const T carry = tiles > 1 ? tile_carry(totals + totals_at, flags + flags_at, tile, tiles, total, identity, op) : identity;
        finish_tile(in + first, out + first, length, &work, carry, exclusive, past_cache, identity, op);
    }
}

// The first of two launches: the tiles' totals.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_totals(__global const T* in, ulong in_at, __global T* totals, ulong totals_at, u64 n, T identity, const Op op) {
    Work work;
    T p[FAN];
    const u64 first = get_group_id(0) * (u64)TILE;
    reduce_tile(in + in_at + first, min(n - first, (u64)TILE), &work, identity, op);
    totals[totals_at + get_group_id(0)] = scan_node(work.nodes, p, op);
}

// The second one. carries: what lies before each tile; not read if there is only one.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_tiles(__global const T* in, ulong in_at, __global const T* carries, ulong carries_at, __global T* out,
                ulong out_at, u64 n, u32 exclusive, u32 past_cache, T identity, const Op op) {
    Work work;
    work.room[0] = identity;
    const u64 first = get_group_id(0) * (u64)TILE, length = min(n - first, (u64)TILE);
    reduce_tile(in + in_at + first, length, &work, identity, op);
    const T carry = get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)];
    finish_tile(in + in_at + first, out + out_at + first, length, &work, carry, exclusive, past_cache, identity, op);
}
