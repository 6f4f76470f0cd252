#pragma once
/// Stencil: time steps of a star of radius 1 to 8 on a volume.
///
///     t = c0 * v(z, y, x)
///     for r = 1 ... R: t = fma(c_r, ((v(z, y, x-r) + v(z, y, x+r)) + (v(z, y-r, x) + v(z, y+r, x)))
///                                   + (v(z-r, y, x) + v(z+r, y, x)), t)
///     out(z, y, x) = t
///
/// and that as many times as there are steps, each on the result of the one before. Outside of the volume v is +0. Every
/// addition, the product and the fused multiply-adds round once, in the volume's type: the order is fixed, and with it
/// the bits, on every device and in every variant. The radius is the number of coefficients less one; volumes may be
/// thinner than it.
///
/// Shapes: in and out are volumes of depth x rows x columns (z, y, x) in C order, without gaps, f32 or f64. Ranges may
/// begin at any element and be longer than the volume; they may not overlap, and in stays as it is. No steps: a copy.
/// Traffic: every point is read once and written once a step, but for what tiles read again of their neighbours; on the
/// CPU several steps pass through the cache together.
///
/// Enqueues all steps on the stream and returns. Takes a volume of scratch from the stream's pool where the steps are not
/// done at once. Errors: invalid_argument (types, coefficients, a range shorter than its volume, overlap), wrong_device,
/// unsupported, out_of_memory, compile_failed.
///
/// Sources: P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009; for several steps at once A.
/// Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations on Modern CPUs and GPUs, 2010.

#include <concord/algorithm.hpp>

#include <array>
#include <initializer_list>

namespace concord {

/// A volume: `depth` planes (z) of `rows` rows (y) of `columns` points (x).
struct StencilShape {
    u64 depth = 0;
    u64 rows = 0;
    u64 columns = 0;
};

/// A box of a volume: whole rows, those from y_begin to y_end (without it), of the planes from z_begin to z_end.
struct StencilBox {
    u64 z_begin = 0, z_end = 0;
    u64 y_begin = 0, y_end = 0;

    /// Of a volume with rows of `columns`.
    constexpr u64 points(u64 columns) const { return (z_end - z_begin) * (y_end - y_begin) * columns; }
};

/// The coefficients c0 ... cR of a star, by value. On a volume of f32 each is rounded to f32.
class StarCoefficients {
  public:
    static constexpr std::size_t most = 9;

    /// Throws invalid_argument unless there are 2 to 9.
    StarCoefficients(std::span<const f64> values);
    StarCoefficients(std::initializer_list<f64> values)
        : StarCoefficients(std::span(values.begin(), values.size())) {}

    u32 radius() const { return radius_; }
    /// c_r, for r from 0 to radius().
    f64 operator[](u32 r) const { return values_[r]; }

  private:
    std::array<f64, most> values_{};
    u32 radius_ = 0;
};

extern const Algorithm stencil_algorithm;

/// in and out of one type.
Enqueued stencil(Stream& stream, const View& in, const View& out, const StencilShape& shape,
                 const StarCoefficients& star, u64 steps = 1, const Options& options = {});

/// One step, of which only the points of a box are computed: they have the bits that stencil() gives them, and the rest of
/// out stays as it is. Neighbours are read in all of in. So a volume can be computed piece by piece, by different streams
/// or while a part of it is still on its way (concord/distributed_stencil.hpp); pieces thinner than the radius, and those of
/// few rows, read more of a halo than they write. A box that ends past the volume, or ahead of where it begins, is
/// invalid_argument; else as stencil().
Enqueued stencil_box(Stream& stream, const View& in, const View& out, const StencilShape& shape,
                     const StarCoefficients& star, const StencilBox& box, const Options& options = {});

/// The same for spans or arrays.
template <Range In, Range Out>
Enqueued stencil(Stream& stream, const In& in, const Out& out, const StencilShape& shape,
                 const StarCoefficients& star, u64 steps = 1, const Options& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "in and out have different types");
    return stencil(stream, View(in.view()), View(out.view()), shape, star, steps, options);
}

template <Range In, Range Out>
Enqueued stencil_box(Stream& stream, const In& in, const Out& out, const StencilShape& shape,
                     const StarCoefficients& star, const StencilBox& box, const Options& options = {}) {
    static_assert(std::is_same_v<std::remove_const_t<typename In::Element>, typename Out::Element>,
                  "in and out have different types");
    return stencil_box(stream, View(in.view()), View(out.view()), shape, star, box, options);
}

}  // namespace concord
