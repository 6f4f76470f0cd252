// Convolve, `sliding`, OpenCL C for CPUs, one work-item per group. Parallel source: convolve_host.hpp.
//
// Algorithm  A group computes a band of rows, TALL rows at a time, as vectors along the rows. Sums of TALL rows by
//            WIDE vectors are in registers; a loaded vector of cells is used for all rows of results that it reaches.
//            The taps of a small mask are unrolled. Cells at the left and right borders are staged.
// Border     Rows outside the image read a row of zeros or the nearest row.
// Passes     one
// Traffic    every element of the image is read once from memory, because its rows stay in the cache for the next
//            TALL rows of results; every result is written once, aligned ones with non-temporal stores
// Tunables   TALL x WIDE vectors of LANES elements, CHUNK columns before the next rows, SEGMENT columns staged at
//            once; bands and spans (convolve.groups, convolve.group_work).
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result; VECTOR and CELLS: vectors of LANES
// elements T and I; CONVERT: from CELLS to VECTOR. MASK_ROWS x MASK_COLUMNS: sides of a mask to unroll, or 0.

#include "common.cl"

#define TALL 4
#define WIDE 2
#define CHUNK 1024
#define MAX_SIDE 31
#define MAX_ROWS (MAX_SIDE - 1 + TALL)
#define SEGMENT (LANES + MAX_SIDE + 1)

typedef struct { CELLS all; } __attribute__((packed)) UnalignedCells;
typedef struct { VECTOR all; } __attribute__((packed)) UnalignedVector;

// Rows of cells under the mask for TALL rows of results.
typedef struct {
    __global const I* row[MAX_ROWS];
} Rows;

// Applies all taps: sum[b * wide + w] becomes vector w of row b of the results at columns [x, x + wide * LANES).
#define TAPS(r, i, high, reached)                                                                                       \
    {                                                                                                                   \
        VECTOR cells[WIDE];                                                                                             \
        _Pragma("unroll") for (u32 w = 0; w < wide; ++w)                                                                \
            cells[w] = CONVERT(((__global const UnalignedCells*)(rows->row[r] + x + i + w * LANES))->all);              \
        _Pragma("unroll") for (u32 b = 0; b < TALL; ++b) {                                                              \
            if (reached || r - b < high) {                                                                              \
                const VECTOR tap = (VECTOR)(mask[(r - b) * mask_columns + i]);                                          \
                _Pragma("unroll") for (u32 w = 0; w < wide; ++w)                                                        \
                    sum[b * wide + w] = fma(tap, cells[w], sum[b * wide + w]);                                          \
            }                                                                                                           \
        }                                                                                                               \
    }
INLINED void add_taps(VECTOR* sum, const u32 wide, const Rows* rows, u64 x, __global const T* mask, u32 mask_rows,
                      u32 mask_columns) {
#pragma unroll
    for (u32 k = 0; k < TALL * wide; ++k) sum[k] = (VECTOR)(0);
#if MASK_ROWS
    mask_rows = MASK_ROWS;
    mask_columns = MASK_COLUMNS;
#pragma unroll
    for (u32 r = 0; r < MASK_ROWS + TALL - 1; ++r) {
#pragma unroll
        for (u32 i = 0; i < MASK_COLUMNS; ++i) TAPS(r, i, MASK_ROWS, false)
    }
#else
    for (u32 r = 0; r < mask_rows + TALL - 1; ++r) {
        if (r >= TALL - 1 && r < mask_rows) {
            for (u32 i = 0; i < mask_columns; ++i) TAPS(r, i, mask_rows, true)
        } else {
            for (u32 i = 0; i < mask_columns; ++i) TAPS(r, i, mask_rows, false)
        }
    }
#endif
}

// Stores the first `count` elements of a vector.
INLINED void store_vector(__global T* to, VECTOR value, u64 count, bool non_temporal) {
    value = CANONICAL(VECTOR, value);
    if (count < LANES) {
        T item[LANES];
        ((UnalignedVector*)item)->all = value;
        for (u64 i = 0; i < count; ++i) to[i] = item[i];
        return;
    }
#if __has_builtin(__builtin_nontemporal_store)
    if (non_temporal && (ulong)to % 64 == 0) {
        __builtin_nontemporal_store(value, (__global VECTOR*)to);
        return;
    }
#endif
    ((__global UnalignedVector*)to)->all = value;
}

// A group computes `band` rows by `span` columns; `across` groups cover the width. `scratch` holds a row of zeros and
// the staged cells of each group.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void convolve_sliding_wide(__global const I* in, ulong in_at, __global T* out, ulong out_at, __global const T* mask, ulong mask_at,
                   __global I* scratch, ulong scratch_at, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u64 band,
                   u64 span, u64 across, u32 mask_rows, u32 mask_columns, u32 clamps, u32 non_temporal) {
    const u64 group = get_group_id(0);
    const u64 first_row = group / across * band, last_row = min(rows, first_row + band);
    const u64 first_column = group % across * span, last_column = min(columns, first_column + span);
    const u64 before = mask_columns / 2, count = mask_rows - 1 + TALL;
    __global I* zeros = scratch + scratch_at + group * SCRATCH;
    __global I* cells = zeros + CHUNK + MAX_SIDE;
    for (u64 k = 0; k < CHUNK + MAX_SIDE; ++k) zeros[k] = 0;
    in += in_at;
    out += out_at;
    mask += mask_at;
    // Vectors in [left, right) have all cells inside the image.
    const u64 left = (before + LANES - 1) / LANES * LANES;
    const u64 right = columns < before + LANES ? 0 : (columns - before) / LANES * LANES;
    Rows inner, staged;
    for (u64 k = 0; k < MAX_ROWS; ++k) staged.row[k] = cells + k * SEGMENT;
    for (u64 c = first_column; c < last_column; c += CHUNK) {
        const u64 end = min(last_column, c + CHUNK), stop = min(end, right);
        for (u64 y = first_row; y < last_row; y += TALL) {
            const u64 high = min((u64)TALL, last_row - y);
            const i64 top = (i64)y - mask_rows / 2;
            __global T* to = out + y * out_pitch;
            VECTOR sum[TALL * WIDE];
            for (u64 x = c; x < end;) {
                if (x >= left && x + WIDE * LANES <= stop) {
                    for (u64 k = 0; k < count; ++k) {
                        const i64 row = top + (i64)k, r = clamp(row, (i64)0, (i64)rows - 1);
                        inner.row[k] = clamps || r == row ? in + (u64)r * in_pitch + (x - before) : zeros;
                    }
                    for (u64 at = 0; x + WIDE * LANES <= stop; x += WIDE * LANES, at += WIDE * LANES) {
                        add_taps(sum, WIDE, &inner, at, mask, mask_rows, mask_columns);
#pragma unroll
                        for (u32 k = 0; k < TALL * WIDE; ++k) {
                            if (k / WIDE < high)
                                store_vector(to + k / WIDE * out_pitch + x + k % WIDE * LANES, sum[k], LANES,
                                             non_temporal);
                        }
                    }
                    continue;
                }
                for (u64 k = 0; k < count; ++k) {
                    const i64 row = top + (i64)k, r = clamp(row, (i64)0, (i64)rows - 1);
                    for (u64 i = 0; i < LANES + mask_columns - 1; ++i) {
                        const i64 column = (i64)(x + i) - (i64)before, q = clamp(column, (i64)0, (i64)columns - 1);
                        cells[k * SEGMENT + i] = clamps || (r == row && q == column) ? in[(u64)r * in_pitch + (u64)q] : (I)0;
                    }
                }
                add_taps(sum, 1, &staged, 0, mask, mask_rows, mask_columns);
#pragma unroll
                for (u32 b = 0; b < TALL; ++b) {
                    if (b < high) store_vector(to + b * out_pitch + x, sum[b], min((u64)LANES, end - x), non_temporal);
                }
                x += LANES;
            }
        }
    }
}
