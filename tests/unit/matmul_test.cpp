// Tests matmul through the public API. `concord check` covers variants, shapes, transposed operands, padding and
// batches.
#include "devices.hpp"

#include <concord/internal/matmul_mma.hpp>
#include <concord/tuning.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

namespace {

constexpr f32 nan32 = std::numeric_limits<f32>::quiet_NaN();

// A product of padded matrices, or of a batch of them.
struct Shape {
    u64 m = 0, n = 0, k = 0;
    bool transpose_a = false, transpose_b = false;
    u64 a_pitch = 0, b_pitch = 0, c_pitch = 0;
    u64 batch = 1;
    bool shares_b = false;
    u64 a_stride = 0, c_stride = 0;

    VolumeView a(const View& range) const {
        return {
            range, batch, m, k, a_pitch, a_stride, transpose_a ? Layout::column_major : Layout::row_major};
    }
    VolumeView b(const View& range) const {
        return {range,
                shares_b ? 1 : batch,
                k,
                n,
                b_pitch,
                0,
                transpose_b ? Layout::column_major : Layout::row_major};
    }
    VolumeView c(const View& range) const { return {range, batch, m, n, c_pitch, c_stride}; }
};

template <class A, class B, class C>
Enqueued multiply(Stream& stream, const A& a, const B& b, const C& c, const Shape& s,
                  const MatmulScale& scale = {}, const Options& options = {}) {
    return matmul(stream, s.a(a.view()), s.b(b.view()), s.c(c.view()), scale, options);
}

// Adds in pairs, level by level.
template <class T>
T sum_in_pairs(std::span<const T> x) {
    if (x.size() == 1) return x.front();
    const std::size_t half = std::bit_ceil(x.size()) / 2;
    return sum_in_pairs(x.first(half)) + sum_in_pairs(x.subspan(half));
}

// Reference: one chain per element and part of k, as in the contract. Padding between rows is that of c.
template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::vector<T> c, const Shape& s,
                       T alpha = 1, T beta = 0) {
    for (u64 i = 0; i < s.m; ++i) {
        for (u64 j = 0; j < s.n; ++j) {
            std::vector<T> parts;
            const u64 length = std::max<u64>(1, canonical_part(s.m, s.n, s.k));
            for (u64 first = 0; first == 0 || first < s.k; first += length) {
                T t = 0;
                for (u64 l = first; l < std::min(s.k, first + length); ++l)
                    t = std::fma(a[s.transpose_a ? l * s.a_pitch + i : i * s.a_pitch + l],
                                 b[s.transpose_b ? j * s.b_pitch + l : l * s.b_pitch + j], t);
                parts.push_back(t);
            }
            const T t = sum_in_pairs<T>(parts);
            T& at = c[i * s.c_pitch + j];
            at = beta == 0 ? alpha * t : std::fma(alpha, t, beta * at);
        }
    }
    return c;
}

// Calls f with the name of each variant of canonical order, and with "auto".
template <class F>
void each_canonical_variant(const Device& device, F f) {
    each_variant(device, matmul_algorithm, f, OperationOrder::canonical);
    f("auto");
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("the parts of k depend on the shape alone") {
    // One chain: k up to 1024, or many elements of C.
    for (const u64 k : {0, 1, 63, 1023, 1024})
        CHECK(canonical_part(3, 5, k) == k);
    CHECK(canonical_part(4096, 4096, 4096) == 4096);
    CHECK(canonical_part(2048, 2048, u64{1} << 40) == u64{1} << 40);
    CHECK(canonical_part(u64{1} << 40, u64{1} << 40, 5000) == 5000);
    CHECK(canonical_part(0, 7, 5000) == 5000);
    // At least 256 terms, multiples of 64.
    CHECK(canonical_part(1, 1, 1025) == 320);
    CHECK(canonical_part(64, 64, 4096) == 256);
    CHECK(canonical_part(128, 128, 8192) == 256);
    CHECK(canonical_part(256, 256, 16384) == 512);
    CHECK(canonical_part(512, 512, 2048) == 512);
    CHECK(canonical_part(1024, 1024, 4096) == 1024);
    CHECK(canonical_part(512, 512, 32768) == 2048);
    // Squares have one chain.
    u64 n = 1;
    while (n < 6000 && canonical_part(n, n, n) == n)
        ++n;
    CHECK(n == 6000);
    // At most 1024 parts.
    CHECK(canonical_part(1, 1, u64{1} << 53) == u64{1} << 43);
    CHECK(canonical_part(1, 1, u64{1} << 62) == u64{1} << 52);
    // The bound is on whole terms of a part.
    CHECK(canonical_part(1, 1049000, 1025) == 1025);
    CHECK(canonical_part(1, 1, u64{1} << 22) == u64{1} << 12);
    CHECK(canonical_part(1, 1, (u64{1} << 22) + 1) == (u64{1} << 12) + 64);
}

TEST_CASE("the operands of matmul's self-test expose wrong orders and roundings") {
    using Operands = detail::MatmulSelfTest;
    constexpr u64 m = Operands::m, n = Operands::n, k = Operands::k;
    const Operands right;
    const auto result_of = [&](const Operands& x) {
        return product(x.a, x.b, std::vector<f64>(m * n),
                       {.m = m, .n = n, .k = k, .a_pitch = k, .b_pitch = n, .c_pitch = n});
    };
    const std::vector<f64> expected = result_of(right);
    CHECK(std::ranges::any_of(expected, [](f64 x) { return x == 0 && std::signbit(x); }));
    CHECK(std::ranges::any_of(expected, [](f64 x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
    CHECK(std::ranges::all_of(expected, [](f64 x) { return std::isfinite(x); }));
    for (const u64 swap : {1, 2, 3, 4, 8, 16, 32, 64}) {
        CAPTURE(swap);
        CHECK(result_of(Operands(swap)) != expected);
    }
    // Products rounded before they are added; products of four terms added to the sum at once.
    std::vector<f64> rounded(m * n), by_fours(m * n);
    for (u64 i = 0; i < m; ++i) {
        for (u64 j = 0; j < n; ++j) {
            f64 four = 0;
            for (u64 l = 0; l < k; ++l) {
                const f64 x = right.a[i * k + l], y = right.b[l * n + j];
                rounded[i * n + j] += x * y;
                four = l % 4 == 0 ? x * y : std::fma(x, y, four);
                if (l % 4 == 3 || l == k - 1) by_fours[i * n + j] += four;
            }
        }
    }
    CHECK(rounded != expected);
    CHECK(by_fours != expected);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

DEVICE_TEST(matmul_self_test_of_tensor_cores_refuses_a_wrong_order) {
    REQUIRES(device.traits().f64_matrix_units, test::needs::matrix_units);
    CHECK(detail::f64_matrix_units_are_exact(device));
    for (const u64 swap : {1, 2, 4, 8, 16, 32}) {
        CAPTURE(swap);
        CHECK_FALSE(detail::f64_matrix_units_are_exact(device, swap));
    }
}

// Every tile, with operands that lie along k and along the sides, in packs and in single elements.
DEVICE_TEST(matmul_on_tensor_cores_with_every_tile) {
    REQUIRES(device.traits().f64_matrix_units, test::needs::matrix_units);
    const auto stream = device.create_stream();
    const auto a = random_values<f64>(200 * 200), b = random_values<f64>(200 * 200, 2),
               c = random_values<f64>(200 * 200, 3);
    const Array<f64> from_a(*stream, a), from_b(*stream, b);
    for (const u64 tile : {1, 2, 3, 4, 5, 6}) {
        CAPTURE(tile);
        const std::vector<TuningRow> rows{
            {.what = "matmul.tile", .type = Type::f64, .value = std::to_string(tile)}};
        set_tuning(device, std::make_shared<const Tuning>(rows, "a test"));
        for (const bool transpose_a : {false, true}) {
            for (const bool transpose_b : {false, true}) {
                // 182: whole packs, a rest of 2 elements along k.
                const u64 pitch = transpose_a == transpose_b ? transpose_a ? 182 : 180 : 183;
                const Shape s{.m = pitch - 10,
                              .n = pitch - 30,
                              .k = pitch - 100,
                              .transpose_a = transpose_a,
                              .transpose_b = transpose_b,
                              .a_pitch = pitch,
                              .b_pitch = pitch,
                              .c_pitch = pitch};
                const Array<f64> to(*stream, c);
                multiply(*stream, from_a, from_b, to, s, {.alpha = 0.3, .beta = -2}, {"register_tiled"});
                CHECK(to.to_host(*stream) == product(a, b, c, s, 0.3, -2.0));
            }
        }
    }
    set_tuning(device, nullptr);
}

// Without tensor cores, which devices that have them use otherwise. Operands as above.
DEVICE_TEST(matmul_of_f64_without_tensor_cores) {
    const DeviceTraits& traits = device.traits();
    REQUIRES(traits.launch == LaunchModel::groups, test::needs::many_items);
    REQUIRES(traits.fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    const auto a = random_values<f64>(200 * 200), b = random_values<f64>(200 * 200, 2),
               c = random_values<f64>(200 * 200, 3);
    const Array<f64> from_a(*stream, a), from_b(*stream, b);
    for (const u64 pitch : {180, 183}) {
        const Shape s{.m = pitch - 10,
                      .n = pitch - 30,
                      .k = pitch - 100,
                      .a_pitch = pitch,
                      .b_pitch = pitch,
                      .c_pitch = pitch};
        const Array<f64> to(*stream, c);
        detail::matmul_without_matrix_units(*stream, s.a(from_a.view()), s.b(from_b.view()), s.c(to.view()),
                                            {.alpha = 0.3, .beta = -2});
        CHECK(to.to_host(*stream) == product(a, b, c, s, 0.3, -2.0));
    }
}

// Run it alone too: if it is the first product of f64 matrices, the self-test of the tensor cores runs during the
// recording.
DEVICE_TEST(matmul_of_f64_is_recorded) {
    REQUIRES(device.traits().fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    const Shape s{.m = 70, .n = 50, .k = 90, .a_pitch = 90, .b_pitch = 50, .c_pitch = 50};
    const auto a = random_values<f64>(70 * 90), b = random_values<f64>(90 * 50, 2);
    const Array<f64> from_a(*stream, a), from_b(*stream, b), to(*stream, std::vector<f64>(70 * 50, 7));
    stream->begin_recording();
    multiply(*stream, from_a, from_b, to, s);
    const auto recording = stream->end_recording();
    CHECK(to.to_host(*stream) == std::vector<f64>(70 * 50, 7));
    recording->replay(*stream);
    CHECK(to.to_host(*stream) == product(a, b, std::vector<f64>(70 * 50), s));
}

STREAM_TEST(matmul_of_blocks_of_larger_matrices) {
    const Shape plain{.m = 37, .n = 41, .k = 29, .a_pitch = 33, .b_pitch = 50, .c_pitch = 44};
    Shape turned = plain;
    turned.transpose_a = turned.transpose_b = true;
    turned.a_pitch = 40;
    for (const Shape& s : {plain, turned}) {
        const auto a = random_values<f32>(50 * 50), b = random_values<f32>(50 * 50, 2),
                   c = random_values<f32>(2000, 3);
        const Array<f32> from_a(stream, a), from_b(stream, b);
        each_canonical_variant(device, [&](const std::string& name) {
            const Array<f32> to(stream, c);
            const Enqueued run = multiply(stream, from_a, from_b, to, s, {.alpha = 0.3, .beta = -2}, {name});
            if (name != "auto") CHECK(run.variant == name);
            CHECK(to.to_host(stream) == product(a, b, c, s, 0.3F, -2.0F));
        });
    }
}

// If beta is 0, C may hold anything. If k is 0, the operands may be empty.
STREAM_TEST(matmul_reads_c_only_if_beta_is_not_zero) {
    const auto a = random_values<f32>(35), b = random_values<f32>(21, 2);
    const std::vector<f32> c(15, nan32);
    const Shape s{.m = 5, .n = 3, .k = 7, .a_pitch = 7, .b_pitch = 3, .c_pitch = 3};
    const Array<f32> from_a(stream, a), from_b(stream, b), none(stream, 0);
    each_canonical_variant(device, [&](const std::string& name) {
        const Array<f32> to(stream, c);
        multiply(stream, from_a, from_b, to, s, {.alpha = 2}, {name});
        CHECK(to.to_host(stream) == product(a, b, c, s, 2.0F));
        multiply(stream, none, none, to, {.m = 5, .n = 3}, {.alpha = 2, .beta = 3}, {name});
        CHECK(to.to_host(stream) ==
              product(a, b, product(a, b, c, s, 2.0F), {.m = 5, .n = 3, .c_pitch = 3}, 2.0F, 3.0F));
        multiply(stream, none, none, to, {.m = 5, .n = 3}, {}, {name});
        CHECK(to.to_host(stream) == std::vector<f32>(15, 0));
    });
}

// Blocking along k and padding with zeros must not change the sign of a zero.
STREAM_TEST(matmul_keeps_the_sign_of_a_chain_that_underflows) {
    for (const u64 k : {1, 15, 16, 17, 400, 1100, 2113}) {
        CAPTURE(k);
        std::vector<f32> a(k, 0), b(k, -1e-30F);
        for (u64 first = 0, length = canonical_part(1, 1, k); first < k; first += length)
            a[std::min(k, first + length) - 1] = 1e-30F;
        const Array<f32> from_a(stream, a), from_b(stream, b);
        each_canonical_variant(device, [&](const std::string& name) {
            const Array<f32> to(stream, std::vector<f32>{nan32});
            multiply(stream, from_a, from_b, to, {.m = 1, .n = 1, .k = k}, {}, {name});
            const f32 got = to.to_host(stream)[0];
            CHECK(got == 0);
            CHECK(std::signbit(got));
        });
    }
}

STREAM_TEST(matmul_of_a_batch) {
    constexpr u64 batch = 6, m = 19, n = 21, k = 11, stride = m * n + 5;
    const auto a = random_values<f64>(batch * m * k), b = random_values<f64>(k * n, 2);
    const std::vector<f64> before(batch * stride, 7);
    const Array<f64> from_a(stream, a), from_b(stream, b);
    std::vector<f64> expected = before;
    for (u64 g = 0; g < batch; ++g) {
        const std::vector<f64> one(a.begin() + static_cast<std::ptrdiff_t>(g * m * k),
                                   a.begin() + static_cast<std::ptrdiff_t>((g + 1) * m * k));
        const auto c = product(one, b, std::vector<f64>(m * n),
                               {.m = m, .n = n, .k = k, .a_pitch = k, .b_pitch = n, .c_pitch = n});
        std::copy(c.begin(), c.end(), expected.begin() + static_cast<std::ptrdiff_t>(g * stride));
    }
    each_canonical_variant(device, [&](const std::string& name) {
        const Array<f64> to(stream, before);
        multiply(stream, from_a, from_b, to,
                 {.m = m, .n = n, .k = k, .batch = batch, .shares_b = true, .c_stride = stride}, {}, {name});
        CHECK(to.to_host(stream) == expected);
    });
}

// Few elements of C and a long k: 4, 7, 8 and 13 parts. The last one is shorter.
STREAM_TEST(matmul_splits_a_long_k) {
    for (const u64 k : {1100, 2113, 3001, 4129}) {
        CAPTURE(k);
        const Shape s{
            .m = 5, .n = 37, .k = k, .transpose_b = true, .a_pitch = k + 3, .b_pitch = k, .c_pitch = 40};
        const auto a = random_values<f32>(s.m * s.a_pitch), b = random_values<f32>(s.n * s.b_pitch, 2),
                   c = random_values<f32>(s.m * s.c_pitch, 3);
        const Array<f32> from_a(stream, a), from_b(stream, b);
        const std::vector<f32> expected = product(a, b, c, s, 0.5F, 3.0F);
        each_canonical_variant(device, [&](const std::string& name) {
            const Array<f32> to(stream, c);
            multiply(stream, from_a, from_b, to, s, {.alpha = 0.5, .beta = 3}, {name});
            CHECK(to.to_host(stream) == expected);
        });
    }
}

// The parts of all products take more scratch memory than one launch uses.
STREAM_TEST(matmul_splits_a_long_k_of_a_large_batch) {
    constexpr u64 k = 1300, m = 32, n = 32, parts = 4,
                  batch = (u64{64} << 20) / (m * n * parts * sizeof(f64)) + 7;
    const auto a = random_values<f64>(m * k + batch), b = random_values<f64>(k * n, 2);
    const Array<f64> from_a(stream, a), from_b(stream, b), to(stream, batch * m * n);
    // The planes of A overlap.
    matmul(stream, VolumeView{from_a.view(), batch, m, k, k, 1}, Matrix(from_b, k, n).view(),
           Volume(to, batch, m, n).view());
    const std::vector<f64> got = to.to_host(stream);
    for (const u64 g : {u64{0}, batch - 8, batch - 7, batch - 1}) {
        const auto one = std::span(a).subspan(g, m * k), c = std::span(got).subspan(g * m * n, m * n);
        CHECK(std::ranges::equal(
            c, product(std::vector<f64>(one.begin(), one.end()), b, std::vector<f64>(m * n),
                       {.m = m, .n = n, .k = k, .a_pitch = k, .b_pitch = n, .c_pitch = n})));
    }
}

// The chain of each element is the same, so results are bitwise identical to those of a row-major C.
STREAM_TEST(matmul_writes_column_major_matrices) {
    constexpr u64 m = 37, n = 41, k = 29;
    const Array<f32> x(stream, random_values<f32>(m * k)), y(stream, random_values<f32>(k * n, 2));
    const std::vector<f32> before = random_values<f32>(m * n, 3);
    const Matrix a(x, m, k), b(y, k, n);
    const Array<f32> rows(stream, before), columns(stream, before);
    transpose(stream, Matrix(rows, m, n), Matrix(columns, n, m));
    each_canonical_variant(device, [&](const std::string& name) {
        const Array<f32> expected = rows.clone(stream), turned = columns.clone(stream);
        matmul(stream, a, b, Matrix(expected, m, n), {.alpha = 0.3, .beta = -2}, {name});
        matmul(stream, a, b, Matrix(turned, m, n, 0, Layout::column_major), {.alpha = 0.3, .beta = -2},
               {name});
        CHECK(transpose(stream, Matrix(turned, n, m)).to_host(stream) == expected.to_host(stream));
    });
}

STREAM_TEST(matmul_accepts_empty_matrices) {
    const Array<f32> none(stream, 0), some(stream, std::vector<f32>{1, 2, 3}), c(stream, std::vector<f32>{4});
    CHECK_NOTHROW(multiply(stream, none, some, none, {.m = 0, .n = 3, .k = 1}));
    CHECK_NOTHROW(multiply(stream, some, none, none, {.m = 3, .n = 0, .k = 1}));
    CHECK_NOTHROW(multiply(stream, some, some, c, {.m = 1, .n = 1, .k = 3, .batch = 0}));
    CHECK(c.to_host(stream) == std::vector<f32>{4});
}

STREAM_TEST(matmul_rejects_invalid_arguments) {
    const Array<f32> a(stream, random_values<f32>(100)), b(stream, 100), c(stream, 100);
    const Array<f64> doubles(stream, 100);
    const Array<i32> integers(stream, 100);
    auto refused = [&](const char* words, const auto& x, const auto& y, const auto& z, const Shape& shape) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { multiply(stream, x, y, z, shape); }));
    };
    const Shape square{.m = 10, .n = 10, .k = 10};
    refused("a, b and c must have the same type, got f32, f64 and f32", a, doubles, c, square);
    refused("matrices must be f32 or f64, got i32", integers, integers, integers, square);
    refused("a of 10 x 11 needs 110 elements, got a range of 100", a, b, c, {.m = 10, .n = 5, .k = 11});
    refused("b of 10 x 11 needs 110 elements, got a range of 100", a, b, c, {.m = 5, .n = 11, .k = 10});
    refused("c of 20 x 10 needs 200 elements, got a range of 100", a, b, c, {.m = 20, .n = 10, .k = 5});
    refused("a of 5 x 10 needs a pitch of at least 10, got 9", a, b, c,
            {.m = 5, .n = 5, .k = 10, .a_pitch = 9});
    refused("b of 10 x 5 needs a pitch of at least 10, got 9", a, b, c,
            {.m = 5, .n = 5, .k = 10, .transpose_b = true, .b_pitch = 9});
    refused("c of 10 x 5 with a pitch of 11 needs 104 elements", a, b, c,
            {.m = 10, .n = 5, .k = 5, .c_pitch = 11});
    refused("exceeds 2^60 elements", a, b, c, {.m = u64{1} << 32, .n = 1, .k = u64{1} << 32});
    refused("a of 3 x 4 x 10 needs 120 elements", a, b, c, {.m = 4, .n = 2, .k = 10, .batch = 3});
    refused("c of 2 x 4 x 4 needs a plane pitch of at least 16, got 15", a, b, c,
            {.m = 4, .n = 4, .k = 4, .batch = 2, .c_stride = 15});
    refused("a of 2 x 4 x 4 with a plane pitch of 18446744073709551614 exceeds 2^60", a, b, c,
            {.m = 4, .n = 4, .k = 4, .batch = 2, .a_stride = ~u64{0} - 1});
    auto mismatched = [&](const char* words, const VolumeView& x, const VolumeView& y, const VolumeView& z) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { matmul(stream, x, y, z); }));
    };
    mismatched("a must have as many columns as b has rows, got a of 4 x 5 and b of 6 x 2",
               {a.view(), 1, 4, 5}, {b.view(), 1, 6, 2}, {c.view(), 1, 4, 2});
    mismatched("c must be 4 x 2 for a of 4 x 5 and b of 5 x 2, got 2 x 4", {a.view(), 1, 4, 5},
               {b.view(), 1, 5, 2}, {c.view(), 1, 2, 4});
    mismatched("c must be 3 x 4 x 2 for a of 3 x 4 x 5 and b of 5 x 2, got 4 x 2", {a.view(), 3, 4, 5},
               {b.view(), 1, 5, 2}, {c.view(), 1, 4, 2});
    mismatched("a and b must have the same number of planes, or one, got a of 3 x 4 x 5 and b of 2 x 5 x 2",
               {a.view(), 3, 4, 5}, {b.view(), 2, 5, 2}, {c.view(), 3, 4, 2});
    refused("c at byte 0 overlaps a at byte 0", a, b, a, square);
    refused("c at byte 196 overlaps b at byte 0", a, b, b.span().part(49, 25), {.m = 5, .n = 5, .k = 10});
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'strassen'; available: ", [&] {
        multiply(stream, a, b, c, square, {}, {"strassen"});
    }));
    // Ranges may be adjacent, and longer than their matrices.
    CHECK_NOTHROW(
        multiply(stream, a, b.span().part(0, 50), b.span().part(50, 50), {.m = 5, .n = 5, .k = 10}));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
