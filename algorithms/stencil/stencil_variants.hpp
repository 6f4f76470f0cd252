#pragma once
// Internal to stencil: the validated call, tunables, and the functions of its variants.

#include <concord/detail/float_environment.hpp>
#include <concord/internal/launch.hpp>
#include <concord/internal/row.hpp>
#include <concord/internal/stencil_exchange.hpp>
#include <concord/stencil.hpp>
#include <concord/tuning.hpp>

#include "stencil_host.hpp"

namespace concord::detail {

// Host kernels for one element type.
struct StencilHost {
    HostKernel naive, blocked;  // `serial` is one group of `naive`
};

const StencilHost& stencil_host(Type type);

// A validated call.
struct StencilProblem {
    View in, out;
    VolumeExtents shape;
    StarCoefficients star;
    u64 steps = 1;
    StencilBox box;
    const StencilExchange* exchange = nullptr;  // of columns, ring and streaming in CUDA C++

    Type type() const { return in.type; }
    u32 size() const { return size_of(in.type); }
    u32 radius() const { return star.radius(); }
    u64 planes() const { return box.z_end - box.z_begin; }
    u64 rows() const { return box.y_end - box.y_begin; }
    // Size of the computed box in bytes.
    u64 bytes() const { return planes() * rows() * shape.columns * size(); }
};

inline constexpr Tunable stencil_groups_a_unit{
    "stencil.groups", "blocked: groups per thread", on_cpus, {1, 2, 4, 8, 16, 32}};
inline constexpr Tunable stencil_cache_part{"stencil.cache_part",
                                            "blocked: percentage of a thread's cache for the active planes",
                                            on_cpus,
                                            {25, 50, 75, 100, 150, 200, 300}};
inline constexpr Tunable stencil_steps_together{
    "stencil.steps", "blocked: steps per pass", {LaunchModel::host}, {1, 2, 3, 4}};

inline constexpr Tunable stencil_planes_a_group{"stencil.planes",
                                                "variants that advance along z: planes per group",
                                                on_gpus,
                                                {4, 8, 16, 32, 64, 128, 256}};

inline TuningPoint point_of(const StencilProblem& p) {
    return {p.in.type, p.in.count, u64{p.radius()} + (p.steps > 1 ? 10 : 0)};
}

// Tile of a group of many work-items.
struct StencilTile {
    u32 group_size = 1;
    u32 group_size_x = 1;  // work-items along x
    u32 pack = 1;          // points per work-item along x
    u32 rows = 1;          // points per work-item along y
    u32 margin = 0;        // points along each side that are computed but not stored
    u32 resident = 2;      // groups per unit that registers should suffice for
    u64 local_bytes = 0;   // dynamic local memory

    // Size of the part that is stored.
    u32 width() const { return (group_size_x - 2 * divide_up(margin, pack)) * pack; }
    u32 height() const { return group_size / group_size_x * rows - 2 * margin; }
};

// Whether the number of tiles is within the limit of a launch. depth: number of planes, or of pieces of the depth.
inline Support supports_tiles(const StencilProblem& p, const StencilTile& tile, u64 depth) {
    return supports_group_count(
        {depth, divide_up(p.rows(), tile.height()), divide_up(p.shape.columns, tile.width())});
}

// The kernel with its constants, besides those of type and radius.
std::shared_ptr<Kernel> stencil_kernel(Device& device, const StencilProblem& p, const KernelSource& source,
                                       const char* entry, u32 group_size, const Constants& constants);

// Length of the coefficient argument: those in use, or all nine (host kernels).
enum class StarLength { used, all };

// Calls f with the coefficients, converted to the volume's type.
template <class F>
void with_star(const StencilProblem& p, StarLength length, F f) {
    visit_float(p.type(), [&]<class T>(TypeTag<T>) {
        detail::host::Star<T> star{};
        in_default_float_environment([&] {
            for (u32 r = 0; r <= p.radius(); ++r)
                star.c[r] = static_cast<T>(p.star[r]);
        });
        f(ValueBytes{std::as_bytes(
            std::span(star.c, length == StarLength::all ? StarCoefficients::max_count : p.radius() + 1))});
    });
}

inline detail::host::StencilVolume stencil_volume(const StencilProblem& p) {
    return {p.shape.depth, p.shape.rows, p.shape.columns, p.radius(),
            p.box.z_begin, p.box.z_end,  p.box.y_begin,   p.box.y_end};
}

template <class T>
ValueBytes struct_bytes(const T& value) {
    return {std::as_bytes(std::span(&value, 1))};
}

// Calls sweep(from, to, steps) until all steps are enqueued, with up to `at_once` steps per sweep, and as evenly as
// possible. out and a scratch volume alternate, so that the last sweep writes out.
template <class Sweep>
void each_sweep(Stream& stream, const StencilProblem& p, u64 at_once, Sweep sweep) {
    const u64 sweeps = divide_up(p.steps, at_once);
    std::shared_ptr<Buffer> buffer;
    View other = p.out;
    if (sweeps > 1) {
        buffer = stream.scratch(p.out.bytes());
        other.buffer = buffer.get();
        other.offset = 0;
    }
    View from = p.in;
    u64 left = p.steps;
    for (u64 k = sweeps; k > 0; --k) {
        const View& to = k % 2 != 0 ? p.out : other;
        const u64 steps = divide_up(left, k);
        sweep(from, to, steps);
        left -= steps;
        from = to;
    }
}

// Groups of many work-items.
SupportsOf<StencilProblem> supports_stencil_columns, supports_stencil_ring, supports_stencil_streaming,
    supports_stencil_temporal, supports_stencil_planes;
SuitsOf<StencilProblem> suits_stencil_columns, suits_stencil_ring, suits_stencil_temporal;
RunOf<StencilProblem> run_stencil_columns, run_stencil_ring, run_stencil_streaming, run_stencil_temporal,
    run_stencil_tiled, run_stencil_naive;

// One work-item per group.
RunOf<StencilProblem> run_stencil_blocked_items;

// C++.
RunOf<StencilProblem> run_stencil_blocked_host, run_stencil_naive_host, run_stencil_serial_host;

}  // namespace concord::detail
