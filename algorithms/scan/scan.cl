// Scan in the canonical order, OpenCL C. Parallel sources: scan.cu, scan_host.hpp.
//
// Algorithm  A tree of nodes of 16, the same on all devices: 16 elements form a block, 16 blocks a node of 256
//            elements, 16 of these a tile of 4096, and so on. Sklansky's network scans the totals of each node's
//            children. The carry of a child combines all elements before it: it is the carry of its node, combined
//            with the scan up to the sibling on the left.
// Tiles      A group scans one tile. The tile passes through local memory, so that accesses move 16 bytes and a
//            work-item holds one block in registers.
// Passes     reduce_then_scan: two launches over the tiles. The same kernels scan the tiles' totals in between.
//            Traffic: reads every element twice, writes it once.
// lookback   One launch on devices whose groups can wait for one another: scan_lookback.cl.
// wide       The shape for CPUs: scan_wide.cl.
// Tunables   none. The order fixes the tile: GROUP = 256 work-items of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; Y. Dotsenko et al., Fast Scan Algorithms on Graphics
//            Processors, 2008 (reduce, then scan).
//
// T: element type; SIZE: its size in bytes; apply(op, x, y): the operator, x is the earlier element.

#include "sklansky.cl"

#define PACK (16 / SIZE)           // elements per access of 16 bytes
#define ROUNDS (16 / PACK)         // accesses per work-item
#define TILE (GROUP * 16)
#define STAGE (TILE + TILE / 16)   // a tile with one element of padding per block, which avoids bank conflicts
#define STAGED(I) ((I) + (I) / 16)

typedef struct { T item[PACK]; } __attribute__((aligned(16))) PackT;

// The functions below do not return a Block: inlined, that becomes an LLVM intrinsic that Oclgrind 21.10 does not
// support.

// Loads a tile that has `left` elements, and returns each work-item's block. All work-items of the group call it. The
// stage may be reused after the next barrier.
INLINED void load_tile(__global const T* in, u64 left, __local T* stage, T identity, Block* b) {
    const u32 local_id = get_local_id(0);
    if (left >= TILE && (ulong)in % 16 == 0) {
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) {
            const u32 i = (r * GROUP + local_id) * PACK;
            const PackT p = *(__global const PackT*)(in + i);
#pragma unroll
            for (int j = 0; j < PACK; ++j) stage[STAGED(i + j)] = p.item[j];
        }
    } else {
        for (u32 i = local_id; i < TILE; i += GROUP) stage[STAGED(i)] = i < left ? in[i] : identity;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int j = 0; j < 16; ++j) b->item[j] = stage[STAGED(local_id * 16 + j)];
}

// Stores the first `left` elements of the work-items' blocks. All work-items of the group call it.
INLINED void store_tile(__global T* out, u64 left, __local T* stage, const Block* b) {
    const u32 local_id = get_local_id(0);
#pragma unroll
    for (int j = 0; j < 16; ++j) stage[STAGED(local_id * 16 + j)] = b->item[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left >= TILE && (ulong)out % 16 == 0) {
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) {
            const u32 i = (r * GROUP + local_id) * PACK;
            PackT p;
#pragma unroll
            for (int j = 0; j < PACK; ++j) p.item[j] = stage[STAGED(i + j)];
            *(__global PackT*)(out + i) = p;
        }
    } else {
        for (u32 i = local_id; i < TILE && i < left; i += GROUP) out[i] = stage[STAGED(i)];
    }
}

// Upsweep: scans the work-item's block, then the totals of each node's blocks, then the totals of the tile's nodes.
// All work-items of the group call it. It ends with a barrier. blocks: GROUP elements; nodes: 16 elements. The last
// node becomes the tile's total.
INLINED void upsweep(Block* b, __local T* blocks, __local T* nodes, const Op op) {
    const u32 local_id = get_local_id(0);
    scan_sixteen(b, op);
    blocks[local_id] = b->item[15];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id % 16 == 0) {
        scan_sixteen_local(blocks + local_id, op);
        nodes[local_id / 16] = blocks[local_id + 15];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (local_id == 0) scan_sixteen_local(nodes, op);
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Downsweep: combines each element of the block with the block's carry. carry: the tile's carry.
INLINED void downsweep(Block* b, __local const T* blocks, __local const T* nodes, T carry, u32 exclusive, const Op op) {
    const u32 local_id = get_local_id(0), node = local_id / 16;
    T before = node == 0 ? carry : apply(op, carry, nodes[node - 1]);
    if (local_id % 16 != 0) before = apply(op, before, blocks[local_id - 1]);
    Block r;
    r.item[0] = exclusive ? before : apply(op, before, b->item[0]);
#pragma unroll
    for (int j = 1; j < 16; ++j) r.item[j] = apply(op, before, exclusive ? b->item[j - 1] : b->item[j]);
    *b = r;
}

// Upsweep, the first of two launches: computes the tiles' totals. The same kernels scan them: the spine.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_totals(__global const T* in, ulong in_at, __global T* totals, ulong totals_at, u64 n, T identity, const Op op) {
    __local T stage[STAGE], blocks[GROUP], nodes[16];
    const u64 begin = get_group_id(0) * (u64)TILE;
    Block b;
    load_tile(in + in_at + begin, n - begin, stage, identity, &b);
    upsweep(&b, blocks, nodes, op);
    if (get_local_id(0) == 0) totals[totals_at + get_group_id(0)] = nodes[15];
}

// Downsweep, the second launch. carries: the carry of each tile; not read if there is only one tile.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_tiles(__global const T* in, ulong in_at, __global const T* carries, ulong carries_at, __global T* out,
                ulong out_at, u64 n, u32 exclusive, T identity, const Op op) {
    __local T stage[STAGE], blocks[GROUP], nodes[16];
    const u64 begin = get_group_id(0) * (u64)TILE;
    Block b;
    load_tile(in + in_at + begin, n - begin, stage, identity, &b);
    upsweep(&b, blocks, nodes, op);
    const T carry = get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)];
    downsweep(&b, blocks, nodes, carry, exclusive, op);
    store_tile(out + out_at + begin, n - begin, stage, &b);
}
