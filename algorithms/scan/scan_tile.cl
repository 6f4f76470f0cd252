// A tile of a scan in the canonical order, OpenCL C: upsweep and downsweep. The parallel source
// scan_tile.cu describes the tree.
//
// Tiles      A group scans TILES tiles. A work-item holds HELD neighbours in each of ROUNDS rounds (tile.cl). In each
//            round, SHARERS work-items share a block. They scan it in registers and across their lanes. Then each
//            work-item holds one of the 256 block totals, and each 16 work-items the 16 totals of the nodes of 256.
//            Packs stay in registers, because some drivers offer little local memory.
// Passes     none of its own
// Tunables   TILES. The order fixes the tile: GROUP = 256 work-items of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960.
//
// T: element type, that of totals; apply(op, x, y): the operator, x is the earlier element.

#include "sklansky"
#include "tile.cl"

#define SHARERS (16 / HELD)  // work-items that share a block

// A work-item's part of a tile and of its upper levels.
typedef struct {
    T item[ROUNDS][HELD];  // scan of the block up to element (round * GROUP + local_id) * HELD + j
    T block;               // scan of the node's blocks up to block `local_id` of the tile
    T node;                // scan of the tile's nodes up to node `local_id` % 16
} Work;

// Local memory of the tiles: the totals of the blocks, later their carries, the totals of the nodes, and scratch.
typedef struct {
    T blocks[TILES][GROUP], nodes[TILES][16];
    T stage[STAGE_ROOM], meet[LANE_ROOM];
} Shared;

// Upsweep: loads the tiles, then scans their blocks, nodes and totals. All work-items of the group call it.
INLINED void upsweep(Work* w, T* total, const Input in, u64 begin, u64 n, T identity, __local Shared* shared,
                     const Op op) {
    const u32 local_id = get_local_id(0);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        const u64 first = begin + k * TILE;
        load_striped(w[k].item, input_from(in, first), first < n ? n - first : 0, identity, shared->stage);
    }
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) scan_network(w[k].item[r], HELD, SHARERS, shared->meet, op);
        if (local_id % SHARERS == SHARERS - 1) {
#pragma unroll
            for (u32 r = 0; r < ROUNDS; ++r)
                shared->blocks[k][(r * GROUP + local_id) / SHARERS] = w[k].item[r][HELD - 1];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].block = scan_sixteen(shared->blocks[k][local_id], shared->meet, op);
        if (local_id % 16 == 15) shared->nodes[k][local_id / 16] = w[k].block;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].node = scan_sixteen(shared->nodes[k][local_id % 16], shared->meet, op);
        total[k] = shuffle_total(w[k].node, 15, shared->meet);
    }
}

// Downsweep: combines each element with the carry of its block, and stores it. carry: the carry of each tile. All
// work-items of the group call it.
INLINED void downsweep(Work* w, const T* carry, __global T* out, u64 begin, u64 n, u32 exclusive,
                       __local Shared* shared, const Op op) {
    const u32 local_id = get_local_id(0), lane = lane_id(), node = local_id / 16;
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        const T left_node = shuffle_total(w[k].node, (node - 1) % 16, shared->meet);
        const T left_block = shuffle_total(w[k].block, lane - 1, shared->meet);
        T before = node == 0 ? carry[k] : apply(op, carry[k], left_node);
        if (local_id % 16 != 0) before = apply(op, before, left_block);
        shared->blocks[k][local_id] = before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
            T* item = w[k].item[r];
            const T left = shared->blocks[k][(r * GROUP + local_id) / SHARERS];
            // The items are read and written outside of branches, where compilers may place them in private memory.
            // So is the shuffle, because a barrier in a branch takes PoCL long to compile.
            const T last = SHARERS > 1 ? shuffle_total(item[HELD - 1], lane - 1, shared->meet) : left;
            const T first_item = apply(op, left, exclusive ? last : item[0]);
#pragma unroll
            for (u32 j = HELD - 1; j > 0; --j) {
                const T own = item[j], earlier = item[j - 1];
                item[j] = canonical(apply(op, left, exclusive ? earlier : own));
            }
            item[0] = canonical(exclusive && local_id % SHARERS == 0 ? left : first_item);
        }
        const u64 first = begin + k * TILE;
        store_striped(out + first, first < n ? n - first : 0, w[k].item, shared->stage);
    }
}
