// Convolve, textbook steps, OpenCL C. The parallel source convolve_steps.cu describes it. C++: convolve_host.hpp.
//
// CONSTANT_MASK: the mask is in constant memory, where all work-items read one tap at a time.

#include "common.cl"

#if CONSTANT_MASK
#define MASK __constant T*
#else
#define MASK __global const T*
#endif


// Cell (row, column), which may be outside the image.
INLINED T cell(__global const I* in, i64 row, i64 column, i64 rows, i64 columns, u64 pitch, u32 clamps) {
    const i64 r = min(max(row, (i64)0), rows - 1), c = min(max(column, (i64)0), columns - 1);
    return clamps || (r == row && c == column) ? (T)in[(u64)r * pitch + (u64)c] : (T)0;
}

// A group computes TILE_COLUMNS x TILE_ROWS results; `across` groups cover the width of the image.
__kernel __attribute__((reqd_work_group_size(TILE_COLUMNS * TILE_ROWS, 1, 1)))
void convolve_direct(__global const I* in, ulong in_at, __global T* out, ulong out_at, MASK mask, ulong mask_at, u64 rows,
                     u64 columns, u64 in_pitch, u64 out_pitch, u32 across, u32 mask_rows, u32 mask_columns, u32 clamps) {
    const u32 group = get_group_id(0), local_id = get_local_id(0);
    const u64 y = (u64)(group / across) * TILE_ROWS + local_id / TILE_COLUMNS,
              x = (u64)(group % across) * TILE_COLUMNS + local_id % TILE_COLUMNS;
    if (y >= rows || x >= columns) return;
    const i64 top = (i64)y - mask_rows / 2, left = (i64)x - mask_columns / 2;
    T sum = 0;
    for (u32 j = 0; j < mask_rows; ++j) {
        for (u32 i = 0; i < mask_columns; ++i)
            sum = fma(mask[mask_at + j * mask_columns + i],
                      cell(in + in_at, top + j, left + i, rows, columns, in_pitch, clamps), sum);
    }
    out[out_at + y * out_pitch + x] = canonical(sum);
}

__kernel __attribute__((reqd_work_group_size(TILE_COLUMNS * TILE_ROWS, 1, 1)))
void convolve_tiled_halo(__global const I* in, ulong in_at, __global T* out, ulong out_at, MASK mask, ulong mask_at, u64 rows,
                         u64 columns, u64 in_pitch, u64 out_pitch, u32 across, u32 mask_rows, u32 mask_columns, u32 clamps,
                         __local T* tile) {
    const u32 group = get_group_id(0), local_id = get_local_id(0);
    const u32 width = TILE_COLUMNS + mask_columns - 1, height = TILE_ROWS + mask_rows - 1;
    const u64 first_y = (u64)(group / across) * TILE_ROWS, first_x = (u64)(group % across) * TILE_COLUMNS;
    const i64 top = (i64)first_y - mask_rows / 2, left = (i64)first_x - mask_columns / 2;
    for (u32 k = local_id; k < width * height; k += TILE_COLUMNS * TILE_ROWS)
        tile[k] = cell(in + in_at, top + k / width, left + k % width, rows, columns, in_pitch, clamps);
    barrier(CLK_LOCAL_MEM_FENCE);
    const u32 y = local_id / TILE_COLUMNS, x = local_id % TILE_COLUMNS;
    if (first_y + y < rows && first_x + x < columns) {
        T sum = 0;
        for (u32 j = 0; j < mask_rows; ++j) {
            for (u32 i = 0; i < mask_columns; ++i)
                sum = fma(mask[mask_at + j * mask_columns + i], tile[(y + j) * width + x + i], sum);
        }
        out[out_at + (first_y + y) * out_pitch + first_x + x] = canonical(sum);
    }
}
