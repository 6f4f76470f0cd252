// Convolve, textbook steps, CUDA C++. Parallel sources: convolve_steps.cl, convolve_host.hpp.
//
// direct         one result per thread. naive: the mask is in global memory. constant_mask: the mask is a kernel
//                parameter, in constant memory; a warp reads one tap in one access.
// tiled_halo     the threads of a group load a tile of cells, with its halo, into shared memory; then each thread
//                computes one result.
// Passes         one
// Traffic        every element of the image is read once if the caches hold the rows under the mask; every result is
//                written once
// Tunables       TILE_COLUMNS x TILE_ROWS results per group, one per thread.
// Source         D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2010, ch. 8.
//
// I: element type of the image; T: element type of the mask and the result; CONSTANT_MASK: the mask, of TAPS values,
// is a kernel parameter.

#include "common.cu"

struct MaskValues {
    T tap[TAPS];
    __device__ __forceinline__ T operator[](u32 k) const { return tap[k]; }
};
#if CONSTANT_MASK
typedef MaskValues Mask;
#else
typedef const T* Mask;
#endif

// Cell (row, column), which may be outside the image.
__device__ __forceinline__ T cell(const I* in, i64 row, i64 column, i64 rows, i64 columns, u64 pitch, u32 clamps) {
    const i64 r = min(max(row, i64(0)), rows - 1), c = min(max(column, i64(0)), columns - 1);
    return clamps || (r == row && c == column) ? T(in[u64(r) * pitch + u64(c)]) : T(0);
}

// A group computes TILE_COLUMNS x TILE_ROWS results; `across` groups cover the width of the image.
extern "C" __global__ void __launch_bounds__(TILE_COLUMNS * TILE_ROWS)
    convolve_direct(const I* in, T* out, const __grid_constant__ Mask mask, u64 rows, u64 columns, u64 in_pitch,
                    u64 out_pitch, u32 across, u32 mask_rows, u32 mask_columns, u32 clamps) {
    const u64 y = u64(blockIdx.x / across) * TILE_ROWS + threadIdx.x / TILE_COLUMNS,
              x = u64(blockIdx.x % across) * TILE_COLUMNS + threadIdx.x % TILE_COLUMNS;
    if (y >= rows || x >= columns) return;
    const i64 top = i64(y) - mask_rows / 2, left = i64(x) - mask_columns / 2;
    T sum = 0;
    for (u32 j = 0; j < mask_rows; ++j) {
        for (u32 i = 0; i < mask_columns; ++i)
            sum = fma(mask[j * mask_columns + i], cell(in, top + j, left + i, rows, columns, in_pitch, clamps), sum);
    }
    out[y * out_pitch + x] = canonical(sum);
}

extern "C" __global__ void __launch_bounds__(TILE_COLUMNS * TILE_ROWS)
    convolve_tiled_halo(const I* in, T* out, const T* mask, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 across,
                        u32 mask_rows, u32 mask_columns, u32 clamps) {
    extern __shared__ char memory[];
    T* const tile = reinterpret_cast<T*>(memory);
    const u32 width = TILE_COLUMNS + mask_columns - 1, height = TILE_ROWS + mask_rows - 1;
    const u64 first_y = u64(blockIdx.x / across) * TILE_ROWS, first_x = u64(blockIdx.x % across) * TILE_COLUMNS;
    const i64 top = i64(first_y) - mask_rows / 2, left = i64(first_x) - mask_columns / 2;
    for (u32 k = threadIdx.x; k < width * height; k += TILE_COLUMNS * TILE_ROWS)
        tile[k] = cell(in, top + k / width, left + k % width, rows, columns, in_pitch, clamps);
    __syncthreads();
    const u32 y = threadIdx.x / TILE_COLUMNS, x = threadIdx.x % TILE_COLUMNS;
    if (first_y + y >= rows || first_x + x >= columns) return;
    T sum = 0;
    for (u32 j = 0; j < mask_rows; ++j) {
        for (u32 i = 0; i < mask_columns; ++i)
            sum = fma(mask[j * mask_columns + i], tile[(y + j) * width + x + i], sum);
    }
    out[(first_y + y) * out_pitch + first_x + x] = canonical(sum);
}
