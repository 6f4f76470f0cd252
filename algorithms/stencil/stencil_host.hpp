#pragma once
// Stencil, host dialect. Parallel sources: stencil_steps.kernel for `naive`, stencil_wide.cl for `blocked`.
//
// Algorithm  naive, serial: one point at a time, neighbours from memory. blocked: see below.
// Passes     naive, serial: one per step; blocked: one per `steps` steps. Traffic per pass: every point is read once
//            and written once, plus the halos of tiles.
// Tunables   blocked: stencil.groups, stencil.cache_part, stencil.steps.
// Source     A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations on Modern CPUs and GPUs, 2010.
//
// T: f32 or f64.

#include <concord/detail/canonical.hpp>
#include <concord/detail/host_vector.hpp>
#include <concord/host_kernel.hpp>

#include <algorithm>
#include <cmath>

namespace concord::detail::host {

// Coefficients c_0 ... c_R.
template <class T>
struct Star {
    T c[9];
};

// Shape of the volume, radius of the star, and the computed box: planes [z_begin, z_end), rows [y_begin, y_end).
struct StencilVolume {
    u64 depth = 0, rows = 0, columns = 0;
    u64 radius = 0;
    u64 z_begin = 0, z_end = 0, y_begin = 0, y_end = 0;
};

// --- naive, serial -----------------------------------------------------------------------------------------------

// One point; v(z, y, x) is 0 outside the volume.
template <class T, class V>
[[gnu::always_inline]] inline T stencil_point(const V& v, i64 z, i64 y, i64 x, i64 radius,
                                              const Star<T>& star) {
    T t = star.c[0] * v(z, y, x);
    for (i64 r = 1; r <= radius; ++r)
        t = std::fma(star.c[r],
                     ((v(z, y, x - r) + v(z, y, x + r)) + (v(z, y - r, x) + v(z, y + r, x))) +
                         (v(z - r, y, x) + v(z + r, y, x)),
                     t);
    return t;
}

// Point (z, y, x) of a volume, 0 outside.
template <class T>
struct StencilAt {
    const T* in;
    const StencilVolume& volume;

    [[gnu::always_inline]] T operator()(i64 z, i64 y, i64 x) const {
        const u64 plane = static_cast<u64>(z), row = static_cast<u64>(y), column = static_cast<u64>(x);
        if (plane >= volume.depth || row >= volume.rows || column >= volume.columns) return 0;
        return in[(plane * volume.rows + row) * volume.columns + column];
    }
};

// A group computes `strip` rows of the box; rows are numbered through all planes. `serial` runs one group.
template <class T>
void stencil_naive(const Group& group, const T* in, T* out, const StencilVolume volume, u64 strip,
                   const Star<T> star) {
    const StencilAt<T> at{in, volume};
    const u64 rows = volume.y_end - volume.y_begin;
    const u64 end = std::min((volume.z_end - volume.z_begin) * rows, (group.x + 1) * strip);
    for (u64 row = group.x * strip; row < end; ++row) {
        const u64 z = volume.z_begin + row / rows, y = volume.y_begin + row % rows;
        for (u64 x = 0; x < volume.columns; ++x)
            out[(z * volume.rows + y) * volume.columns + x] =
                canonical(stencil_point(at, static_cast<i64>(z), static_cast<i64>(y), static_cast<i64>(x),
                                        static_cast<i64>(volume.radius), star));
    }
}

// --- blocked ------------------------------------------------------------------------------------------------------
//
// A group computes a tile (rows, columns and a piece of the depth) plane by plane. 2 R + 1 planes of the tile stay in
// the thread's cache. `steps` time steps follow each other at a distance of R planes. All but the last write their
// planes to rings of 2 R + 1 planes, which also stay in the cache. A group computes the halo that later steps need
// itself, so groups are independent of each other.

// Tiling of the volume, and layout of a group's scratch.
struct StencilTiling {
    u64 depth = 0, rows = 0, columns = 0;  // of a tile
    u64 across = 0, down = 0;              // number of tiles in x, in y
    u64 steps = 1;
    u64 pitch = 0;         // elements between row starts of a ring, and of local memory
    u64 plane_rows = 0;    // rows of a ring's plane
    u64 slot = 0;          // elements of scratch per group
    u64 non_temporal = 0;  // 1: the result exceeds the caches, use non-temporal stores
};

// Elements reserved before a row for its left neighbours; whole vectors.
inline constexpr u64 stencil_margin = 16;

// The rows at distances r and r + 1 of a row; its own elements are in `centre`.
template <class T>
struct StencilRows {
    const T* y_before[2];
    const T* y_after[2];
    const T* z_before[2];
    const T* z_after[2];
};

// Adds one or two distances per pass: more rows need more addresses than there are registers. The loop uses ivdep
// because g++ 12 drops __restrict when it inlines. last: the sums are complete, so NaNs become canonical.
template <class T, int first, int count, bool last>
[[gnu::always_inline]] inline void stencil_pass(const T* centre, const StencilRows<T>& rows, const T* sums,
                                                T* to, u64 n, const T* c) {
    const T c0 = c[0], c1 = c[first], c2 = c[first + count - 1];
    const T *ya = rows.y_before[0], *yb = rows.y_after[0], *za = rows.z_before[0], *zb = rows.z_after[0];
    const T *yc = rows.y_before[1], *yd = rows.y_after[1], *zc = rows.z_before[1], *zd = rows.z_after[1];
    // Pointers instead of `i - first`: g++ 12 does not vectorise the loop with a signed index, and an unsigned one
    // wraps.
    const T *left = centre - first, *right = centre + first, *far_left = left - (count - 1),
            *far_right = right + (count - 1);
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
    for (u64 i = 0; i < n; ++i) {
        T t = first == 1 ? c0 * centre[i] : sums[i];
        t = std::fma(c1, ((left[i] + right[i]) + (ya[i] + yb[i])) + (za[i] + zb[i]), t);
        if constexpr (count == 2)
            t = std::fma(c2, ((far_left[i] + far_right[i]) + (yc[i] + yd[i])) + (zc[i] + zd[i]), t);
        to[i] = last ? canonical(t) : t;
    }
}

template <class T, int first>
[[gnu::always_inline]] inline void stencil_passes(bool two, bool last, const T* centre,
                                                  const StencilRows<T>& rows, const T* sums, T* to, u64 n,
                                                  const T* c) {
    if (!two) return stencil_pass<T, first, 1, true>(centre, rows, sums, to, n, c);
    if (last || first == 7) return stencil_pass<T, first, 2, true>(centre, rows, sums, to, n, c);
    if constexpr (first < 7) stencil_pass<T, first, 2, false>(centre, rows, sums, to, n, c);
}

// One plane of a tile in one step. planes[k] is the address of row 0, which may be outside the tile, or null outside
// the volume.
template <class T>
struct StencilPlane {
    const T* planes[17];        // z - R ... z + R
    const T* zeros;             // row of zeros, for rows outside the volume
    u64 row, rows;              // elements between row starts; rows of the volume
    u64 first_y, end_y, count;  // computed rows, and points per row
    u64 left, right;            // existing neighbours to the left and right of the computed points
    T* staged;                  // buffer for a row between zeros; null if rows are stored between zeros
    T* sums;                    // partial sums of a row
    T* to;                      // target of row first_y
    u64 to_row;
    u64 radius, non_temporal;
    Star<T> star;

    // Row y of planes[k], or zeros outside the volume.
    [[gnu::always_inline]] const T* at(u64 k, u64 y) const {
        const T* const plane = planes[k];
        return plane != nullptr && y < rows ? plane + y * row : zeros;
    }
};

// Computes row y; `centre` has R elements or zeros on both sides.
template <class T>
[[gnu::always_inline]] inline void stencil_row(const StencilPlane<T>& p, u64 y, const T* centre, T* to) {
    const u64 radius = p.radius;
    for (u64 r = 1; r <= radius; r += 2) {
        const bool two = r < radius;
        StencilRows<T> rows;
        for (u64 k = 0; k < 2; ++k) {
            const u64 distance = r + (two ? k : 0);
            rows.y_before[k] = p.at(radius, y - distance);
            rows.y_after[k] = p.at(radius, y + distance);
            rows.z_before[k] = p.at(radius - distance, y);
            rows.z_after[k] = p.at(radius + distance, y);
        }
        const bool last = r + 1 >= radius;
        T* const target = last ? to : p.sums;
        if (r == 1) {
            stencil_passes<T, 1>(two, last, centre, rows, p.sums, target, p.count, p.star.c);
        } else if (r == 3) {
            stencil_passes<T, 3>(two, last, centre, rows, p.sums, target, p.count, p.star.c);
        } else if (r == 5) {
            stencil_passes<T, 5>(two, last, centre, rows, p.sums, target, p.count, p.star.c);
        } else {
            stencil_passes<T, 7>(two, last, centre, rows, p.sums, target, p.count, p.star.c);
        }
    }
}

// Compiled once per instruction set. always_inline, because g++ 12 does not flatten it into the versions.
template <class T>
[[gnu::always_inline]] inline void stencil_plane(const Group& /*group*/, const StencilPlane<T>* plane) {
    const StencilPlane<T> p = *plane;
    for (u64 y = p.first_y; y < p.end_y; ++y) {
        const T* centre = p.at(p.radius, y);
        if (p.staged != nullptr) {
            std::memcpy(p.staged - p.left, centre - p.left, (p.left + p.count + p.right) * sizeof(T));
            centre = p.staged;
        }
        T* const to = p.to + (y - p.first_y) * p.to_row;
        stencil_row(p, y, centre, p.non_temporal != 0 ? p.sums : to);
        if (p.non_temporal != 0) stream_store(to, p.sums, p.count * sizeof(T));
    }
}

// Interval along an axis. wider() extends it on both sides, within the volume.
struct StencilExtent {
    u64 begin, end;
    StencilExtent wider(u64 more, u64 length) const {
        return {begin - std::min(begin, more), std::min(length, end + more)};
    }
    u64 count() const { return end - begin; }
};

template <class T>
void stencil_blocked(const Group& group, const T* in, T* out, T* scratch, const StencilVolume volume,
                     const StencilTiling tiling, const Star<T> star) {
    static constexpr HostKernel versions = host_kernel<&stencil_plane<T>>();
    const HostKernel::Entry run_plane = versions.entry(group.isa);
    const u64 radius = volume.radius, steps = tiling.steps, ring = 2 * radius + 1;
    const u64 tile_x = group.x % tiling.across * tiling.columns,
              tile_y = volume.y_begin + group.x / tiling.across % tiling.down * tiling.rows,
              tile_z = volume.z_begin + group.x / tiling.across / tiling.down * tiling.depth;
    const StencilExtent xs{tile_x, std::min(volume.columns, tile_x + tiling.columns)},
        ys{tile_y, std::min(volume.y_end, tile_y + tiling.rows)},
        zs{tile_z, std::min(volume.z_end, tile_z + tiling.depth)};

    // Local memory: a row of zeros, a row with its neighbours in x, the partial sums of a row.
    T* const zeros = reinterpret_cast<T*>(group.local);
    std::fill_n(zeros, 2 * tiling.pitch, T(0));
    // Rows of a ring have zeros, or elements that no later step reads, on both sides.
    T* const rings = scratch + group.x * tiling.slot;
    if (steps > 1) std::fill_n(rings, tiling.slot, T(0));
    const u64 ring_plane = tiling.plane_rows * tiling.pitch;
    auto ring_of = [&](u64 step) { return rings + (step - 1) * ring * ring_plane + stencil_margin; };

    const u64 ahead = radius * (steps - 1);
    for (u64 tick = zs.wider(ahead, volume.depth).begin; tick < zs.end + ahead; ++tick) {
        for (u64 step = 1; step <= steps; ++step) {
            const u64 behind = radius * (step - 1), z = tick - behind, more = radius * (steps - step);
            const StencilExtent depth = zs.wider(more, volume.depth);
            if (tick < behind || z < depth.begin || z >= depth.end) continue;
            const StencilExtent y = ys.wider(more, volume.rows), x = xs.wider(more, volume.columns);
            const StencilExtent before_y = ys.wider(more + radius, volume.rows),
                                before_x = xs.wider(more + radius, volume.columns);
            StencilPlane<T> plane{};
            plane.zeros = zeros;
            plane.rows = volume.rows;
            plane.first_y = y.begin;
            plane.end_y = y.end;
            plane.count = x.count();
            plane.left = x.begin - before_x.begin;
            plane.right = before_x.end - x.end;
            plane.sums = zeros + 2 * tiling.pitch;
            plane.radius = radius;
            plane.star = star;
            plane.row = step == 1 ? volume.columns : tiling.pitch;
            if (step == 1) plane.staged = zeros + tiling.pitch + stencil_margin;
            for (u64 k = 0; k <= 2 * radius; ++k) {
                const u64 near = z + k - radius;  // planes before the first wrap around to large numbers
                if (near >= volume.depth) continue;
                plane.planes[k] = step == 1 ? in + near * volume.rows * volume.columns + x.begin
                                            : ring_of(step - 1) + near % ring * ring_plane + plane.left -
                                                  before_y.begin * tiling.pitch;
            }
            if (step < steps) {
                plane.to = ring_of(step) + z % ring * ring_plane;
                plane.to_row = tiling.pitch;
            } else {
                plane.to = out + (z * volume.rows + y.begin) * volume.columns + x.begin;
                plane.to_row = volume.columns;
                plane.non_temporal = tiling.non_temporal;
            }
            const StencilPlane<T>* const argument = &plane;
            const void* const arguments[] = {&argument};
            run_plane(group, arguments);
        }
    }
    if (tiling.non_temporal != 0) stream_fence();
}

}  // namespace concord::detail::host
