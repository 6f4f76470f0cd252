// Convolve, `sliding`, OpenCL C. The parallel source convolve_sliding.cu describes it. On CPUs: convolve_wide.cl.
//
// Small masks are passed by value as a kernel argument, larger ones are in constant memory. BY_VALUE: the mask is
// passed by value; IN_ALIGNED: packs of the image are aligned.

#include "convolve_mask.cl"

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

// Loads the cells of columns [-LEAD, PACK + LEAD) relative to `own`, all inside the image. Cells further away than
// BEFORE are undefined.
INLINED void load_inside(T* to, __global const I* own) {
#if IN_ALIGNED
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

// Loads the same cells of any row and column; cells may be outside the image.
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
        for (int p = 0; p < PACK; ++p) pack.item[p] = canonical(value[p]);
        *(__global PackT*)to = pack;
        return;
    }
#pragma unroll
    for (int p = 0; p < PACK; ++p) {
        if (p < count) to[p] = canonical(value[p]);
    }
}

// Applies all taps to a row. Afterwards sum[k] includes the mask rows up to MASK_ROWS - 1 - k. Only sums `first` to
// `last` are needed.
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

// `across` groups cover the image's width. In a group, 1 << wide_shift rows of 32 work-items are side by side, the
// others below them. Whether the strip of such a row lies inside the image is decided once per strip: loads inside a
// branch complete where the branches join, so none would be in flight AHEAD. (Rows are unrolled by hand: NVVM of CUDA
// 13.0 drops the remainder of this loop.)
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
        T window[AHEAD + 1][WIDTH];  // iteration u reads the row at SLOT(u, 0)
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
