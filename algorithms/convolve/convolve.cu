// Convolve, `register_tiled`, CUDA C++. Parallel source: convolve.cl.
//
// Algorithm  A group computes a tile of TILE_ROWS x TILE_COLUMNS results. It copies the cells under the mask to shared
//            memory, as elements T. A thread computes WIDE packs of columns in each of ROWS rows; their sums are in
//            registers. For each row of the mask it loads the taps once. For each of its rows it loads the cells under
//            these taps in packs and applies the taps. So every sum takes its taps in ascending order of rows, then
//            columns. A small mask is a kernel parameter, in constant memory; a larger one is in global memory.
//            A warp's results are WIDE rows of the tile.
// Banks      The pitch of the tile is an odd number of packs. The eight lanes that access shared memory together cover
//            8 / WIDE packs in WIDE rows, which are in different banks. Neighbouring lanes exchange packs before the
//            stores, so that each store fills whole sectors.
// Border     Cells outside the image are substituted at the copy. Groups whose cells are all inside copy
//            asynchronously, in packs if these are aligned.
// Passes     one
// Traffic    every element of the image is read once from memory and (1 + MASK_ROWS / TILE_ROWS) times from L2; every
//            result is written once
// Tunables   WIDE and ROWS per thread, TILE_ROWS (convolve.tile_rows) x TILE_COLUMNS, GROUP threads, RESIDENT groups
//            per unit.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result, of SIZE bytes; BY_VALUE: the mask is a
// kernel parameter; IN_ALIGNED: packs of the image are aligned.

#include "async_copy.cu"
#include "convolve_mask.cu"

constexpr int line = (TILE_COLUMNS + lead + before + PACK - 1) / PACK;  // packs of a row of cells
constexpr int pitch = (line | 1) * PACK;
constexpr int lines = TILE_ROWS + MASK_ROWS - 1;
constexpr int width = (lead - before + WIDE * PACK + MASK_COLUMNS - 1 + PACK - 1) / PACK * PACK;  // cells of a thread

constexpr int lanes_x = 8 / WIDE;  // lanes side by side of eight
constexpr int threads_x = TILE_COLUMNS / (WIDE * PACK), threads_y = GROUP / threads_x;
constexpr int store_step = WIDE > 1 ? 2 : 1;  // packs between those that a lane stores
static_assert(threads_x == warp_width / WIDE && TILE_ROWS % (threads_y * ROWS) == 0);

// --- Copies ---------------------------------------------------------------------------------------------------------

// Copies COUNT adjacent cells, one or a pack. Complete after await_copies.
template <int COUNT>
__device__ __forceinline__ void copy_cells(T* to, const T* from) {
    if constexpr (COUNT == PACK) {
        copy_pack_async(to, from);
    } else {
        copy_async_if<COUNT * SIZE>(true, static_cast<u32>(__cvta_generic_to_shared(to)), from);
    }
}
template <int COUNT>
__device__ __forceinline__ void copy_cells(T* to, const u8* from) {
    const Pack<u8, COUNT> bytes = *reinterpret_cast<const Pack<u8, COUNT>*>(from);
    Pack<T, COUNT> cells;
#pragma unroll
    for (int j = 0; j < COUNT; ++j) cells.item[j] = T(bytes.item[j]);
    *reinterpret_cast<Pack<T, COUNT>*>(to) = cells;
}

// Copies the tile's cells from `from` on, all inside the image: in packs, which have to be aligned.
__device__ __forceinline__ void copy_packs(T* tile, const I* from, u64 from_pitch) {
    constexpr int at_once = GROUP / line;
    const int y = threadIdx.x / line, x = threadIdx.x % line * PACK;
    if (y >= at_once) return;
    from += y * from_pitch + x;
    tile += y * pitch + x;
#pragma unroll
    for (int r = 0; r < lines; r += at_once) {
        if (r + at_once <= lines || r + y < lines) copy_cells<PACK>(tile + r * pitch, from);
        from += at_once * from_pitch;
    }
}

// The same one by one.
__device__ __forceinline__ void copy_elements(T* tile, const I* from, u64 from_pitch) {
    const int warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    from += warp * from_pitch + lane;
    tile += warp * pitch + lane;
#pragma unroll 1
    for (int y = warp; y < lines; y += GROUP / warp_width) {
#pragma unroll
        for (int x = 0; x < line * PACK; x += warp_width) {
            if (x + warp_width <= line * PACK || x + lane < line * PACK) copy_cells<1>(tile + x, from + x);
        }
        from += GROUP / warp_width * from_pitch;
        tile += GROUP / warp_width * pitch;
    }
}

// Copies the tile's cells. The first one is at (top, left). Cells may be outside the image.
__device__ __forceinline__ void copy_checked(T* tile, const Image& image, i64 top, i64 left) {
#pragma unroll 1
    for (int y = threadIdx.x / warp_width; y < lines; y += GROUP / warp_width) {
        const i64 r = min(max(top + y, i64(0)), image.rows - 1);
        const I* const from = image.in + u64(r) * image.pitch;
#pragma unroll 4
        for (int x = threadIdx.x % warp_width; x < line * PACK; x += warp_width) {
            const i64 c = min(max(left + x, i64(0)), image.columns - 1);
            const T cell = T(from[c]);
            tile[y * pitch + x] = image.clamps || (c == left + x && r == top + y) ? cell : T(0);
        }
    }
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// Applies a row of taps to a row of cells in shared memory.
__device__ __forceinline__ void add_row(T (&sum)[WIDE * PACK], const T* cells, const T (&tap)[MASK_COLUMNS]) {
    T cell[width];
#pragma unroll
    for (int k = 0; k < width; k += PACK) {
        const Pack<T, PACK> pack = *reinterpret_cast<const Pack<T, PACK>*>(cells + k);
#pragma unroll
        for (int j = 0; j < PACK; ++j) cell[k + j] = pack.item[j];
    }
#pragma unroll
    for (int i = 0; i < MASK_COLUMNS; ++i) {
#pragma unroll
        for (int p = 0; p < WIDE * PACK; ++p) sum[p] = fma(tap[i], cell[lead - before + p + i], sum[p]);
    }
}

// Two neighbouring lanes hold 2 * WIDE adjacent packs of a row. Afterwards the even lane holds packs 0, 2, ..., the odd
// lane packs 1, 3, ...
__device__ __forceinline__ void exchange_packs(T (&sum)[WIDE * PACK]) {
    if constexpr (WIDE > 1) {
        const bool odd = threadIdx.x % 2 != 0;
        T own[WIDE * PACK];
#pragma unroll
        for (int k = 0; k < WIDE * PACK; ++k) own[k] = sum[k];
#pragma unroll
        for (int h = 0; h < WIDE / 2; ++h) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) {
                const T even_pack = own[2 * h * PACK + j], odd_pack = own[(2 * h + 1) * PACK + j];
                const T got = shuffle_from(odd ? even_pack : odd_pack, threadIdx.x ^ 1);
                sum[h * PACK + j] = odd ? got : even_pack;
                sum[(h + WIDE / 2) * PACK + j] = odd ? odd_pack : got;
            }
        }
    }
}

// `across` groups cover the image's width.
extern "C" __global__ void __launch_bounds__(GROUP, RESIDENT)
    convolve_register_tiled(const I* __restrict__ in, T* __restrict__ out, const __grid_constant__ Mask mask, u64 rows,
                            u64 columns, u64 in_pitch, u64 out_pitch, u32 across, u32 clamps, u32 out_aligned) {
    extern __shared__ __align__(16) unsigned char shared[];
    T* const tile = reinterpret_cast<T*>(shared);
    const i64 first_y = i64(blockIdx.x / across) * TILE_ROWS, first_x = i64(blockIdx.x % across) * TILE_COLUMNS;
    const i64 top = first_y - MASK_ROWS / 2, left = first_x - lead;

    // Load the tile.
    const bool inside = top >= 0 && left >= 0 && u64(top) + lines <= rows && u64(left) + line * PACK <= columns;
    if (inside) {
        const I* const from = in + u64(top) * in_pitch + left;
        if constexpr (IN_ALIGNED) {
            copy_packs(tile, from, in_pitch);
        } else {
            copy_elements(tile, from, in_pitch);
        }
        await_copies();
    } else {
        copy_checked(tile, {in, i64(rows), i64(columns), in_pitch, clamps != 0}, top, left);
    }
    __syncthreads();

    const bool whole = out_aligned != 0 && u64(first_y) + TILE_ROWS <= rows && u64(first_x) + TILE_COLUMNS <= columns;
    const int warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    const int x = (lane / 8 * lanes_x + lane % lanes_x) * (WIDE * PACK), y = warp * WIDE + lane % 8 / lanes_x;
#pragma unroll 1
    for (int part = 0; part < TILE_ROWS; part += threads_y * ROWS) {
        T sum[ROWS][WIDE * PACK] = {};
        const T* cells = tile + (part + y) * pitch + x;
#pragma unroll 1
        for (int j = 0; j < MASK_ROWS; ++j) {
            T tap[MASK_COLUMNS];
#pragma unroll
            for (int i = 0; i < MASK_COLUMNS; ++i) tap[i] = mask[j * MASK_COLUMNS + i];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) add_row(sum[r], cells + r * threads_y * pitch, tap);
            cells += pitch;
        }

        // Store the results.
        const int odd = WIDE > 1 ? lane % 2 : 0;
        u64 row = u64(first_y) + part + y;
        const u64 first_column = u64(first_x) + x - odd * (WIDE - 1) * PACK;
        T* to = out + row * out_pitch + first_column;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            exchange_packs(sum[r]);
#pragma unroll
            for (int w = 0; w < WIDE; ++w) {
                T result[PACK];
#pragma unroll
                for (int p = 0; p < PACK; ++p) result[p] = canonical(sum[r][w * PACK + p]);
                const u64 column = first_column + w * (store_step * PACK);
                if (whole) {
                    store_pack(to + w * (store_step * PACK), result, PACK, true);
                } else if (row < rows && column < columns) {
                    store_pack(to + w * (store_step * PACK), result, columns - column, out_aligned != 0);
                }
            }
            row += threads_y;
            to += threads_y * out_pitch;
        }
    }
}
