#pragma once
// What the host side's files share.

#include <concord/stencil.hpp>
#include <concord/tuning.hpp>

#include "stencil_host.hpp"

namespace concord::detail {

/// The host kernels for one type.
struct StencilHost {
    HostKernel serial, naive, tiled, blocked;
    HostKernel none;  ///< of kernels that are not in the host dialect
};

const StencilHost& stencil_host(Type type);

/// A call as the kernels see it.
struct StencilProblem {
    View in, out;
    StencilShape shape;
    StarCoefficients star;
    u64 steps = 1;
    StencilBox box;

    Type type() const { return in.type; }
    u32 size() const { return size_of(in.type); }
    u32 radius() const { return star.radius(); }
    u64 planes() const { return box.z_end - box.z_begin; }
    u64 rows() const { return box.y_end - box.y_begin; }
    /// Bytes of what is computed.
    u64 bytes() const { return planes() * rows() * shape.columns * size(); }
};

inline constexpr Tunable stencil_groups_a_unit{
    .name = "stencil.groups",
    .summary = "groups for each thread, blocked",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {1, 2, 4, 8, 16, 32}};
inline constexpr Tunable stencil_cache_part{
    .name = "stencil.cache_part",
    .summary = "percent of a thread's cache for the planes at work, blocked",
    .used_by = {TunableUser::opencl_single_item, TunableUser::host},
    .values = {25, 50, 75, 100, 150, 200, 300}};
inline constexpr Tunable stencil_steps_together{.name = "stencil.steps",
                                                .summary = "steps at once, blocked",
                                                .used_by = {TunableUser::host},
                                                .values = {1, 2, 3, 4}};

inline TuningPoint point_of(const StencilProblem& p) {
    return {p.in.type, p.in.count, u64{p.radius()} + (p.steps > 1 ? 10 : 0)};
}

enum class StencilSource { steps, streaming, wide };

/// The points of a group of many work-items, and of one of its work-items.
struct StencilTile {
    u32 group_size = 1;
    u32 group_size_x = 1;  // of a row
    u32 pack = 1;          // points of a work-item, along x
    u32 rows = 1;          // and along y

    u32 width() const { return group_size_x * pack; }
    u32 height() const { return group_size / group_size_x * rows; }
};

constexpr u32 wide_row = 1024;  // most points of a row that a CPU has at work

std::shared_ptr<Kernel> stencil_kernel(Device& device, const StencilProblem& p, StencilSource text,
                                       const char* entry, const StencilTile& tile,
                                       HostKernel StencilHost::*host);

/// The coefficients that a kernel takes: those that there are, or all nine, as host kernels do.
enum class StarLength { used, all };

/// Calls f with the coefficients in the volume's type.
template <class F>
void with_star(const StencilProblem& p, StarLength length, F f) {
    visit_type(p.type(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_floating_point_v<T>) {
            detail::host::Star<T> star{};
            for (u32 r = 0; r <= p.radius(); ++r)
                star.c[r] = static_cast<T>(p.star[r]);
            f(ValueBytes{std::as_bytes(
                std::span(star.c, length == StarLength::all ? StarCoefficients::most : p.radius() + 1))});
        }
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

/// Calls sweep(from, to, steps) until all steps are enqueued, `at_once` in one sweep. Two volumes take turns, so that the
/// last sweep's is out; the other one is scratch.
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
        const u64 steps = std::min(at_once, left);
        sweep(from, to, steps);
        left -= steps;
        from = to;
    }
}

/// The variant for groups of one work-item, stencil_blocked.cpp.
Support supports_blocked(const Device& device, const StencilProblem& p);
void run_blocked(Stream& stream, const StencilProblem& p);

}  // namespace concord::detail
