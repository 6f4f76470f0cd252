#pragma once
/// @file
/// Time steps of a 3-D star stencil of radius R, 1 to 8, on a volume.
///
///     t = c_0 * v(z, y, x)
///     for r = 1 ... R: t = fma(c_r, ((v(z, y, x-r) + v(z, y, x+r)) + (v(z, y-r, x) + v(z, y+r, x)))
///                                   + (v(z-r, y, x) + v(z+r, y, x)), t)
///     out(z, y, x) = t
///
/// Every step applies the formula to the result of the previous step. Outside the volume v is +0. The volume may be
/// thinner than the radius.
///
/// Order: canonical. The product, every addition and every fma round to the element type, in the order of the
/// formula. Results are bitwise identical on every device and in every variant. NaNs are canonical.
///
/// Shapes: in and out are volumes of the same depth x rows x columns (z, y, x) in C order without padding
/// (concord/matrix.hpp). Types: f32 and f64, the same for in and out.
///
/// Traffic: every point is read once and written once per step, plus the halos of tiles, which are read again. With
/// several steps, the CPU's `blocked` and, at radius 1 and 2, the GPU's `temporal` compute up to four of them per pass
/// through memory. Work: 7 R + 1 floating-point operations per point and step; `temporal` computes 1.3 to 1.8 times as
/// many, because tiles overlap.
///
/// Asynchronous: enqueues all steps on the stream and returns. Scratch: one volume from the stream's pool if the
/// steps take more than one pass. If a pass makes several steps (`blocked` on the CPU), also at most four volumes or
/// eight times the caches (DeviceTraits::cache), whichever is larger. In-place operation is not supported: in and out
/// must not overlap, and in is not modified. With 0 steps in is copied to out.
///
/// Errors: invalid_argument (types, shapes, number of coefficients, a view that exceeds its range, overlap),
/// wrong_device, unsupported (padding, column-major layout), out_of_memory, compile_failed.
///
/// Sources: P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009; A. Nguyen et al., 3.5-D
/// Blocking Optimization for Stencil Computations on Modern CPUs and GPUs, 2010; L. Zhang et al., Revisiting Temporal
/// Blocking Stencil Optimizations, 2023 (several steps per pass).

#include <concord/algorithm.hpp>
#include <concord/matrix.hpp>

#include <array>
#include <initializer_list>

namespace concord {

/// Box of a volume: z in [z_begin, z_end), y in [y_begin, y_end), x in [x_begin, x_end); by default all columns.
struct StencilBox {
    /// End of an axis of any length.
    static constexpr u64 to_end = ~u64{0};

    u64 z_begin = 0;     ///< first plane
    u64 z_end = 0;       ///< one past the last plane
    u64 y_begin = 0;     ///< first row
    u64 y_end = 0;       ///< one past the last row
    u64 x_begin = 0;     ///< first column
    u64 x_end = to_end;  ///< one past the last column

    /// Points of a row of the box, for rows of `columns` points.
    constexpr u64 width(u64 columns) const {
        return (x_end < columns ? x_end : columns) - (x_begin < columns ? x_begin : columns);
    }
    /// Number of points, for rows of `columns` points.
    constexpr u64 points(u64 columns) const { return (z_end - z_begin) * (y_end - y_begin) * width(columns); }
};

/// Coefficients c_0 ... c_R of a star, held by value. They are rounded to the element type of the volume.
class StarCoefficients {
  public:
    /// Maximum number of coefficients.
    static constexpr std::size_t max_count = 9;

    /// Copies the coefficients. Throws invalid_argument unless there are 2 to 9.
    StarCoefficients(std::span<const f64> values);
    /// Copies the coefficients. Throws invalid_argument unless there are 2 to 9.
    StarCoefficients(std::initializer_list<f64> values)
        : StarCoefficients(std::span(values.begin(), values.size())) {}

    /// Radius R of the star: the number of coefficients minus 1.
    u32 radius() const { return radius_; }
    /// Returns c_r, for r from 0 to radius().
    f64 operator[](u32 r) const { return values_[r]; }

  private:
    std::array<f64, max_count> values_{};
    u32 radius_ = 0;
};

/// Descriptor of stencil.
extern const Algorithm stencil_algorithm;

/// Runs `steps` time steps from in to out. See the file comment for the contract.
Enqueued stencil(Stream& stream, const VolumeView& in, const StarCoefficients& star, const VolumeView& out,
                 u64 steps = 1, const Options& options = {});

/// Runs one time step for the points of a box. The results are bitwise identical to those of stencil(); the rest of
/// out is not modified. Neighbours are read from all of in. So different streams can compute the parts of a volume,
/// and a part can be computed while another one is still being received (concord/distributed_stencil.hpp). A box
/// thinner than the radius, or of few rows, reads more halo points than it writes. Throws invalid_argument for a box
/// outside the volume, whose end is before its begin, or without whole rows; otherwise as stencil().
Enqueued stencil_box(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                     const VolumeView& out, const StencilBox& box, const Options& options = {});

/// Runs time steps; the types are checked at compile time.
template <VolumeRange In, OutputVolume Out>
Enqueued stencil(Stream& stream, const In& in, const StarCoefficients& star, const Out& out, u64 steps = 1,
                 const Options& options = {}) {
    static_assert(std::is_same_v<typename In::Element, typename Out::Element>,
                  "stencil: in and out must have the same type");
    return stencil(stream, in.view(), star, out.view(), steps, options);
}

/// Runs one time step for the points of a box; the types are checked at compile time.
template <VolumeRange In, OutputVolume Out>
Enqueued stencil_box(Stream& stream, const In& in, const StarCoefficients& star, const Out& out,
                     const StencilBox& box, const Options& options = {}) {
    static_assert(std::is_same_v<typename In::Element, typename Out::Element>,
                  "stencil_box: in and out must have the same type");
    return stencil_box(stream, in.view(), star, out.view(), box, options);
}

/// Returns the volume after `steps` time steps as a new array in C order.
template <VolumeRange In>
[[nodiscard("the results are in a new array")]] auto stencil(Stream& stream, const In& in,
                                                             const StarCoefficients& star, u64 steps = 1,
                                                             const Options& options = {}) {
    const VolumeView& from = in.view();
    const VolumeExtents extents{from.depth, from.rows, from.columns};
    Array<typename In::Element> out(stream, extents.count());
    stencil(stream, in, star, Volume(out, extents), steps, options);
    return out;
}

}  // namespace concord
