#pragma once
/// @file
/// 2-D convolution of an image with a small mask, in the form of image filters: cross-correlation, without flipping
/// the mask.
///
///     out(y, x) = sum over j, i of mask(j, i) * in(y + j - ry, x + i - rx)
///
/// ry and rx are the mask's rows / 2 and columns / 2, rounded down.
///
/// Shapes: the image and the result are row-major matrices of the same rows and columns, with any pitches
/// (concord/matrix.hpp); padding between rows is not accessed. The sides of the mask are odd, from 1 to 31, and may
/// differ. The mask may be larger than the image. The mask is host memory; the call reads it before it returns.
///
/// Types: f32 and f64 images with a mask and a result of the same type; u8 images with an f32 mask and an f32 result.
///
/// Borders: a cell outside the image is +0 (zero) or has the value of the nearest cell inside (clamp). It takes part
/// in the sum like any other cell. For a finite mask the result equals the one that skips such cells, except for the
/// sign of a zero sum after underflow. An infinity or NaN in the mask gives NaN where it meets a zero cell.
///
/// Order: canonical. Every result is one chain t = fma(mask(j, i), in(...), t) from +0, in ascending order of the
/// mask's rows, then columns. Results are bitwise identical on every device; NaNs are canonical. The variant
/// `separable` has its own order: it convolves every row with a row of factors, then every column with a column of
/// factors. It requires a mask of rank one (convolve_separates()) and runs only by name. Its error is at most
/// gamma(mask rows + mask columns + 8) * sum |mask(j, i) * in(...)| if nothing underflows.
///
/// Traffic: every element of the image is read once, every result is written once. Work: 2 operations per tap and
/// result; `separable` applies rows + columns instead of rows * columns taps.
///
/// Asynchronous: enqueues on the stream and returns. Scratch: at most a copy of the mask; `separable` also takes an
/// image of the result's type. In-place operation is not supported; image and result may be different parts of one
/// matrix.
///
/// Errors: invalid_argument (types, shapes, mask sides, a view that exceeds its range, overlap of in and out),
/// wrong_device, unsupported (column-major layout), out_of_memory, compile_failed.
///
/// Sources: D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2010, ch. 8 (constant memory, tiles with halo
/// cells); V. Volkov, Better performance at lower occupancy, GTC 2010 (several results per work-item, in registers).

#include <concord/algorithm.hpp>
#include <concord/matrix.hpp>

#include <optional>
#include <span>

namespace concord {

/// Value of the cells outside the image.
enum class ConvolveBorder : u8 {
    zero,  ///< +0
    clamp  ///< the value of the nearest cell inside
};
/// All borders.
inline constexpr ConvolveBorder all_convolve_borders[] = {ConvolveBorder::zero, ConvolveBorder::clamp};
/// Returns the name of a border: "zero" or "clamp".
std::string_view name_of(ConvolveBorder border);
/// Returns the border of that name, or nothing for an unknown name.
std::optional<ConvolveBorder> convolve_border_named(std::string_view name);

/// Longest side of a mask.
inline constexpr u64 convolve_longest_side = 31;

/// View of a mask in host memory: rows x columns values in C order. Does not own the values.
struct ConvolveMask {
    const void* values = nullptr;  ///< the first value
    u64 rows = 0;                  ///< odd
    u64 columns = 0;               ///< odd
    Type type = Type::f32;         ///< f32 or f64

    /// Creates an empty mask, which convolve() rejects.
    ConvolveMask() = default;
    /// Creates a view of mask_rows x mask_columns values at `data`.
    ConvolveMask(const void* data, u64 mask_rows, u64 mask_columns, Type mask_type)
        : values(data), rows(mask_rows), columns(mask_columns), type(mask_type) {}
    /// Creates a view of a span. Throws invalid_argument unless it has mask_rows * mask_columns values.
    template <class T>
    ConvolveMask(std::span<const T> all, u64 mask_rows, u64 mask_columns)
        : ConvolveMask(all.data(), mask_rows, mask_columns, type_of<T>()) {
        check_count(all.size());
    }
    /// Creates a view of a vector. Throws invalid_argument unless it has mask_rows * mask_columns values.
    template <class T>
    ConvolveMask(const std::vector<T>& all, u64 mask_rows, u64 mask_columns)
        : ConvolveMask(std::span<const T>(all), mask_rows, mask_columns) {}

    /// Number of values.
    u64 taps() const { return rows * columns; }
    /// Size of the values in bytes.
    u64 bytes() const { return taps() * size_of(type); }

  private:
    void check_count(u64 count) const;
};

/// Whether the mask has rank one, as the variant `separable` requires: all values are finite, and each is the product
/// of a row factor and a column factor to within 8 units of roundoff. Every mask that was made as a product of two
/// vectors is.
bool convolve_separates(const ConvolveMask& mask);

namespace detail {
// Roundings of the factors of a separable mask, in units of roundoff.
inline constexpr u64 separable_slack = 8;
}  // namespace detail

/// Descriptor of convolve.
extern const Algorithm convolve_algorithm;

/// Convolves the image `in` with `mask` into `out`. See the file comment for the contract.
Enqueued convolve(Stream& stream, const MatrixView& in, const ConvolveMask& mask, const MatrixView& out,
                  ConvolveBorder border = ConvolveBorder::zero, const Options& options = {});

namespace detail {
// Element type of the result for an image type: f32 for u8, else that of the image.
template <class I>
using ConvolveResult = std::conditional_t<std::is_same_v<I, u8>, f32, I>;
}  // namespace detail

/// Convolves an image; the types are checked at compile time.
template <MatrixRange In, OutputMatrix Out>
Enqueued convolve(Stream& stream, const In& in, const ConvolveMask& mask, const Out& out,
                  ConvolveBorder border = ConvolveBorder::zero, const Options& options = {}) {
    using I = typename In::Element;
    using T = typename Out::Element;
    static_assert(std::is_same_v<T, f32> || std::is_same_v<T, f64>,
                  "convolve: the result must be f32 or f64");
    static_assert(std::is_same_v<detail::ConvolveResult<I>, T>,
                  "convolve: the image must have the result's type, or be u8 with an f32 result");
    return convolve(stream, in.view(), mask, out.view(), border, options);
}

/// Returns the convolved image as a new array in C order without padding.
template <MatrixRange In>
[[nodiscard("the results are in a new array")]] auto convolve(Stream& stream, const In& in,
                                                              const ConvolveMask& mask,
                                                              ConvolveBorder border = ConvolveBorder::zero,
                                                              const Options& options = {}) {
    const MatrixView& from = in.view();
    Array<detail::ConvolveResult<typename In::Element>> out(
        stream, VolumeExtents{1, from.rows, from.columns}.count());
    convolve(stream, in, mask, Matrix(out, from.rows, from.columns), border, options);
    return out;
}

}  // namespace concord
