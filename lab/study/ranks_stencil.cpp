// Time steps of the distributed stencil.

#include <concord/study/internal/ranks_work.hpp>

#include <concord/distributed_stencil.hpp>

#include <algorithm>
#include <cmath>

namespace concord::study {
namespace {

// With all six neighbours the coefficients sum to 1, so values stay in range over any number of steps.
const StarCoefficients& star() {
    static const StarCoefficients coefficients = {0.4, 0.05, 0.03, 0.015, 0.005};
    return coefficients;
}

// A value in [0, 1) that depends on the position alone.
f32 value_at(u64 place) {
    place = (place ^ place >> 31) * 0x9e3779b97f4a7c15;
    return static_cast<f32>(place >> 40) * 0x1p-24F;
}

std::vector<f32> values_of(const VolumeExtents& s, const StencilBox& box) {
    std::vector<f32> values(box.points(s.columns));
    std::size_t i = 0;
    for (u64 z = box.z_begin; z < box.z_end; ++z) {
        for (u64 y = box.y_begin; y < box.y_end; ++y) {
            const u64 row = (z * s.rows + y) * s.columns + box.x_begin;
            for (u64 x = 0; x < box.width(s.columns); ++x)
                values[i++] = value_at(row + x);
        }
    }
    return values;
}

constexpr u64 checked_steps = 2;

// Expected values of a rank's part after `checked_steps`, computed on one device with all points that the part
// depends on.
std::vector<f32> expected(Stream& stream, const VolumeExtents& s, const StencilBox& part) {
    const u64 more = checked_steps * star().radius();
    const StencilBox wide{part.z_begin - std::min(part.z_begin, more), std::min(s.depth, part.z_end + more),
                          part.y_begin - std::min(part.y_begin, more), std::min(s.rows, part.y_end + more)};
    const VolumeExtents shape{wide.z_end - wide.z_begin, wide.y_end - wide.y_begin, s.columns};
    const Array<f32> in(stream, values_of(s, wide));
    const std::vector<f32> all = stencil(stream, Volume(in, shape), star(), checked_steps).to_host(stream);
    std::vector<f32> own(part.points(s.columns));
    const u64 rows = part.y_end - part.y_begin, width = part.width(s.columns);
    for (u64 z = part.z_begin; z < part.z_end; ++z) {
        for (u64 y = part.y_begin; y < part.y_end; ++y)
            std::copy_n(
                all.data() + ((z - wide.z_begin) * shape.rows + y - wide.y_begin) * s.columns + part.x_begin,
                width, own.data() + ((z - part.z_begin) * rows + y - part.y_begin) * width);
    }
    return own;
}

}  // namespace

VolumeExtents ranks_shape(u64 n, bool is_weak, u32 ranks) {
    const u64 side = static_cast<u64>(std::llround(std::cbrt(static_cast<double>(n))));
    VolumeExtents s{side, side, side};
    if (side * side * side != n) {  // 5 : 6 : 6
        const u64 unit = static_cast<u64>(std::llround(std::cbrt(static_cast<double>(n) / 180)));
        s = {5 * unit, 6 * unit, 6 * unit};
    }
    if (is_weak) s.depth *= ranks;
    return s;
}

u32 ranks_radius() {
    return star().radius();
}

RanksWork stencil_work(const RanksTask& task) {
    const VolumeExtents shape = ranks_shape(task.n, task.suite == weak_ranks, task.ranks);
    const u64 bytes = shape.depth * shape.rows * shape.columns * sizeof(f32);
    RanksWork work;
    work.bytes = 2 * bytes;
    // A rank holds four copies of its part, and more while it verifies the result. If device memory is host memory,
    // the host's copies count as well.
    work.memory = (task.shares_host_memory ? 9 : 6) * bytes;
    work.prepare = [shape, variant = task.variant](Communicator& ranks, Stream& stream) {
        const auto volume = std::make_shared<DistributedStencil>(
            ranks, stream, Type::f32, shape, star(), DistributedStencilOptions{.variant = variant});
        const StencilBox part = volume->holding();
        const Array<f32> in(stream, values_of(shape, part));
        volume->load(in.view());
        volume->run(checked_steps);
        volume->store(in.view());
        if (in.to_host(stream) != expected(stream, shape, part))
            throw_wrong(ranks.rank(), "its part differs");
        return RanksCalls{[volume](u64 steps) { volume->run(steps); }};
    };
    return work;
}

}  // namespace concord::study
