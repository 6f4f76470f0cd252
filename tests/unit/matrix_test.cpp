// Matrices and volumes: shapes, parts, layouts, and what they refuse.
#include "devices.hpp"

using namespace concord;
using test::random_values;
using test::throws;

TEST_SUITE_BEGIN("device");

DEVICE_TEST(matrices_have_the_shape_of_their_part) {
    const auto stream = device.create_stream();
    std::vector<i32> x(7 * 10);
    for (u64 i = 0; i < x.size(); ++i)
        x[i] = static_cast<i32>(i);
    const Array<i32> values(*stream, x);
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
    CHECK(transpose(*stream, Matrix(row, 1, 5)).to_host(*stream) == std::vector<i32>{53, 54, 55, 56, 57});
    CHECK(Matrix(values, 3, 4, 20).view().range.count == 44);
    // Parts without elements may begin behind the last one.
    CHECK(all.part(7, 10, 0, 0).size() == 0);
    CHECK(all.part(7, 0, 0, 10).size() == 0);
    const Matrix<const i32> constant = block;
    CHECK(constant.rows() == 4);
    CHECK(Matrix<f32>().size() == 0);
}

DEVICE_TEST(volumes_have_planes) {
    const auto stream = device.create_stream();
    const Array<f64> values(*stream, random_values<f64>(3 * 4 * 5 + 20));
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

DEVICE_TEST(matrices_and_volumes_that_do_not_fit_are_refused) {
    const auto stream = device.create_stream();
    const Array<f32> values(*stream, 100);
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
    refused("MatrixView::part: rows out of range, got [8, 8 + 3); the view has 10",
            [&] { (void)matrix.part(8, 0, 3, 1); });
    refused("MatrixView::part: columns out of range, got [1, 1 + 18446744073709551615); the view has 10",
            [&] { (void)matrix.part(0, 1, 1, ~u64{0}); });
    refused("VolumeView::planes: planes out of range, got [3, 3 + 2); the view has 4",
            [&] { (void)volume.planes(3, 2); });
    refused("planes out of range", [&] { (void)volume.plane(4); });
    refused("Matrix::row: rows of a column-major matrix are not contiguous",
            [&] { (void)matrix.transposed().row(0); });
    refused("rows out of range", [&] { (void)matrix.row(10); });
    refused("Span: wrong element type, got a view of f32; expected f64", [&] {
        Matrix<f64>(MatrixView{values.view(), 2, 2});
    });
}

DEVICE_TEST(shapes_that_do_not_match_are_named) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, 100), y(*stream, 100), z(*stream, 100);
    // The number of columns of a, forgotten.
    CHECK(throws(ErrorCode::invalid_argument,
                 "matmul: a must have as many columns as b has rows, got a of 10 x 0 and b of 10 x 10",
                 [&] { matmul(*stream, Matrix(x, 10, 0), Matrix(y, 10, 10), Matrix(z, 10, 10)); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "matmul: c must be 5 x 4 for a of 5 x 2 and b of 2 x 4, got 4 x 5",
                 [&] { matmul(*stream, Matrix(x, 5, 2), Matrix(y, 2, 4), Matrix(z, 4, 5)); }));
    CHECK(throws(ErrorCode::invalid_argument, "matmul: a must have as many columns",
                 [&] { (void)matmul(*stream, Matrix(x, 5, 2), Matrix(y, 3, 4)); }));
}

TEST_SUITE_END();
