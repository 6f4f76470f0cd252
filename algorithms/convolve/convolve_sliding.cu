// Convolve, `sliding`, CUDA C++. Parallel source: convolve_sliding.cl.
//
// Algorithm  A thread computes PACK columns of `height` rows, top to bottom. It loads a row of cells, from `lead`
//            columns to the left of its own to `lead` columns to the right, in packs, AHEAD rows ahead of use. It then
//            applies the taps of all mask rows to that row: MASK_ROWS x PACK sums are in registers. A sum begins with
//            the first mask row and moves up one place per image row, as part of the first tap's fma. After the last
//            mask row it is stored. So every sum takes its taps in ascending order of rows, then columns.
//            All taps are unrolled. Small masks are kernel parameters, so their taps are constant-memory operands;
//            larger ones are in global memory. Lanes of a warp have adjacent columns and share cells through L1.
// Border     Cells outside the image are substituted at the load. Warps whose strip lies inside the image skip the
//            checks.
// Passes     one
// Traffic    every element of the image is read once from memory and (height + MASK_ROWS - 1) / height times from L2;
//            every result is written once. The first and last MASK_ROWS - 1 rows of a strip contribute to sums of
//            other strips, too. With CHECKED these taps are skipped; without, they are computed and discarded.
// Tunables   PACK columns per thread, AHEAD, UNROLL, GROUP threads, `height` (convolve.strip), CHECKED.
// Source     V. Volkov, Better performance at lower occupancy, GTC 2010.
//
// I: element type of the image; T: element type of the mask and the result; BY_VALUE: the mask is a kernel parameter;
// IN_ALIGNED: packs of the image are aligned.

#include "convolve_mask.cu"

constexpr int width = PACK + 2 * lead;
constexpr int unrolled = UNROLL;
static_assert(unrolled == 1 || unrolled == AHEAD + 1);

struct Row {
    T cell[width];
};

// Loads the cells of columns [-lead, PACK + lead) relative to `own`, all inside the image. Cells further away than
// `before` are undefined.
__device__ __forceinline__ void load_inside(Row& to, const I* own) {
    if constexpr (IN_ALIGNED) {
#pragma unroll
        for (int k = 0; k < width; k += PACK) {
            const Pack<I, PACK> pack = *reinterpret_cast<const Pack<I, PACK>*>(own + (k - lead));
#pragma unroll
            for (int j = 0; j < PACK; ++j) to.cell[k + j] = T(pack.item[j]);
        }
    } else {
#pragma unroll
        for (int k = lead - before; k < width - (lead - before); ++k) to.cell[k] = T(own[k - lead]);
    }
}

// Loads the same cells of any row and column; cells may be outside the image.
__device__ __forceinline__ void load_checked(Row& to, const Image& image, i64 row, i64 column) {
    const i64 r = min(max(row, i64(0)), image.rows - 1);
    const I* const from = image.in + u64(r) * image.pitch;
#pragma unroll
    for (int k = lead - before; k < width - (lead - before); ++k) {
        const i64 at = column - lead + k, c = min(max(at, i64(0)), image.columns - 1);
        const T cell = T(from[c]);
        to.cell[k] = image.clamps || (c == at && r == row) ? cell : T(0);
    }
}

// Applies all taps to a row. Afterwards sum[k] includes the mask rows up to MASK_ROWS - 1 - k. Only sums `first` to
// `last` are needed.
__device__ __forceinline__ void add_row(T (&sum)[MASK_ROWS][PACK], const Row& row, const Mask& mask, int first, int last) {
#pragma unroll
    for (int k = 0; k < MASK_ROWS; ++k) {
        if (CHECKED && (k < first || k > last)) continue;
        const int j = MASK_ROWS - 1 - k;
#pragma unroll
        for (int i = 0; i < MASK_COLUMNS; ++i) {
            const T tap = mask[j * MASK_COLUMNS + i];
#pragma unroll
            for (int p = 0; p < PACK; ++p) {
                const T so_far = i > 0 ? sum[k][p] : j > 0 ? sum[k + (j > 0)][p] : T(0);
                sum[k][p] = fma(tap, row.cell[lead - before + p + i], so_far);
            }
        }
    }
}

// Computes a thread's strip of `results` rows. Inside: all cells of the warp's strip are inside the image. The branch
// is taken once per strip: loads inside a branch complete where the branches join, so none would be in flight AHEAD.
// (Rows are unrolled by hand: NVVM of CUDA 13.0 drops the remainder of this loop.)
template <bool Inside>
__device__ __forceinline__ void take_strip(const Image& image, const Mask& mask, T* to, u64 out_pitch, i64 y, i64 x, int results,
                                           bool out_aligned) {
    const int count = results + MASK_ROWS - 1;
    const i64 top = y - MASK_ROWS / 2;
    T sum[MASK_ROWS][PACK] = {};
    auto take_row = [&](const Row& row, int r) {
        add_row(sum, row, mask, MASK_ROWS - 1 - r, results + MASK_ROWS - 2 - r);
        if (r < MASK_ROWS - 1) return;
        T result[PACK];
#pragma unroll
        for (int p = 0; p < PACK; ++p) result[p] = canonical(sum[0][p]);
        store_pack(to, result, Inside ? PACK : u64(image.columns - x), out_aligned);
        to += out_pitch;
    };
    if constexpr (Inside) {
        const I* own = image.in + top * i64(image.pitch) + x;
        Row window[AHEAD + 1];  // iteration u reads the row at slot(u, 0)
        auto slot = [](int u, int k) { return unrolled == 1 ? k : (u + k) % (AHEAD + 1); };
        auto load = [&](Row& to, int r) {
            load_inside(to, own);
            if (r + 1 < count) own += image.pitch;
        };
#pragma unroll
        for (int r = 0; r < AHEAD; ++r) load(window[r], r);
#pragma unroll 1
        for (int first = 0; first < count; first += unrolled) {
#pragma unroll
            for (int u = 0; u < unrolled; ++u) {
                const int r = first + u;
                if (r >= count) return;
                load(window[slot(u, AHEAD)], r + AHEAD);
                take_row(window[slot(u, 0)], r);
            }
            if constexpr (unrolled == 1) {
#pragma unroll
                for (int k = 0; k < AHEAD; ++k) window[k] = window[k + 1];
            }
        }
    } else {
#pragma unroll 1
        for (int r = 0; r < count; ++r) {
            Row row;
            load_checked(row, image, top + r, x);
            take_row(row, r);
        }
    }
}

// `across` groups cover the image's width. In a group, 1 << wide_shift warps are side by side, the others below them.
extern "C" __global__ void __launch_bounds__(GROUP)
    convolve_sliding(const I* __restrict__ in, T* __restrict__ out, const __grid_constant__ Mask mask, u64 rows, u64 columns, u64 in_pitch,
                     u64 out_pitch, u32 across, u32 height, u32 wide_shift, u32 clamps, u32 out_aligned) {
    const u32 warp = threadIdx.x / warp_width, lane = threadIdx.x % warp_width;
    const u32 strips = GROUP / warp_width >> wide_shift;
    const u64 y = (u64(blockIdx.x / across) * strips + (warp >> wide_shift)) * height;
    const u64 left = ((u64(blockIdx.x % across) << wide_shift) + (warp & ((1u << wide_shift) - 1))) * (warp_width * PACK);
    const u64 x = left + lane * PACK;
    if (y >= rows || x >= columns) return;
    const Image image = {in, i64(rows), i64(columns), in_pitch, clamps != 0};
    const int results = int(min(u64(height), rows - y));
    T* const to = out + y * out_pitch + x;
    const bool inside = left >= lead && left + (warp_width * PACK + lead) <= columns && y >= MASK_ROWS / 2 &&
                        y + results + MASK_ROWS / 2 <= rows;
    if (inside) {
        take_strip<true>(image, mask, to, out_pitch, i64(y), i64(x), results, out_aligned != 0);
    } else {
        take_strip<false>(image, mask, to, out_pitch, i64(y), i64(x), results, out_aligned != 0);
    }
}
