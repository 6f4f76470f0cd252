// Histogram through the public API. `concord check` covers variants, types, sizes and patterns.
// No fixed bits: counts are exact.
#include "devices.hpp"

#include <concord/histogram.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(int, ring_test, (float x, float y, float width), const float r = sqrt(x * x + y * y);
                 return (int)(r / width);)
CONCORD_FUNCTION(i8, sign_test, (i32 x), return (i8)(x < 0 ? -1 : x > 0 ? 1 : 0);)
CONCORD_FUNCTION(u64, shifted_test, (u32 x, u64 by), return (u64)x + by;)

namespace {

template <class C, class T, class Bins>
std::vector<C> counts(Stream& stream, const std::vector<T>& x, u64 bins, const Bins& how,
                      const Options& options = {}) {
    const Array<T> in(stream, x);
    const Array<C> out(stream, bins);
    histogram(stream, in, out, how, options);
    return out.to_host(stream);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(even_bins_have_the_edges_of_the_contract) {
    const float infinity = INFINITY, below = std::nextafter(1.0f, 0.0f);
    const std::vector<float> x = {0,    -0.0f,    0.25f,     std::nextafter(0.25f, 0.0f),
                                  0.5f, below,    1,         -1e-45f,
                                  NAN,  infinity, -infinity, 0.75f};
    CHECK(counts<u32>(stream, x, 4, HistogramBins::even(0, 1)) == std::vector<u32>{3, 1, 1, 2});
    // Without the minimum, rounding would put the last sample below hi past the last bin.
    CHECK(counts<u64>(stream, std::vector<float>{std::nextafter(0.3f, 0.0f)}, 3,
                      HistogramBins::even(0.1, 0.3)) == std::vector<u64>{0, 0, 1});
    const std::vector<i32> k = {-7, -6, -5, -4, -1, 0, 2, 3, 4, 100, -100};
    CHECK(counts<u16>(stream, k, 5, HistogramBins::even(-6, 4)) == std::vector<u16>{2, 1, 1, 1, 2});
    CHECK(counts<u16>(stream, k, 5, HistogramBins::even(-6.0, 4.0)) == std::vector<u16>{2, 1, 1, 1, 2});
    CHECK(counts<u32>(stream, k, 3, HistogramBins::even(200, 300)) == std::vector<u32>(3, 0));
}

STREAM_TEST(ranges_of_64_bits_are_exact) {
    const i64 least = INT64_MIN, most = INT64_MAX;
    // Bins of (2^64 - 1) / 3, a whole number.
    const i64 third = static_cast<i64>(static_cast<u64>(least) + 0x5555555555555555),
              two = static_cast<i64>(static_cast<u64>(least) + 0xaaaaaaaaaaaaaaaa);
    CHECK(counts<u32>(stream,
                      std::vector<i64>{least, third - 1, third, third + 1, two - 1, two, most - 1, most}, 3,
                      HistogramBins::even(least, most)) == std::vector<u32>{2, 3, 2});
    CHECK(counts<u32>(stream, std::vector<u64>{0, 1, ~u64{0} - 1, ~u64{0}}, 2,
                      HistogramBins::even(u64{0}, ~u64{0})) == std::vector<u32>{2, 1});
    // The whole range of 32 bits, and bounds outside the samples' type.
    CHECK(counts<u32>(stream, std::vector<u32>{0, 0x7fffffff, 0x80000000, ~u32{0}}, 2,
                      HistogramBins::even(0, i64{1} << 32)) == std::vector<u32>{2, 2});
    CHECK(counts<u32>(stream, std::vector<u8>{0, 127, 128, 255}, 4, HistogramBins::even(-256, 256)) ==
          std::vector<u32>{0, 0, 2, 2});
    CHECK(counts<u32>(stream, std::vector<i8>{-128, -1, 0, 127}, 7,
                      HistogramBins::even(i64{-1} << 62, i64{1} << 62)) ==
          std::vector<u32>{0, 0, 0, 4, 0, 0, 0});
}

STREAM_TEST(counters_saturate_or_wrap_and_are_overwritten) {
    std::vector<u32> x(200000, 1);
    std::fill_n(x.begin(), 65535, 0);
    std::fill_n(x.begin() + 65535, 65534, 3);
    each_variant(device, histogram_algorithm, [&](const std::string& name) {
        CAPTURE(name);
        const Array<u32> in(stream, x);
        const Array<u16> out(stream, std::vector<u16>(6, 77));
        for (int again = 0; again < 2; ++again)
            histogram(stream, in, out.span().part(1, 4), HistogramBins::identity(), {name});
        CHECK(out.to_host(stream) == std::vector<u16>{77, 65535, 65535, 0, 65534, 77});
        const Array<u64> wide(stream, std::vector<u64>(5, 77));
        histogram(stream, in, wide, HistogramBins::modulo(), {name});
        CHECK(wide.to_host(stream) == std::vector<u64>{65535, 68931, 0, 65534, 0});
        CHECK(in.to_host(stream) == x);
    });
}

STREAM_TEST(bins_by_a_user_function) {
    const auto x = random_values<float>(50001);
    for (const float y : {0.0f, 0.5f}) {
        const auto ring = ring_test.bind(y, 0.01f);
        std::vector<u32> expected(80, 0);
        for (const float v : x) {
            const int bin = ring(v);
            if (bin >= 0 && bin < 80) ++expected[static_cast<std::size_t>(bin)];
        }
        each_variant(device, histogram_algorithm, [&](const std::string& name) {
            CAPTURE(name);
            const auto got = counts<u32>(stream, x, 80, ring, {name});  // each_variant() catches the error
            CHECK(got == expected);
        });
    }
    const std::vector<i32> k = {-5, 0, 0, 7, 9, INT32_MIN};
    CHECK(counts<u64>(stream, k, 2, sign_test) == std::vector<u64>{2, 2});
    // Bins beyond 32 bits are not truncated.
    const std::vector<u32> m = {0, 1, 2, 3, ~u32{0}};
    CHECK(counts<u32>(stream, m, 3, shifted_test.bind(u64{1} << 32)) == std::vector<u32>(3, 0));
    CHECK(counts<u32>(stream, m, 3, shifted_test.bind(~u64{0})) == std::vector<u32>{1, 1, 1});
}

STREAM_TEST(a_new_range_compiles_no_kernel) {
    const Array<float> in(stream, random_values<float>(1000));
    const Array<u32> out(stream, 10);
    std::vector<const Kernel*> first, second;
    for (auto* list : {&first, &second}) {
        observe_launches(stream,
                         [list](const Kernel& kernel, const LaunchShape&) { list->push_back(&kernel); });
        histogram(stream, in, out,
                  list == &first ? HistogramBins::even(0, 1) : HistogramBins::even(-0.5, 0.25));
        observe_launches(stream, {});
    }
    CHECK(!first.empty());
    CHECK(first == second);
    const std::vector<u32> all = out.to_host(stream);
    CHECK(std::accumulate(all.begin(), all.end(), u32{0}) <= 1000);
}

namespace {

// Counts by the edges: bin i counts e_i <= x < e_(i+1), the last one also x = e_N.
template <class T>
std::vector<u64> counts_between(const std::vector<T>& x, const std::vector<T>& edges) {
    std::vector<u64> result(edges.size() - 1);
    for (const T sample : x) {
        for (u64 b = 0; b < result.size(); ++b) {
            if (sample >= edges[b] &&
                (sample < edges[b + 1] || (b + 1 == result.size() && sample == edges[b + 1])))
                ++result[b];
        }
    }
    return result;
}

}  // namespace

STREAM_TEST(exact_bins_are_those_of_their_edges) {
    std::vector<f64> cents(5001);
    for (u64 i = 0; i < cents.size(); ++i)
        cents[i] = static_cast<f64>(i) / 1000;
    std::vector<f64> edges(51);
    for (u64 i = 0; i < edges.size(); ++i)
        edges[i] = i == 50 ? 5.0 : static_cast<f64>(i) * (5.0 / 50);
    const auto expected = counts_between(cents, edges);
    CHECK(counts<u64>(stream, cents, 50, HistogramBins::exact(0, 5)) == expected);
    CHECK(counts<u64>(stream, cents, 50, HistogramBins::edges(edges)) == expected);
    CHECK(counts<u64>(stream, cents, 50, HistogramBins::even(0, 5)) != expected);
    // The last bin includes the upper end.
    CHECK(counts<u32>(stream, std::vector<i32>{0, 1, 2, 3, 4, 5}, 2, HistogramBins::exact(0, 4)) ==
          std::vector<u32>{2, 3});
    CHECK(counts<u32>(stream, std::vector<u8>{0, 9, 10, 11, 200, 255}, 3,
                      HistogramBins::edges(std::vector<u8>{9, 10, 11, 200})) == std::vector<u32>{1, 1, 2});
}

TEST_CASE("edges_must_ascend") {
    const auto refused = [](std::string_view words, const std::vector<f64>& edges) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { HistogramBins::edges(edges); }));
    };
    refused("edges: got 1; pass at least 2", {1});
    refused("edges must ascend, got 2.000000 and 1.000000 at index 1", {1, 2, 1});
    refused("edges must ascend", {1, std::nan(""), 3});
    CHECK_NOTHROW(HistogramBins::edges(std::vector<f64>{1, 1, 2}));
}

STREAM_TEST(an_empty_input_gives_zeros) {
    const Array<i16> none(stream, 0);
    const Array<u16> out(stream, std::vector<u16>(3, 5));
    histogram(stream, none, out, HistogramBins::identity());
    CHECK(out.to_host(stream) == std::vector<u16>(3, 0));
}

STREAM_TEST(histogram_rejects_invalid_calls) {
    const Array<float> in(stream, random_values<float>(100));
    const Array<i32> whole(stream, 100);
    const Array<u32> out(stream, 8), none(stream, 0);
    const Array<i32> negative(stream, 8);
    CHECK(throws(ErrorCode::invalid_argument, "edges and counters must fit, got 3 edges and 8 counters", [&] {
        histogram(stream, in, out, HistogramBins::edges(std::vector<float>{0, 1, 2}));
    }));
    CHECK(
        throws(ErrorCode::invalid_argument, "edges must have the samples' type or f64, got i32 for f32", [&] {
            histogram(stream, in, out, HistogramBins::edges(std::vector<i32>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
        }));
    CHECK(throws(ErrorCode::invalid_argument, "too many bins for the range, got 8 from 1 to 1.0000002",
                 [&] { histogram(stream, in, out, HistogramBins::exact(1.0f, 1.0000002f)); }));
    auto refused = [&](const char* words, const HistogramBins& bins) {
        CHECK(throws(ErrorCode::invalid_argument, words, [&] { histogram(stream, in, out, bins); }));
    };
    const auto unit = HistogramBins::even(0, 1);
    CHECK(
        throws(ErrorCode::invalid_argument, "pass at least one", [&] { histogram(stream, in, none, unit); }));
    CHECK(throws(ErrorCode::invalid_argument, "counters must be u16, u32 or u64, got i32",
                 [&] { histogram(stream, in.view(), negative.view(), unit); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "counters at byte 12 overlaps in at byte 0 of the same buffer; pass disjoint ranges",
                 [&] { histogram(stream, out, out.span().part(3, 1), HistogramBins::modulo()); }));
    refused("range is empty in f32, got from 1 to 1; pass lo < hi", HistogramBins::even(1, 1));
    refused("range is empty in f32, got from 2 to -1.5", HistogramBins::even(2, -1.5));
    refused("range is empty in f32", HistogramBins::even(1.0, 1.0 + 1e-12));
    refused("from 0 to nan", HistogramBins::even(0, std::nan("")));
    refused("from -inf to 0", HistogramBins::even(-HUGE_VAL, 0));
    refused("range must have finite ends in f32", HistogramBins::even(0, 1e300));
    refused("too wide", HistogramBins::even(-3e38, 3e38));
    refused("too narrow", HistogramBins::even(0, 1e-45));
    refused("modulo bins require unsigned samples, got f32", HistogramBins::modulo());
    refused("identity bins require integer samples, got f32", HistogramBins::identity());
    CHECK(throws(ErrorCode::invalid_argument, "integer samples require whole bounds, got from 0 to 1.5",
                 [&] { histogram(stream, whole, out, HistogramBins::even(0, 1.5)); }));
    CHECK(throws(ErrorCode::invalid_argument, "range is empty, got from 3 to -3",
                 [&] { histogram(stream, whole, out, HistogramBins::even(3, -3)); }));
    CHECK(throws(ErrorCode::invalid_argument, "wider than 64 bits",
                 [&] { histogram(stream, whole, out, HistogramBins::even(-1, ~u64{0})); }));
    CHECK(throws(ErrorCode::invalid_argument, "modulo bins require unsigned samples, got i32",
                 [&] { histogram(stream, whole, out, HistogramBins::modulo()); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'magic'; available: ", [&] {
        histogram(stream, in, out, unit, {"magic"});
    }));
    const Array<u32> many(stream, 1 << 20);
    if (device.traits().launch == LaunchModel::groups)
        CHECK(throws(ErrorCode::unsupported, "1048576 bins need",
                     [&] { histogram(stream, in, many, unit, {"shared_atomic"}); }));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
