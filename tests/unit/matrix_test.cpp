// Matrices and volumes: shapes, parts, layouts, and what they refuse.
#include "devices.hpp"

using namespace concord;
using test::random_values;
using test::throws;

TEST_SUITE_BEGIN("device");

STREAM_TEST(matrices_have_the_shape_of_their_part) {
    std::vector<i32> x(7 * 10);
    for (u64 i = 0; i < x.size(); ++i)
        x[i] = static_cast<i32>(i);
    const Array<i32> values(stream, x);
    const Matrix all(values, 7, 10);
    static_assert(std::is_same_v<decltype(all), const Matrix<i32>>);
    CHECK(all.pitch() == 10);
    CHECK(all.size() == 70);
    CHECK(all.view().range.count == 70);
    const Matrix block = all.part(2, 3, 4, 5);
    CHECK(block.rows() == 4);
    CHECK(block.columns() == 5);
    CHECK(block.pitch() == 10);
    CHECK(block.view().range.offset == 23 * sizeof(i32));
    CHECK(block.view().range.count == 35);  // from element 23 to element 57
    const Matrix inner = block.transposed().part(1, 2, 3, 1);
    CHECK(inner.layout() == Layout::column_major);
    CHECK(inner.view().range.offset == (23 + 2 * 10 + 1) * sizeof(i32));
    CHECK(inner.transposed().rows() == 1);
    const auto row = block.row(3);
    CHECK(row.size() == 5);
    CHECK(transpose(stream, Matrix(row, 1, 5)).to_host(stream) == std::vector<i32>{53, 54, 55, 56, 57});
    CHECK(Matrix(values, 3, 4, 20).view().range.count == 44);
    // Parts without elements may begin behind the last one.
    CHECK(all.part(7, 10, 0, 0).size() == 0);
    CHECK(all.part(7, 0, 0, 10).size() == 0);
    const Matrix<const i32> constant = block;
    CHECK(constant.rows() == 4);
    CHECK(Matrix<f32>().size() == 0);
}

STREAM_TEST(volumes_have_planes) {
    const Array<f64> values(stream, random_values<f64>(3 * 4 * 5 + 20));
    const Volume all(values, 3, 4, 5), same(values, VolumeExtents{3, 4, 5}), padded(values, 3, 3, 4, 6, 24);
    CHECK(all.plane_pitch() == 20);
    CHECK(all.extents() == same.extents());
    CHECK(all.size() == 60);
    CHECK(padded.view().range.count == 2 * 24 + 2 * 6 + 4);
    const Matrix plane = padded.plane(2);
    CHECK(plane.view().range.offset == 48 * sizeof(f64));
    CHECK(plane.pitch() == 6);
    CHECK(padded.planes(1, 2).depth() == 2);
    CHECK(padded.planes(3, 0).size() == 0);
    CHECK(padded.transposed().rows() == 4);
    CHECK(padded.transposed().plane(1).layout() == Layout::column_major);
    const Volume<const f64> constant = all;
    CHECK(constant.depth() == 3);
    CHECK(VolumeExtents{3, 4, 5}.count() == 60);
}

STREAM_TEST(matrices_and_volumes_that_do_not_fit_are_refused) {
    const Array<f32> values(stream, 100);
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("Matrix: matrix of 10 x 11 needs 110 elements, got a range of 100",
            [&] { Matrix(values, 10, 11); });
    refused("Matrix: matrix of 10 x 9 with a pitch of 11 needs 108 elements, got a range of 100",
            [&] { Matrix(values, 10, 9, 11); });
    refused("Matrix: matrix of 4 x 5 needs a pitch of at least 5, got 4", [&] { Matrix(values, 4, 5, 4); });
    refused("Matrix: matrix of 4 x 5 needs a pitch of at least 4, got 3",
            [&] { Matrix(values, 4, 5, 3, Layout::column_major); });
    refused("exceeds 2^60 elements", [&] { Matrix(values, u64{1} << 32, u64{1} << 32); });
    refused("Volume: volume of 5 x 4 x 6 needs 120 elements, got a range of 100",
            [&] { Volume(values, 5, 4, 6); });
    refused("Volume: volume of 2 x 4 x 6 with a pitch of 7 and a plane pitch of 90 needs 117 elements",
            [&] { Volume(values, 2, 4, 6, 7, 90); });
    refused("exceeds 2^60 elements", [&] { Volume(values, ~u64{0}, ~u64{0}, ~u64{0}); });
    refused("exceeds 2^60 elements", [] { (void)VolumeExtents{u64{1} << 40, u64{1} << 40, 1}.count(); });
    const Matrix matrix(values, 10, 10);
    const Volume volume(values, 4, 5, 5);
    refused("Matrix::part: rows out of range, got [8, 8 + 3); the view has 10",
            [&] { (void)matrix.part(8, 0, 3, 1); });
    refused("Matrix::part: columns out of range, got [1, 1 + 18446744073709551615); the view has 10",
            [&] { (void)matrix.part(0, 1, 1, ~u64{0}); });
    refused("VolumeView::planes: planes out of range, got [3, 3 + 2); the view has 4",
            [&] { (void)volume.planes(3, 2); });
    refused("Volume::plane: planes out of range, got [4, 4 + 1)", [&] { (void)volume.plane(4); });
    refused("Matrix::row: rows of a column-major matrix are not contiguous",
            [&] { (void)matrix.transposed().row(0); });
    refused("Matrix::row: rows out of range", [&] { (void)matrix.row(10); });
    refused("Span: wrong element type, got a view of f32; expected f64", [&] {
        Matrix<f64>(MatrixView{values.view(), 2, 2});
    });
}

// Compares with the elements themselves.
STREAM_TEST(overlap_of_matrices_is_exact_for_equal_pitches) {
    const Array<u8> values(stream, 200);
    const auto elements = [](const MatrixView& m) {
        std::vector<bool> used(200);
        const u64 lines = m.layout == Layout::row_major ? m.rows : m.columns,
                  length = m.layout == Layout::row_major ? m.columns : m.rows;
        for (u64 line = 0; line < lines; ++line) {
            for (u64 i = 0; i < length; ++i)
                used[m.range.offset + line * m.pitch + i] = true;
        }
        return used;
    };
    u64 compared = 0;
    for (const u64 begin : {0, 1, 3, 5, 9, 10, 11, 25, 47, 52}) {
        for (const u64 rows : {0, 1, 2, 4}) {
            for (const u64 columns : {0, 1, 4, 5, 10}) {
                const Matrix a(values.span().part(20, 180), 4, 5, 10),
                    b(values.span().part(begin, 148), rows, columns, 10);
                const auto in_a = elements(a.view()), in_b = elements(b.view());
                bool expected = false;
                for (u64 i = 0; i < 200; ++i)
                    expected = expected || (in_a[i] && in_b[i]);
                CAPTURE(begin);
                CAPTURE(rows);
                CAPTURE(columns);
                CHECK(overlap(a.view(), b.view()) == expected);
                CHECK(overlap(b.view().transposed(), a.view()) == expected);
                ++compared;
            }
        }
    }
    CHECK(compared == 200);
    // Other pitches and batches compare ranges.
    CHECK(overlap(Matrix(values, 2, 5, 20).view(), Matrix(values.span().part(5, 50), 2, 5, 10).view()));
    CHECK(overlap(Volume(values, 2, 2, 5, 10).view(), Matrix(values.span().part(5, 50), 2, 5, 10).view()));
}

// The trailing update of an LU decomposition: the blocks are parts of one matrix.
STREAM_TEST(calls_work_on_parts_of_one_matrix) {
    const auto x = random_values<f32>(100 * 100);
    const Array<f32> values(stream, x), apart(stream, x);
    const Matrix m(values, 100, 100), n(apart, 100, 100);
    const Matrix a = m.part(50, 0, 50, 50), b = m.part(0, 50, 50, 50), c = m.part(50, 50, 50, 50);
    matmul(stream, a, b, n.part(50, 50, 50, 50), {.alpha = -1, .beta = 1});
    matmul(stream, a, b, c, {.alpha = -1, .beta = 1});
    CHECK(values.to_host(stream) == apart.to_host(stream));
    transpose(stream, a, b);
    transpose(stream, m.part(50, 0, 50, 50), n.part(0, 50, 50, 50));
    CHECK(values.to_host(stream) == apart.to_host(stream));
    const std::vector<f32> mask(9, 0.125F);
    convolve(stream, m.part(0, 0, 50, 50), ConvolveMask(mask, 3, 3), c);
    convolve(stream, m.part(0, 0, 50, 50), ConvolveMask(mask, 3, 3), n.part(50, 50, 50, 50));
    CHECK(values.to_host(stream) == apart.to_host(stream));
    CHECK(throws(ErrorCode::invalid_argument, "overlaps a",
                 [&] { matmul(stream, a, b, m.part(50, 49, 50, 50)); }));
}

DEVICE_TEST(arrays_on_buffers_check_their_size) {
    const auto buffer = device.allocate(100);
    CHECK(Array<f32>(buffer, 25).size() == 25);
    CHECK(throws(ErrorCode::invalid_argument, "array: range exceeds the buffer",
                 [&] { Array<f32>(buffer, 26); }));
    CHECK(throws(ErrorCode::invalid_argument, "range without a buffer", [] { Array<f32>(nullptr, 1); }));
}

STREAM_TEST(shapes_that_do_not_match_are_named) {
    const Array<f32> x(stream, 100), y(stream, 100), z(stream, 100);
    // The number of columns of a, forgotten.
    CHECK(throws(ErrorCode::invalid_argument,
                 "matmul: a must have as many columns as b has rows, got a of 10 x 0 and b of 10 x 10",
                 [&] { matmul(stream, Matrix(x, 10, 0), Matrix(y, 10, 10), Matrix(z, 10, 10)); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "matmul: c must be 5 x 4 for a of 5 x 2 and b of 2 x 4, got 4 x 5",
                 [&] { matmul(stream, Matrix(x, 5, 2), Matrix(y, 2, 4), Matrix(z, 4, 5)); }));
    CHECK(throws(ErrorCode::invalid_argument, "matmul: a must have as many columns",
                 [&] { (void)matmul(stream, Matrix(x, 5, 2), Matrix(y, 3, 4)); }));
}

TEST_SUITE_END();
