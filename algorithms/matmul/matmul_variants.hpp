#pragma once
// Internal to matmul: the validated call, its kernels, and the functions of its variants.

#include <concord/detail/float_environment.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/matmul.hpp>
#include <concord/tuning.hpp>

#include "matmul_host.hpp"

namespace concord::detail {

// Shape of a product and memory layout of its operands. The kernels know C in row-major layout only. A product has
// `parts` parts of k terms; the last one lacks `missing`. Each is a plane of C.
struct MatmulShape {
    u64 m, n, k;
    bool transpose_a = false, transpose_b = false;  // whether A or B is column-major
    u64 a_pitch, b_pitch, c_pitch;
    u64 batch = 1;                     // planes of C
    u64 a_stride, b_stride, c_stride;  // elements between the matrices of a batch; 0: one matrix for all
    u64 parts = 1, missing = 0;

    u64 depth() const { return parts * k - missing; }  // terms of an element of C
};

// A validated call. All pitches and strides are set. If k is 0, a and b are empty ranges of c's buffer.
struct MatmulProblem {
    View a, b, c;
    MatmulShape shape;
    MatmulScale scale;

    Type type() const { return c.type; }
    u32 size() const { return size_of(c.type); }
    // Distance in elements between neighbours of op(A) or op(B), down a column and along a row.
    u64 a_row() const { return shape.transpose_a ? 1 : shape.a_pitch; }
    u64 a_column() const { return shape.transpose_a ? shape.a_pitch : 1; }
    u64 b_row() const { return shape.transpose_b ? 1 : shape.b_pitch; }
    u64 b_column() const { return shape.transpose_b ? shape.b_pitch : 1; }
};

// Whether C has so few rows or columns that tiles would be mostly padding.
inline constexpr u64 thin = 8;
inline bool is_thin(const MatmulProblem& p) {
    return std::min(p.shape.m, p.shape.n) < thin;
}

// Throws invalid_argument or wrong_device unless the call is valid.
MatmulProblem matmul_problem(Stream& stream, const VolumeView& a, const VolumeView& b, const VolumeView& c,
                             const MatmulScale& scale);

inline TuningPoint point_of(const MatmulProblem& p) {
    const auto [least, most] = std::minmax({p.shape.m, p.shape.n, p.shape.k});
    const bool oblong = most / 4 > least || p.shape.batch != 1;
    return {p.type(), p.shape.m * p.shape.n * p.shape.batch, is_thin(p) ? 2U : oblong ? 1U : 0U};
}

inline constexpr u64 matmul_block = 4;  // side of the block of C per work-item of `blocks` and `blocks_tiled`

inline constexpr Tunable matmul_tile_index{
    "matmul.tile", "register_tiled: index of the tile size, 1 is the largest", on_gpus, {1, 2, 3, 4, 5, 6}};
inline constexpr Tunable matmul_panel_kib{"matmul.panel_kib",
                                          "packed: KiB per block of a panel of B",
                                          {LaunchModel::host},
                                          {16, 24, 32, 48, 64, 96}};
inline constexpr Tunable matmul_strips_kib{"matmul.strips_kib",
                                           "packed: KiB per group for blocks of strips of A",
                                           {LaunchModel::host},
                                           {64, 128, 256, 512}};
inline constexpr Tunable matmul_max_panels{
    "matmul.panels", "packed: maximum number of panels per group", {LaunchModel::host}, {2, 4, 8, 16, 32}};
inline constexpr Tunable matmul_groups_a_unit{
    "matmul.groups", "packed, direct: target number of groups per thread", on_cpus, {1, 2, 4, 8, 16, 32}};
inline constexpr Tunable matmul_direct_work{"matmul.direct_work",
                                            "direct: least thousands of fused multiply-adds per group",
                                            {LaunchModel::host},
                                            {128, 256, 512, 1024, 2048}};

// Kernel `entry` for an element type. `constants` are added to those that depend on the type alone.
std::shared_ptr<Kernel> matmul_kernel(Device& device, Type type, const KernelSource& source,
                                      const char* entry, u32 group_size, const Constants& constants,
                                      HostKernel host);

// Host kernels of one element type.
struct MatmulHost {
    HostKernel serial, sum_parts;
};
const MatmulHost& matmul_host(Type type);

// Kernels and register tile (rows of a strip, columns of a panel) for the machine's instruction set.
struct PackedHost {
    HostKernel pack, packed;
    u64 rows, columns;
};
PackedHost packed_host(Type type, HostIsa isa);

// The kernel and the rows and columns of its tiles for the machine's instruction set.
struct DirectHost {
    HostKernel kernel;
    u64 rows, columns;
};
DirectHost direct_host(Type type, HostIsa isa);

template <class T>
detail::host::Product<T> product_of(const MatmulProblem& p) {
    const MatmulShape& s = p.shape;
    return {s.m,
            s.n,
            s.k,
            p.a_row(),
            p.a_column(),
            p.b_row(),
            p.b_column(),
            s.c_pitch,
            s.a_stride,
            s.b_stride,
            s.c_stride,
            s.parts,
            s.missing,
            static_cast<T>(p.scale.alpha),
            static_cast<T>(p.scale.beta)};
}

// Calls f with the Product argument of the kernels, whose factors are rounded to the type.
template <class F>
void with_product(const MatmulProblem& p, F f) {
    auto with = [&](const auto& product) { f(ValueBytes{std::as_bytes(std::span(&product, 1))}); };
    visit_float(p.type(), [&]<class T>(TypeTag<T>) {
        with(in_default_float_environment([&] { return product_of<T>(p); }));
    });
}

// Whether the number of tiles of `rows` x `columns` elements of C is within the limit of a launch.
Support supports_tiles(const MatmulProblem& p, u64 rows, u64 columns);

// A call uses scratch memory of this size for as many products of a batch as fit, at least for one.
inline constexpr u64 usual_scratch = u64{64} << 20;

// Calls f for slices of the batch, each of at most `most` planes of whole products. Scratch of a slice is
// that of the one before.
template <class F>
void for_slices(const MatmulProblem& p, u64 most, F f) {
    for (u64 first = 0; first < p.shape.batch; first += most) {
        MatmulProblem slice = p;
        const auto skip = [](View& view, u64 planes, u64 stride) {
            view = view.part(planes * stride, view.count - planes * stride);
        };
        if (p.shape.k > 0) {
            skip(slice.a, first / p.shape.parts, p.shape.a_stride);
            skip(slice.b, first / p.shape.parts, p.shape.b_stride);
        }
        skip(slice.c, first, p.shape.c_stride);
        slice.shape.batch = std::min(most, p.shape.batch - first);
        f(slice);
    }
}

// Whether the canonical order splits k into parts.
inline bool is_split(const MatmulShape& s) {
    return canonical_part(s.m, s.n, s.k) < s.k;
}

// The parts of all products as planes of a batch. c is still that of `whole`.
MatmulProblem parts_of(const MatmulProblem& whole);

// Computes the parts of slices of the batch in scratch memory, by the variant of that row, and adds them.
void run_in_parts(Stream& stream, const MatmulProblem& p, const Row<MatmulProblem>& row);

// Number of tiles of C along a column, along a row, and in all products of the batch.
struct MatmulTiles {
    u32 down, across;
    u64 groups;
};
inline MatmulTiles tiles_of(const MatmulProblem& p, u64 rows, u64 columns) {
    const u64 down = divide_up(p.shape.m, rows), across = divide_up(p.shape.n, columns);
    return {static_cast<u32>(down), static_cast<u32>(across), down * across * p.shape.batch};
}

// Height of the bands in which groups process the tiles, in tiles; see tile_order.kernel.
inline constexpr u32 matmul_band_rows = 16;

// Kernels for GPUs load and store packs of 16 bytes.
inline constexpr u64 bytes_of_pack = 16;

// Whether rows start at multiples of a pack.
inline bool is_aligned(const View& view, u64 pitch, u64 stride) {
    const u64 size = size_of(view.type);
    return view.offset % bytes_of_pack == 0 && pitch * size % bytes_of_pack == 0 &&
           stride * size % bytes_of_pack == 0;
}

// Whether every row of an operand, `contiguous` elements long, consists of whole aligned packs.
inline bool in_whole_packs(const View& view, u64 contiguous, u64 pitch, u64 stride) {
    return contiguous * size_of(view.type) % bytes_of_pack == 0 && is_aligned(view, pitch, stride);
}

// Textbook steps, in groups and single work-items.
SupportsOf<MatmulProblem> supports_matmul_steps;
RunOf<MatmulProblem> run_matmul_naive, run_matmul_tiled, run_matmul_blocks, run_matmul_blocks_tiled;

// Groups of many work-items.
SupportsOf<MatmulProblem> supports_matmul_register_tiled;
RunOf<MatmulProblem> run_matmul_register_tiled;
// The part of `register_tiled` for f64 on tensor cores. Returns false, and enqueues nothing, if the device has none, if
// they have failed their self-test, or if the tile does not fit.
bool run_matmul_mma(Stream& stream, const MatmulProblem& p);
SupportsOf<MatmulProblem> supports_matmul_tf32x3;
RunOf<MatmulProblem> run_matmul_tf32x3;

// One work-item per group.
SupportsOf<MatmulProblem> supports_matmul_packed_items;
RunOf<MatmulProblem> run_matmul_packed_items;

// C++.
SupportsOf<MatmulProblem> supports_matmul_direct, supports_matmul_packed_host;
SuitsOf<MatmulProblem> suits_matmul_direct;
RunOf<MatmulProblem> run_matmul_direct, run_matmul_packed_host, run_matmul_serial;

}  // namespace concord::detail
