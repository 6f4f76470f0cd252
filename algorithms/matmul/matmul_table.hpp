#pragma once
// What matmul's files share: a call as the kernels see it, kernels, and the launch code of the rows.

#include <concord/matmul.hpp>
#include <concord/tuning.hpp>

#include "matmul_host.hpp"

namespace concord::detail {

/// A call with pitches and strides filled in. Where k is 0, a and b are empty ranges of c's buffer.
struct MatmulProblem {
    View a, b, c;
    MatmulShape shape;
    MatmulScale scale;

    Type type() const { return c.type; }
    u32 size() const { return size_of(c.type); }
    /// From one element of op(A) or op(B) to the next, down and across.
    u64 a_row() const { return shape.transpose_a ? 1 : shape.a_pitch; }
    u64 a_column() const { return shape.transpose_a ? shape.a_pitch : 1; }
    u64 b_row() const { return shape.transpose_b ? 1 : shape.b_pitch; }
    u64 b_column() const { return shape.transpose_b ? shape.b_pitch : 1; }
};

inline TuningPoint point_of(const MatmulProblem& p) {
    const auto [least, most] = std::minmax({p.shape.m, p.shape.n, p.shape.k});
    const bool oblong = most / 4 > least || p.shape.batch != 1;
    return {p.type(), p.shape.m * p.shape.n * p.shape.batch, oblong ? 1U : 0U};
}

inline constexpr Tunable matmul_tile_index{.name = "matmul.tile",
                                           .summary = "which tile, from the largest on, register_tiled",
                                           .used_by = {TunableUser::cuda, TunableUser::opencl},
                                           .values = {1, 2, 3, 4, 5}};
inline constexpr Tunable matmul_panel_kib{.name = "matmul.panel_kib",
                                          .summary = "KiB of a block of a panel, packed",
                                          .used_by = {TunableUser::host},
                                          .values = {16, 24, 32, 48, 64, 96}};
inline constexpr Tunable matmul_strips_kib{.name = "matmul.strips_kib",
                                           .summary = "KiB of a group's blocks of strips, packed",
                                           .used_by = {TunableUser::host},
                                           .values = {64, 128, 256, 512}};
inline constexpr Tunable matmul_most_panels{.name = "matmul.panels",
                                            .summary = "panels of a group at most, packed",
                                            .used_by = {TunableUser::host},
                                            .values = {2, 4, 8, 16, 32}};
inline constexpr Tunable matmul_groups_a_unit{.name = "matmul.groups",
                                              .summary = "groups wanted for each thread, packed",
                                              .used_by = {TunableUser::opencl_single_item, TunableUser::host},
                                              .values = {1, 2, 4, 8, 16, 32}};

enum class MatmulSource { steps, register_tiled, packed, tf32 };

/// The kernel `entry` for a type, with constants besides those that follow from the type.
std::shared_ptr<Kernel> matmul_kernel(Device& device, Type type, MatmulSource text, const char* entry,
                                      u32 group_size, const Constants& constants, HostKernel host);

/// The host kernels of the textbook's steps for one type.
struct MatmulHost {
    HostKernel serial, naive, tiled, blocks, blocks_tiled;
};
const MatmulHost& matmul_host(Type type);

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
            static_cast<T>(p.scale.alpha),
            static_cast<T>(p.scale.beta)};
}

/// Calls f with the call as a kernel's argument.
template <class F>
void with_product(const MatmulProblem& p, F f) {
    auto with = [&](const auto& product) { f(ValueBytes{std::as_bytes(std::span(&product, 1))}); };
    if (p.type() == Type::f32) return with(product_of<f32>(p));
    with(product_of<f64>(p));
}

/// Whether groups of `rows` x `columns` elements of C can be counted in 32 bits, as kernels do.
Support supports_tiles(const MatmulProblem& p, u64 rows, u64 columns);

/// Tiles of `rows` x `columns` elements, as kernels count them.
struct MatmulTiles {
    u32 down, across;
    u64 groups;
};
inline MatmulTiles tiles_of(const MatmulProblem& p, u64 rows, u64 columns) {
    const u64 down = divide_up(p.shape.m, rows), across = divide_up(p.shape.n, columns);
    return {static_cast<u32>(down), static_cast<u32>(across), down * across * p.shape.batch};
}

Support supports_matmul_steps(const Device& device, const MatmulProblem& p);
void run_matmul_serial(Stream& stream, const MatmulProblem& p);
void run_matmul_naive(Stream& stream, const MatmulProblem& p);
void run_matmul_tiled(Stream& stream, const MatmulProblem& p);
void run_matmul_blocks(Stream& stream, const MatmulProblem& p);
void run_matmul_blocks_tiled(Stream& stream, const MatmulProblem& p);

Support supports_matmul_register_tiled(const Device& device, const MatmulProblem& p);
void run_matmul_register_tiled(Stream& stream, const MatmulProblem& p);

Support supports_matmul_tf32x3(const Device& device, const MatmulProblem& p);
void run_matmul_tf32x3(Stream& stream, const MatmulProblem& p);

Support supports_matmul_packed(const Device& device, const MatmulProblem& p);
void run_matmul_packed(Stream& stream, const MatmulProblem& p);

}  // namespace concord::detail
