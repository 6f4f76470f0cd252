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
#include "lookback_flags.cl"
#include "scan_tile.cl"

#define SPINS 64

// The totals of all levels, one level after another, and for each a flag that it is published. siblings: those that the
// group has seen, of sibling c on level k at [16 k + c].
struct Tree {
    __global T* totals;
    volatile __global u32* flags;
    u32 tiles;
    __local const T* siblings;
};

// Publish or look for the total of a node. Level 0: of a tile.
INLINED void publish_node(const struct Tree* tree, u32 level, u32 index, T total) {
    publish(tree->totals, tree->flags, level_begin(tree->tiles, level) + index, total);
}
INLINED bool look_for_node(const struct Tree* tree, u32 level, u32 index, u32 looks, T* total) {
    return look(tree->totals, tree->flags, level_begin(tree->tiles, level) + index, looks, total);
}

// For lookback.cl.
INLINED void publish_total(const struct Tree* tree, u32 level, u32 index, T total) {
    publish_node(tree, level, index, total);
}
INLINED T sibling_total(const struct Tree* tree, u32 level, u32 index) { return tree->siblings[16 * level + index % 16]; }

// The totals of the siblings, and what the group computes for other groups.
typedef struct {
    T siblings[LEVELS * 16];
    u32 missing[LEVELS * 16];
    u32 stalled;    // whether some totals are missing
    u32 wanted;     // tile whose total the group computes, or NONE
    T sums[GROUP];  // totals of that tile's blocks
    T children[16];
} Missing;

#define NONE 0xffffffffu

// Returns the next tile whose total is required for a missing sibling, or NONE if none is missing. Publishes nodes
// whose children are all available. One work-item calls it.
INLINED u32 next_wanted(const struct Tree* tree, u32 tile, __local Missing* m, const Op op) {
    for (u32 s = 0; s < LEVELS * 16; ++s) {
        if (!m->missing[s]) continue;
        const u32 level = s / 16, index = (tile >> (4 * level)) / 16 * 16 + s % 16;
        T total;
        while (!look_for_node(tree, level, index, 1, &total)) {
            // Descend to a tile, or to a node whose children are all available.
            u32 k = level, i = index;
            for (u32 child = 0; k > 0 && child < 16; ++child) {
                if (look_for_node(tree, k - 1, i * 16 + child, 1, &total)) {
                    m->children[child] = total;
                } else {
                    k -= 1;
                    i = i * 16 + child;
                    child = 0xffffffffu;
                }
            }
            if (k == 0) return i;
            scan_sixteen_loop(m->children, op);
            publish_node(tree, k, i, m->children[15]);
        }
        m->siblings[s] = total;
        m->missing[s] = 0;
    }
    return NONE;
}

// Publishes the total of the wanted tile from `sums`. One work-item calls it.
INLINED void publish_wanted(const struct Tree* tree, __local Missing* m, const Op op) {
    for (u32 node = 0; node < 16; ++node) {
        scan_sixteen_loop(m->sums + node * 16, op);
        m->children[node] = m->sums[node * 16 + 15];
    }
    scan_sixteen_loop(m->children, op);
    publish_node(tree, 0, m->wanted, m->children[15]);
}

// Looks for the totals of the siblings on the left of the tile's ancestors, and computes those that are missing. All
// work-items of the group call it. meet: see scan_network.
INLINED void find_siblings(const struct Tree* tree, __global const T* in, u32 tile, T identity, __local Missing* m,
                           __local T* meet, const Op op) {
    const u32 local_id = get_local_id(0);
    if (local_id == 0) {
        m->stalled = 0;
        m->wanted = NONE;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id < LEVELS * 16) {
        const u32 k = local_id / 16, c = local_id % 16, index = tile >> (4 * k), digit = index % 16;
        T total = identity;
        const bool missing = c < digit && !look_for_node(tree, k, index - digit + c, SPINS, &total);
        m->siblings[local_id] = total;
        m->missing[local_id] = missing;
        if (missing) m->stalled = 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool more = m->stalled != 0;
    while (more) {
        if (local_id == 0) {
            if (m->wanted != NONE) publish_wanted(tree, m, op);
            m->wanted = next_wanted(tree, tile, m, op);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        more = m->wanted != NONE;
        if (more) {
            __global const T* from = in + m->wanted * (u64)TILE + local_id * 16;
            T block[16];
#pragma unroll
            for (u32 j = 0; j < 16; ++j) block[j] = from[j];
            scan_network(block, 16, 1, meet, op);
            m->sums[local_id] = block[15];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// totals, flags: of all levels above the tiles. The flags are initially zero.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_fallback(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global T* totals,
                   ulong totals_at, volatile __global u32* flags, ulong flags_at, u64 n, u32 tiles, u32 exclusive,
                   T identity, const Op op) {
    __local Shared shared;
    __local Lookback lookback;
    __local Missing missing;
    const u32 tile = get_group_id(0);
    const u64 begin = tile * (u64)TILE;
    const struct Tree tree = {totals + totals_at, flags + flags_at, tiles, missing.siblings};
    in += in_at;
    Work w[1];
    T total[1], carry[1];
    upsweep(w, total, in, begin, n, identity, &shared, op);
    publish_tiles(&tree, tile, tiles, total);
    find_siblings(&tree, in, tile, identity, &missing, shared.meet, op);
    carry_tiles(&tree, tile, tiles, total, carry, identity, &lookback, op);
    downsweep(w, carry, out + out_at, begin, n, exclusive, &shared, op);
}
