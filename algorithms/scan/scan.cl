// Scan in the canonical order, OpenCL C. Parallel texts: scan.cu, scan_host.hpp.
//
// Algorithm  A tree of nodes of 16, the same on every device: 16 elements make a block, 16 blocks a node of 256 elements, 16
//            of these a tile of 4096, ... Within each node Sklansky's network scans the totals of its children; what
//            lies before a child is what lies before the node, combined with the scan up to the child to the left.
// Tiles      A group works on one tile, which passes through local memory, so that accesses are of 16 bytes and a lane
//            has one block in its registers.
// reduce_then_scan  two launches over the tiles, with a scan of the tiles' totals between them, by the same kernels;
//            traffic: every element read twice and written once.
// wide       the shape for CPUs: scan_wide.cl.
// Tunables   none: the order fixes the tile, GROUP = 256 lanes of 16 elements.
// Source     J. Sklansky, Conditional-sum Addition Logic, 1960; Y. Dotsenko et al., Fast Scan Algorithms on Graphics
//            Processors, 2008 (reduce, then scan).
//
// T: element type; SIZE: its bytes; apply(op, x, y): the operator; x is the earlier one.

#define PACK (16 / SIZE)           // elements of an access of 16 bytes
#define ROUNDS (16 / PACK)         // accesses a lane
#define TILE (GROUP * 16)
#define STAGE (TILE + TILE / 16)   // a tile with an element of padding after each block, against bank conflicts
#define STAGED(I) ((I) + (I) / 16)

// Helpers that ask for the lane: where they stay calls, PoCL 3.1 takes the lane's number from a variable that its threads
// share. None returns a Block: inlined, that becomes an intrinsic of LLVM that Oclgrind 21.10 does not know.
#define INLINED static inline __attribute__((always_inline))

typedef struct { T item[PACK]; } __attribute__((aligned(16))) PackT;
typedef struct { T item[16]; } Block;

// Called by all lanes; the stage is free once they have passed the next barrier.
INLINED void load_tile(__global const T* in, u64 left, __local T* stage, T identity, Block* b) {
    const u32 lane = get_local_id(0);
    if (left >= TILE && (ulong)in % 16 == 0) {
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) {
            const u32 i = (r * GROUP + lane) * PACK;
            const PackT p = *(__global const PackT*)(in + i);
#pragma unroll
            for (int j = 0; j < PACK; ++j) stage[STAGED(i + j)] = p.item[j];
        }
    } else {
        for (u32 i = lane; i < TILE; i += GROUP) stage[STAGED(i)] = i < left ? in[i] : identity;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int j = 0; j < 16; ++j) b->item[j] = stage[STAGED(lane * 16 + j)];
}

INLINED void store_tile(__global T* out, u64 left, __local T* stage, const Block* b) {
    const u32 lane = get_local_id(0);
#pragma unroll
    for (int j = 0; j < 16; ++j) stage[STAGED(lane * 16 + j)] = b->item[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left >= TILE && (ulong)out % 16 == 0) {
#pragma unroll
        for (int r = 0; r < ROUNDS; ++r) {
            const u32 i = (r * GROUP + lane) * PACK;
            PackT p;
#pragma unroll
            for (int j = 0; j < PACK; ++j) p.item[j] = stage[STAGED(i + j)];
            *(__global PackT*)(out + i) = p;
        }
    } else {
        for (u32 i = lane; i < TILE && i < left; i += GROUP) out[i] = stage[STAGED(i)];
    }
}

// Item i becomes the combination of items 0 ... i, by Sklansky's network.
INLINED void scan_sixteen(Block* b, const Op op) {
#pragma unroll
    for (int half_ = 1; half_ < 16; half_ *= 2) {
#pragma unroll
        for (int j = 0; j < 16; ++j) {
            if (j & half_) b->item[j] = apply(op, b->item[(j & ~(half_ - 1)) - 1], b->item[j]);
        }
    }
}

// Scans 16 values in local memory, by one lane.
static inline void scan_sixteen_local(__local T* values, const Op op) {
    Block b;
#pragma unroll
    for (int j = 0; j < 16; ++j) b.item[j] = values[j];
    scan_sixteen(&b, op);
#pragma unroll
    for (int j = 0; j < 16; ++j) values[j] = b.item[j];
}

// The upper levels of a tile: the scans of its nodes' blocks, and of the tile's nodes. Called by all lanes with their
// block scanned; ends with a barrier. blocks: GROUP elements; nodes: 16, of which the last becomes the tile's total.
INLINED void scan_upper(const Block* b, __local T* blocks, __local T* nodes, const Op op) {
    const u32 lane = get_local_id(0);
    blocks[lane] = b->item[15];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane % 16 == 0) {
        scan_sixteen_local(blocks + lane, op);
        nodes[lane / 16] = blocks[lane + 15];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) scan_sixteen_local(nodes, op);
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The results of a block, given what lies before the tile, take its place.
INLINED void finish_block(Block* b, __local const T* blocks, __local const T* nodes, T carry, u32 exclusive, const Op op) {
    const u32 lane = get_local_id(0), node = lane / 16;
    T before = node == 0 ? carry : apply(op, carry, nodes[node - 1]);
    if (lane % 16 != 0) before = apply(op, before, blocks[lane - 1]);
    Block r;
    r.item[0] = exclusive ? before : apply(op, before, b->item[0]);
#pragma unroll
    for (int j = 1; j < 16; ++j) r.item[j] = apply(op, before, exclusive ? b->item[j - 1] : b->item[j]);
    *b = r;
}

// The first of two launches: the tiles' totals.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_totals(__global const T* in, ulong in_at, __global T* totals, ulong totals_at, u64 n, T identity, const Op op) {
    __local T stage[STAGE], blocks[GROUP], nodes[16];
    const u64 begin = get_group_id(0) * (u64)TILE;
    Block b;
    load_tile(in + in_at + begin, n - begin, stage, identity, &b);
    scan_sixteen(&b, op);
    scan_upper(&b, blocks, nodes, op);
    if (get_local_id(0) == 0) totals[totals_at + get_group_id(0)] = nodes[15];
}

// The second one. carries: what lies before each tile; not read if there is only one.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void scan_tiles(__global const T* in, ulong in_at, __global const T* carries, ulong carries_at, __global T* out,
                ulong out_at, u64 n, u32 exclusive, T identity, const Op op) {
    __local T stage[STAGE], blocks[GROUP], nodes[16];
    const u64 begin = get_group_id(0) * (u64)TILE;
    Block b;
    load_tile(in + in_at + begin, n - begin, stage, identity, &b);
    scan_sixteen(&b, op);
    scan_upper(&b, blocks, nodes, op);
    const T carry = get_num_groups(0) == 1 ? identity : carries[carries_at + get_group_id(0)];
    finish_block(&b, blocks, nodes, carry, exclusive, op);
    store_tile(out + out_at + begin, n - begin, stage, &b);
}
