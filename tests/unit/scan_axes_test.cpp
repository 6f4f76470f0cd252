// Scan over an axis: each line is bitwise identical to scan() of a contiguous copy.
#include "lines.hpp"

#include <concord/scan_axes.hpp>

#include <bit>
#include <limits>

using namespace concord;
using test::name_of_case;
using test::random_values;
using test::read_lines;
using test::same_bits;
using test::throws;

// Not commutative: the composition of x -> a x + b, modulo 2^16. The earlier element is applied first.
CONCORD_FUNCTION(u32, compose_axes_test, (u32 first, u32 second),
                 u32 a = (first & 0xffffu) * (second & 0xffffu) & 0xffffu;
                 u32 b = ((second & 0xffffu) * (first >> 16) + (second >> 16)) & 0xffffu; return a | b << 16;)
CONCORD_FUNCTION(f32, damped_axes_test, (f32 a, f32 b, f32 weight), return a + b * weight;)

namespace {

// The lines, each scanned alone from a contiguous copy, one behind the other. one(in, out): scans a range.
template <class T, class F>
std::vector<T> line_by_line(Stream& stream, const NdView& t, i64 axis, F&& one) {
    const u64 n = t.extent(static_cast<u32>(axis < 0 ? axis + t.rank() : axis));
    const Array<T> in(stream, read_lines<T>(stream, t, axis)), out(stream, t.size());
    for (u64 at = 0; at < t.size(); at += n)
        one(in.span().part(at, n), out.span().part(at, n));
    return out.to_host(stream);
}

template <class T>
void compare(Stream& stream, const NdSpan<T>& t, i64 axis, ReduceOp op = ReduceOp::sum,
             ScanKind kind = ScanKind::inclusive) {
    CAPTURE(name_of_case(t.view(), axis));
    CAPTURE(name_of(op));
    const auto expected = line_by_line<T>(
        stream, t.view(), axis, [&](const auto& in, const auto& out) { scan(stream, in, out, op, kind); });
    const Array<T> out = scan(stream, t, op, axis, kind);
    CHECK(same_bits(read_lines<T>(stream, NdView(out.view(), t.extents()), axis), expected));
}

}  // namespace

TEST_SUITE_BEGIN("device");

// Lengths around the blocks, the steps of 256 elements and the nodes of 4096.
STREAM_TEST(rows_have_the_bits_of_scan) {
    const Array<f32> x(stream, random_values<f32>(40000));
    for (const u64 n : {1, 2, 15, 16, 17, 33, 100, 255, 256, 257, 1000, 4097}) {
        compare(stream, NdSpan(x, {9, n}), 1);
        compare(stream, NdSpan(x, {7, n}, {static_cast<i64>(n), 1}, 3), -1, ReduceOp::sum,
                ScanKind::exclusive);
    }
    compare(stream, NdSpan(x, {400, 20}), 1);
    compare(stream, NdSpan(x, {300, 100}), 1);
}

STREAM_TEST(columns_have_the_bits_of_scan) {
    const Array<f32> x(stream, random_values<f32>(42000));
    for (const u64 n : {1, 15, 16, 17, 100, 257, 4097}) {
        compare(stream, NdSpan(x, {n, 7}), 0, ReduceOp::sum, ScanKind::exclusive);
        if (n < 300) compare(stream, NdSpan(x, {n, 130}, {150, 1}, 2), 0);
    }
    compare(stream, NdSpan(x, {4, 10000}), 0);
}

// Chunks of 4096 elements with their carries; more than 16 of them; lines that are scanned one after another.
STREAM_TEST(long_lines_have_the_bits_of_scan) {
    constexpr u64 n = (1 << 17) + 4100;
    const Array<f32> x(stream, random_values<f32>(2 * n + 4));
    compare(stream, NdSpan(x, {2, n}), 1, ReduceOp::sum, ScanKind::exclusive);
    compare(stream, NdSpan(x, {n, 2}), 0);
    compare(stream, NdSpan(x, {2, n}, {n + 3, 1}, 1).reversed(1), 1);
    compare(stream, NdSpan(x, {20, 9000}), 1);
    compare(stream, NdSpan(x, {n, 1}), 0);
}

STREAM_TEST(axes_of_array_views_have_the_bits_of_scan) {
    const Array<f32> x(stream, random_values<f32>(20000));
    compare(stream, NdSpan(x, {500}), 0);
    const NdSpan three(x, {6, 50, 17});
    for (const i64 axis : {0, 1, 2, -1, -3}) {
        compare(stream, three, axis);
        compare(stream, three.transposed(), axis);
        compare(stream, three.reversed(axis), axis);
        compare(stream, three.reversed((axis + 4) % 3), axis, ReduceOp::sum, ScanKind::exclusive);
        compare(stream, three.part(0, 1, 4).part(1, 3, 40).part(2, 1, 9), axis);
    }
    const NdSpan five(x, {3, 4, 5, 6, 7});
    for (const i64 axis : {0, 2, -1})
        compare(stream, five.permuted({1, 2, 0, 4, 3}), axis);
    compare(stream, NdSpan(x, {2, 3, 2, 3, 2, 3, 2, 3}), 3);
    // Elements that are two apart, and repeated ones.
    compare(stream, NdSpan(x, {30, 200}, {400, 2}, 1), 1);
    compare(stream, NdSpan(x, {200, 30}, {2, 400}, 1), 1);
    compare(stream, NdSpan(x, {1, 300}).broadcast({20, 300}), 0);
    compare(stream, NdSpan(x, {1, 300}).broadcast({20, 300}), 1);
    const Matrix m(x, 100, 50, 60);
    CHECK(same_bits(scan(stream, m, ReduceOp::sum, 1).to_host(stream),
                    scan(stream, NdSpan(x, {100, 50}, {60, 1}), ReduceOp::sum, 1).to_host(stream)));
}

STREAM_TEST(all_types_and_operators_have_the_bits_of_scan) {
    const auto rows = [&]<class T>(T, ReduceOp op, ScanKind kind) {
        const Array<T> x(stream, random_values<T>(30 * 300));
        compare(stream, NdSpan(x, {30, 300}), 1, op, kind);
    };
    const auto columns = [&]<class T>(T, ReduceOp op, ScanKind kind) {
        const Array<T> x(stream, random_values<T>(30 * 300));
        compare(stream, NdSpan(x, {300, 30}), 0, op, kind);
    };
    rows(u8{}, ReduceOp::sum, ScanKind::inclusive);
    columns(i64{}, ReduceOp::max, ScanKind::exclusive);
    // Compiling kernels for each type and operator takes long.
    const bool all = device.traits().launch == LaunchModel::host;
    for (const ReduceOp op : all ? std::vector<ReduceOp>(std::begin(all_reduce_ops), std::end(all_reduce_ops))
                                 : std::vector<ReduceOp>()) {
        rows(f32{}, op, ScanKind::exclusive);
        rows(i16{}, op, ScanKind::inclusive);
        columns(f64{}, op, ScanKind::inclusive);
        columns(u32{}, op, ScanKind::exclusive);
    }
}

STREAM_TEST(user_operators_over_an_axis_have_the_bits_of_scan) {
    const Array<u32> x(stream, random_values<u32>(40 * 700));
    const auto same = [&](const NdSpan<u32>& t, i64 axis, ScanKind kind) {
        CAPTURE(name_of_case(t.view(), axis));
        const auto expected = line_by_line<u32>(stream, t.view(), axis, [&](const auto& in, const auto& out) {
            scan(stream, in, out, compose_axes_test, 1u, kind);
        });
        const Array<u32> out = scan(stream, t, compose_axes_test, 1u, axis, kind);
        CHECK(same_bits(read_lines<u32>(stream, NdView(out.view(), t.extents()), axis), expected));
    };
    same(NdSpan(x, {40, 700}), 1, ScanKind::inclusive);
    same(NdSpan(x, {700, 40}), 0, ScanKind::exclusive);
    same(NdSpan(x, {4, 6000}), 1, ScanKind::exclusive);
    const Array<f32> y(stream, random_values<f32>(2000));
    for (const f32 weight : {0.25f, 3.0f}) {
        const auto op = damped_axes_test.bind(weight);
        const NdSpan t(y, {40, 50});
        const auto expected = line_by_line<f32>(
            stream, t.view(), 1, [&](const auto& in, const auto& out) { scan(stream, in, out, op, 0.0f); });
        CHECK(same_bits(scan(stream, t, op, 0.0f, 1).to_host(stream), expected));
    }
}

STREAM_TEST(scan_over_an_axis_writes_only_its_output) {
    const Array<f32> x(stream, random_values<f32>(20 * 30 * 40));
    const NdSpan t(x, {20, 30, 40});
    for (const i64 axis : {0, 1, 2}) {
        const std::vector<f32> expected = scan(stream, t, ReduceOp::sum, axis).to_host(stream);
        Array<f32> out(stream, std::vector<f32>(60000, -1.0f));
        const NdSpan to(out, {20, 30, 40}, {1, 25, -1000}, 45000);
        const Enqueued run = scan(stream, t, to, ReduceOp::sum, axis);
        CHECK(run.variant == "lines");
        CHECK(run.order == OperationOrder::canonical);
        std::vector<f32> wanted(60000, -1.0f);
        for (u64 i = 0; i < 20 * 30 * 40; ++i)
            wanted[45000 + i / 1200 + i / 40 % 30 * 25 - i % 40 * 1000] = expected[i];
        CHECK(same_bits(out.to_host(stream), wanted));
        // In place.
        Array<f32> y(stream, x.to_host(stream));
        const NdSpan own(y, {20, 30, 40});
        scan(stream, own, own, ReduceOp::sum, axis);
        CHECK(same_bits(y.to_host(stream), expected));
    }
    // In place in chunks.
    Array<f32> tall(stream, random_values<f32>(30000));
    const NdSpan own(tall, {10000, 3});
    const std::vector<f32> expected = scan(stream, own, ReduceOp::sum, 0).to_host(stream);
    scan(stream, own, own, ReduceOp::sum, 0);
    CHECK(same_bits(tall.to_host(stream), expected));
}

STREAM_TEST(empty_axes_and_lines_are_scanned) {
    const Array<f32> x(stream, random_values<f32>(100));
    CHECK(scan(stream, NdSpan(x, {3, 0, 4}), ReduceOp::sum, 1).size() == 0);
    CHECK(scan(stream, NdSpan(x, {3, 0, 4}), ReduceOp::sum, 0).size() == 0);
    CHECK(scan(stream, NdSpan<f32>(NdView(View{.type = Type::f32}, {0, 4})), ReduceOp::sum, 0).size() == 0);
}

STREAM_TEST(a_nan_over_an_axis_is_canonical_and_minus_zero_stays) {
    std::vector<f32> values(40 * 40, 1.0f);
    const u32 payload = 0xffc12345;
    std::memcpy(&values[5 * 40 + 9], &payload, sizeof payload);
    values[0] = values[40] = -0.0f;
    const Array<f32> x(stream, values);
    const NdSpan t(x, {40, 40});
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min}) {
        compare(stream, t, 0, op);
        compare(stream, t, 1, op, ScanKind::exclusive);
        const std::vector<f32> rows = scan(stream, t, op, 1).to_host(stream);
        CHECK(std::bit_cast<u32>(rows[5 * 40 + 9]) == 0x7fc00000);
        CHECK(std::bit_cast<u32>(rows[5 * 40 + 39]) == 0x7fc00000);
        CHECK(std::count_if(rows.begin(), rows.end(), [](f32 r) { return r != r; }) == 31);
    }
}

STREAM_TEST(scan_over_an_axis_rejects_invalid_calls) {
    const Array<f32> x(stream, random_values<f32>(200)), out(stream, 100);
    const NdSpan t(x, {4, 5, 3});
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("scan: axis out of range, got 3; the array view has rank 3, axes -3 to 2",
            [&] { (void)scan(stream, t, ReduceOp::sum, 3); });
    refused("scan: axis out of range, got -4", [&] { (void)scan(stream, t, ReduceOp::sum, -4); });
    refused("scan: axis out of range", [&] { (void)scan(stream, NdSpan(x, {}), ReduceOp::sum, 0); });
    refused("scan: out must have the extents of in, 4 x 5 x 3, got 4 x 3 x 5", [&] {
        scan(stream, t, NdSpan(out, {4, 3, 5}), ReduceOp::sum, 0);
    });
    refused("scan: indices of out may share elements", [&] {
        scan(stream, t, NdSpan(out, {4, 5, 3}, {0, 3, 1}), ReduceOp::sum, 0);
    });
    refused("overlaps in", [&] {
        scan(stream, t, NdSpan(x.span().part(59, 60), {4, 5, 3}), ReduceOp::sum, 0);
    });
    refused("overlaps in", [&] { scan(stream, t, t.reversed(1), ReduceOp::sum, 0); });
    refused("unknown variant 'atomic'",
            [&] { (void)scan(stream, t, ReduceOp::sum, 0, ScanKind::inclusive, {"atomic"}); });
    CHECK(throws(ErrorCode::unsupported, "does not support axes",
                 [&] { (void)scan(stream, t, ReduceOp::sum, 0, ScanKind::inclusive, {"serial"}); }));
    CHECK_NOTHROW(scan(stream, t, NdSpan(x.span().part(60, 60), {4, 5, 3}), ReduceOp::sum, 0));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
