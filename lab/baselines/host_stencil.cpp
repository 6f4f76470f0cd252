#include "host_stencil.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cmath>
#include <memory>

namespace concord::baselines {
namespace {

using lab::native_pointer;
using Range = tbb::blocked_range<std::size_t>;

// Coefficients of the suite.
constexpr double star[] = {0.3817, 0.0713, -0.0291, 0.0177, -0.0123, 0.0071, -0.0053, 0.0031, -0.0017};

struct Volume {
    std::size_t depth, rows, columns;
};

// A point near the boundary of the volume.
template <class T, int R>
T edge(const T* in, const Volume& v, std::size_t z, std::size_t y, std::size_t x) {
    auto at = [&](std::size_t k, std::size_t j, std::size_t i) {
        return k < v.depth && j < v.rows && i < v.columns ? in[(k * v.rows + j) * v.columns + i] : T(0);
    };
    T t = static_cast<T>(star[0]) * at(z, y, x);
    for (std::size_t r = 1; r <= R; ++r)
        t = std::fma(static_cast<T>(star[r]),
                     ((at(z, y, x - r) + at(z, y, x + r)) + (at(z, y - r, x) + at(z, y + r, x))) +
                         (at(z - r, y, x) + at(z + r, y, x)),
                     t);
    return t;
}

// The points of a row whose neighbours are all inside the volume. The compiler vectorises this loop.
template <class T, int R>
[[gnu::noinline]] void inner_row(const T* __restrict in, T* __restrict out, std::size_t n, std::size_t row,
                                 std::size_t plane) {
    for (std::size_t x = 0; x < n; ++x) {
        const T* p = in + x;
        T t = static_cast<T>(star[0]) * p[0];
#pragma GCC unroll 8
        for (std::size_t r = 1; r <= R; ++r)
            t = std::fma(
                static_cast<T>(star[r]),
                ((*(p - r) + p[r]) + (*(p - r * row) + p[r * row])) + (*(p - r * plane) + p[r * plane]), t);
        out[x] = t;
    }
}

template <class T, int R>
void one_row(const T* in, T* out, const Volume& v, std::size_t z, std::size_t y) {
    const std::size_t at = (z * v.rows + y) * v.columns;
    const bool inner = z >= R && z + R < v.depth && y >= R && y + R < v.rows && v.columns > 2 * R;
    const std::size_t begin = inner ? R : v.columns, end = inner ? v.columns - R : v.columns;
    for (std::size_t x = 0; x < begin; ++x)
        out[at + x] = edge<T, R>(in, v, z, y, x);
    if (inner) inner_row<T, R>(in + at + R, out + at + R, end - begin, v.columns, v.rows * v.columns);
    for (std::size_t x = end; x < v.columns; ++x)
        out[at + x] = edge<T, R>(in, v, z, y, x);
}

struct Planes {
    template <class T, int R>
    static void step(const T* in, T* out, const Volume& v) {
        tbb::parallel_for(Range(0, v.depth), [=](const Range& planes) {
            for (std::size_t z = planes.begin(); z < planes.end(); ++z) {
                for (std::size_t y = 0; y < v.rows; ++y)
                    one_row<T, R>(in, out, v, z, y);
            }
        });
    }
};

struct Tiles {
    template <class T, int R>
    static void step(const T* in, T* out, const Volume& v) {
        constexpr std::size_t tile = 16;
        tbb::parallel_for(Range(0, (v.rows + tile - 1) / tile), [=](const Range& tiles) {
            const std::size_t begin = tiles.begin() * tile, end = std::min(v.rows, tiles.end() * tile);
            for (std::size_t first = begin; first < end; first += tile) {
                for (std::size_t z = 0; z < v.depth; ++z) {
                    for (std::size_t y = first; y < std::min(end, first + tile); ++y)
                        one_row<T, R>(in, out, v, z, y);
                }
            }
        });
    }
};

template <class How, class T, int R>
Call stencil_of(const Work& work, Views in, Views out, std::size_t steps) {
    const auto* from = native_pointer<const T>(in[0]);
    auto* to = native_pointer<T>(out[0]);
    const Volume v{work.shape[0], work.shape[1], work.shape[2]};
    auto other = std::make_shared<std::vector<T>>(steps > 1 ? v.depth * v.rows * v.columns : 0);
    return [=] {
        const T* now = from;
        for (std::size_t left = steps; left > 0; --left) {
            T* const next = left % 2 != 0 ? to : other->data();
            How::template step<T, R>(now, next, v);
            now = next;
        }
    };
}

template <class How, int R, std::size_t steps>
Call tbb_stencil(Stream&, const Work& work, Views in, Views out) {
    return detail::visit_float(work.type(), [&]<class T>(detail::TypeTag<T>) {
        return stencil_of<How, T, R>(work, in, out, steps);
    });
}

template <class How>
std::vector<Row> rows_of() {
    return {{.algorithm = "stencil",
             .titles = {"radius1"},
             .types = float_types,
             .prepare = tbb_stencil<How, 1, 1>,
             .call = "tbb::parallel_for",
             .blocking = true},
            {.algorithm = "stencil",
             .titles = {"radius2"},
             .types = float_types,
             .prepare = tbb_stencil<How, 2, 1>,
             .call = "tbb::parallel_for",
             .blocking = true},
            {.algorithm = "stencil",
             .titles = {"radius4"},
             .types = float_types,
             .prepare = tbb_stencil<How, 4, 1>,
             .call = "tbb::parallel_for",
             .blocking = true},
            {.algorithm = "stencil",
             .titles = {"radius4 x10"},
             .types = float_types,
             .prepare = tbb_stencil<How, 4, 10>,
             .call = "tbb::parallel_for",
             .blocking = true},
            {.algorithm = "stencil",
             .titles = {"radius8"},
             .types = float_types,
             .prepare = tbb_stencil<How, 8, 1>,
             .call = "tbb::parallel_for",
             .blocking = true}};
}

}  // namespace

std::vector<Row> tbb_stencils() {
    return rows_of<Planes>();
}
std::vector<Row> tbb_tiled_stencils() {
    return rows_of<Tiles>();
}

}  // namespace concord::baselines
