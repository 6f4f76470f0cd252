// Host side of matmul's textbook steps.

#include "matmul_sources.hpp"
#include "matmul_variants.hpp"

#include <concord/internal/shape.hpp>

namespace concord::detail {
namespace {

constexpr u32 group_size = 256, tile = 16, block = static_cast<u32>(matmul_block);
constexpr u32 row_major = 1;

void run(Stream& stream, const MatmulProblem& p, const char* entry, u32 rows, u32 columns) {
    Device& device = stream.device();
    const auto kernel = matmul_kernel(device, p.type(), kernel_sources::matmul_steps(), entry, group_size,
                                      {{"GROUP", group_size}, {"TILE", tile}}, {});
    const MatmulTiles tiles = tiles_of(p, rows, columns);
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, LaunchShape::linear(tiles.groups, group_size), p.a, p.b, p.c, product,
               tiles.down, tiles.across, row_major);
    });
}

}  // namespace

Support supports_tiles(const MatmulProblem& p, u64 rows, u64 columns) {
    return supports_group_count({p.shape.batch, divide_up(p.shape.m, rows), divide_up(p.shape.n, columns)});
}

// Checks the smallest tile: 8 rows of `naive`, 16 columns of `tiled`.
Support supports_matmul_steps(const Device& device, const MatmulProblem& p) {
    if (Support type = supports_type(device, p.type()); !type) return type;
    if (Support group = supports_group(device, group_size); !group) return group;
    return supports_tiles(p, group_size / 32, tile);
}

void run_matmul_serial(Stream& stream, const MatmulProblem& p) {
    const auto kernel = host_kernel_of(stream.device(), "matmul_serial", matmul_host(p.type()).serial);
    with_product(p, [&](const ValueBytes& product) {
        launch(stream, *kernel, LaunchShape::linear(1, 1), p.a, p.b, p.c, product, p.shape.batch);
    });
}

void run_matmul_naive(Stream& stream, const MatmulProblem& p) {
    run(stream, p, "matmul_naive", group_size / 32, 32);
}
void run_matmul_tiled(Stream& stream, const MatmulProblem& p) {
    run(stream, p, "matmul_tiled", tile, tile);
}
void run_matmul_blocks(Stream& stream, const MatmulProblem& p) {
    run(stream, p, "matmul_blocks", group_size / 16 * block, 16 * block);
}
void run_matmul_blocks_tiled(Stream& stream, const MatmulProblem& p) {
    run(stream, p, "matmul_blocks_tiled", tile * block, tile * block);
}

}  // namespace concord::detail
