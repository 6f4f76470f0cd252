// Scan through the public API. `concord check` covers variants, types, sizes and patterns.
#include <concord/scan.hpp>
#include "devices.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

using namespace concord;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(float, scaled_scan_test, (float x, float y, float scale), return x + y * scale;)
CONCORD_FUNCTION(i32, last_set_test, (i32 x, i32 y), return y != 0 ? y : x;)
CONCORD_FUNCTION(u32, mixed_scan_test, (u32 x, u32 y), return x * 31u + y;)

namespace {

// A recursive reference implementation of the canonical order.
template <class T, class F>
std::vector<T> canonical_exclusive(const std::vector<T>& x, T identity, F op) {
    if (x.size() < 2) return std::vector<T>(x.size(), identity);
    std::vector<T> p = x, totals;
    for (u64 half = 1; half < 16; half *= 2) {
        for (u64 i = 0; i < p.size(); ++i) {
            if ((i & half) != 0) p[i] = op(p[(i & ~(half - 1)) - 1], p[i]);
        }
    }
    for (u64 i = 15; i < p.size(); i += 16)
        totals.push_back(p[i]);
    totals.push_back(identity);  // of a partial last block, which no element follows
    const std::vector<T> before =
        totals.size() < 2 ? std::vector<T>{identity} : canonical_exclusive(totals, identity, op);
    std::vector<T> out;
    for (u64 i = 0; i < x.size(); ++i)
        out.push_back(i % 16 == 0 ? before[i / 16] : op(before[i / 16], p[i - 1]));
    return out;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](float x, float y) { return std::bit_cast<u32>(x) == std::bit_cast<u32>(y); });
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(scans_of_floats_follow_the_canonical_order) {
    auto add = [](float a, float b) { return a + b; };
    for (const u64 n : {1, 15, 16, 17, 255, 257, 4097, 65537, 100003, 1 << 20}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        const Array<float> in(stream, x), out(stream, n);
        const Enqueued run =
            scan(stream, in, out, ReduceOp::sum, ScanKind::exclusive, {.order = OperationOrder::canonical});
        CHECK(run.variant != "serial");
        const std::vector<float> expected = canonical_exclusive(x, 0.0F, add);
        CHECK(same_bits(out.to_host(stream), expected));
        CHECK(in.to_host(stream) == x);
        scan(stream, in, in, ReduceOp::sum, ScanKind::exclusive, {.order = OperationOrder::canonical});
        CHECK(same_bits(in.to_host(stream), expected));
    }
}

STREAM_TEST(results_do_not_depend_on_later_elements) {
    const auto x = random_values<float>(200003);
    const Array<float> in(stream, x), whole(stream, x.size()), part(stream, 70001);
    scan(stream, in, whole, ReduceOp::sum, ScanKind::inclusive, {.order = OperationOrder::canonical});
    scan(stream, in.span().part(0, 70001), part, ReduceOp::sum, ScanKind::inclusive,
         {.order = OperationOrder::canonical});
    auto beginning = whole.to_host(stream);
    beginning.resize(70001);
    CHECK(same_bits(beginning, part.to_host(stream)));
}

STREAM_TEST(integers_are_exact_in_every_variant) {
    const auto x = random_values<u32>(30011);
    const Array<u32> in(stream, x);
    std::vector<u32> inclusive(x.size()), exclusive(x.size());
    std::inclusive_scan(x.begin(), x.end(), inclusive.begin());
    std::exclusive_scan(x.begin(), x.end(), exclusive.begin(), 0U);
    test::each_variant(device, scan_algorithm, [&](const std::string& name) {
        const Array<u32> out(stream, x.size());
        scan(stream, in, out, ReduceOp::sum, ScanKind::inclusive, {name});
        CHECK(out.to_host(stream) == inclusive);
        scan(stream, in, out, ReduceOp::sum, ScanKind::exclusive, {name});
        CHECK(out.to_host(stream) == exclusive);
    });
}

STREAM_TEST(many_scans_of_many_lengths_share_a_stream) {
    const auto x = random_values<u32>(150001);
    const Array<u32> in(stream, x);
    std::vector<u32> expected(x.size());
    std::inclusive_scan(x.begin(), x.end(), expected.begin());
    std::vector<Array<u32>> outs;
    std::vector<u64> lengths;
    for (u64 i = 0; i < 40; ++i) {
        lengths.push_back(i % 7 == 0 ? x.size() : 1 + i * 3701);
        outs.emplace_back(stream, lengths.back());
        scan(stream, in.span().part(0, lengths.back()), outs.back());
    }
    for (u64 i = 0; i < outs.size(); ++i) {
        CAPTURE(lengths[i]);
        const auto got = outs[i].to_host(stream);
        CHECK(std::equal(got.begin(), got.end(), expected.begin()));
    }
}

STREAM_TEST(user_operators_need_not_commute) {
    auto x = random_values<i32>(40007);
    for (u64 i = 0; i < x.size(); ++i)
        x[i] = i % 97 == 5 ? x[i] | 1 : 0;
    const Array<i32> in(stream, x), out(stream, x.size());
    scan(stream, in, out, last_set_test, 0);
    std::vector<i32> expected(x.size());
    std::inclusive_scan(x.begin(), x.end(), expected.begin(), last_set_test);
    CHECK(out.to_host(stream) == expected);
}

DEVICE_TEST(variants_of_the_cpu_agree_on_user_operators) {
    REQUIRES(device.traits().dialect == Dialect::host, test::needs::host_kernels);
    const auto stream = device.create_stream();
    const Array<i32> in(*stream, random_values<i32>(5003)), out(*stream, in.size());
    CHECK(throws(ErrorCode::unsupported, "available: serial, partitioned",
                 [&] { scan(*stream, in, out, ReduceOp::sum, ScanKind::inclusive, {"blelloch"}); }));
    scan(*stream, in, out, last_set_test, 0, ScanKind::inclusive, {"partitioned"});
    const auto partitioned = out.to_host(*stream);
    scan(*stream, in, out, last_set_test, 0, ScanKind::inclusive, {"serial"});
    CHECK(out.to_host(*stream) == partitioned);
}

// An operator that is not associative shows the order. `serial` would be faster on so few elements.
DEVICE_TEST(own_operators_on_few_integers_keep_the_canonical_order) {
    const DeviceTraits& traits = device.traits();
    REQUIRES(traits.launch != LaunchModel::groups && traits.forward_progress, test::needs::partitioned);
    const auto stream = device.create_stream();
    const Array<u32> in(*stream, random_values<u32>(1000)), out(*stream, 1000);
    const auto scanned = [&](const char* variant) {
        scan(*stream, in, out, mixed_scan_test, 0u, ScanKind::exclusive, {variant});
        return out.to_host(*stream);
    };
    CHECK(scanned("auto") == scanned("partitioned"));
    const Enqueued sum = scan(*stream, in, out);
    CHECK(sum.variant == (traits.launch == LaunchModel::host ? "serial" : "partitioned"));
    if (traits.launch == LaunchModel::host) CHECK(scanned("serial") != scanned("partitioned"));
}

STREAM_TEST(scan_rejects_invalid_calls) {
    const Array<u32> a(stream, 100), b(stream, 99);
    const Array<float> f(stream, 100);
    CHECK(throws(ErrorCode::invalid_argument, "the same element count, got 100 and 99",
                 [&] { scan(stream, a, b); }));
    CHECK(throws(ErrorCode::invalid_argument, "the same type, got u32 and f32",
                 [&] { scan(stream, a.view(), f.view()); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlaps",
                 [&] { scan(stream, a.span().part(0, 50), a.span().part(1, 50)); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'fast'",
                 [&] { scan(stream, a, a, ReduceOp::sum, ScanKind::inclusive, {"fast"}); }));
    CHECK(throws(ErrorCode::unsupported, "order of operations is variant-specific, not canonical", [&] {
        const char* const variant =
            stream.device().traits().launch == LaunchModel::host ? "serial" : "blelloch";
        scan(stream, f, f, ReduceOp::sum, ScanKind::inclusive, {variant, OperationOrder::canonical});
    }));
    scan(stream, a.span().part(0, 0), b.span().part(0, 0));  // an empty scan
}

TEST_SUITE_END();
