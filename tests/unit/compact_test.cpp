// Compact and partition through the public API. `concord check` covers variants, types, sizes and patterns.
// No fixed bits: elements only move.
#include "devices.hpp"

#include <algorithm>
#include <limits>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(u8, is_close_test, (float x, float to, float by), return fabs(x - to) <= by ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(u64, high_bits_test, (u64 x), return x & (u64)0xff00000000000000;)
CONCORD_FUNCTION(i32, equals_test, (u8 x, u8 y), return x == y ? 1 : 0;)

namespace {

template <class T, class F>
std::vector<T> kept_of(const std::vector<T>& x, F keep) {
    std::vector<T> kept;
    std::copy_if(x.begin(), x.end(), std::back_inserter(kept), keep);
    return kept;
}

// Whether groups of the device can wait for one another, which `lookback` requires.
bool groups_can_wait(const Device& device) {
    const DeviceTraits& traits = device.traits();
    return traits.launch == LaunchModel::groups && traits.forward_progress && traits.device_fence;
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(compact_keeps_the_order_and_the_rest_of_out) {
    for (const u64 n : {1, 64, 1000, 5000, 300001}) {
        CAPTURE(n);
        const auto x = random_values<u32>(n);
        const Array<u32> in(stream, x), out(stream, std::vector<u32>(n + 3, 77));
        const Array<u64> count(stream, std::vector<u64>{5, 6});
        each_variant(device, compact_algorithm, [&](const std::string& name) {
            if (name == "lookback" && !groups_can_wait(device)) return;
            const auto expected = kept_of(x, [](u32 e) { return e % 2 == 1; });
            const Enqueued run = compact(stream, in, out, count.span().part(1, 1), KeepRule::odd, {name});
            CHECK(run.variant == name);
            CHECK(count.to_host(stream) == std::vector<u64>{5, expected.size()});
            const auto got = out.to_host(stream);
            CHECK(std::equal(expected.begin(), expected.end(), got.begin()));
            CHECK(std::count(got.begin() + static_cast<std::ptrdiff_t>(expected.size()), got.end(), 77U) ==
                  static_cast<std::ptrdiff_t>(n + 3 - expected.size()));
            CHECK(in.to_host(stream) == x);
        });
        CHECK(compact(stream, in, out, Keep::less(1000U)).get() ==
              kept_of(x, [](u32 e) { return e < 1000; }).size());
    }
}

STREAM_TEST(user_predicates_with_bound_values) {
    const auto x = random_values<float>(70001);
    const Array<float> in(stream, x), out(stream, x.size());
    for (const float to : {0.25f, -0.5f}) {
        const auto expected = kept_of(x, [=](float e) { return std::fabs(e - to) <= 0.125f; });
        REQUIRE(compact(stream, in, out, is_close_test.bind(to, 0.125f)).get() == expected.size());
        const auto got = out.to_host(stream);
        CHECK(std::equal(expected.begin(), expected.end(), got.begin()));
    }
    // A result that truncation to 32 bits would lose.
    const std::vector<u64> k = {1, u64{1} << 56, 2, u64{255} << 56, 3};
    const Array<u64> words(stream, k), kept(stream, 5);
    CHECK(compact(stream, words, kept, high_bits_test).get() == 2);
    // A bound value of one byte.
    const Array<u8> bytes(stream, std::vector<u8>{3, 200, 7, 200}), some(stream, 4);
    CHECK(compact(stream, bytes, some, equals_test.bind(200)).get() == 2);
}

STREAM_TEST(partition_keeps_both_orders) {
    for (const u64 n : {1, 777, 4096, 123457}) {
        CAPTURE(n);
        const auto x = random_values<u8>(n);
        const Array<u8> in(stream, x), out(stream, n);
        auto expected = kept_of(x, [](u8 e) { return e > 200; });
        const u64 kept = expected.size();
        const auto others = kept_of(x, [](u8 e) { return e <= 200; });
        expected.insert(expected.end(), others.begin(), others.end());
        each_variant(device, compact_algorithm, [&](const std::string& name) {
            if (name == "lookback") return;
            CHECK(partition(stream, in, out, Keep::greater<u8>(200), {name}).get() == kept);
            CHECK(out.to_host(stream) == expected);
        });
    }
}

STREAM_TEST(not_a_number_is_neither_greater_nor_less) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> x = {nan, 0.0f, -0.0f, 1.0f, -1.0f, nan};
    const Array<float> in(stream, x), out(stream, x.size());
    auto count = [&](const Keep& keep) { return compact(stream, in, out, keep).get(); };
    CHECK(count(KeepRule::positive) == 1);
    CHECK(count(KeepRule::nonzero) == 4);
    CHECK(count(Keep::greater(-2.0f)) == 4);
    CHECK(count(Keep::less(2.0f)) == 4);
    CHECK(count(Keep::greater(nan)) == 0);
    CHECK(count(Keep::less(nan)) == 0);
    CHECK(count(Keep::less(0.0f)) == 1);
}

STREAM_TEST(an_empty_input_keeps_nothing) {
    const Array<i16> none(stream, 0);
    CHECK(compact(stream, none, none, KeepRule::even).get() == 0);
    CHECK(partition(stream, none, none, KeepRule::even).get() == 0);
}

STREAM_TEST(compact_works_in_place_in_variants_that_support_it) {
    const auto x = random_values<u32>(1000003);
    auto expected = kept_of(x, [](u32 e) { return e % 2 == 0; });
    const u64 kept = expected.size();
    expected.insert(expected.end(), x.begin() + static_cast<std::ptrdiff_t>(kept), x.end());
    if (device.traits().dialect == Dialect::opencl && !groups_can_wait(device)) {
        const Array<u32> both(stream, x);
        CHECK(throws(ErrorCode::unsupported,
                     "no variant supports in-place operation on " + device.info().selector,
                     [&] { compact(stream, both, both, KeepRule::even); }));
    }
    each_variant(device, compact_algorithm, [&](const std::string& name) {
        if (name == "lookback" && !groups_can_wait(device)) return;
        const Array<u32> both(stream, x);
        if (name == "fused" || name == "scan_scatter") {
            CHECK(throws(ErrorCode::unsupported, "does not support in-place operation",
                         [&] { compact(stream, both, both, KeepRule::even, {name}); }));
        } else {
            CHECK(compact(stream, both, both, KeepRule::even, {name}).get() == kept);
            CHECK(both.to_host(stream) == expected);
        }
    });
}

STREAM_TEST(compact_rejects_invalid_calls) {
    const Array<u32> in(stream, random_values<u32>(100)), out(stream, 100), small(stream, 99);
    const Array<float> floats(stream, 100);
    const Array<u64> counts(stream, 2);
    const Span<u64> count = counts.span().part(0, 1);
    auto refused = [&](const char* words, auto call) {
        CHECK(throws(ErrorCode::invalid_argument, words, call));
    };
    refused("out is too short, got 99 elements for 100 of in",
            [&] { compact(stream, in, small, count, KeepRule::odd); });
    refused("count must be one u64, got 2 elements of u64",
            [&] { compact(stream, in, out, counts, KeepRule::odd); });
    refused("count must be one u64, got 1 elements of u32",
            [&] { compact(stream, in.view(), out.view(), in.view().part(0, 1), KeepRule::odd); });
    refused("in and out must have the same type, got u32 and f32",
            [&] { compact(stream, in.view(), floats.view(), count.view(), KeepRule::odd); });
    refused("rule 'even' requires integers, got f32",
            [&] { compact(stream, floats, floats, count, KeepRule::even); });
    refused("rule 'greater' requires an operand of u32, got f32",
            [&] { compact(stream, in, out, count, Keep::greater(1.0f)); });
    refused("rule 'greater' requires an operand of u32, got none",
            [&] { compact(stream, in, out, count, KeepRule::greater); });
    refused("rule 'odd' has no operand", [&] { Keep(KeepRule::odd, 1); });
    refused("out at byte 0 overlaps in at byte 4 of the same buffer; pass identical or disjoint ranges",
            [&] { compact(stream, in.span().part(1, 50), in.span().part(0, 60), count, KeepRule::odd); });
    refused("partition: out at byte 0 overlaps in at byte 0 of the same buffer; pass disjoint ranges",
            [&] { partition(stream, in, in, count, KeepRule::odd); });
    const Array<u64> words(stream, 100);
    refused("count at byte 56 overlaps in at byte 0",
            [&] { compact(stream, words, words, words.span().part(7, 1), KeepRule::odd); });
    refused("unknown variant 'atomic'; available: ",
            [&] { compact(stream, in, out, count, KeepRule::odd, {"atomic"}); });
    CHECK_NOTHROW(compact(stream, in, out, count, KeepRule::odd));
    CHECK_NOTHROW(stream.synchronize());
}

// Calls in a row on one stream, and on several streams, share the scratch memory of their streams.
DEVICE_TEST(many_compactions_in_flight) {
    const auto x = random_values<u32>(300001);
    const u64 expected = kept_of(x, [](u32 e) { return e % 2 == 1; }).size();
    std::vector<std::shared_ptr<Stream>> streams;
    streams.reserve(3);
    for (int s = 0; s < 3; ++s)
        streams.push_back(device.create_stream());
    const Array<u32> in(*streams[0], x);
    std::vector<Array<u32>> outs;
    std::vector<Array<u64>> counts;
    for (const auto& stream : streams) {
        outs.emplace_back(*stream, x.size());
        counts.emplace_back(*stream, 20);
        for (u64 i = 0; i < 20; ++i)
            compact(*stream, in, outs.back(), counts.back().span().part(i, 1), KeepRule::odd);
    }
    for (std::size_t s = 0; s < streams.size(); ++s)
        CHECK(counts[s].to_host(*streams[s]) == std::vector<u64>(20, expected));
}

TEST_SUITE_END();
