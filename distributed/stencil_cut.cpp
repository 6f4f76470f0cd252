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

u64 granule_of(u64 columns) {
    return columns % 4 == 0 ? 4 : 1;
}

u64 longest(u64 length, u32 pieces) {
    return detail::divide_up(length, pieces);
}

// Whether every piece is at least `radius` long, or the axis is not cut.
bool is_thick(u64 length, u32 pieces, u32 radius) {
    return pieces == 1 || length / pieces >= radius;
}

// Columns of the narrowest of `pieces` parts.
u64 narrowest(u64 columns, u32 pieces) {
    return columns / granule_of(columns) / pieces * granule_of(columns);
}

// Columns that the rank of the widest of at least two parts computes.
u64 widest_with_halos(u64 columns, u32 pieces, u32 radius) {
    const u64 own = longest(columns / granule_of(columns), pieces) * granule_of(columns);
    return own + std::min(pieces - 1, 2U) * detail::whole_granules(radius, columns);
}

bool is_thick_x(u64 columns, u32 pieces, u32 radius) {
    return pieces == 1 || narrowest(columns, pieces) >= detail::whole_granules(radius, columns);
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

void check_pieces(bool fits, const char* what, u64 length, u32 pieces, u64 least, u32 radius) {
    if (fits) return;
    refuse("every part needs at least " + count_of(least, what) + ", the radius" +
           (least > radius ? " rounded up to a multiple of 4" : "") + ", got " + count_of(length, what) +
           " in " + count_of(pieces, "part"));
}

}  // namespace

StencilBox StencilCut::part_of(u32 rank) const {
    if (rank >= parts()) return {};
    const u32 plane = along_y * along_x;
    const Part z = piece_of(shape.depth, rank / plane, along_z),
               y = piece_of(shape.rows, rank % plane / along_x, along_y);
    StencilBox box{z.first, z.first + z.count, y.first, y.first + y.count, 0, shape.columns};
    if (along_x > 1) {
        const u64 granule = granule_of(shape.columns);
        const Part x = piece_of(shape.columns / granule, rank % along_x, along_x);
        box.x_begin = x.first * granule;
        box.x_end = box.x_begin + x.count * granule;
    }
    return box;
}

std::string StencilCut::name() const {
    return along_x == 1 ? detail::size_name({along_z, along_y})
                        : detail::size_name({along_z, along_y, along_x});
}

u64 detail::whole_granules(u64 count, u64 columns) {
    return divide_up(count, granule_of(columns)) * granule_of(columns);
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
    if (is_thick(shape.depth, 2, radius) || is_thick(shape.rows, 2, radius)) return best;
    u64 fewest = shape.columns;
    for (u32 x = 2; x <= ranks && is_thick_x(shape.columns, x, radius); ++x) {
        const u64 columns = widest_with_halos(shape.columns, x, radius);
        if (columns >= fewest) continue;
        fewest = columns;
        best.along_x = x;
    }
    return best;
}

u64 detail::cheap_halo_bytes(const Device& device) {
    constexpr u64 of_gpu = u64{4} << 20, of_cpu = 0;
    return device.traits().launch == LaunchModel::groups ? of_gpu : of_cpu;
}

u32 detail::max_steps_per_exchange(const StencilCut& cut, u32 radius) {
    u64 most = 8;
    if (cut.parts() == 1 || radius == 0) return 1;
    if (cut.along_z > 1) most = std::min(most, cut.shape.depth / cut.along_z / (2 * radius));
    if (cut.along_y > 1) most = std::min(most, cut.shape.rows / cut.along_y / (2 * radius));
    if (cut.along_x > 1) most = std::min(most, narrowest(cut.shape.columns, cut.along_x) / (2 * radius));
    return static_cast<u32>(std::max<u64>(most, 1));
}

u32 detail::choose_steps_per_exchange(const StencilCut& cut, u32 radius, u32 element_size, u64 cheap_bytes) {
    if (cut.along_y > 1 || cut.along_x > 1) return 1;
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
    if (options.along_z == 0 && options.along_y == 0 && options.along_x == 0)
        return detail::choose_cut(shape, most, radius);
    const StencilCut cut{shape, std::max(1U, options.along_z), std::max(1U, options.along_y),
                         std::max(1U, options.along_x)};
    if (most / cut.along_z / cut.along_y / cut.along_x == 0)
        refuse("the number of parts must not exceed " + count_of(most, "rank") +
               (row.has_server ? " (without the data server)" : "") + ", got " + cut.name());
    check_pieces(is_thick(shape.depth, cut.along_z, radius), "plane", shape.depth, cut.along_z, radius,
                 radius);
    check_pieces(is_thick(shape.rows, cut.along_y, radius), "row", shape.rows, cut.along_y, radius, radius);
    check_pieces(is_thick_x(shape.columns, cut.along_x, radius), "column", shape.columns, cut.along_x,
                 detail::whole_granules(radius, shape.columns), radius);
    return cut;
}

StencilBox stencil_holding(const StencilCut& cut, u32 rank, u32 ranks,
                           const DistributedStencilOptions& options) {
    if (!detail::distributed_variant(options.variant).has_server) return cut.part_of(rank);
    if (rank + 1 < ranks) return {};
    return {0, cut.shape.depth, 0, cut.shape.rows, 0, cut.shape.columns};
}

}  // namespace concord
