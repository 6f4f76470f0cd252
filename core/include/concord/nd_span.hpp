#pragma once
/// @file
/// Array views give a range a shape of any rank from 0 to 8. They do not own memory.
///
///     const Array<f32> x(stream, 2 * 300 * 500);
///     const NdSpan t(x, {2, 300, 500});                // contiguous, the last axis varies fastest
///     const NdSpan block = t.part(1, 10, 64);          // indices [10, 74) of axis 1
///     const NdSpan turned = t.permuted({2, 0, 1});     // 500 x 2 x 300, the same memory
///     const NdSpan rows(x.span(), {300, 500}, {0, 1}); // one row, repeated 300 times
///
/// The array must live until the calls that use its views have returned. A view of a temporary array does not compile.
///
/// Terms follow std::mdspan (P0009) with layout_stride: extents are numbers of elements, and the stride of an axis
/// counts elements from one index to the next. A stride may be 0 (broadcast) or negative (reversed). Axes count from
/// the front, or, negative, from the back.

#include <concord/matrix.hpp>

#include <array>

namespace concord {

/// The largest number of axes of an array view.
inline constexpr u32 max_rank = 8;

namespace detail {
[[noreturn]] void refuse_rank(u64 count);
[[noreturn]] void refuse_extent(i64 extent);
}  // namespace detail

/// At most 8 integers, in most calls one per axis of an array view.
template <class E>
class AxisValues {
  public:
    /// The type of the integers.
    using Element = E;

    /// No values.
    constexpr AxisValues() = default;
    /// The values in order. Throws invalid_argument if one is negative and E is unsigned.
    template <std::integral... N>
    requires(sizeof...(N) >= 1 && sizeof...(N) <= max_rank) constexpr AxisValues(N... values)
        : count_(sizeof...(N)), values_{cast(values)...} {}
    /// The values of a list whose length is known at run time. Throws invalid_argument if there are more than 8.
    constexpr explicit AxisValues(std::span<const E> values) : count_(static_cast<u32>(values.size())) {
        if (values.size() > max_rank) detail::refuse_rank(values.size());
        for (u32 k = 0; k < count_; ++k)
            values_[k] = values[k];
    }

    /// The number of values.
    constexpr u32 size() const { return count_; }
    /// Value k.
    constexpr E operator[](u32 k) const { return values_[k]; }
    /// Value k.
    constexpr E& operator[](u32 k) { return values_[k]; }
    /// The first value.
    constexpr const E* begin() const { return values_.data(); }
    /// Behind the last value.
    constexpr const E* end() const { return values_.data() + count_; }
    /// Adds a value behind the last one. Throws invalid_argument if there are 8.
    constexpr void add(E value) {
        if (count_ == max_rank) detail::refuse_rank(max_rank + 1);
        values_[count_++] = value;
    }
    /// Whether all values are equal.
    friend constexpr bool operator==(const AxisValues& a, const AxisValues& b) {
        if (a.count_ != b.count_) return false;
        for (u32 k = 0; k < a.count_; ++k) {
            if (a.values_[k] != b.values_[k]) return false;
        }
        return true;
    }

  private:
    template <std::integral N>
    static constexpr E cast(N value) {
        if constexpr (std::is_signed_v<N> && std::is_unsigned_v<E>) {
            if (value < 0) detail::refuse_extent(value);
        }
        return static_cast<E>(value);
    }

    u32 count_ = 0;
    std::array<E, max_rank> values_{};
};

/// The extents of an array view, one per axis.
using NdExtents = AxisValues<u64>;
/// The strides of an array view in elements, one per axis.
using NdStrides = AxisValues<i64>;
/// A list of axes. They count from the front, or, negative, from the back: -1 is the last axis.
using Axes = AxisValues<i64>;

/// An array view in a buffer, whose element type is known at run time. Does not own the buffer. Its elements lie in its
/// range, because constructors check this.
class NdView {
  public:
    /// An array view of rank 1 without elements.
    NdView() : NdView(View{}, NdExtents{0}) {}
    /// The contiguous array view whose first element is the first of the range: the last axis has stride 1. Throws
    /// invalid_argument if the range is too short.
    NdView(const View& range, const NdExtents& extents);
    /// The array view whose element (0, ..., 0) is element `origin` of the range. Throws invalid_argument if extents
    /// and strides differ in number, or if an element lies outside of the range.
    NdView(const View& range, const NdExtents& extents, const NdStrides& strides, u64 origin = 0);
    /// The rows and columns of a matrix. Throws invalid_argument if it exceeds its range.
    NdView(const MatrixView& matrix);
    /// The planes, rows and columns of a volume. Throws invalid_argument if it exceeds its range.
    NdView(const VolumeView& volume);

    /// The number of axes.
    u32 rank() const { return extents_.size(); }
    /// The number of indices along axis k < rank().
    u64 extent(u32 k) const { return extents_[k]; }
    /// Elements from one index of axis k < rank() to the next.
    i64 stride(u32 k) const { return strides_[k]; }
    /// All extents.
    const NdExtents& extents() const { return extents_; }
    /// All strides.
    const NdStrides& strides() const { return strides_; }
    /// The number of elements: the product of the extents, 1 for rank 0. An element that several indices share counts
    /// for each of them. At most 2^60.
    u64 size() const { return size_; }
    /// The elements of the buffer from the first to the last that the array view reaches.
    const View& range() const { return range_; }
    /// The position of element (0, ..., 0) in range().
    u64 origin() const { return origin_; }
    /// The type of the elements.
    const ElementType& type() const { return range_.type; }

    /// Whether the elements fill range() in the order of their indices, the last axis fastest.
    bool is_contiguous() const;
    /// Whether no two indices share an element. False also for some array views whose axes interleave, where only a
    /// search could tell. An output must be unique.
    bool is_unique() const;

    /// The array view with its axes in another order: axis k of the result is axis axes[k]. Throws invalid_argument
    /// unless each axis occurs once.
    NdView permuted(const Axes& axes) const;
    /// The array view with its axes in reverse order.
    NdView transposed() const;
    /// The array view with the order of the indices along an axis reversed. Throws invalid_argument if there is no such
    /// axis.
    NdView reversed(i64 axis) const;
    /// Indices [first, first + count) of an axis. Throws invalid_argument if they are out of range.
    NdView part(i64 axis, u64 first, u64 count) const;
    /// The array view repeated to these extents by NumPy's rules: extents align at the last axis, missing axes and
    /// those of extent 1 are repeated with stride 0. Throws invalid_argument if another extent differs.
    NdView broadcast(const NdExtents& extents) const;

  private:
    View range_;
    u64 origin_ = 0, size_ = 0;
    NdExtents extents_;
    NdStrides strides_;
};

/// Whether two array views may have an element in common: whether their ranges overlap. Matrices and volumes have
/// overlap() of their own.
template <std::same_as<NdView> V>
bool overlap(const V& a, const V& b) {
    return overlap(a.range(), b.range());
}

namespace detail {
// The axis counted from the front. Throws invalid_argument if the array view has no such axis.
u32 axis_of(std::string_view call, i64 axis, u32 rank);
// The axes counted from the front, in ascending order. Throws invalid_argument if there is no such axis, or if one
// occurs twice.
Axes sorted_axes(std::string_view call, const Axes& axes, u32 rank);
// A range without elements and without a buffer.
inline View no_elements(const ElementType& type) {
    return {.type = type};
}
// The extents as in "2 x 3 x 4"; "()" for rank 0.
std::string shape_name(const NdExtents& extents);
}  // namespace detail

/// An array view of elements of type T. Does not own its memory. A NdSpan<T> converts to a NdSpan<const T>.
template <class T>
class NdSpan {
  public:
    /// The element type without const.
    using Element = std::remove_const_t<T>;

    /// An array view of rank 1 without elements.
    NdSpan() = default;
    /// The contiguous array view whose first element is the first of the range: the last axis has stride 1. Throws
    /// invalid_argument if the range is too short.
    NdSpan(Span<T> range, const NdExtents& extents) : view_(range.view(), extents) {}
    /// The array view whose element (0, ..., 0) is element `origin` of the range. Throws invalid_argument if extents
    /// and strides differ in number, or if an element lies outside of the range.
    NdSpan(Span<T> range, const NdExtents& extents, const NdStrides& strides, u64 origin = 0)
        : view_(range.view(), extents, strides, origin) {}
    /// @cond
    NdSpan(Array<Element>&&, const NdExtents&) = delete;  // keep the array in a variable
    NdSpan(const Array<Element>&&, const NdExtents&) = delete;
    NdSpan(Array<Element>&&, const NdExtents&, const NdStrides&, u64 = 0) = delete;
    NdSpan(const Array<Element>&&, const NdExtents&, const NdStrides&, u64 = 0) = delete;
    /// @endcond
    /// The array of a view. Throws invalid_argument if the view has another type or exceeds its buffer.
    explicit NdSpan(const NdView& view) : view_(view) { Span<T>(view_.range()); }
    /// The rows and columns of a matrix.
    NdSpan(const Matrix<T>& matrix) : view_(matrix.view()) {}
    /// The planes, rows and columns of a volume.
    NdSpan(const Volume<T>& volume) : view_(volume.view()) {}
    /// Converts a NdSpan<T> to a NdSpan<const T>.
    template <std::same_as<Element> U>
    requires(std::is_const_v<T>) NdSpan(const NdSpan<U>& other) : view_(other.view()) {}

    /// The number of axes.
    u32 rank() const { return view_.rank(); }
    /// The number of indices along axis k < rank().
    u64 extent(u32 k) const { return view_.extent(k); }
    /// Elements from one index of axis k < rank() to the next.
    i64 stride(u32 k) const { return view_.stride(k); }
    /// All extents.
    const NdExtents& extents() const { return view_.extents(); }
    /// All strides.
    const NdStrides& strides() const { return view_.strides(); }
    /// The number of elements: the product of the extents, 1 for rank 0.
    u64 size() const { return view_.size(); }
    /// Whether the elements are adjacent in the order of their indices; see NdView.
    bool is_contiguous() const { return view_.is_contiguous(); }
    /// Whether no two indices share an element; see NdView.
    bool is_unique() const { return view_.is_unique(); }
    /// The array view as a view.
    const NdView& view() const { return view_; }

    /// The array view with its axes in another order; see NdView.
    NdSpan permuted(const Axes& axes) const { return NdSpan(view_.permuted(axes)); }
    /// The array view with its axes in reverse order.
    NdSpan transposed() const { return NdSpan(view_.transposed()); }
    /// The array view with the order of the indices along an axis reversed.
    NdSpan reversed(i64 axis) const { return NdSpan(view_.reversed(axis)); }
    /// Indices [first, first + count) of an axis. Throws invalid_argument if they are out of range.
    NdSpan part(i64 axis, u64 first, u64 count) const { return NdSpan(view_.part(axis, first, count)); }
    /// The array view repeated to these extents by NumPy's rules; see NdView.
    NdSpan broadcast(const NdExtents& extents) const { return NdSpan(view_.broadcast(extents)); }

  private:
    NdView view_{detail::no_elements(element_type_of<Element>()), NdExtents{0}};
};

/// @cond deduction guides
template <class T>
NdSpan(const Array<T>&, const NdExtents&) -> NdSpan<T>;
template <class T>
NdSpan(const Span<T>&, const NdExtents&) -> NdSpan<T>;
template <class T>
NdSpan(const Array<T>&, const NdExtents&, const NdStrides&, u64 = 0) -> NdSpan<T>;
template <class T>
NdSpan(const Span<T>&, const NdExtents&, const NdStrides&, u64 = 0) -> NdSpan<T>;
template <class T>
NdSpan(const Matrix<T>&) -> NdSpan<T>;
template <class T>
NdSpan(const Volume<T>&) -> NdSpan<T>;
/// @endcond

/// Array views of constants are not writable.
template <class T>
inline constexpr bool is_writable_range<NdSpan<const T>> = false;

/// An array view argument of an algorithm: a type with a member type Element, without const, and a view() that returns
/// a NdView, a MatrixView or a VolumeView, such as NdSpan, Matrix and Volume.
template <class V>
concept NdRange = detail::HasViewOf<V, NdView> || MatrixBatch<V>;
/// An array view to which an algorithm may write: elements are not constant.
template <class V>
concept OutputNdRange = NdRange<V> && is_writable_range<V>;

}  // namespace concord
