// Scan in the canonical order in one launch, `lookback`, OpenCL C. Parallel source: scan_lookback.cu.
//
// Algorithm  The tree of scan.cl. The carry of a tile comes from the totals of other tiles.
// Tiles      A group scans TILES tiles. A work-item loads packs of 16 bytes in ROUNDS accesses per tile. In each round,
//            SHARERS work-items share a block. They scan it in registers and across their lanes. Then each work-item
//            holds one of the 256 block totals, and each 16 work-items the 16 totals of the nodes of 256.
// Passes     one launch. Traffic: reads and writes every element once.
// Progress   Groups take tiles by ticket and wait for earlier tiles, see lookback_tree.cl.
// Tunables   TILES: tiles per group. The order fixes the tile: GROUP = 256 work-items of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; D. Merrill, M. Garland, Single-pass Parallel Prefix
//            Scan with Decoupled Look-back, 2016.
//
// T: element type, that of totals; SIZE: its size in bytes; B: unsigned integer of its size; AS_T(x), AS_B(x): the bits
// of x as a T or a B; apply(op, x, y): the operator, x is the earlier element.

#include "lanes.cl"
#include "lookback_tree.cl"
#include "pack.cl"

#define PACK (16 / SIZE)       // elements per access of 16 bytes
#define ROUNDS (16 / PACK)     // accesses per work-item and tile
#define SHARERS (16 / PACK)    // work-items that share a block
#define TILE (GROUP * 16)

// A work-item's part of a tile and of its upper levels.
typedef struct {
    T item[ROUNDS][PACK];  // scan of the block up to element (round * GROUP + local_id) * PACK + j
    T block;               // scan of the node's blocks up to block `local_id` of the tile
    T node;                // scan of the tile's nodes up to node `local_id` % 16
} Work;

// Local memory of the tiles: the totals of the blocks, later their carries, and the totals of the nodes.
typedef struct {
    T blocks[TILES][GROUP], nodes[TILES][16];
} Shared;

// Loads a tile that has `left` elements. The others become the identity.
INLINED void load_tile(Work* w, __global const T* in, u64 left, T identity) {
    const u32 local_id = get_local_id(0);
    if (left >= TILE && (ulong)in % 16 == 0) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
            const uint4 pack = ((__global const uint4*)in)[r * GROUP + local_id];
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) w->item[r][j] = AS_T(item_of(pack, j));
        }
    } else {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u32 i = (r * GROUP + local_id) * PACK + j;
                w->item[r][j] = i < left ? in[i] : identity;
            }
        }
    }
}

// Stores the first `left` elements of a tile.
INLINED void store_tile(const Work* w, __global T* out, u64 left) {
    const u32 local_id = get_local_id(0);
    if (left >= TILE && (ulong)out % 16 == 0) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
            uint4 pack = 0;
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) pack = with_item(pack, j, AS_B(w->item[r][j]));
            ((__global uint4*)out)[r * GROUP + local_id] = pack;
        }
    } else {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u32 i = (r * GROUP + local_id) * PACK + j;
                if (i < left) out[i] = w->item[r][j];
            }
        }
    }
}

// Scans a block: first each work-item's pack, then across the lanes that share the block.
INLINED void scan_block(T* item, __local T* meet, const Op op) {
    const u32 lane = lane_id();
#pragma unroll
    for (u32 half_ = 1; half_ < PACK; half_ *= 2) {
#pragma unroll
        for (u32 j = 0; j < PACK; ++j) {
            if (j & half_) item[j] = apply(op, item[(j & ~(half_ - 1)) - 1], item[j]);
        }
    }
#pragma unroll
    for (u32 half_ = 1; half_ < SHARERS; half_ *= 2) {
        const T left = shuffle_total(item[PACK - 1], (lane & ~(half_ - 1)) - 1, meet);
#pragma unroll
        for (u32 j = 0; j < PACK; ++j) {
            if (lane & half_) item[j] = apply(op, left, item[j]);
        }
    }
}

// Upsweep: loads the tiles, then scans their blocks, nodes and totals. All work-items of the group call it.
INLINED void upsweep(Work* w, T* total, __global const T* in, u64 begin, u64 n, T identity, __local Shared* shared,
                     __local T* meet, const Op op) {
    const u32 local_id = get_local_id(0);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        const u64 first = begin + k * TILE;
        load_tile(w + k, in + first, first < n ? n - first : 0, identity);
    }
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) scan_block(w[k].item[r], meet, op);
        if (local_id % SHARERS == SHARERS - 1) {
#pragma unroll
            for (u32 r = 0; r < ROUNDS; ++r)
                shared->blocks[k][(r * GROUP + local_id) / SHARERS] = w[k].item[r][PACK - 1];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].block = scan_sixteen_lanes(shared->blocks[k][local_id], meet, op);
        if (local_id % 16 == 15) shared->nodes[k][local_id / 16] = w[k].block;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        w[k].node = scan_sixteen_lanes(shared->nodes[k][local_id % 16], meet, op);
        total[k] = shuffle_total(w[k].node, 15, meet);
    }
}

// Downsweep: combines each element with the carry of its block, and stores it. carry: the carry of each tile. All
// work-items of the group call it.
INLINED void downsweep(Work* w, const T* carry, __global T* out, u64 begin, u64 n, u32 exclusive,
                       __local Shared* shared, __local T* meet, const Op op) {
    const u32 local_id = get_local_id(0), lane = lane_id(), node = local_id / 16;
#pragma unroll
    for (u32 k = 0; k < TILES; ++k) {
        const T left_node = shuffle_total(w[k].node, (node - 1) % 16, meet);
        const T left_block = shuffle_total(w[k].block, lane - 1, meet);
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
            const T last = SHARERS > 1 ? shuffle_total(item[PACK - 1], lane - 1, meet) : left;
            const T first_item = apply(op, left, exclusive ? last : item[0]);
#pragma unroll
            for (u32 j = PACK - 1; j > 0; --j) {
                const T own = item[j], earlier = item[j - 1];
                item[j] = apply(op, left, exclusive ? earlier : own);
            }
            item[0] = exclusive && local_id % SHARERS == 0 ? left : first_item;
        }
        const u64 first = begin + k * TILE;
        store_tile(w + k, out + first, first < n ? n - first : 0);
    }
}

// workspace: see lookback.cu; tiles: number of tiles of the input.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_lookback(__global const T* in, ulong in_at, __global T* out, ulong out_at, __global u64* workspace,
                   ulong workspace_at, u64 n, u32 tiles, u32 exclusive, T identity, const Op op) {
    __local Shared shared;
    __local Lookback lookback;
    workspace += workspace_at;
    const Turn turn = take_turn(workspace, &lookback);
    const u32 tile = turn.ticket * TILES;
    const u64 begin = (u64)tile * TILE;
    Work w[TILES];
    T total[TILES], carry[TILES];
    upsweep(w, total, in + in_at, begin, n, identity, &shared, lookback.meet, op);
    publish_tiles(workspace, tile, tiles, turn.tag, total);
    carry_tiles(workspace, tile, tiles, turn.tag, total, carry, identity, &lookback, op);
    downsweep(w, carry, out + out_at, begin, n, exclusive, &shared, lookback.meet, op);
}
