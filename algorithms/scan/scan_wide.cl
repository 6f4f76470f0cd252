// Scan in the canonical order, OpenCL C, the shape for CPUs. Parallel source: scan_host.hpp.
//
// Algorithm  The tree of scan_tile.cl. One work-item per group scans tiles of 65536 elements in loops that the compiler
//            vectorizes.
// Passes     partitioned: one launch. Groups take tiles by ticket. The carry of a tile comes from the totals of
//            earlier tiles, as in lookback.cu. It relies on forward progress of started groups while others spin.
//            Traffic: reads every element from memory once, for its tile's total, and again from the cache; writes it
//            once.
//            reduce_then_scan: two launches over the tiles. The same kernels scan the tiles' totals in between.
//            Traffic: reads every element twice, writes it once.
//            An expression is computed to the output, tile by tile, by partitioned, and twice by reduce_then_scan.
// Tunables   PIECE: elements that the loops process at a time.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel Prefix
//            Scan with Decoupled Look-back, 2016.
//
// T: element type; apply(op, x, y): the operator, x is the earlier element.

#include "input"
#include "lookback_flags.cl"
#include "sklansky_wide.cl"
#include "lines.cl"

#define FAN 16
#define PIECE 1024
#define NODE 4096
#define TILE 65536

// A group's data of its tile: the totals of its blocks, of its nodes of 256 and of its nodes of 4096 elements, and
// scratch for the loops.
typedef struct {
    T blocks[TILE / 16], chunks[TILE / 256], nodes[TILE / 4096];
    T room[1 + PIECE], piece[PIECE];
} Work;

static inline void fill(T* to, int from, int end, T value) {
    for (int i = from; i < end; ++i) to[i] = value;
}

// Loads a piece of the input into private memory, padded with identities to PIECE elements.
static inline void load_piece(T* piece, const Input in, u64 left, T identity) {
    const int count = (int)min(left, (u64)PIECE);
    VECTORS
    for (int i = 0; i < count; ++i) piece[i] = load_item(in, i);
    fill(piece, count, PIECE, identity);
}

// Upsweep: computes the totals of a tile's blocks piece by piece, then those of each level from the level below. One
// call of total_blocks serves all levels: PoCL inlines every function and takes seconds to compile each copy.
static inline void upsweep(const Input in, u64 length, Work* work, T identity, const Op op) {
    const int pieces = (int)((length + PIECE - 1) / PIECE), nodes = (int)((length + NODE - 1) / NODE);
    fill(work->blocks, pieces * (PIECE / 16), nodes * (NODE / 16), identity);
    fill(work->chunks, nodes * 16, TILE / 256, identity);
    for (int k = 0; k < pieces + nodes + 1; ++k) {
        const int node = k - pieces;
        const T* from = work->piece;
        T* to = work->blocks + k * (PIECE / 16);
        if (k < pieces) {
            load_piece(work->piece, input_from(in, (u64)k * PIECE), length - (u64)k * PIECE, identity);
        } else {
            from = node < nodes ? work->blocks + node * 256 : work->chunks;
            to = node < nodes ? work->chunks + node * 16 : work->nodes;
        }
        total_blocks(from, to, work->room, k < pieces ? PIECE : 256, op);
    }
}

// A cache line of results.
#define LINE (LINE_BYTES / (int)sizeof(T))
typedef union {
    T item[LINE];
    ulong8 all;
} Line;

static inline void store_piece(__global T* out, const T* piece, int count, u32 non_temporal) {
    int i = 0;
    if (CAN_STREAM && non_temporal) {
        for (; i < count && (ulong)(out + i) % LINE_BYTES != 0; ++i) out[i] = canonical(piece[i]);
        for (; i + LINE <= count; i += LINE) {
            Line line;
#pragma unroll
            for (int j = 0; j < LINE; ++j) line.item[j] = canonical(piece[i + j]);
            stream_line(out + i, line.all);
        }
    }
    VECTORS
    for (int k = i; k < count; ++k) out[k] = canonical(piece[k]);
}

// Downsweep: computes the results of a tile from its carry. non_temporal: results are stored with non-temporal stores.
// It scans the tile's nodes first, the chunks of a node before its first piece, and the blocks of a piece before the
// piece. One call of scan_blocks serves all levels, as above.
static inline void downsweep(const Input in, __global T* out, u64 length, Work* work, T carry, u32 exclusive,
                             u32 non_temporal, T identity, const Op op) {
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
            if (level == 0) load_piece(work->piece, input_from(in, first), length - first, identity);
            scan_blocks(from, to, before, work->room + 1, n, level != 0 || exclusive, op);
        }
        store_piece(out + first, work->piece, (int)min(length - first, (u64)PIECE), non_temporal);
    }
}

// Publishes the totals of the tile and of the nodes that it completes. Returns the tile's carry.
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

#ifdef CONCORD_EXPRESSION
// Computes a tile to the output, where both phases read it.
static inline Input tile_of(const Input in, __global T* out, u64 length) {
    for (u64 i = 0; i < length; ++i) out[i] = load_item(in, i);
    return input_of(out);
}
#else
#define tile_of(IN, OUT, LENGTH) (IN)
#endif

// Groups take tiles by ticket until none is left. A group publishes its tile's total before it waits for other tiles.
// Those tiles have started before its own. flags: the ticket, then the flags of the totals.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_partitioned(INPUT(in), __global T* out, ulong out_at, __global T* totals, ulong totals_at,
                      __global u32* flags, ulong flags_at, u64 n, u32 exclusive, u32 non_temporal, T identity, const Op op) {
    Work work;
    work.room[0] = identity;
    const u64 tiles = (n + TILE - 1) / TILE;
    AT_INPUT(in);
    out += out_at;
    for (u64 tile = 0; tile < tiles; ++tile) {
        if (tiles > 1) tile = atomic_inc(flags + flags_at);
        if (tile >= tiles) break;
        const u64 first = tile * TILE, length = min(n - first, (u64)TILE);
        const Input items = tile_of(input_from(in, first), out + first, length);
        upsweep(items, length, &work, identity, op);
        T p[FAN];
        const T total = scan_node(work.nodes, p, op);
        T carry = identity;
        if (tiles > 1)
            carry = tile_carry(totals + totals_at, flags + flags_at + 1, tile, tiles, total, identity, op);
        downsweep(items, out + first, length, &work, carry, exclusive, non_temporal, identity, op);
    }
}

// Upsweep, the first of two launches: computes the tiles' totals. The same kernels scan them: the spine.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_totals(INPUT(in), __global T* totals, ulong totals_at, u64 n, T identity, const Op op) {
    Work work;
    T p[FAN];
    AT_INPUT(in);
    const u64 first = get_group_id(0) * (u64)TILE;
    upsweep(input_from(in, first), min(n - first, (u64)TILE), &work, identity, op);
    totals[totals_at + get_group_id(0)] = scan_node(work.nodes, p, op);
}

// Downsweep, the second launch. carries: the carry of each tile; not read if there is only one tile.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void scan_tiles(INPUT(in), __global const T* carries, ulong carries_at, __global T* out,
                ulong out_at, u64 n, u32 exclusive, u32 non_temporal, T identity, const Op op) {
    Work work;
    work.room[0] = identity;
    AT_INPUT(in);
    const u64 first = get_group_id(0) * (u64)TILE, length = min(n - first, (u64)TILE);
    upsweep(input_from(in, first), length, &work, identity, op);
    const T carry = get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)];
    downsweep(input_from(in, first), out + out_at + first, length, &work, carry, exclusive, non_temporal, identity, op);
}
