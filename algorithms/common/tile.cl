// Loads and stores of tiles, OpenCL C. Parallel source: tile.cu.
//
// Algorithm  Accesses move packs of 16 bytes if the memory is aligned to them. The other elements move one by one. A
//            work-item holds a pack per access where its lanes exchange registers (lanes.cl). Elsewhere the tile passes
//            through local memory, so that a work-item holds 16 neighbours and exchanges nothing within them.
// Passes     none of its own.
// Traffic    Each element once.
// Tunables   none.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010 (several accesses in flight).
//
// T: element type of SIZE bytes; B: unsigned integer of its size; AS_T(x), AS_B(x): the bits of x as a T or a B. An
// expression is computed pack by pack.

#include "input"
#include "pack.cl"

#define PACK (16 / SIZE)  // elements per access of 16 bytes
#define TILE (GROUP * 16)

#if defined(CONCORD_SHUFFLE_PTX) || SIZE == 1
#define HELD PACK  // neighbours that a work-item holds
#define STAGE_ROOM 1
#else
#define HELD 16
#define STAGE_ROOM (TILE + TILE / 16)  // one element of padding per 16, which avoids bank conflicts
#endif
#define STAGED(I) ((I) + (I) / 16)
#define ROUNDS (16 / HELD)

// Striped tiles: a work-item holds elements (round * GROUP + local_id) * HELD + j of the tile, at item[round][j].
// stage: local memory for STAGE_ROOM elements. All work-items of the group call these functions.

#ifdef CONCORD_EXPRESSION
LOAD_PACK(load_items, PACK)
#endif

// Loads a tile that has `left` elements. The others become `filler`.
INLINED void load_striped(T (*item)[HELD], const Input from, u64 left, T filler, __local T* stage) {
    const u32 local_id = get_local_id(0);
#ifdef CONCORD_EXPRESSION
    const bool whole = left >= TILE, aligned = load_items_aligned(from, 0);
#else
    const bool whole = left >= TILE && (ulong)from % 16 == 0;
#endif
#if HELD == PACK
    if (whole) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
#ifdef CONCORD_EXPRESSION
            load_items(item[r], from, (r * GROUP + local_id) * PACK, aligned);
#else
            const uint4 pack = ((__global const uint4*)from)[r * GROUP + local_id];
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) item[r][j] = AS_T(item_of(pack, j));
#endif
        }
    } else {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u32 i = (r * GROUP + local_id) * PACK + j;
                item[r][j] = i < left ? load_item(from, i) : filler;
            }
        }
    }
#else
    barrier(CLK_LOCAL_MEM_FENCE);  // until an earlier use of the stage has ended
    if (whole) {
#pragma unroll
        for (u32 i = local_id * PACK; i < TILE; i += GROUP * PACK) {
#ifdef CONCORD_EXPRESSION
            T loaded[PACK];
            load_items(loaded, from, i, aligned);
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) stage[STAGED(i + j)] = loaded[j];
#else
            const uint4 pack = *(__global const uint4*)(from + i);
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) stage[STAGED(i + j)] = AS_T(item_of(pack, j));
#endif
        }
    } else {
        for (u32 i = local_id; i < TILE; i += GROUP) stage[STAGED(i)] = i < left ? load_item(from, i) : filler;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 j = 0; j < HELD; ++j) item[0][j] = stage[STAGED(local_id * HELD + j)];
#endif
}

// Stores the first `left` elements of a tile.
INLINED void store_striped(__global T* to, u64 left, T (*item)[HELD], __local T* stage) {
    const u32 local_id = get_local_id(0);
    const bool whole = left >= TILE && (ulong)to % 16 == 0;
#if HELD == PACK
    if (whole) {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
            uint4 pack = 0;
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) pack = with_item(pack, j, AS_B(item[r][j]));
            ((__global uint4*)to)[r * GROUP + local_id] = pack;
        }
    } else {
#pragma unroll
        for (u32 r = 0; r < ROUNDS; ++r) {
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) {
                const u32 i = (r * GROUP + local_id) * PACK + j;
                if (i < left) to[i] = item[r][j];
            }
        }
    }
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (u32 j = 0; j < HELD; ++j) stage[STAGED(local_id * HELD + j)] = item[0][j];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (whole) {
#pragma unroll
        for (u32 i = local_id * PACK; i < TILE; i += GROUP * PACK) {
            uint4 pack = 0;
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) pack = with_item(pack, j, AS_B(stage[STAGED(i + j)]));
            *(__global uint4*)(to + i) = pack;
        }
    } else {
        for (u32 i = local_id; i < TILE && i < left; i += GROUP) to[i] = stage[STAGED(i)];
    }
#endif
}
