// Transpose through the public API. `concord check` covers variants, types, shapes and gaps.
#include "devices.hpp"

using namespace concord;
using test::random_values;
using test::throws;

namespace {

// The expected content of out: the transpose of in, with the elements between rows unchanged.
template <class T>
std::vector<T> turned(const std::vector<T>& in, std::vector<T> out, const TransposeShape& s) {
    for (u64 r = 0; r < s.rows; ++r) {
        for (u64 c = 0; c < s.columns; ++c)
            out[c * s.out_pitch + r] = in[r * s.in_pitch + c];
    }
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(transpose_leaves_elements_between_rows_unchanged) {
    const auto stream = device.create_stream();
    for (const TransposeShape& s : {TransposeShape{3, 5, 7, 4}, TransposeShape{70, 131, 140, 72},
                                    TransposeShape{257, 2, 2, 300}, TransposeShape{1, 65, 65, 3}}) {
        CAPTURE(s.rows);
        const auto x = random_values<u16>(s.rows * s.in_pitch);
        const std::vector<u16> before(s.columns * s.out_pitch + 5, 77);
        const Array<u16> in(*stream, x);
        for (const Variant* variant : transpose_algorithm.variants) {
            CAPTURE(variant->name);
            if (!detail::supports_dialect(device, *variant)) continue;
            const Array<u16> out(*stream, before);
            try {
                const Enqueued run = transpose(*stream, in, out, s, {std::string(variant->name)});
                CHECK(run.variant == variant->name);
            } catch (const Error& error) {  // the variant requires another group size
                CHECK(error.code() == ErrorCode::unsupported);
                continue;
            }
            CHECK(out.to_host(*stream) == turned(x, before, s));
            CHECK(in.to_host(*stream) == x);
        }
        const Array<u16> out(*stream, before);
        transpose(*stream, in, out, s);
        CHECK(out.to_host(*stream) == turned(x, before, s));
    }
}

// A block of a larger matrix with default pitches, transposed and transposed back.
DEVICE_TEST(a_block_of_a_matrix_is_a_range_with_a_pitch) {
    const auto stream = device.create_stream();
    const auto x = random_values<double>(90 * 100);
    const Array<double> matrix(*stream, x), block(*stream, 40 * 30), back(*stream, x);
    const Span<const double> from = matrix.span().part(7 * 100 + 11, 29 * 100 + 40);
    transpose(*stream, from, block, {.rows = 30, .columns = 40, .in_pitch = 100});
    const auto got = block.to_host(*stream);
    for (u64 r = 0; r < 30; ++r) {
        for (u64 c = 0; c < 40; ++c)
            REQUIRE(got[c * 30 + r] == x[(7 + r) * 100 + 11 + c]);
    }
    transpose(*stream, block, back.span().part(7 * 100 + 11, 29 * 100 + 40),
              {.rows = 40, .columns = 30, .out_pitch = 100});
    CHECK(back.to_host(*stream) == x);
}

DEVICE_TEST(transpose_of_a_square_matrix_in_place) {
    const auto stream = device.create_stream();
    for (const u64 side : {1, 2, 33, 64, 129, 300}) {
        CAPTURE(side);
        for (const u64 pitch : {side, side + 3, (side + 15) / 16 * 16}) {
            CAPTURE(pitch);
            const auto x = random_values<float>(side * pitch);
            const TransposeShape shape{side, side, pitch, pitch};
            for (const Variant* variant : transpose_algorithm.variants) {
                CAPTURE(variant->name);
                if (!detail::supports_dialect(device, *variant)) continue;
                const Array<float> both(*stream, x);
                if (variant->name == "naive") {
                    CHECK(throws(ErrorCode::unsupported, "does not support in-place operation", [&] {
                        transpose(*stream, both, both, shape, {std::string(variant->name)});
                    }));
                    continue;
                }
                try {
                    transpose(*stream, both, both, shape, {std::string(variant->name)});
                } catch (const Error& error) {
                    CHECK(error.code() == ErrorCode::unsupported);
                    continue;
                }
                CHECK(both.to_host(*stream) == turned(x, x, shape));
            }
            const Array<float> both(*stream, x);
            transpose(*stream, both, both, shape);
            transpose(*stream, both, both, shape);
            CHECK(both.to_host(*stream) == x);
        }
    }
}

DEVICE_TEST(a_matrix_without_rows_or_columns_is_valid) {
    const auto stream = device.create_stream();
    const Array<i8> none(*stream, 0), some(*stream, std::vector<i8>{1, 2, 3});
    CHECK_NOTHROW(transpose(*stream, none, none, {0, 0}));
    CHECK_NOTHROW(transpose(*stream, none, some, {0, 7}));
    CHECK_NOTHROW(transpose(*stream, some, some, {7, 0}));
    CHECK(some.to_host(*stream) == std::vector<i8>{1, 2, 3});
}

DEVICE_TEST(transpose_rejects_invalid_calls) {
    const auto stream = device.create_stream();
    const Array<u32> in(*stream, random_values<u32>(100)), out(*stream, 100);
    const Array<float> floats(*stream, 100);
    auto refused = [&](const char* words, const auto& from, const auto& to, const TransposeShape& shape) {
        CHECK(throws(ErrorCode::invalid_argument, words,
                     [&] { transpose(*stream, View(from.view()), View(to.view()), shape); }));
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
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'diagonal'; available: ", [&] {
        transpose(*stream, in, out, {10, 10}, {"diagonal"});
    }));
    // Ranges may be adjacent, and longer than their matrices.
    CHECK_NOTHROW(transpose(*stream, in.span().part(0, 50), in.span().part(50, 50), {5, 10}));
    CHECK_NOTHROW(transpose(*stream, in, in.span().part(50, 50), {5, 10}));
    CHECK_NOTHROW(stream->synchronize());
}

TEST_SUITE_END();
