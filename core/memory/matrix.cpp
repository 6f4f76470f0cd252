#include <concord/internal/shape.hpp>
#include <concord/matrix.hpp>

#include <algorithm>

namespace concord {
namespace {

[[noreturn]] void refuse_shape(std::string_view call, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

// Throws unless [first, first + count) lies in [0, extent).
void check_part(std::string_view call, const char* what, u64 first, u64 count, u64 extent) {
    if (first <= extent && count <= extent - first) return;
    const std::string begin = std::to_string(first);
    refuse_shape(call, std::string(what) + " out of range, got [" + begin + ", " + begin + " + " +
                           std::to_string(count) + "); the view has " + std::to_string(extent));
}

// Lines are rows, or columns of a column-major matrix. Their elements are adjacent.
struct Lines {
    u64 count, length;
};
Lines lines_of(Layout layout, u64 rows, u64 columns) {
    return layout == Layout::row_major ? Lines{rows, columns} : Lines{columns, rows};
}

Layout other(Layout layout) {
    return layout == Layout::row_major ? Layout::column_major : Layout::row_major;
}

// The range from an element on. An empty range stays where it is.
View from(const View& range, u64 first) {
    const u64 begin = std::min(first, range.count);
    return range.part(begin, range.count - begin);
}

}  // namespace

std::string detail::size_name(std::initializer_list<u64> extents) {
    std::string text;
    for (const u64 extent : extents)
        text.append(text.empty() ? "" : " x ").append(std::to_string(extent));
    return text;
}

namespace {

enum class Named { matrix, volume };

VolumeView checked(const char* call, const char* name, const VolumeView& volume, Named named) {
    using namespace detail;
    const Lines shape = lines_of(volume.layout, volume.rows, volume.columns);
    const u64 lines = shape.count, length = shape.length;
    const bool is_matrix = named == Named::matrix;
    auto what = [&] {
        return std::string(name) + " of " +
               (is_matrix ? size_name({volume.rows, volume.columns})
                          : size_name({volume.depth, volume.rows, volume.columns}));
    };
    VolumeView exact = volume;
    if (exact.pitch == 0) exact.pitch = length;
    if (exact.pitch < length)
        refuse_shape(call, what() + " needs a pitch of at least " + std::to_string(length) + ", got " +
                               std::to_string(exact.pitch));
    auto pitches = [&] {
        std::string text;
        if (exact.pitch != length) text += " with a pitch of " + std::to_string(exact.pitch);
        if (volume.plane_pitch != 0 && !is_matrix)
            text += std::string(text.empty() ? " with" : " and") + " a plane pitch of " +
                    std::to_string(volume.plane_pitch);
        return text;
    };
    const CheckedSize plane = matrix_extent(lines, length, exact.pitch),
                      dense = CheckedSize(lines) * exact.pitch;
    const bool is_dense = volume.plane_pitch == 0;
    if (is_dense && dense.fits()) exact.plane_pitch = dense.value();
    const CheckedSize count =
        volume.depth == 0 || plane.fits(0)
            ? CheckedSize(0)
            : CheckedSize(volume.depth - 1) * (is_dense ? dense : exact.plane_pitch) + plane;
    if (!count.fits(max_bytes)) refuse_shape(call, what() + pitches() + " exceeds 2^60 elements");
    if (!count.fits(volume.range.count))
        refuse_shape(call, what() + pitches() + " needs " + std::to_string(count.value()) +
                               " elements, got a range of " + std::to_string(volume.range.count));
    exact.range = volume.range.part(0, count.value());
    return exact;
}

}  // namespace

VolumeView detail::checked_volume(const char* call, const char* name, const VolumeView& volume) {
    return checked(call, name, volume, Named::volume);
}

MatrixView detail::checked_matrix(const char* call, const char* name, const MatrixView& matrix) {
    const VolumeView exact = checked(call, name, matrix, Named::matrix);
    return {exact.range, matrix.rows, matrix.columns, exact.pitch, matrix.layout};
}

u64 VolumeExtents::count() const {
    const detail::CheckedSize count = detail::CheckedSize(depth) * rows * columns;
    if (!count.fits(detail::max_bytes))
        refuse_shape("VolumeExtents", detail::size_name({depth, rows, columns}) + " exceeds 2^60 elements");
    return count.value();
}

MatrixView MatrixView::transposed() const {
    return {range, columns, rows, pitch, other(layout)};
}

VolumeView VolumeView::transposed() const {
    return {range, depth, columns, rows, pitch, plane_pitch, other(layout)};
}

MatrixView detail::matrix_part(const char* call, const MatrixView& matrix, u64 row, u64 column, u64 rows,
                               u64 columns) {
    const MatrixView all = checked_matrix(call, "matrix", matrix);
    check_part(call, "rows", row, rows, matrix.rows);
    check_part(call, "columns", column, columns, matrix.columns);
    const u64 first =
        matrix.layout == Layout::row_major ? row * all.pitch + column : column * all.pitch + row;
    return {from(all.range, first), rows, columns, all.pitch, matrix.layout};
}

MatrixView MatrixView::part(u64 row, u64 column, u64 row_count, u64 column_count) const {
    return detail::matrix_part("MatrixView::part", *this, row, column, row_count, column_count);
}

VolumeView VolumeView::planes(u64 first, u64 count) const {
    VolumeView part = detail::checked_volume("VolumeView::planes", "volume", *this);
    check_part("VolumeView::planes", "planes", first, count, depth);
    part.range = from(part.range, first * part.plane_pitch);
    part.depth = count;
    return part;
}

View detail::row_of(const char* call, const MatrixView& matrix, u64 row) {
    if (matrix.layout != Layout::row_major)
        refuse_shape(call, "rows of a column-major matrix are not contiguous");
    return matrix_part(call, matrix, row, 0, 1, matrix.columns).range.part(0, matrix.columns);
}

MatrixView detail::plane_of(const char* call, const VolumeView& volume, u64 plane) {
    check_part(call, "planes", plane, 1, volume.depth);
    const VolumeView one = volume.planes(plane, 1);
    return {one.range, one.rows, one.columns, one.pitch, one.layout};
}

bool overlap(const VolumeView& a, const VolumeView& b) {
    // Lines of `length` elements, `pitch` elements apart.
    struct Block {
        u64 begin, count, length, pitch;
    };
    const auto block_of = [](const VolumeView& view) {
        const auto [count, length] = lines_of(view.layout, view.rows, view.columns);
        return Block{view.range.offset, count, length, view.pitch};
    };
    const VolumeView all_a = detail::checked_volume("overlap", "a", a),
                     all_b = detail::checked_volume("overlap", "b", b);
    if (!overlap(all_a.range, all_b.range)) return false;
    const u64 size = size_of(a.range.type);
    if (a.depth != 1 || b.depth != 1 || size_of(b.range.type) != size) return true;
    Block low = block_of(all_a), high = block_of(all_b);
    if (high.begin < low.begin) std::swap(low, high);
    // A single line fits every pitch that is not shorter.
    if (low.count == 1) low.pitch = high.pitch;
    if (high.count == 1) high.pitch = low.pitch;
    const u64 pitch = low.pitch, bytes = high.begin - low.begin;
    if (high.pitch != pitch || bytes % size != 0 || low.length > pitch || high.length > pitch) return true;
    // Where `high` begins in the lines of `low`. Its lines may go on in the next one.
    const u64 line = bytes / size / pitch, at = bytes / size % pitch;
    return (at < low.length && line < low.count) || (at + high.length > pitch && line + 1 < low.count);
}

}  // namespace concord
