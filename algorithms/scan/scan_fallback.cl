// Scan in the canonical order in one launch without waiting for other groups (`lookback_fallback`), OpenCL C.
//
// Algorithm  Decoupled look-back on the tree of totals of lookback.cu. A tile publishes its total. The last tile of
//            16 publishes the total of their node, and so on upwards. The carry of a tile combines the totals of the
//            siblings on the left of its ancestors, at most 15 per level. If such a total is missing after SPINS
//            looks, the group computes it from the input: first the missing tiles below, then the nodes above them. A
//            total is bitwise identical whoever computes it, so the order of its writers does not matter.
// Progress   No loop waits for another group. A group may reread input of other tiles, so in-place operation is
//            unsupported.
// Passes     one launch. Traffic: reads and writes every element once, and reads one more tile for each total that a
//            group has to compute.
// Tunables   SPINS: looks for a total before the group computes it.
// Source     T. Smith, R. Levien, J. D. Owens, Decoupled Fallback: A Portable Single-Pass GPU Scan, 2025; the tree of
//            totals, and with it the fixed order, is Concord's.

#include "lookback.cl"
#include "scan.cl"

#define SPINS 64
#define LEVELS 8  // 16^8 tiles

// The totals of all levels, one level after another, and for each a flag that it is published.
typedef struct {
    __global T* totals;
    volatile __global u32* flags;
    u32 tiles;
} Tree;

// Index of the first total of a level.
static inline u64 level_begin(u32 tiles, u32 level) {
    u64 begin = 0;
    for (u32 k = 0; k < level; ++k) {
        begin += tiles;
        tiles = (tiles + 15) / 16;
    }
    return begin;
}

// Publish or look for the total of a node. Level 0: of a tile.
static inline void publish_node(const Tree tree, u32 level, u32 index, T total) {
    publish(tree.totals, tree.flags, level_begin(tree.tiles, level) + index, total);
}
static inline bool look_for_node(const Tree tree, u32 level, u32 index, u32 looks, T* total) {
    return look(tree.totals, tree.flags, level_begin(tree.tiles, level) + index, looks, total);
}

// The totals from which a group computes its tile's carry: values[16 k + c] is the total of sibling c on level k.
typedef struct {
    T values[LEVELS * 16];
    u32 missing[LEVELS * 16];
    u32 stalled;    // whether some totals are missing
    u32 wanted;     // tile whose total the group computes for another group, or NONE
    T sums[GROUP];  // totals of that tile's blocks
    T children[16];
    T carry;
} Before;

#define NONE 0xffffffffu

// Returns the next tile whose total is required for a missing value, or NONE if no value is missing. Publishes nodes
// whose children are all available. One work-item calls it.
static inline u32 next_wanted(const Tree tree, u32 tile, __local Before* before, const Op op) {
    for (u32 m = 0; m < LEVELS * 16; ++m) {
        if (!before->missing[m]) continue;
        const u32 level = m / 16, index = (tile >> (4 * level)) / 16 * 16 + m % 16;
        T total;
        while (!look_for_node(tree, level, index, 1, &total)) {
            // Descend to a tile, or to a node whose children are all available.
            u32 k = level, i = index;
            for (u32 child = 0; k > 0 && child < 16; ++child) {
                if (look_for_node(tree, k - 1, i * 16 + child, 1, &total)) {
                    before->children[child] = total;
                } else {
                    k -= 1;
                    i = i * 16 + child;
                    child = 0xffffffffu;
                }
            }
            if (k == 0) return i;
            scan_sixteen_loop(before->children, op);
            publish_node(tree, k, i, before->children[15]);
        }
        before->values[m] = total;
        before->missing[m] = 0;
    }
    return NONE;
}

// Publishes the total of the wanted tile from `sums`. One work-item calls it.
static inline void publish_wanted(const Tree tree, __local Before* before, const Op op) {
    for (u32 node = 0; node < 16; ++node) {
        scan_sixteen_loop(before->sums + node * 16, op);
        before->children[node] = before->sums[node * 16 + 15];
    }
    scan_sixteen_loop(before->children, op);
    publish_node(tree, 0, before->wanted, before->children[15]);
}

// Computes the tile's carry from the values. Publishes the nodes that the tile completes. One work-item calls it.
static inline void carry_tile(const Tree tree, u32 tile, T total, T identity, __local Before* before, const Op op) {
    bool completes = true;
    u32 levels = 0;
    for (u32 k = 0, count = tree.tiles; k < LEVELS && (k == 0 || tile >> (4 * k) != 0); ++k) {
        __local T* values = before->values + 16 * k;
        const u32 index = tile >> (4 * k), digit = index % 16;
        if (completes) values[digit] = total;
        scan_sixteen_loop(values, op);
        completes = completes && digit == 15;
        count = (count + 15) / 16;
        if (completes) {
            total = values[15];
            if (index / 16 + 1 < count) publish_node(tree, k + 1, index / 16, total);
        }
        levels = k + 1;
    }
    T carry = identity;
    while (levels-- > 0) {
        const u32 digit = (tile >> (4 * levels)) % 16;
        if (digit != 0) carry = apply(op, carry, before->values[16 * levels + digit - 1]);
    }
    before->carry = carry;
}

// totals, flags: of all levels above the tiles. The flags are initially zero.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_fallback(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* totals,
                   ulong totals_at, volatile __global u32* flags, ulong flags_at, u64 n, u32 tiles, u32 exclusive,
                   T identity, const Op op) {
    __local T stage[STAGE], blocks[GROUP], nodes[16];
    __local Before before;
    const u32 local_id = get_local_id(0), tile = get_group_id(0);
    const u64 begin = tile * (u64)TILE;
    const Tree tree = {totals + totals_at, flags + flags_at, tiles};
    in += in_at;
    Block b;
    load_tile(in + begin, n - begin, stage, identity, &b);
    upsweep(&b, blocks, nodes, op);
    if (local_id == 0) {
        before.stalled = 0;
        before.wanted = NONE;
        if (tile + 1 < tiles) publish_node(tree, 0, tile, nodes[15]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (local_id < LEVELS * 16) {
        const u32 k = local_id / 16, c = local_id % 16, index = tile >> (4 * k), digit = index % 16;
        T total = identity;
        const bool missing = c < digit && !look_for_node(tree, k, index - digit + c, SPINS, &total);
        before.values[local_id] = total;
        before.missing[local_id] = missing;
        if (missing) before.stalled = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool more = before.stalled != 0;
    while (more) {
        if (local_id == 0) {
            if (before.wanted != NONE) publish_wanted(tree, &before, op);
            before.wanted = next_wanted(tree, tile, &before, op);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        more = before.wanted != NONE;
        if (more) {
            __global const T* block = in + before.wanted * (u64)TILE + local_id * 16;
            for (u32 j = 0; j < 16; ++j) stage[local_id * 16 + j] = block[j];
            scan_sixteen_loop(stage + local_id * 16, op);
            before.sums[local_id] = stage[local_id * 16 + 15];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (local_id == 0) carry_tile(tree, tile, nodes[15], identity, &before, op);
    barrier(CLK_LOCAL_MEM_FENCE);
    downsweep(&b, blocks, nodes, before.carry, exclusive, op);
    store_tile(out + out_at + begin, n - begin, stage, &b);
}
