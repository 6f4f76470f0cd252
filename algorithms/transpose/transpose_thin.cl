// Transpose of thin matrices, part of `vectorized`, OpenCL C. Parallel source: transpose_thin.cu.
//
// Algorithm  One side of the matrix has only `thin` elements, so square tiles would be almost empty. A group takes
//            2^shift lines along the long side with all of their elements. They are contiguous where rows are thin,
//            so both sides use accesses of 16 bytes. The stage between them holds element (k, t), k along the long
//            side, at k * thin + t. A word of padding follows every 128 bytes, so that strides of powers of two use
//            all banks. Where thin rows have gaps between them, or a side is not aligned to 16 bytes, that side
//            moves element by element, neighbours to neighbours.
// few_columns  in has thin rows, out has long ones.
// few_rows     in has long rows, out has thin ones.
// Passes     one launch
// Traffic    one read and one write per element
// Tunables   STAGE bytes of a stage, GROUP work-items
// Source     Concord
//
// B: unsigned integer of the elements' size; WORD: u32, or u64 for elements of 8 bytes.

#include "common.cl"

#define PACK_WORDS (16 / (u32)sizeof(WORD))
#define LINE_WORDS (128 / (u32)sizeof(WORD))
#define STAGE_WORDS (STAGE / (u32)sizeof(WORD))
#define WORD_ITEMS (u32)(sizeof(WORD) / sizeof(B))

typedef struct { B item[PACK]; } __attribute__((aligned(16))) PackB;
typedef struct { WORD item[PACK_WORDS]; } __attribute__((aligned(16))) Words;

static inline u32 padded(u32 word) { return word + word / LINE_WORDS; }

static inline __local B* item(__local WORD* stage, u32 i) {
    return (__local B*)(stage + padded(i / WORD_ITEMS)) + i % WORD_ITEMS;
}

// Loads `lines` thin rows into the stage. whole: the rows are contiguous and aligned.
INLINED void load_thin(__local WORD* stage, __global const B* in, u64 pitch, u32 thin, u32 lines, bool whole) {
    const u32 count = lines * thin, packs = whole ? count / PACK : 0;
    for (u32 k = get_local_id(0); k < packs; k += GROUP) {
        const Words words = ((__global const Words*)in)[k];
#pragma unroll
        for (u32 j = 0; j < PACK_WORDS; ++j) stage[padded(k * PACK_WORDS + j)] = words.item[j];
    }
    for (u32 i = packs * PACK + get_local_id(0); i < count; i += GROUP) {
        const u32 k = i / thin;
        *item(stage, i) = in[k * pitch + (i - k * thin)];
    }
}

INLINED void store_thin(__local WORD* stage, __global B* out, u64 pitch, u32 thin, u32 lines, bool whole) {
    const u32 count = lines * thin, packs = whole ? count / PACK : 0;
    for (u32 k = get_local_id(0); k < packs; k += GROUP) {
        Words words;
#pragma unroll
        for (u32 j = 0; j < PACK_WORDS; ++j) words.item[j] = stage[padded(k * PACK_WORDS + j)];
        ((__global Words*)out)[k] = words;
    }
    for (u32 i = packs * PACK + get_local_id(0); i < count; i += GROUP) {
        const u32 k = i / thin;
        out[k * pitch + (i - k * thin)] = *item(stage, i);
    }
}

// Loads the next `lines` elements of `thin` long rows. aligned: all rows are aligned, and `lines` is 2^shift.
INLINED void load_long(__local WORD* stage, __global const B* in, u64 pitch, u32 thin, u32 lines, u32 shift,
                       bool aligned) {
    if (aligned) {
        for (u32 q = get_local_id(0) * PACK; q < thin << shift; q += GROUP * PACK) {
            const u32 t = q >> shift, k = q - (t << shift);
            const PackB pack = *(__global const PackB*)(in + t * pitch + k);
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) *item(stage, (k + j) * thin + t) = pack.item[j];
        }
        return;
    }
    for (u32 q = get_local_id(0); q < thin << shift; q += GROUP) {
        const u32 t = q >> shift, k = q - (t << shift);
        if (k < lines) *item(stage, k * thin + t) = in[t * pitch + k];
    }
}

INLINED void store_long(__local WORD* stage, __global B* out, u64 pitch, u32 thin, u32 lines, u32 shift,
                        bool aligned) {
    if (aligned) {
        for (u32 q = get_local_id(0) * PACK; q < thin << shift; q += GROUP * PACK) {
            const u32 t = q >> shift, k = q - (t << shift);
            PackB pack;
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) pack.item[j] = *item(stage, (k + j) * thin + t);
            *(__global PackB*)(out + t * pitch + k) = pack;
        }
        return;
    }
    for (u32 q = get_local_id(0); q < thin << shift; q += GROUP) {
        const u32 t = q >> shift, k = q - (t << shift);
        if (k < lines) out[t * pitch + k] = *item(stage, k * thin + t);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_few_columns(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                           u64 in_pitch, u64 out_pitch, u32 shift, u32 in_whole, u32 out_aligned) {
    __local WORD stage[STAGE_WORDS + STAGE_WORDS / LINE_WORDS];
    const u64 first = (u64)get_group_id(0) << shift;
    const u32 lines = (u32)min((u64)1 << shift, rows - first), thin = (u32)columns;
    load_thin(stage, in + in_at + first * in_pitch, in_pitch, thin, lines, in_whole != 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_long(stage, out + out_at + first, out_pitch, thin, lines, shift, out_aligned != 0 && lines >> shift != 0);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void transpose_few_rows(__global const B* in, ulong in_at, __global B* out, ulong out_at, u64 rows, u64 columns,
                        u64 in_pitch, u64 out_pitch, u32 shift, u32 in_aligned, u32 out_whole) {
    __local WORD stage[STAGE_WORDS + STAGE_WORDS / LINE_WORDS];
    const u64 first = (u64)get_group_id(0) << shift;
    const u32 lines = (u32)min((u64)1 << shift, columns - first), thin = (u32)rows;
    load_long(stage, in + in_at + first, in_pitch, thin, lines, shift, in_aligned != 0 && lines >> shift != 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    store_thin(stage, out + out_at + first * out_pitch, out_pitch, thin, lines, out_whole != 0);
}
