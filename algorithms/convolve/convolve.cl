// Convolve, `sliding`, OpenCL C. Parallel source: convolve.cu. On CPUs: convolve_wide.cl.
//
// Algorithm  A work-item has PACK columns and goes down `height` rows of them. It loads a row's cells, from LEAD columns before
//            its own to LEAD columns after, in packs, AHEAD rows before they are needed; each tap of the mask's rows is then
//            applied to the row for all results that it reaches: MASK_ROWS x PACK sums are in registers. A sum begins with
//            the mask's first row, and moves on by a row as it takes the next, which the first tap's multiply-add does in
//            passing; after the last one it is stored. So every sum takes its taps row by row, in ascending order.
//            All taps are unrolled. Small masks come by value, which is among the kernel's parameters; others are in
//            constant memory. Lanes that follow one another are neighbours: what they share of a row comes from a cache.
// Border     Cells outside are made where they are loaded. Most work-items have none in their strips, and load without asking.
// Passes     one; traffic: every element of the image is read once from memory, and (height + MASK_ROWS - 1) / height times
//            from the caches; every result is written once. Taps that a strip's first rows would add to the strip above are
//            left out where CHECKED, and else computed in vain: MASK_ROWS - 1 rows in each strip.
// Tunables   PACK columns a work-item, AHEAD, GROUP work-items, `height` as the host side cuts the image, CHECKED.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: type of the image; T: of the mask and the result; BY_VALUE: how the mask comes; ALIGNED: whether the image's packs are.

#define BEFORE (MASK_COLUMNS / 2)                    // columns that the mask reaches to either side
#define LEAD ((BEFORE + PACK - 1) / PACK * PACK)    // the same in whole packs
#define WIDTH (PACK + 2 * LEAD)
#define SLOT(u, k) (UNROLL == 1 ? (k) : ((u) + (k)) % (AHEAD + 1))

#if BY_VALUE
typedef struct { T tap[MASK_ROWS * MASK_COLUMNS]; } Mask;
#define MASK_PARAMETER const Mask mask
#define MASK_ARGUMENT mask
#define TAP(k) mask.tap[k]
#else
#define MASK_PARAMETER __constant T *mask, ulong mask_at
#define MASK_ARGUMENT mask, mask_at
#define TAP(k) mask[mask_at + (k)]
#endif

typedef struct { I item[PACK]; } __attribute__((aligned(PACK * I_SIZE))) PackI;
typedef struct { T item[PACK]; } __attribute__((aligned(16))) PackT;

// The cells of columns [-LEAD, PACK + LEAD) beside `own`, all of which are in the image. Cells further away than BEFORE are
// nothing.
INLINED void load_inside(T* to, __global const I* own) {
#if ALIGNED
#pragma unroll
    for (int k = 0; k < WIDTH / PACK; ++k) {
        const PackI pack = *(__global const PackI*)(own + (k * PACK - LEAD));
#pragma unroll
        for (int j = 0; j < PACK; ++j) to[k * PACK + j] = (T)pack.item[j];
    }
#else
#pragma unroll
    for (int k = LEAD - BEFORE; k < WIDTH - (LEAD - BEFORE); ++k) to[k] = (T)own[k - LEAD];
#endif
}

// The same of any row and column, where cells may be outside.
INLINED void load_checked(T* to, __global const I* in, i64 row, i64 column, i64 rows, i64 columns, u64 pitch, bool clamps) {
    const i64 r = min(max(row, (i64)0), rows - 1);
    __global const I* from = in + (u64)r * pitch;
#pragma unroll
    for (int k = LEAD - BEFORE; k < WIDTH - (LEAD - BEFORE); ++k) {
        const i64 at = column - LEAD + k, c = min(max(at, (i64)0), columns - 1);
        const T cell = (T)from[c];
        to[k] = clamps || (c == at && r == row) ? cell : (T)0;
    }
}

INLINED void store_pack(__global T* to, const T* value, u64 count, bool aligned) {
    if (count >= PACK && aligned) {
        PackT pack;
#pragma unroll
        for (int p = 0; p < PACK; ++p) pack.item[p] = value[p];
        *(__global PackT*)to = pack;
        return;
    }
#pragma unroll
    for (int p = 0; p < PACK; ++p) {
        if (p < count) to[p] = value[p];
    }
}

// Applies the taps: sum[k] is afterwards the one that has had mask rows up to MASK_ROWS - 1 - k. Wanted are those from
// `first` to `last`.
INLINED void add_row(T sum[MASK_ROWS][PACK], const T* row, MASK_PARAMETER, int first, int last) {
#pragma unroll
    for (int k = 0; k < MASK_ROWS; ++k) {
        const int j = MASK_ROWS - 1 - k;
        if (CHECKED && (k < first || k > last)) continue;
#pragma unroll
        for (int i = 0; i < MASK_COLUMNS; ++i) {
            const T tap = TAP(j * MASK_COLUMNS + i);
#pragma unroll
            for (int p = 0; p < PACK; ++p) {
                const T so_far = i > 0 ? sum[k][p] : j > 0 ? sum[k + (j > 0)][p] : (T)0;
                sum[k][p] = fma(tap, row[LEAD - BEFORE + p + i], so_far);
            }
        }
    }
}

// Groups lie `across` side by side; of a group's rows of 32 lanes 1 << wide_shift do, the others below them. Whether all
// cells that such a row of lanes loads are in the image is decided for its whole strip: a branch in which rows were loaded
// would wait for them where it ends, and nothing would be AHEAD. (The rows are unrolled by hand: NVVM of CUDA 13.0 forgets the
// remainder of this loop.)
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void convolve_sliding(__global const I* restrict in, ulong in_at, __global T* restrict out, ulong out_at, MASK_PARAMETER,
                      u64 rows, u64 columns, u64 in_pitch, u64 out_pitch, u32 across, u32 height, u32 wide_shift, u32 clamps,
                      u32 out_aligned) {
    const u32 group = get_group_id(0), part = get_local_id(0) / 32, lane = get_local_id(0) % 32;
    const u32 strips = GROUP / 32 >> wide_shift;
    const u64 y = ((u64)(group / across) * strips + (part >> wide_shift)) * height;
    const u64 left = (((u64)(group % across) << wide_shift) + (part & ((1u << wide_shift) - 1))) * (32 * PACK);
    const u64 x = left + lane * PACK;
    if (y >= rows || x >= columns) return;
    in += in_at;
    const int results = (int)min((u64)height, rows - y), count = results + MASK_ROWS - 1;
    const i64 top = (i64)y - MASK_ROWS / 2;
    __global T* to = out + out_at + y * out_pitch + x;
    T sum[MASK_ROWS][PACK];
#pragma unroll
    for (int k = 0; k < MASK_ROWS; ++k) {
#pragma unroll
        for (int p = 0; p < PACK; ++p) sum[k][p] = 0;
    }
    if (left >= LEAD && left + (32 * PACK + LEAD) <= columns && y >= MASK_ROWS / 2 && y + results + MASK_ROWS / 2 <= rows) {
        __global const I* own = in + (top * (i64)in_pitch + (i64)x);
        T window[AHEAD + 1][WIDTH];  // the next row is at SLOT(u, 0), for the body's row u
#pragma unroll
        for (int r = 0; r < AHEAD; ++r) {
            load_inside(window[r], own);
            if (r + 1 < count) own += in_pitch;
        }
#pragma unroll 1
        for (int begin = 0; begin < count; begin += UNROLL) {
#pragma unroll
            for (int u = 0; u < UNROLL; ++u) {
                const int r = begin + u;
                if (r >= count) return;
                load_inside(window[SLOT(u, AHEAD)], own);
                if (r + AHEAD + 1 < count) own += in_pitch;
                add_row(sum, window[SLOT(u, 0)], MASK_ARGUMENT, MASK_ROWS - 1 - r, results + MASK_ROWS - 2 - r);
                if (r < MASK_ROWS - 1) continue;
                store_pack(to, sum[0], PACK, out_aligned != 0);
                to += out_pitch;
            }
#if UNROLL == 1
#pragma unroll
            for (int k = 0; k < AHEAD; ++k) {
#pragma unroll
                for (int i = 0; i < WIDTH; ++i) window[k][i] = window[k + 1][i];
            }
#endif
        }
        return;
    }
#pragma unroll 1
    for (int r = 0; r < count; ++r) {
        T row[WIDTH];
        load_checked(row, in, top + r, (i64)x, (i64)rows, (i64)columns, in_pitch, clamps != 0);
        add_row(sum, row, MASK_ARGUMENT, MASK_ROWS - 1 - r, results + MASK_ROWS - 2 - r);
        if (r < MASK_ROWS - 1) continue;
        store_pack(to, sum[0], columns - x, out_aligned != 0);
        to += out_pitch;
    }
}
