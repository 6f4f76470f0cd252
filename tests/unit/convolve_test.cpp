// Tests convolve through the public API. `concord check` covers variants, types, masks, borders and padding.
#include "devices.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

// Sizes and pitches of the image and the result.
struct Shape {
    u64 rows = 0, columns = 0;
    ConvolveBorder border = ConvolveBorder::zero;
    u64 in_pitch = 0, out_pitch = 0;
};

template <class In, class Out>
Enqueued filter(Stream& stream, const In& in, const ConvolveMask& mask, const Out& out, const Shape& s,
                const Options& options = {}) {
    return convolve(stream, MatrixView{in.view(), s.rows, s.columns, s.in_pitch}, mask,
                    MatrixView{out.view(), s.rows, s.columns, s.out_pitch}, s.border, options);
}

// Reference: one chain per element; cells outside are 0 and take part.
template <class I, class T>
std::vector<T> expected(const std::vector<I>& in, const std::vector<T>& mask, i64 mask_rows, i64 mask_columns,
                        const Shape& s) {
    const i64 rows = static_cast<i64>(s.rows), columns = static_cast<i64>(s.columns);
    std::vector<T> out;
    for (i64 y = 0; y < rows; ++y) {
        for (i64 x = 0; x < columns; ++x) {
            T sum = 0;
            for (i64 k = 0; k < mask_rows * mask_columns; ++k) {
                const i64 r = y + k / mask_columns - mask_rows / 2,
                          c = x + k % mask_columns - mask_columns / 2;
                const i64 near_r = std::clamp<i64>(r, 0, rows - 1),
                          near_c = std::clamp<i64>(c, 0, columns - 1);
                const bool has = s.border == ConvolveBorder::clamp || (r == near_r && c == near_c);
                sum = std::fma(mask[k], has ? static_cast<T>(in[near_r * columns + near_c]) : T(0), sum);
            }
            out.push_back(std::isnan(sum) ? std::numeric_limits<T>::quiet_NaN() : sum);
        }
    }
    return out;
}

// Bitwise equal. A NaN must be the canonical one.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](T x, T y) { return std::memcmp(&x, &y, sizeof x) == 0; });
}

// Calls f with the name of each variant of canonical order.
template <class F>
void each_canonical_variant(const Device& device, F f) {
    each_variant(device, convolve_algorithm, f, OperationOrder::canonical);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(convolve_does_not_flip_the_mask) {
    const Array<float> in(stream, std::vector<float>{1, 2, 4, 8, 16, 32}), out(stream, 6);
    const std::vector<float> mask = {1, 10, 100};
    each_canonical_variant(device, [&](const std::string& name) {
        const Enqueued call = filter(stream, in, ConvolveMask(mask, 1, 3), out, {2, 3}, {name});
        CHECK(call.variant == name);
        CHECK(out.to_host(stream) == std::vector<float>{210, 421, 42, 1680, 3368, 336});
        filter(stream, in, ConvolveMask(mask, 3, 1), out, {2, 3, ConvolveBorder::clamp}, {name});
        CHECK(out.to_host(stream) == std::vector<float>{811, 1622, 3244, 881, 1762, 3524});
    });
}

// Cells outside are +0 and take part in the sum, so an infinity in the mask gives NaN.
STREAM_TEST(convolve_of_infinities_nans_and_zeros) {
    auto x = random_values<float>(9 * 40);
    x[3] = inf, x[57] = -inf, x[120] = not_a_number, x[200] = -0.0F, x[201] = 1e-44F;
    const Array<float> in(stream, x), out(stream, x.size());
    for (const float special : {inf, not_a_number, -0.0F, 1e-44F}) {
        auto mask = random_values<float>(15, 2);
        mask[4] = special;
        CAPTURE(special);
        for (const ConvolveBorder border : all_convolve_borders) {
            const Shape s{9, 40, border};
            each_canonical_variant(device, [&](const std::string& name) {
                filter(stream, in, ConvolveMask(mask, 5, 3), out, s, {name});
                CHECK(same_bits(out.to_host(stream), expected(x, mask, 5, 3, s)));
            });
        }
    }
    // A product that underflows gives -0; adding the next cell, outside the image, gives +0.
    const Array<float> tiny(stream, std::vector<float>{-1e-30F}), one(stream, 1);
    const std::vector<float> mask = {0, 1e-30F, 1};
    each_canonical_variant(device, [&](const std::string& name) {
        filter(stream, tiny, ConvolveMask(mask, 1, 3), one, {1, 1}, {name});
        CHECK(!std::signbit(one.to_host(stream)[0]));
    });
}

STREAM_TEST(convolve_supports_u8_images_and_parts_of_images) {
    const auto x = random_values<u8>(50 * 60);
    const auto mask = random_values<float>(35, 3);
    const Array<u8> in(stream, x);
    const Array<float> out(stream, std::vector<float>(30 * 44, 7));
    std::vector<u8> part;
    for (u64 y = 0; y < 30; ++y)
        part.insert(part.end(), x.begin() + static_cast<i64>((y + 5) * 60 + 3),
                    x.begin() + static_cast<i64>((y + 5) * 60 + 44));
    const Shape s{30, 41, ConvolveBorder::clamp, 60, 44};
    const auto wanted = expected(part, mask, 5, 7, s);
    filter(stream, in.span().part(5 * 60 + 3, 29 * 60 + 41), ConvolveMask(mask, 5, 7), out, s);
    const auto got = out.to_host(stream);
    for (u64 y = 0; y < 30; ++y) {
        for (u64 c = 0; c < 44; ++c)
            REQUIRE(got[y * 44 + c] == (c < 41 ? wanted[y * 41 + c] : 7.0F));
    }
    CHECK(in.to_host(stream) == x);
}

STREAM_TEST(convolve_reads_the_mask_before_it_returns) {
    const auto x = random_values<double>(64 * 64);
    const Array<double> in(stream, x), out(stream, x.size());
    for (const u64 side : {3, 31}) {
        auto mask = random_values<double>(side * side, 4);
        const Shape s{64, 64};
        const auto wanted = expected(x, mask, static_cast<i64>(side), static_cast<i64>(side), s);
        filter(stream, in, ConvolveMask(mask, side, side), out, s);
        std::fill(mask.begin(), mask.end(), 0);
        CHECK(out.to_host(stream) == wanted);
    }
}

STREAM_TEST(separable_requires_rank_one_and_runs_only_by_name) {
    const auto x = random_values<float>(40 * 50);
    const Array<float> in(stream, x), out(stream, x.size());
    const std::vector<float> gauss = {1, 4, 6, 4, 1};
    std::vector<float> mask;
    for (const float a : gauss) {
        for (const float b : gauss)
            mask.push_back(a * b / 256);
    }
    const Shape s{40, 50, ConvolveBorder::clamp};
    CHECK(convolve_separates(ConvolveMask(mask, 5, 5)));
    CHECK(filter(stream, in, ConvolveMask(mask, 5, 5), out, s).variant != "separable");
    CHECK(filter(stream, in, ConvolveMask(mask, 5, 5), out, s, {"separable"}).variant == "separable");
    const auto got = out.to_host(stream), wanted = expected(x, mask, 5, 5, s);
    for (std::size_t i = 0; i < got.size(); ++i)
        REQUIRE(std::abs(got[i] - wanted[i]) < 2 * 18 * 0x1p-24F);  // the taps sum to 1, |x| < 1
    CHECK(throws(ErrorCode::unsupported, "order of operations is variant-specific, not canonical", [&] {
        filter(stream, in, ConvolveMask(mask, 5, 5), out, s, {"separable", OperationOrder::canonical});
    }));
    mask[7] *= 1.001F;
    CHECK(!convolve_separates(ConvolveMask(mask, 5, 5)));
    CHECK(throws(ErrorCode::unsupported, "requires a mask of rank one",
                 [&] { filter(stream, in, ConvolveMask(mask, 5, 5), out, s, {"separable"}); }));
    mask[7] = inf;
    CHECK(!convolve_separates(ConvolveMask(mask, 5, 5)));
    CHECK(convolve_separates(ConvolveMask(std::vector<float>(9, 0.0F), 3, 3)));
}

STREAM_TEST(convolve_rejects_invalid_arguments) {
    const Array<float> in(stream, std::vector<float>(100, 1)), out(stream, std::vector<float>(100, 7));
    const Array<double> doubles(stream, 100);
    const Array<i32> integers(stream, 100);
    const std::vector<float> mask(33 * 33, 1);
    auto refused = [&](std::string_view words, u64 rows, u64 columns, const Shape& s, const auto& from,
                       const auto& to) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] {
            filter(stream, from, ConvolveMask(mask.data(), rows, columns, Type::f32), to, s);
        }));
    };
    refused("mask sides must be odd numbers from 1 to 31, got 2 x 3", 2, 3, {10, 10}, in, out);
    refused("got 33 x 1", 33, 1, {10, 10}, in, out);
    refused("got 0 x 1", 0, 1, {10, 10}, in, out);
    refused("in of 10 x 11 needs 110 elements, got a range of 100", 3, 3, {10, 11}, in, out);
    refused("out of 10 x 9 with a pitch of 11 needs 108 elements", 3, 3, {10, 9, ConvolveBorder::zero, 9, 11},
            in, out);
    refused("in of 10 x 9 needs a pitch of at least 9, got 8", 3, 3, {10, 9, ConvolveBorder::zero, 8}, in,
            out);
    refused("exceeds 2^60 elements", 3, 3, {u64{1} << 32, u64{1} << 32}, in, out);
    refused("overlaps in", 3, 3, {10, 10}, in, in);
    refused("image must be u8, f32 or f64, got i32", 3, 3, {10, 10}, integers, out);
    refused("mask must be f64 for an image of f64, got f32", 3, 3, {10, 10}, doubles, out);
    refused("out must be f32 for an image of f32, got f64", 3, 3, {10, 10}, in, doubles);
    CHECK(throws(ErrorCode::invalid_argument, "a mask of 3 x 4 needs 3 * 4 values, got 1089",
                 [&] { ConvolveMask(mask, 3, 4); }));
    CHECK(throws(ErrorCode::invalid_argument, "out must have the shape of in, 5 x 4, got 4 x 5", [&] {
        convolve(stream, Matrix(in, 5, 4), ConvolveMask(mask.data(), 3, 3, Type::f32), Matrix(out, 4, 5));
    }));
    CHECK(throws(ErrorCode::unsupported, "column-major layout not supported; pass transposed() of in and out",
                 [&] {
                     convolve(stream, Matrix(in, 5, 4).transposed(),
                              ConvolveMask(mask.data(), 3, 3, Type::f32), Matrix(out, 4, 5));
                 }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'round'; available: ", [&] {
        filter(stream, in, ConvolveMask(mask.data(), 3, 3, Type::f32), out, {10, 10}, {"round"});
    }));
    CHECK(out.to_host(stream) == std::vector<float>(100, 7));
    filter(stream, in, ConvolveMask(mask.data(), 3, 3, Type::f32), out, {0, 10});
    filter(stream, in, ConvolveMask(mask.data(), 3, 3, Type::f32), out, {10, 0});
    CHECK(out.to_host(stream) == std::vector<float>(100, 7));
}

TEST_SUITE_END();
