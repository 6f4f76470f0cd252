// Scan by key through the public API; `concord check` covers types, sizes and patterns.
#include "devices.hpp"

#include <concord/scan_by_key.hpp>

#include <bit>

using namespace concord;
using test::throws;

// Not commutative.
CONCORD_FUNCTION(u32, last_value, (u32 a, u32 b), return b != 0 ? b : a;)

TEST_SUITE_BEGIN("device");

DEVICE_TEST(scans_restart_with_each_run_of_equal_keys) {
    const auto stream = device.create_stream();
    const Array<i32> keys(*stream, std::vector<i32>{4, 4, 2, 2, 2, 4});
    const Array<f32> values(*stream, std::vector<f32>{1, 2, 3, 4, 5, 6}), out(*stream, 6);
    scan_by_key(*stream, keys, values, out);
    CHECK(out.to_host(*stream) == std::vector<f32>{1, 3, 3, 7, 12, 6});
    scan_by_key(*stream, keys, values, out, ReduceOp::sum, ScanKind::exclusive);
    CHECK(out.to_host(*stream) == std::vector<f32>{0, 1, 0, 3, 7, 0});
    scan_by_key(*stream, transform(MapFunction::square, keys), transform(MapFunction::negate, values), out,
                ReduceOp::min);
    CHECK(out.to_host(*stream) == std::vector<f32>{-1, -2, -3, -4, -5, -6});
    scan_by_key(*stream, keys, values, values);
    CHECK(values.to_host(*stream) == std::vector<f32>{1, 3, 3, 7, 12, 6});
    // One element, and none.
    scan_by_key(*stream, keys.span().part(0, 1), values.span().part(1, 1), out.span().part(0, 1));
    CHECK(out.to_host(*stream)[0] == 3);
    scan_by_key(*stream, keys.span().part(0, 0), values.span().part(0, 0), out.span().part(0, 0));
}

DEVICE_TEST(runs_have_the_bits_of_scans_on_them_alone) {
    const auto stream = device.create_stream();
    const std::vector<u64> lengths{1, 5, 129, 1024, 255, 256, 257, 40000, 2, 1, 70000, 16, 17, 3};
    std::vector<u16> keys;
    for (u64 r = 0; r < lengths.size(); ++r)
        keys.insert(keys.end(), lengths[r], static_cast<u16>(r * 77));
    std::vector<f32> values(keys.size());
    for (u64 i = 0; i < values.size(); ++i)
        values[i] = static_cast<f32>((i * 2654435761U) % 1000003) * 1e-3F - 400;
    const Array<u16> k(*stream, keys);
    const Array<f32> x(*stream, values), out(*stream, values.size()), alone(*stream, values.size());
    for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
        scan_by_key(*stream, k, x, out, ReduceOp::sum, kind);
        u64 at = 0;
        for (u64 r = 0; r < lengths.size(); at += lengths[r++])
            scan(*stream, x.span().part(at, lengths[r]), alone.span().part(at, lengths[r]), ReduceOp::sum,
                 kind);
        const std::vector<f32> got = out.to_host(*stream), expected = alone.to_host(*stream);
        u64 wrong = 0;
        for (u64 i = 0; i < got.size(); ++i)
            wrong += std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(expected[i]);
        CHECK(wrong == 0);
    }
}

DEVICE_TEST(keys_that_are_nan_or_bool) {
    const auto stream = device.create_stream();
    const f32 nan = std::bit_cast<f32>(0x7fc00000U);
    const Array<f32> keys(*stream, std::vector<f32>{nan, nan, 0.0F, -0.0F, -0.0F});
    const Array<u32> ones(*stream, std::vector<u32>(5, 1)), out(*stream, 5);
    scan_by_key(*stream, keys, ones, out);
    CHECK(out.to_host(*stream) == std::vector<u32>{1, 1, 1, 1, 2});
    const Array<u8> bytes(*stream, std::vector<u8>{1, 2, 0, 0, 7});
    View truths = bytes.view();
    truths.type = Type::boolean;
    scan_by_key(*stream, truths, ones.view(), out.view());
    CHECK(out.to_host(*stream) == std::vector<u32>{1, 2, 1, 2, 1});
}

DEVICE_TEST(scan_by_key_with_own_operators) {
    const auto stream = device.create_stream();
    const Array<u8> keys(*stream, std::vector<u8>{1, 1, 0, 0, 0});
    const Array<u32> values(*stream, std::vector<u32>{1, 0, 4, 0, 16}), out(*stream, 5);
    scan_by_key(*stream, keys, values, out, last_value, 0U);
    CHECK(out.to_host(*stream) == std::vector<u32>{1, 1, 4, 4, 16});
    scan_by_key(*stream, keys, values, out, last_value, 0U, ScanKind::exclusive);
    CHECK(out.to_host(*stream) == std::vector<u32>{0, 1, 0, 4, 4});
}

DEVICE_TEST(recorded_scans_of_runs_read_keys_anew) {
    const auto stream = device.create_stream();
    const Array<u32> keys(*stream, std::vector<u32>{1, 1, 2, 2, 2, 3});
    const Array<i64> values(*stream, std::vector<i64>{1, 2, 3, 4, 5, 6}), out(*stream, 6);
    stream->begin_recording();
    scan_by_key(*stream, keys, values, out);
    const auto recording = stream->end_recording();
    recording->replay(*stream);
    CHECK(out.to_host(*stream) == std::vector<i64>{1, 3, 3, 7, 12, 6});
    const std::vector<u32> others{7, 7, 7, 7, 7, 8};
    stream->write(*keys.buffer(), 0, others.data(), others.size() * sizeof(u32));
    recording->replay(*stream);
    CHECK(out.to_host(*stream) == std::vector<i64>{1, 3, 6, 10, 15, 6});
}

DEVICE_TEST(scan_by_key_refuses) {
    const auto stream = device.create_stream();
    const Array<u32> keys(*stream, 8);
    const Array<f32> values(*stream, 8), out(*stream, 8);
    CHECK(throws(ErrorCode::invalid_argument, "keys, values and out differ in size, got 8, 7 and 8",
                 [&] { scan_by_key(*stream, keys, values.span().part(0, 7), out); }));
    CHECK(throws(ErrorCode::invalid_argument, "keys, values and out differ in size, got 8, 8 and 7",
                 [&] { scan_by_key(*stream, keys, values, out.span().part(0, 7)); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlap", [&] { scan_by_key(*stream, keys, keys, keys); }));
}

TEST_SUITE_END();
