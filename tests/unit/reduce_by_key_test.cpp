// Reduce by key through the public API; `concord check` covers types, sizes and patterns.
#include "devices.hpp"

#include <concord/reduce_by_key.hpp>
#include <concord/run_length_encode.hpp>

#include <bit>

using namespace concord;
using test::throws;

CONCORD_FUNCTION(u32, either_bit, (u32 a, u32 b), return a | b;)

TEST_SUITE_BEGIN("device");

DEVICE_TEST(values_of_equal_keys_are_combined) {
    const auto stream = device.create_stream();
    const Array<i32> keys(*stream, std::vector<i32>{4, 4, 2, 2, 2, 4});
    const Array<f32> values(*stream, std::vector<f32>{1, 2, 3, 4, 5, 6});
    const auto [unique_keys, sums] = reduce_by_key(*stream, keys, values);
    CHECK(unique_keys.to_host(*stream) == std::vector<i32>{4, 2, 4});
    CHECK(sums.to_host(*stream) == std::vector<f32>{3, 12, 6});
    const auto [same_keys, least] =
        reduce_by_key(*stream, keys, transform(MapFunction::negate, values), ReduceOp::min);
    CHECK(same_keys.size() == 3);
    CHECK(least.to_host(*stream) == std::vector<f32>{-2, -5, -6});
    const Array<i32> no_keys(*stream, 0);
    const Array<f32> no_values(*stream, 0);
    CHECK(reduce_by_key(*stream, no_keys, no_values).second.size() == 0);
}

DEVICE_TEST(runs_have_the_bits_of_reduce_on_them_alone) {
    const auto stream = device.create_stream();
    // Short, of one chunk, of several, and of so many that they have three levels; on average short, and long.
    for (const u64 last : {u64{3}, u64{1100000}}) {
        const std::vector<u64> lengths{1, 5, 129, 1024, 1025, 40000, 2, 70000, 1, 1, last};
        std::vector<u16> keys;
        for (u64 r = 0; r < lengths.size(); ++r)
            keys.insert(keys.end(), lengths[r], static_cast<u16>(r * 77));
        const u64 singles = last == 3 ? 100000 : 0;
        for (u64 i = 0; i < singles; ++i)
            keys.push_back(static_cast<u16>(i % 50 + 1));
        std::vector<f32> values(keys.size());
        for (u64 i = 0; i < values.size(); ++i)
            values[i] = static_cast<f32>((i * 2654435761U) % 1000003) * 1e-3F - 400;
        const Array<u16> k(*stream, keys);
        const Array<f32> x(*stream, values);
        const std::vector<f32> sums = reduce_by_key(*stream, k, x).second.to_host(*stream);
        REQUIRE(sums.size() == lengths.size() + singles);
        u64 at = 0;
        for (u64 r = 0; r < lengths.size(); at += lengths[r++]) {
            CAPTURE(r);
            CHECK(std::bit_cast<u32>(sums[r]) ==
                  std::bit_cast<u32>(sum(*stream, x.span().part(at, lengths[r])).get()));
        }
    }
}

DEVICE_TEST(reduce_by_key_with_own_operators) {
    const auto stream = device.create_stream();
    const Array<u8> keys(*stream, std::vector<u8>{1, 1, 0, 0, 0}), out_keys(*stream, std::vector<u8>(5, 9));
    const Array<u32> values(*stream, std::vector<u32>{1, 2, 4, 8, 16}), out(*stream, std::vector<u32>(5, 77));
    const Array<u64> count(*stream, 1);
    CHECK(reduce_by_key(*stream, keys, values, either_bit, 0U).second.to_host(*stream) ==
          std::vector<u32>{3, 28});
    reduce_by_key(*stream, keys, values, out_keys, out, count, either_bit, 0U);
    CHECK(count.to_host(*stream) == std::vector<u64>{2});
    CHECK(out_keys.to_host(*stream) == std::vector<u8>{1, 0, 9, 9, 9});
    CHECK(out.to_host(*stream) == std::vector<u32>{3, 28, 77, 77, 77});
}

DEVICE_TEST(recorded_calls_on_runs_count_anew) {
    const auto stream = device.create_stream();
    const Array<u32> keys(*stream, std::vector<u32>{1, 1, 2, 2, 2, 3}), out_keys(*stream, 6),
        kept(*stream, 6);
    const Array<i64> values(*stream, std::vector<i64>{1, 2, 3, 4, 5, 6}), out(*stream, 6);
    const Array<u64> count(*stream, 1), lengths(*stream, 6), kept_count(*stream, 1);
    stream->begin_recording();
    reduce_by_key(*stream, keys, values, out_keys, out, count);
    run_length_encode(*stream, keys, kept, lengths, kept_count);
    const auto recording = stream->end_recording();
    recording->replay(*stream);
    CHECK(count.to_host(*stream) == std::vector<u64>{3});
    CHECK(kept_count.to_host(*stream) == std::vector<u64>{3});
    const std::vector<u32> others{7, 7, 7, 7, 7, 8};
    stream->write(*keys.buffer(), 0, others.data(), others.size() * sizeof(u32));
    recording->replay(*stream);
    CHECK(count.to_host(*stream) == std::vector<u64>{2});
    CHECK(out.to_host(*stream)[0] == 15);
    CHECK(out.to_host(*stream)[1] == 6);
    CHECK(lengths.to_host(*stream)[0] == 5);
    CHECK(lengths.to_host(*stream)[1] == 1);
}

DEVICE_TEST(reduce_by_key_refuses) {
    const auto stream = device.create_stream();
    const Array<u32> keys(*stream, 8), out_keys(*stream, 8);
    const Array<f32> values(*stream, 8), out(*stream, 8);
    const Array<u64> count(*stream, 1);
    CHECK(throws(ErrorCode::invalid_argument, "reduce_by_key: keys and values differ in size, got 8 and 7",
                 [&] { reduce_by_key(*stream, keys, values.span().part(0, 7), out_keys, out, count); }));
    CHECK(throws(ErrorCode::invalid_argument, "reduce_by_key: out is too short, got 7 elements for 8 of keys",
                 [&] { reduce_by_key(*stream, keys, values, out_keys, out.span().part(0, 7), count); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { reduce_by_key(*stream, keys, values, out_keys, values, count); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap",
                 [&] { reduce_by_key(*stream, keys, values, keys, out, count); }));
}

TEST_SUITE_END();
