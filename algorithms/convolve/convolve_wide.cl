// Convolve on CPUs, `sliding`, OpenCL C. Parallel source: convolve_host.hpp.
//
// Algorithm  One work-item a group takes a band of rows, TALL rows of results at a time, in vectors along the rows: sums of
//            TALL rows by WIDE vectors are in registers. A vector of cells is loaded once for all rows of results that it
//            reaches. The taps of a small mask are unrolled. At the left and right edges cells are staged, as the border says.
// Border     is the loading's matter: rows outside are a row of zeros, or the nearest row.
// Passes     one; traffic: every element of the image is read once from memory, since its rows stay in the cache for the next
//            TALL rows of results; every result is written once, past the cache by non-temporal stores where it is aligned.
// Tunables   TALL x WIDE vectors of LANES elements, CHUNK columns before the next rows, SEGMENT columns staged at once.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: type of the image; T: of the mask and the result; VECTOR and CELLS: LANES of T and of I; CONVERT: from CELLS to VECTOR.
// MASK_ROWS x MASK_COLUMNS: of a mask that is unrolled, or else 0.

#define TALL 4
#define WIDE 2
#define CHUNK 1024
#define MOST_SIDE 31
#define MOST_ROWS (MOST_SIDE - 1 + TALL)
#define SEGMENT (LANES + MOST_SIDE + 1)

typedef struct { CELLS all; } __attribute__((packed)) UnalignedCells;
typedef struct { VECTOR all; } __attribute__((packed)) UnalignedVector;

// The rows of cells that TALL rows of results need.
typedef struct {
    __global const I* row[MOST_ROWS];
} Rows;

// Applies all taps: sum[b * wide + w] are the results of row b at columns [x, x + wide * LANES).
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

// `count` of a vector's elements.
INLINED void store_vector(__global T* to, VECTOR value, u64 count, bool past_cache) {
    if (count < LANES) {
        T item[LANES];
        ((UnalignedVector*)item)->all = value;
        for (u64 i = 0; i < count; ++i) to[i] = item[i];
        return;
    }
#if __has_builtin(__builtin_nontemporal_store)
    if (past_cache && (ulong)to % 64 == 0) {
        __builtin_nontemporal_store(value, (__global VECTOR*)to);
        return;
    }
#endif
    ((__global UnalignedVector*)to)->all = value;
}

// `band` rows by `span` columns are a group's, `across` groups lie side by side. `scratch`: of each group a row of zeros, and
// the staged cells.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void convolve_sliding_wide(__global const I* in, ulong in_at, __global T* out, ulong out_at, __global const T* mask, ulong mask_at,
                   __global I* scratch, ulong scratch_at, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u64 band,
                   u64 span, u64 across, u32 mask_rows, u32 mask_columns, u32 clamps, u32 past_cache) {
    const u64 group = get_group_id(0);
    const u64 first_row = group / across * band, last_row = min(rows, first_row + band);
    const u64 first_column = group % across * span, last_column = min(columns, first_column + span);
    const u64 before = mask_columns / 2, count = mask_rows - 1 + TALL;
    __global I* zeros = scratch + scratch_at + group * SCRATCH;
    __global I* cells = zeros + CHUNK + MOST_SIDE;
    for (u64 k = 0; k < CHUNK + MOST_SIDE; ++k) zeros[k] = 0;
    in += in_at;
    out += out_at;
    mask += mask_at;
    // Vectors from `left` to `right` reach no column outside.
    const u64 left = (before + LANES - 1) / LANES * LANES;
    const u64 right = columns < before + LANES ? 0 : (columns - before) / LANES * LANES;
    Rows inner, staged;
    for (u64 k = 0; k < MOST_ROWS; ++k) staged.row[k] = cells + k * SEGMENT;
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
                                store_vector(to + k / WIDE * out_pitch + x + k % WIDE * LANES, sum[k], LANES, past_cache);
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
                    if (b < high) store_vector(to + b * out_pitch + x, sum[b], min((u64)LANES, end - x), past_cache);
                }
                x += LANES;
            }
        }
    }
}
