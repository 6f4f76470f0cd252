// Transpose of thin matrices, part of `vectorized`, CUDA C++. Parallel source: transpose_thin.cl.
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
// Tunables   STAGE bytes of a stage, GROUP threads
// Source     Concord
//
// B: unsigned integer of the elements' size; WORD: u32, or u64 for elements of 8 bytes.

#include "common.cu"

constexpr u32 pack_words = 16 / sizeof(WORD), line_words = 128 / sizeof(WORD), stage_words = STAGE / sizeof(WORD);
constexpr u32 word_items = sizeof(WORD) / sizeof(B);

using PackB = Pack<B, PACK>;
using Words = Pack<WORD, pack_words>;

__device__ __forceinline__ u32 padded(u32 word) { return word + word / line_words; }

__device__ __forceinline__ B& item(WORD* stage, u32 i) {
    return reinterpret_cast<B*>(stage + padded(i / word_items))[i % word_items];
}

// Loads `lines` thin rows into the stage. whole: the rows are contiguous and aligned.
__device__ __forceinline__ void load_thin(WORD* stage, const B* in, u64 pitch, u32 thin, u32 lines, bool whole) {
    const u32 count = lines * thin, packs = whole ? count / PACK : 0;
    for (u32 k = threadIdx.x; k < packs; k += GROUP) {
        const Words words = reinterpret_cast<const Words*>(in)[k];
#pragma unroll
        for (u32 j = 0; j < pack_words; ++j) stage[padded(k * pack_words + j)] = words.item[j];
    }
    for (u32 i = packs * PACK + threadIdx.x; i < count; i += GROUP) {
        const u32 k = i / thin;
        item(stage, i) = in[k * pitch + (i - k * thin)];
    }
}

__device__ __forceinline__ void store_thin(WORD* stage, B* out, u64 pitch, u32 thin, u32 lines, bool whole) {
    const u32 count = lines * thin, packs = whole ? count / PACK : 0;
    for (u32 k = threadIdx.x; k < packs; k += GROUP) {
        Words words;
#pragma unroll
        for (u32 j = 0; j < pack_words; ++j) words.item[j] = stage[padded(k * pack_words + j)];
        reinterpret_cast<Words*>(out)[k] = words;
    }
    for (u32 i = packs * PACK + threadIdx.x; i < count; i += GROUP) {
        const u32 k = i / thin;
        out[k * pitch + (i - k * thin)] = item(stage, i);
    }
}

// Loads the next `lines` elements of `thin` long rows. aligned: all rows are aligned, and `lines` is 2^shift.
__device__ __forceinline__ void load_long(WORD* stage, const B* in, u64 pitch, u32 thin, u32 lines, u32 shift,
                                          bool aligned) {
    if (aligned) {
        for (u32 q = threadIdx.x * PACK; q < thin << shift; q += GROUP * PACK) {
            const u32 t = q >> shift, k = q - (t << shift);
            const PackB pack = *reinterpret_cast<const PackB*>(in + t * pitch + k);
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) item(stage, (k + j) * thin + t) = pack.item[j];
        }
        return;
    }
    for (u32 q = threadIdx.x; q < thin << shift; q += GROUP) {
        const u32 t = q >> shift, k = q - (t << shift);
        if (k < lines) item(stage, k * thin + t) = in[t * pitch + k];
    }
}

__device__ __forceinline__ void store_long(WORD* stage, B* out, u64 pitch, u32 thin, u32 lines, u32 shift,
                                           bool aligned) {
    if (aligned) {
        for (u32 q = threadIdx.x * PACK; q < thin << shift; q += GROUP * PACK) {
            const u32 t = q >> shift, k = q - (t << shift);
            PackB pack;
#pragma unroll
            for (u32 j = 0; j < PACK; ++j) pack.item[j] = item(stage, (k + j) * thin + t);
            *reinterpret_cast<PackB*>(out + t * pitch + k) = pack;
        }
        return;
    }
    for (u32 q = threadIdx.x; q < thin << shift; q += GROUP) {
        const u32 t = q >> shift, k = q - (t << shift);
        if (k < lines) out[t * pitch + k] = item(stage, k * thin + t);
    }
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_few_columns(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 shift,
                          u32 in_whole, u32 out_aligned) {
    __shared__ WORD stage[stage_words + stage_words / line_words];
    const u64 first = u64(blockIdx.x) << shift;
    const u32 lines = u32(min(u64(1) << shift, rows - first)), thin = u32(columns);
    load_thin(stage, in + first * in_pitch, in_pitch, thin, lines, in_whole != 0);
    __syncthreads();
    store_long(stage, out + first, out_pitch, thin, lines, shift, out_aligned != 0 && lines >> shift != 0);
}

extern "C" __global__ void __launch_bounds__(GROUP)
    transpose_few_rows(const B* in, B* out, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 shift,
                       u32 in_aligned, u32 out_whole) {
    __shared__ WORD stage[stage_words + stage_words / line_words];
    const u64 first = u64(blockIdx.x) << shift;
    const u32 lines = u32(min(u64(1) << shift, columns - first)), thin = u32(rows);
    load_long(stage, in + first, in_pitch, thin, lines, shift, in_aligned != 0 && lines >> shift != 0);
    __syncthreads();
    store_thin(stage, out + first * out_pitch, out_pitch, thin, lines, out_whole != 0);
}
