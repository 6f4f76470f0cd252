// Domain decomposition of a volume over ranks.

#include "distributed_stencil_variants.hpp"

#include <concord/internal/shape.hpp>

#include <algorithm>
#include <string>

namespace concord {
namespace {

// Piece `index` of `length` elements, cut into `pieces` whose lengths differ by at most one.
Part piece_of(u64 length, u32 index, u32 pieces) {
    const u64 each = length / pieces, longer = length % pieces;
    return {index * each + std::min<u64>(index, longer), each + (index < longer ? 1 : 0)};
}

u64 longest(u64 length, u32 pieces) {
    return detail::divide_up(length, pieces);
}

// Whether every piece is at least `radius` long, or the axis is not cut.
bool is_thick(u64 length, u32 pieces, u32 radius) {
    return pieces == 1 || length / pieces >= radius;
}

// Estimated time of a step, in points. A point of a packed halo costs as much as `packed` points.
double cost_of(const VolumeExtents& s, u32 along_z, u32 along_y, u32 radius) {
    constexpr double packed = 8;
    const auto planes = static_cast<double>(longest(s.depth, along_z)),
               rows = static_cast<double>(longest(s.rows, along_y)), columns = static_cast<double>(s.columns);
    const double faces_z = std::min(along_z - 1, 2U), faces_y = std::min(along_y - 1, 2U);
    return columns * (planes * rows + radius * (faces_z * rows + packed * faces_y * planes));
}

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "distributed_stencil", what);
}

std::string count_of(u64 n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

void check_pieces(const char* what, u64 length, u32 pieces, u32 radius) {
    if (!is_thick(length, pieces, radius))
        refuse("every part needs at least " + count_of(radius, what) + ", the radius, got " +
               count_of(length, what) + " in " + count_of(pieces, "part"));
}

}  // namespace

StencilBox StencilCut::part_of(u32 rank) const {
    if (rank >= parts()) return {};
    const Part z = piece_of(shape.depth, rank / along_y, along_z),
               y = piece_of(shape.rows, rank % along_y, along_y);
    return {z.first, z.first + z.count, y.first, y.first + y.count};
}

StencilCut detail::choose_cut(const VolumeExtents& shape, u32 ranks, u32 radius) {
    StencilCut best{shape, 1, 1};
    double least = cost_of(shape, 1, 1, radius);
    for (u32 y = 1; y <= ranks; ++y) {
        if (!is_thick(shape.rows, y, radius)) break;
        for (u32 z = 1; z <= ranks / y && is_thick(shape.depth, z, radius); ++z) {
            const double cost = cost_of(shape, z, y, radius);
            if (cost >= least) continue;
            least = cost;
            best = {shape, z, y};
        }
    }
    return best;
}

u64 detail::cheap_halo_bytes(const Device& device) {
    constexpr u64 of_gpu = u64{4} << 20, of_cpu = 0;
    return device.traits().many_items ? of_gpu : of_cpu;
}

u32 detail::max_steps_per_exchange(const StencilCut& cut, u32 radius) {
    u64 most = 8;
    if (cut.parts() == 1 || radius == 0) return 1;
    if (cut.along_z > 1) most = std::min(most, cut.shape.depth / cut.along_z / (2 * radius));
    if (cut.along_y > 1) most = std::min(most, cut.shape.rows / cut.along_y / (2 * radius));
    return static_cast<u32>(std::max<u64>(most, 1));
}

u32 detail::choose_steps_per_exchange(const StencilCut& cut, u32 radius, u32 element_size, u64 cheap_bytes) {
    if (cut.along_y > 1) return 1;
    const u64 halo_bytes = std::max<u64>(1, radius * cut.shape.rows * cut.shape.columns * element_size);
    return static_cast<u32>(
        std::clamp<u64>(cheap_bytes / halo_bytes, 1, max_steps_per_exchange(cut, radius)));
}

StencilCut stencil_cut(const VolumeExtents& shape, u32 ranks, u32 radius,
                       const DistributedStencilOptions& options) {
    const detail::DistributedStencilVariant& row = detail::distributed_variant(options.variant);
    if (row.has_server && ranks < 2)
        refuse("variant '" + std::string(row.variant.name) +
               "' needs at least 2 ranks, one for the data and one to compute, got " + std::to_string(ranks));
    const u32 most = row.has_server ? ranks - 1 : ranks;
    if (options.along_z == 0 && options.along_y == 0) return detail::choose_cut(shape, most, radius);
    const StencilCut cut{shape, std::max(1U, options.along_z), std::max(1U, options.along_y)};
    if (u64{cut.along_z} * cut.along_y > most)
        refuse("the number of parts must not exceed " + count_of(most, "rank") +
               (row.has_server ? " (without the data server)" : "") + ", got " +
               detail::size_name({cut.along_z, cut.along_y}));
    check_pieces("plane", shape.depth, cut.along_z, radius);
    check_pieces("row", shape.rows, cut.along_y, radius);
    return cut;
}

StencilBox stencil_holding(const StencilCut& cut, u32 rank, u32 ranks,
                           const DistributedStencilOptions& options) {
    if (!detail::distributed_variant(options.variant).has_server) return cut.part_of(rank);
    if (rank + 1 < ranks) return {};
    return {0, cut.shape.depth, 0, cut.shape.rows};
}

}  // namespace concord
