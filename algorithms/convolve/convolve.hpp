#pragma once
/// 2D convolution of an image with a small mask, in the form that image filters use (cross-correlation: the mask is not
/// turned round).
///
///     out(y, x) = sum of mask(j, i) * in(y + j - ry, x + i - rx)         ry, rx: half the mask's sides, rounded down
///
/// Shapes: the image has rows x columns elements in C order, element (y, x) being element y * in_pitch + x of its range, and
/// the result is as large. Pitches count elements and are as long as a row at least; elements between rows are neither read nor
/// written. Ranges may begin at any element, and be longer than the image. The mask's sides are odd, 1 to 31, and may
/// differ; it may be larger than the image. It is memory of the host, read before the call returns.
/// Types: an f32 or f64 image with a mask and a result of its type; a u8 image with an f32 mask and an f32 result, because a
/// filter's result is rarely within 0 ... 255 (map turns it into bytes, in the way that the filter needs).
///
/// Borders: a cell outside the image has the value of the nearest cell inside (clamp), or is +0 (zero). It takes part like any
/// other. For finite masks that is what skipping the cell would give, up to the sign of a sum that is zero because a
/// product underflowed; where the mask has an infinity or NaN, the result is NaN there.
///
/// Order: one chain of fused multiply-adds an element, t = fma(mask(j, i), in(..), t), from +0, the mask's rows ascending and
/// within a row its columns: equal bits on every device. `separable` has an order of its own: each row of the image with a row
/// of factors, then these sums with a column of factors, both chains as above. It takes masks of rank one to within rounding
/// (see convolve_separates), is taken only if it is named, and differs from the exact sum by at most
/// gamma(mask rows + mask columns + separable_slack) times the sum of |mask(j, i) * in(..)|, unless something underflows.
///
/// Traffic: every element of the image is read once and every element of the result written once. Work: two operations a
/// tap and element; `separable` takes rows + columns taps, not rows * columns.
///
/// Enqueues on the stream and returns; scratch is a copy of the mask at most, and for `separable` one image. Errors:
/// invalid_argument (types, even or too long sides, a pitch shorter than a row, a range shorter than its image, overlap of in
/// and out), wrong_device, unsupported, compile_failed.
///
/// Sources: D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2010, ch. 8 (constant memory, tiles with halo cells);
/// V. Volkov, Better performance at lower occupancy, GTC 2010 (several results per work-item, in registers).

#include <concord/algorithm.hpp>

#include <optional>
#include <span>

namespace concord {

/// What lies outside the image.
enum class ConvolveBorder : u8 { zero, clamp };
inline constexpr ConvolveBorder all_convolve_borders[] = {ConvolveBorder::zero, ConvolveBorder::clamp};
std::string_view name_of(ConvolveBorder border);
std::optional<ConvolveBorder> convolve_border_named(std::string_view name);

/// The image, and where it and the result lie.
struct ConvolveShape {
    u64 rows = 0;
    u64 columns = 0;
    ConvolveBorder border = ConvolveBorder::zero;
    u64 in_pitch = 0;   ///< from one row of in to the next; 0: columns
    u64 out_pitch = 0;  ///< from one row of out to the next; 0: columns
};

inline constexpr u64 convolve_longest_side = 31;  ///< of a mask

/// rows x columns values of a mask on the host, which it does not own, row by row.
struct ConvolveMask {
    const void* values = nullptr;
    u64 rows = 0, columns = 0;
    Type type = Type::f32;

    ConvolveMask() = default;
    ConvolveMask(const void* data, u64 mask_rows, u64 mask_columns, Type mask_type)
        : values(data), rows(mask_rows), columns(mask_columns), type(mask_type) {}
    /// Throws invalid_argument if there are not as many values.
    template <class T>
    ConvolveMask(std::span<const T> all, u64 mask_rows, u64 mask_columns)
        : ConvolveMask(all.data(), mask_rows, mask_columns, type_of<T>()) {
        check_count(all.size());
    }
    template <class T>
    ConvolveMask(const std::vector<T>& all, u64 mask_rows, u64 mask_columns)
        : ConvolveMask(std::span<const T>(all), mask_rows, mask_columns) {}

    u64 taps() const { return rows * columns; }
    u64 bytes() const { return taps() * size_of(type); }

  private:
    void check_count(u64 count) const;
};

/// Whether `separable` takes the mask: every element is, within eight units of roundoff of itself, the product of a factor of
/// its row and one of its column, and all are finite. A mask that was made of two vectors is.
bool convolve_separates(const ConvolveMask& mask);
/// Roundings of the factors, see above.
inline constexpr u64 separable_slack = 8;

extern const Algorithm convolve_algorithm;

Enqueued convolve(Stream& stream, const View& in, const ConvolveMask& mask, const View& out,
                  const ConvolveShape& shape, const Options& options = {});

/// The same for spans or arrays.
template <Range In, Range Out>
Enqueued convolve(Stream& stream, const In& in, const ConvolveMask& mask, const Out& out,
                  const ConvolveShape& shape, const Options& options = {}) {
    using I = std::remove_const_t<typename In::Element>;
    using T = typename Out::Element;
    static_assert(std::is_same_v<T, f32> || std::is_same_v<T, f64>, "the result is f32 or f64");
    static_assert(std::is_same_v<I, T> || (std::is_same_v<I, u8> && std::is_same_v<T, f32>),
                  "the image is of the result's type, or u8 with an f32 result");
    return convolve(stream, View(in.view()), mask, View(out.view()), shape, options);
}

}  // namespace concord
