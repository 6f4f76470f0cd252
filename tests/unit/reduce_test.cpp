// Reduce through the public API. `concord check` covers variants, types, sizes and patterns.
#include "devices.hpp"

#include <concord/reduce.hpp>
#include <concord/scan.hpp>

#include <algorithm>
#include <bit>
#include <limits>

using namespace concord;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(i32, plus_test, (i32 a, i32 b), return a + b;)
CONCORD_FUNCTION(f64, larger_test, (f64 a, f64 b), return a > b ? a : b;)
CONCORD_FUNCTION(f64, mean_test, (f64 a, f64 b), return (a + b) * 0.75;)
CONCORD_FUNCTION(float, scaled_sum_test, (float x, float y, float scale), return x + y * scale;)

namespace {

// A reference implementation of the canonical order.
template <class T, class F>
T canonical(std::vector<T> x, T identity, F op) {
    while (true) {
        const u64 n = x.size(), chunk = canonical_chunk(n);
        std::vector<T> sums;
        for (u64 begin = 0; begin < std::max<u64>(n, 1); begin += chunk) {
            std::vector<T> column(128, identity);
            for (u64 i = begin; i < std::min(n, begin + chunk); ++i) {
                T& sum = column[(i - begin) % 128];
                sum = op(sum, x[i]);
            }
            for (u64 distance = 64; distance > 0; distance /= 2) {
                for (u64 l = 0; l < distance; ++l)
                    column[l] = op(column[l], column[l + distance]);
            }
            sums.push_back(column[0]);
        }
        if (sums.size() == 1) return sums[0];
        x = std::move(sums);
    }
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(fixed_sums_follow_the_canonical_order) {
    for (u64 n : {1, 127, 129, 1024, 1025, 100003, 1 << 21}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        const Array<float> in(stream, x), out(stream, 1);
        const Enqueued run = reduce(stream, in, out, ReduceOp::sum, {"fixed"});
        CHECK(run.variant == "fixed");
        const float expected = canonical(x, 0.0f, [](float a, float b) { return a + b; });
        CHECK(std::bit_cast<u32>(out.to_host(stream)[0]) == std::bit_cast<u32>(expected));
        CHECK(sum(stream, in).get() == expected);
        CHECK(in.to_host(stream) == x);
    }
}

STREAM_TEST(a_wrong_identity_is_named) {
    const Array<i32> x(stream, std::vector<i32>{1, 2, 3}), y(stream, 3), one(stream, 1);
    const Array<f64> z(stream, std::vector<f64>{-1, -2});
    const std::string_view words =
        "10 is not the identity of 'plus_test', got plus_test(10, 10) = 20; pass the e with plus_test(e, x) "
        "== x";
    CHECK(throws(ErrorCode::invalid_argument, "reduce: " + std::string(words),
                 [&] { (void)reduce(stream, x, plus_test, 10); }));
    CHECK(throws(ErrorCode::invalid_argument, words, [&] { reduce(stream, x, one, plus_test, 10); }));
    CHECK(throws(ErrorCode::invalid_argument, "scan: " + std::string(words),
                 [&] { scan(stream, x, y, plus_test, 10, ScanKind::exclusive); }));
    CHECK(throws(ErrorCode::invalid_argument, "0.5 is not the identity of 'mean_test'",
                 [&] { (void)reduce(stream, z, mean_test, 0.5); }));
    CHECK(reduce(stream, x, plus_test, 0).get() == 6);
    constexpr f64 infinity = std::numeric_limits<f64>::infinity();
    CHECK(reduce(stream, z, larger_test, -infinity).get() == -1);
    CHECK(reduce(stream, z, mean_test, 0.0).get() != 0);
    // NaN is its own identity where an operator gives NaN.
    (void)reduce(stream, z, mean_test, std::numeric_limits<f64>::quiet_NaN());
}

STREAM_TEST(user_operators_follow_the_canonical_order) {
    const auto x = random_values<float>(70001);
    const Array<float> in(stream, x), out(stream, 1);
    for (float scale : {1.0f, 0.75f}) {
        reduce(stream, in, out, scaled_sum_test.bind(scale), 0.0f);
        CHECK(out.to_host(stream)[0] == canonical(x, 0.0f, [=](float a, float b) { return a + b * scale; }));
    }
    const auto k = random_values<u32>(200001);
    const Array<u32> bits(stream, k), any(stream, 1);
    test::each_variant(device, reduce_algorithm, [&](const std::string& name) {
        if (name == "shuffle" && !device.traits().shuffles) return;
        for (u64 n : {u64{7}, u64{300}, u64{200000}}) {
            u32 expected = 0;
            for (u64 i = 1; i <= n; ++i)
                expected += k[i];
            reduce(stream, bits.span().part(1, n), any, ReduceOp::sum, {name});
            CHECK(any.to_host(stream)[0] == expected);
        }
    });
}

STREAM_TEST(an_empty_input_gives_the_identity) {
    const Array<float> none(stream, 0), out(stream, 1);
    for (ReduceOp op : all_reduce_ops) {
        reduce(stream, none, out, op);
        CHECK(out.to_host(stream)[0] == identity_of<float>(op));
    }
    const Array<i8> no_bytes(stream, 0), byte(stream, 1);
    reduce(stream, no_bytes, byte, ReduceOp::max);
    CHECK(byte.to_host(stream)[0] == -128);
}

STREAM_TEST(reduce_rejects_invalid_calls) {
    const Array<float> in(stream, random_values<float>(100)), out(stream, 2);
    const Array<double> other(stream, 1);
    CHECK(
        throws(ErrorCode::invalid_argument, "must have 1 element, got 2", [&] { reduce(stream, in, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "out at byte 12 overlaps in at byte 0",
                 [&] { reduce(stream, in, in.span().part(3, 1)); }));
    CHECK(throws(ErrorCode::invalid_argument, "f64", [&] { reduce(stream, in.view(), other.view()); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'atomic'; available: fixed",
                 [&] { reduce(stream, in, out.span().part(0, 1), ReduceOp::sum, {"atomic"}); }));
    CHECK_NOTHROW(reduce(stream, in, out.span().part(1, 1)));
    CHECK_NOTHROW(stream.synchronize());
}

// Consecutive launches share the ticket of their stream, and several streams run at once.
DEVICE_TEST(many_reductions_in_flight) {
    const auto x = random_values<float>(300001);
    const float expected = canonical(x, 0.0f, [](float a, float b) { return a + b; });
    std::vector<std::shared_ptr<Stream>> streams;
    streams.reserve(3);
    for (int s = 0; s < 3; ++s)
        streams.push_back(device.create_stream());
    const Array<float> in(*streams[0], x);
    std::vector<Array<float>> outs;
    for (const auto& stream : streams) {
        outs.emplace_back(*stream, 40);
        for (u64 i = 0; i < 40; ++i)
            reduce(*stream, in, outs.back().span().part(i, 1));
    }
    for (std::size_t s = 0; s < streams.size(); ++s)
        CHECK(outs[s].to_host(*streams[s]) == std::vector<float>(40, expected));
}

TEST_SUITE_END();
