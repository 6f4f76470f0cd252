// Transpose through the public API. `concord check` covers variants, types, shapes and gaps.
// No fixed bits: elements only move.
#include "devices.hpp"

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

namespace {

// Sizes and pitches of in and out.
struct Shape {
    u64 rows = 0, columns = 0, in_pitch = 0, out_pitch = 0;
};

template <class In, class Out>
Enqueued turn(Stream& stream, const In& in, const Out& out, const Shape& s, const Options& options = {}) {
    return transpose(stream, MatrixView{in.view(), s.rows, s.columns, s.in_pitch},
                     MatrixView{out.view(), s.columns, s.rows, s.out_pitch}, options);
}

// The expected content of out: the transpose of in, with the elements between rows unchanged.
template <class T>
std::vector<T> turned(const std::vector<T>& in, std::vector<T> out, const Shape& s) {
    for (u64 r = 0; r < s.rows; ++r) {
        for (u64 c = 0; c < s.columns; ++c)
            out[c * s.out_pitch + r] = in[r * s.in_pitch + c];
    }
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(transpose_leaves_elements_between_rows_unchanged) {
    for (const Shape& s :
         {Shape{3, 5, 7, 4}, Shape{70, 131, 140, 72}, Shape{257, 2, 2, 300}, Shape{1, 65, 65, 3}}) {
        CAPTURE(s.rows);
        const auto x = random_values<u16>(s.rows * s.in_pitch);
        const std::vector<u16> before(s.columns * s.out_pitch + 5, 77);
        const Array<u16> in(stream, x);
        each_variant(device, transpose_algorithm, [&](const std::string& name) {
            const Array<u16> out(stream, before);
            const Enqueued run = turn(stream, in, out, s, {name});
            CHECK(run.variant == name);
            CHECK(out.to_host(stream) == turned(x, before, s));
            CHECK(in.to_host(stream) == x);
        });
        const Array<u16> out(stream, before);
        turn(stream, in, out, s);
        CHECK(out.to_host(stream) == turned(x, before, s));
    }
}

// A block of a larger matrix with default pitches, transposed and transposed back.
STREAM_TEST(a_block_of_a_matrix_is_a_range_with_a_pitch) {
    const auto x = random_values<double>(90 * 100);
    const Array<double> matrix(stream, x), block(stream, 40 * 30), back(stream, x);
    transpose(stream, Matrix(matrix, 90, 100).part(7, 11, 30, 40), Matrix(block, 40, 30));
    const auto got = block.to_host(stream);
    for (u64 r = 0; r < 30; ++r) {
        for (u64 c = 0; c < 40; ++c)
            REQUIRE(got[c * 30 + r] == x[(7 + r) * 100 + 11 + c]);
    }
    transpose(stream, Matrix(block, 40, 30), Matrix(back, 90, 100).part(7, 11, 30, 40));
    CHECK(back.to_host(stream) == x);
}

STREAM_TEST(transpose_of_a_square_matrix_in_place) {
    for (const u64 side : {1, 2, 33, 64, 129, 300}) {
        CAPTURE(side);
        for (const u64 pitch : {side, side + 3, (side + 15) / 16 * 16}) {
            CAPTURE(pitch);
            const auto x = random_values<float>(side * pitch);
            const Shape shape{side, side, pitch, pitch};
            each_variant(device, transpose_algorithm, [&](const std::string& name) {
                const Array<float> both(stream, x);
                if (name == "naive") {
                    CHECK(throws(ErrorCode::unsupported, "does not support in-place operation",
                                 [&] { turn(stream, both, both, shape, {name}); }));
                    return;
                }
                turn(stream, both, both, shape, {name});
                CHECK(both.to_host(stream) == turned(x, x, shape));
            });
            const Array<float> both(stream, x);
            turn(stream, both, both, shape);
            turn(stream, both, both, shape);
            CHECK(both.to_host(stream) == x);
        }
    }
}

STREAM_TEST(transpose_of_column_major_matrices) {
    const auto x = random_values<u32>(30 * 47);
    const Array<u32> in(stream, x), out(stream, x.size());
    const Array<u32> padded(stream, std::vector<u32>(30 * 50, 7)), square(stream, x);
    transpose(stream, Matrix(in, 40, 25, 47, Layout::column_major),
              Matrix(padded, 25, 40, 30, Layout::column_major));
    CHECK(padded.to_host(stream) == turned(x, std::vector<u32>(30 * 50, 7), {25, 40, 47, 30}));
    const Matrix both(square, 20, 20, 40, Layout::column_major);
    transpose(stream, both, both);
    CHECK(square.to_host(stream) == turned(x, x, {20, 20, 40, 40}));
    CHECK(throws(ErrorCode::invalid_argument, "in of 47 x 31 needs", [&] {
        transpose(stream, MatrixView{in.view(), 47, 31, 0, Layout::column_major},
                  MatrixView{out.view(), 31, 47, 0, Layout::column_major});
    }));
    // In memory, the columns of in are rows.
    transpose(stream, Matrix(in, 47, 30, 0, Layout::column_major),
              Matrix(out, 30, 47, 0, Layout::column_major));
    CHECK(out.to_host(stream) == turned(x, x, {30, 47, 47, 30}));
}

STREAM_TEST(a_matrix_without_rows_or_columns_is_valid) {
    const Array<i8> none(stream, 0), some(stream, std::vector<i8>{1, 2, 3});
    CHECK_NOTHROW(turn(stream, none, none, {0, 0}));
    CHECK_NOTHROW(turn(stream, none, some, {0, 7}));
    CHECK_NOTHROW(turn(stream, some, some, {7, 0}));
    CHECK(some.to_host(stream) == std::vector<i8>{1, 2, 3});
}

STREAM_TEST(transpose_rejects_invalid_calls) {
    const Array<u32> in(stream, random_values<u32>(100)), out(stream, 100);
    const Array<float> floats(stream, 100);
    auto refused = [&](const char* words, const auto& from, const auto& to, const Shape& shape) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { turn(stream, from, to, shape); }));
    };
    refused("in and out must have the same type, got u32 and f32", in, floats, {10, 10});
    refused("in of 10 x 11 needs 110 elements, got a range of 100", in, out, {10, 11});
    refused("out of 20 x 5 with a pitch of 7 needs 138 elements", in, out, {5, 20, 0, 7});
    refused("in of 5 x 20 needs a pitch of at least 20, got 19", in, out, {5, 20, 19});
    refused("out of 20 x 5 needs a pitch of at least 5, got 4", in, out, {5, 20, 20, 4});
    refused("in of 3 x 2 with a pitch of 9223372036854775808 exceeds 2^60", in, out, {3, 2, u64{1} << 63});
    refused("needs 4294967296 elements", in, out, {u64{1} << 16, u64{1} << 16});
    refused("exceeds 2^60 elements", in, out, {u64{1} << 32, u64{1} << 32});
    refused("in-place operation requires a square matrix, got 5 x 20", in, in, {5, 20});
    refused("in-place operation requires equal pitches, got 12 and 10", in, in, {8, 8, 12, 10});
    refused("pass identical or disjoint ranges", in.span().part(0, 50), in.span().part(49, 51), {5, 10});
    CHECK(throws(ErrorCode::invalid_argument, "out must be 5 x 4 for in of 4 x 5, got 4 x 5",
                 [&] { transpose(stream, Matrix(in, 4, 5), Matrix(out, 4, 5)); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "in and out must have the same layout, got row-major and column-major",
                 [&] { transpose(stream, Matrix(in, 4, 5), Matrix(out, 4, 5).transposed()); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'diagonal'; available: ", [&] {
        turn(stream, in, out, {10, 10}, {"diagonal"});
    }));
    // Ranges may be adjacent, and longer than their matrices.
    CHECK_NOTHROW(turn(stream, in.span().part(0, 50), in.span().part(50, 50), {5, 10}));
    CHECK_NOTHROW(turn(stream, in, in.span().part(50, 50), {5, 10}));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
