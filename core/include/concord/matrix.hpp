#pragma once
/// @file
/// Matrices and volumes: views that give a range a shape. They do not own memory.
///
///     const Array<f32> x(stream, 300 * 500);
///     const Matrix a(x, 300, 500);                     // rows, columns
///     const Matrix block = a.part(10, 20, 64, 64);     // the same memory, with the pitch of a
///     const Matrix turned = a.transposed();            // 500 x 300, column-major
///     const Volume v(x, 10, 30, 500);                  // planes, rows, columns
///
/// The array must live until the calls that use its views have returned. A view of a temporary array does not compile.
///
/// Terms follow std::mdspan (P0009): extents are numbers of elements, and a stride counts elements from one index to
/// the next. The pitch (leading dimension) is the larger stride of a matrix.

#include <concord/span.hpp>

#include <utility>

namespace concord {

/// Order of the elements of a matrix in memory.
enum class Layout : u8 {
    row_major,    ///< the elements of a row are adjacent, as in C and std::layout_right
    column_major  ///< the elements of a column are adjacent, as in Fortran, BLAS and std::layout_left
};

struct VolumeView;

/// A matrix in a buffer, whose element type is known at run time. Does not own the buffer. Calls check it.
struct MatrixView {
    View range;       ///< begins with element (0, 0); may be longer than the matrix
    u64 rows = 0;     ///< number of rows
    u64 columns = 0;  ///< number of columns
    /// Elements from one row to the next, or from one column to the next if column_major. 0: no padding between them.
    u64 pitch = 0;
    Layout layout = Layout::row_major;  ///< order of the elements

    /// The transpose: the same elements with the other layout.
    MatrixView transposed() const;
    /// The part of row_count x column_count elements that begins at (row, column). Throws invalid_argument if it is
    /// out of range.
    MatrixView part(u64 row, u64 column, u64 row_count, u64 column_count) const;
    /// A volume of one plane.
    operator VolumeView() const;
};

/// Planes of equal matrices in a buffer, whose element type is known at run time. Does not own the buffer. Calls check
/// it.
struct VolumeView {
    View range;       ///< begins with element (0, 0, 0); may be longer than the volume
    u64 depth = 0;    ///< number of planes
    u64 rows = 0;     ///< rows per plane
    u64 columns = 0;  ///< columns per plane
    /// Elements from one row to the next, or from one column to the next if column_major. 0: no padding between them.
    u64 pitch = 0;
    u64 plane_pitch = 0;                ///< elements from one plane to the next; 0: no padding between them
    Layout layout = Layout::row_major;  ///< order of the elements of a plane

    /// The volume of transposed planes: the same elements with the other layout.
    VolumeView transposed() const;
    /// Planes [first, first + count). Throws invalid_argument if they are out of range.
    VolumeView planes(u64 first, u64 count) const;
};

inline MatrixView::operator VolumeView() const {
    return {.range = range, .depth = 1, .rows = rows, .columns = columns, .pitch = pitch, .layout = layout};
}

/// Whether two matrices or volumes may have an element in common. Exact for matrices with the same pitch, such as parts
/// of one matrix; other views overlap if their ranges do. Throws invalid_argument if a view exceeds its range.
bool overlap(const VolumeView& a, const VolumeView& b);

/// Extents of a volume.
struct VolumeExtents {
    u64 depth = 0;    ///< number of planes (z)
    u64 rows = 0;     ///< rows per plane (y)
    u64 columns = 0;  ///< elements per row (x)

    /// Number of elements. Throws invalid_argument if it exceeds 2^60.
    u64 count() const;
    /// Whether all extents are equal.
    bool operator==(const VolumeExtents&) const = default;
};

namespace detail {
// Return the view with its pitches set and its range cut to its elements. Throw invalid_argument if a pitch is less
// than the length of a row, or if the range is too short.
MatrixView checked_matrix(const char* call, const char* name, const MatrixView& matrix);
VolumeView checked_volume(const char* call, const char* name, const VolumeView& volume);
// The elements of one row. Throws invalid_argument if there is no such row, or if it is not contiguous.
View row_of(const char* call, const MatrixView& matrix, u64 row);
// One plane. Throws invalid_argument if there is no such plane.
MatrixView plane_of(const char* call, const VolumeView& volume, u64 plane);
// A part; see MatrixView::part.
MatrixView matrix_part(const char* call, const MatrixView& matrix, u64 row, u64 column, u64 rows,
                       u64 columns);
}  // namespace detail

/// A matrix of elements of type T. Does not own its memory. A Matrix<T> converts to a Matrix<const T>.
template <class T>
class Matrix {
  public:
    /// The element type without const.
    using Element = std::remove_const_t<T>;

    /// A matrix without elements.
    Matrix() = default;
    /// The matrix whose element (0, 0) is the first of the range. pitch: elements from one row to the next, or from
    /// one column to the next if the layout is column_major; 0: no padding between them. Throws invalid_argument if
    /// the pitch is less than the length of a row, or if the range is too short.
    Matrix(Span<T> range, u64 rows, u64 columns, u64 pitch = 0, Layout layout = Layout::row_major)
        : Matrix(MatrixView{range.view(), rows, columns, pitch, layout}) {}
    /// @cond
    Matrix(Array<Element>&&, u64, u64, u64 = 0,
           Layout = Layout::row_major) = delete;  // keep the array in a variable
    Matrix(const Array<Element>&&, u64, u64, u64 = 0, Layout = Layout::row_major) = delete;
    /// @endcond
    /// The matrix of a view. Throws invalid_argument if the view has another type or exceeds its range.
    explicit Matrix(const MatrixView& view) : view_(detail::checked_matrix("Matrix", "matrix", view)) {
        Span<T>(view_.range);
    }
    /// Converts a Matrix<T> to a Matrix<const T>.
    template <std::same_as<Element> U>
    requires(std::is_const_v<T>) Matrix(const Matrix<U>& other) : view_(other.view()) {}

    /// Number of rows.
    u64 rows() const { return view_.rows; }
    /// Number of columns.
    u64 columns() const { return view_.columns; }
    /// Number of elements.
    u64 size() const { return view_.rows * view_.columns; }
    /// Elements from one row to the next, or from one column to the next if the layout is column_major.
    u64 pitch() const { return view_.pitch; }
    /// Order of the elements in memory.
    Layout layout() const { return view_.layout; }
    /// The matrix as a view. Its pitch is set and its range ends with the last element.
    const MatrixView& view() const { return view_; }
    /// The transpose: the same elements with the other layout. Does not copy; transpose() does.
    Matrix transposed() const { return Matrix(view_.transposed()); }
    /// The part of row_count x column_count elements that begins at (row, column). Throws invalid_argument if it is
    /// out of range.
    Matrix part(u64 row, u64 column, u64 row_count, u64 column_count) const {
        return Matrix(detail::matrix_part("Matrix::part", view_, row, column, row_count, column_count));
    }
    /// The elements of one row. Throws invalid_argument if there is no such row, or if the layout is column_major.
    Span<T> row(u64 index) const { return Span<T>(detail::row_of("Matrix::row", view_, index)); }

  private:
    MatrixView view_{.range = {.type = type_of<T>()}};
};

/// @cond deduction guides
template <class T>
Matrix(const Array<T>&, u64, u64, u64 = 0, Layout = Layout::row_major) -> Matrix<T>;
template <class T>
Matrix(const Span<T>&, u64, u64, u64 = 0, Layout = Layout::row_major) -> Matrix<T>;
/// @endcond

/// Planes of equal matrices of elements of type T: a volume, or a batch of matrices. Does not own its memory. A
/// Volume<T> converts to a Volume<const T>.
template <class T>
class Volume {
  public:
    /// The element type without const.
    using Element = std::remove_const_t<T>;

    /// A volume without elements.
    Volume() = default;
    /// The volume whose element (0, 0, 0) is the first of the range. pitch: elements from one row to the next;
    /// plane_pitch: elements from one plane to the next; 0: no padding between them. Throws invalid_argument if the
    /// pitch is less than the length of a row, or if the range is too short.
    Volume(Span<T> range, u64 depth, u64 rows, u64 columns, u64 pitch = 0, u64 plane_pitch = 0)
        : Volume(VolumeView{range.view(), depth, rows, columns, pitch, plane_pitch}) {}
    /// The volume of these extents, without padding. Throws invalid_argument if the range is too short.
    Volume(Span<T> range, const VolumeExtents& extents)
        : Volume(range, extents.depth, extents.rows, extents.columns) {}
    /// @cond
    Volume(Array<Element>&&, u64, u64, u64, u64 = 0, u64 = 0) = delete;  // keep the array in a variable
    Volume(const Array<Element>&&, u64, u64, u64, u64 = 0, u64 = 0) = delete;
    Volume(Array<Element>&&, const VolumeExtents&) = delete;  // keep the array in a variable
    Volume(const Array<Element>&&, const VolumeExtents&) = delete;
    /// @endcond
    /// The volume of a view. Throws invalid_argument if the view has another type or exceeds its range.
    explicit Volume(const VolumeView& view) : view_(detail::checked_volume("Volume", "volume", view)) {
        Span<T>(view_.range);
    }
    /// Converts a Volume<T> to a Volume<const T>.
    template <std::same_as<Element> U>
    requires(std::is_const_v<T>) Volume(const Volume<U>& other) : view_(other.view()) {}

    /// Number of planes.
    u64 depth() const { return view_.depth; }
    /// Rows per plane.
    u64 rows() const { return view_.rows; }
    /// Columns per plane.
    u64 columns() const { return view_.columns; }
    /// Number of elements.
    u64 size() const { return view_.depth * view_.rows * view_.columns; }
    /// All extents.
    VolumeExtents extents() const { return {view_.depth, view_.rows, view_.columns}; }
    /// Elements from one row to the next, or from one column to the next if the layout is column_major.
    u64 pitch() const { return view_.pitch; }
    /// Elements from one plane to the next.
    u64 plane_pitch() const { return view_.plane_pitch; }
    /// Order of the elements of a plane in memory.
    Layout layout() const { return view_.layout; }
    /// The volume as a view. Its pitches are set and its range ends with the last element.
    const VolumeView& view() const { return view_; }
    /// The volume of transposed planes: the same elements with the other layout. Does not copy.
    Volume transposed() const { return Volume(view_.transposed()); }
    /// Planes [first, first + count). Throws invalid_argument if they are out of range.
    Volume planes(u64 first, u64 count) const { return Volume(view_.planes(first, count)); }
    /// One plane. Throws invalid_argument if there is no such plane.
    Matrix<T> plane(u64 index) const { return Matrix<T>(detail::plane_of("Volume::plane", view_, index)); }

  private:
    VolumeView view_{.range = {.type = type_of<T>()}};
};

/// @cond deduction guides
template <class T>
Volume(const Array<T>&, u64, u64, u64, u64 = 0, u64 = 0) -> Volume<T>;
template <class T>
Volume(const Span<T>&, u64, u64, u64, u64 = 0, u64 = 0) -> Volume<T>;
template <class T>
Volume(const Array<T>&, const VolumeExtents&) -> Volume<T>;
template <class T>
Volume(const Span<T>&, const VolumeExtents&) -> Volume<T>;
/// @endcond

/// Matrices of constants are not writable.
template <class T>
inline constexpr bool is_writable_range<Matrix<const T>> = false;
/// Volumes of constants are not writable.
template <class T>
inline constexpr bool is_writable_range<Volume<const T>> = false;

namespace detail {
template <class M, class V>
concept HasViewOf = requires(const M& range) {
    typename M::Element;
    range.view();
}
&&!std::is_const_v<typename M::Element> &&
    std::same_as<std::remove_cvref_t<decltype(std::declval<const M&>().view())>, V>;
}  // namespace detail

/// A matrix argument of an algorithm: a type with a member type Element, without const, and a view() that returns a
/// MatrixView, such as Matrix.
template <class M>
concept MatrixRange = detail::HasViewOf<M, MatrixView>;
/// A volume argument of an algorithm: a type with a member type Element, without const, and a view() that returns a
/// VolumeView, such as Volume.
template <class V>
concept VolumeRange = detail::HasViewOf<V, VolumeView>;
/// A matrix, or a volume as a batch of matrices.
template <class M>
concept MatrixBatch = MatrixRange<M> || VolumeRange<M>;
/// A matrix to which an algorithm may write: elements are not constant.
template <class M>
concept OutputMatrix = MatrixRange<M> && is_writable_range<M>;
/// A volume to which an algorithm may write: elements are not constant.
template <class V>
concept OutputVolume = VolumeRange<V> && is_writable_range<V>;
/// A matrix or a batch of matrices to which an algorithm may write: elements are not constant.
template <class M>
concept OutputMatrixBatch = MatrixBatch<M> && is_writable_range<M>;

}  // namespace concord
