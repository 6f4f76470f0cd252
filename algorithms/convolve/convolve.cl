// Convolve, `register_tiled`, OpenCL C. The parallel source convolve.cu describes it. On CPUs: convolve_wide.cl.
//
// The mask is in constant memory. With NVIDIA's compiler, copies to local memory are asynchronous and lanes exchange
// packs; elsewhere copies pass through registers, and packs are stored by the lane that computed them.

#include "convolve_mask.cl"
#include "lanes.cl"

#define LINE ((TILE_COLUMNS + LEAD + BEFORE + PACK - 1) / PACK)  // packs of a row of cells
#define PITCH ((LINE | 1) * PACK)
#define LINES (TILE_ROWS + MASK_ROWS - 1)
#define WIDTH ((LEAD - BEFORE + WIDE * PACK + MASK_COLUMNS - 1 + PACK - 1) / PACK * PACK)  // cells of a work-item

#define LANES_X (8 / WIDE)  // lanes side by side of eight
#define ITEMS_X (TILE_COLUMNS / (WIDE * PACK))
#define ITEMS_Y (GROUP / ITEMS_X)
#if WIDE > 1 && defined(CONCORD_SHUFFLE_PTX)
#define EXCHANGES 1
#else
#define EXCHANGES 0
#endif
#define STORE_STEP (1 + EXCHANGES)  // packs between those that a lane stores

SHUFFLE_FROM(shuffle_cell, T)

// --- Copies ---------------------------------------------------------------------------------------------------------

// Copies one cell or a pack. Complete after await_copies.
#if CONCORD_CAPABILITY >= 80 && I_SIZE == SIZE
#if SIZE == 4
#define COPY_CELL "cp.async.ca.shared.global [%0], [%1], 4;"
#else
#define COPY_CELL "cp.async.ca.shared.global [%0], [%1], 8;"
#endif
INLINED void copy_cell(__local T* to, __global const I* from) {
    asm volatile(COPY_CELL ::"r"((u32)(size_t)to), "l"(from) : "memory");
}
INLINED void copy_pack(__local T* to, __global const I* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)(size_t)to), "l"(from) : "memory");
}
INLINED void await_copies(void) { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
INLINED void copy_cell(__local T* to, __global const I* from) { *to = (T)*from; }
INLINED void copy_pack(__local T* to, __global const I* from) {
    const PackI pack = *(__global const PackI*)from;
    PackT cells;
#pragma unroll
    for (int j = 0; j < PACK; ++j) cells.item[j] = (T)pack.item[j];
    *(__local PackT*)to = cells;
}
INLINED void await_copies(void) {}
#endif

// Copies the tile's cells from `from` on, all inside the image: in packs, which have to be aligned.
INLINED void copy_packs(__local T* tile, __global const I* from, u64 from_pitch) {
    const int at_once = GROUP / LINE;
    const int y = (int)get_local_id(0) / LINE, x = (int)get_local_id(0) % LINE * PACK;
    if (y >= at_once) return;
    from += y * from_pitch + x;
    tile += y * PITCH + x;
#pragma unroll
    for (int r = 0; r < LINES; r += GROUP / LINE) {
        if (r + at_once <= LINES || r + y < LINES) copy_pack(tile + r * PITCH, from);
        from += at_once * from_pitch;
    }
}

// The same one by one.
INLINED void copy_elements(__local T* tile, __global const I* from, u64 from_pitch) {
    const int warp = (int)get_local_id(0) / LANES, lane = (int)get_local_id(0) % LANES;
    from += warp * from_pitch + lane;
    tile += warp * PITCH + lane;
#pragma unroll 1
    for (int y = warp; y < LINES; y += GROUP / LANES) {
#pragma unroll
        for (int x = 0; x < LINE * PACK; x += LANES) {
            if (x + LANES <= LINE * PACK || x + lane < LINE * PACK) copy_cell(tile + x, from + x);
        }
        from += GROUP / LANES * from_pitch;
        tile += GROUP / LANES * PITCH;
    }
}

// Copies the tile's cells. The first one is at (top, left). Cells may be outside the image.
INLINED void copy_checked(__local T* tile, __global const I* in, i64 top, i64 left, i64 rows, i64 columns, u64 pitch,
                          bool clamps) {
#pragma unroll 1
    for (int y = (int)get_local_id(0) / LANES; y < LINES; y += GROUP / LANES) {
        const i64 r = min(max(top + y, (i64)0), rows - 1);
        __global const I* from = in + (u64)r * pitch;
#pragma unroll 4
        for (int x = (int)get_local_id(0) % LANES; x < LINE * PACK; x += LANES) {
            const i64 c = min(max(left + x, (i64)0), columns - 1);
            const T cell = (T)from[c];
            tile[y * PITCH + x] = clamps || (c == left + x && r == top + y) ? cell : (T)0;
        }
    }
}

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// Applies a row of taps to a row of cells in local memory.
INLINED void add_row(T* sum, __local const T* cells, const T* tap) {
    T cell[WIDTH];
#pragma unroll
    for (int k = 0; k < WIDTH; k += PACK) {
        const PackT pack = *(__local const PackT*)(cells + k);
#pragma unroll
        for (int j = 0; j < PACK; ++j) cell[k + j] = pack.item[j];
    }
#pragma unroll
    for (int i = 0; i < MASK_COLUMNS; ++i) {
#pragma unroll
        for (int p = 0; p < WIDE * PACK; ++p) sum[p] = fma(tap[i], cell[LEAD - BEFORE + p + i], sum[p]);
    }
}

// Two neighbouring lanes hold 2 * WIDE adjacent packs of a row. Afterwards the even lane holds packs 0, 2, ..., the odd
// lane packs 1, 3, ...
INLINED void exchange_packs(T* sum) {
#if EXCHANGES
    const bool odd = get_local_id(0) % 2 != 0;
    T own[WIDE * PACK];
#pragma unroll
    for (int k = 0; k < WIDE * PACK; ++k) own[k] = sum[k];
#pragma unroll
    for (int h = 0; h < WIDE / 2; ++h) {
#pragma unroll
        for (int j = 0; j < PACK; ++j) {
            const T even_pack = own[2 * h * PACK + j], odd_pack = own[(2 * h + 1) * PACK + j];
            const T got = shuffle_cell(odd ? even_pack : odd_pack, (u32)get_local_id(0) ^ 1, 0);
            sum[h * PACK + j] = odd ? got : even_pack;
            sum[(h + WIDE / 2) * PACK + j] = odd ? odd_pack : got;
        }
    }
#endif
}

// Stores the first `left` elements of a pack, a whole pack in one access if `aligned`.
INLINED void store_pack(__global T* to, const T* value, u64 left, bool aligned) {
    if (left >= PACK && aligned) {
        PackT pack;
#pragma unroll
        for (int p = 0; p < PACK; ++p) pack.item[p] = canonical(value[p]);
        *(__global PackT*)to = pack;
        return;
    }
#pragma unroll
    for (int p = 0; p < PACK; ++p) {
        if (p < left) to[p] = canonical(value[p]);
    }
}

// `across` groups cover the image's width.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void convolve_register_tiled(__global const I* restrict in, ulong in_at, __global T* restrict out, ulong out_at,
                             __constant T* mask, ulong mask_at, u64 rows, u64 columns, u64 in_pitch, u64 out_pitch,
                             u32 across, u32 clamps, u32 out_aligned, __local PackT* memory) {
    __local T* tile = (__local T*)memory;
    const u32 group = get_group_id(0), local_id = get_local_id(0);
    const i64 first_y = (i64)(group / across) * TILE_ROWS, first_x = (i64)(group % across) * TILE_COLUMNS;
    const i64 top = first_y - MASK_ROWS / 2, left = first_x - LEAD;

    // Load the tile.
    in += in_at;
    out += out_at;
    if (top >= 0 && left >= 0 && (u64)top + LINES <= rows && (u64)left + LINE * PACK <= columns) {
        __global const I* from = in + ((u64)top * in_pitch + (u64)left);
#if IN_ALIGNED
        copy_packs(tile, from, in_pitch);
#else
        copy_elements(tile, from, in_pitch);
#endif
        await_copies();
    } else {
        copy_checked(tile, in, top, left, (i64)rows, (i64)columns, in_pitch, clamps != 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const bool whole = out_aligned != 0 && (u64)first_y + TILE_ROWS <= rows && (u64)first_x + TILE_COLUMNS <= columns;
    const int warp = local_id / LANES, lane = local_id % LANES;
    const int x = (lane / 8 * LANES_X + lane % LANES_X) * (WIDE * PACK), y = warp * WIDE + lane % 8 / LANES_X;
#pragma unroll 1
    for (int part = 0; part < TILE_ROWS; part += ITEMS_Y * ROWS) {
        T sum[ROWS][WIDE * PACK];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
#pragma unroll
            for (int p = 0; p < WIDE * PACK; ++p) sum[r][p] = 0;
        }
        __local const T* cells = tile + (part + y) * PITCH + x;
#pragma unroll 1
        for (int j = 0; j < MASK_ROWS; ++j) {
            T tap[MASK_COLUMNS];
#pragma unroll
            for (int i = 0; i < MASK_COLUMNS; ++i) tap[i] = mask[mask_at + j * MASK_COLUMNS + i];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) add_row(sum[r], cells + r * ITEMS_Y * PITCH, tap);
            cells += PITCH;
        }

        // Store the results.
        const int odd = EXCHANGES ? lane % 2 : 0;
        u64 row = (u64)first_y + part + y;
        const u64 first_column = (u64)first_x + x - odd * (WIDE - 1) * PACK;
        __global T* to = out + row * out_pitch + first_column;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            exchange_packs(sum[r]);
#pragma unroll
            for (int w = 0; w < WIDE; ++w) {
                const u64 column = first_column + w * (STORE_STEP * PACK);
                if (whole) {
                    store_pack(to + w * (STORE_STEP * PACK), &sum[r][w * PACK], PACK, true);
                } else if (row < rows && column < columns) {
                    store_pack(to + w * (STORE_STEP * PACK), &sum[r][w * PACK], columns - column, out_aligned != 0);
                }
            }
            row += ITEMS_Y;
            to += ITEMS_Y * out_pitch;
        }
    }
}
