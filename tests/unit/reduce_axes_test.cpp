// Reduce over axes: each line is bitwise identical to reduce() of a contiguous copy.
#include "devices.hpp"

#include <concord/reduce_axes.hpp>

#include <bit>
#include <cstring>
#include <limits>

using namespace concord;
using test::random_values;
using test::throws;

// Changes each operand, also where the other one is the identity 0.
CONCORD_FUNCTION(f32, lopsided_axes_test, (f32 a, f32 b), return a * 0.875f + b * 0.75f;)
CONCORD_FUNCTION(f64, weighted_axes_test, (f64 a, f64 b, f64 weight), return a + b * weight;)

namespace {

// The positions of an array view's elements in its range, line by line.
std::vector<u64> positions(const NdView& t, const Axes& axes) {
    const Axes reduced = detail::sorted_axes("test", axes, t.rank());
    std::vector<u32> order;  // kept axes, then reduced ones
    for (u32 k = 0; k < t.rank(); ++k) {
        if (std::find(reduced.begin(), reduced.end(), k) == reduced.end()) order.push_back(k);
    }
    order.insert(order.end(), reduced.begin(), reduced.end());
    std::vector<u64> list;
    for (u64 i = 0; i < t.size(); ++i) {
        u64 at = t.origin(), rest = i;
        for (auto k = order.rbegin(); k != order.rend(); rest /= t.extent(*k), ++k)
            at += rest % t.extent(*k) * static_cast<u64>(t.stride(*k));
        list.push_back(at);
    }
    return list;
}

template <class T>
std::vector<T> read(Stream& stream, const View& view) {
    std::vector<T> values(view.count);
    if (view.count > 0) stream.read(values.data(), *view.buffer, view.offset, view.bytes());
    stream.synchronize();
    return values;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// The lines, each reduced alone from a contiguous copy. one(in, out): reduces a range.
template <class T, class F>
std::vector<T> line_by_line(Stream& stream, const NdView& t, const Axes& axes, F&& one) {
    const u64 lines = detail::element_count(detail::kept_extents(t, axes)),
              n = lines == 0 ? 0 : t.size() / lines;
    const std::vector<T> memory = read<T>(stream, t.range());
    std::vector<T> copy;
    for (const u64 at : positions(t, axes))
        copy.push_back(memory.at(at));
    const Array<T> in(stream, copy), out(stream, lines);
    for (u64 line = 0; line < lines; ++line)
        one(in.span().part(line * n, n), out.span().part(line, 1));
    return out.to_host(stream);
}

std::string name_of_case(const NdView& t, const Axes& axes) {
    std::string text = detail::shape_name(t.extents()) + " strides";
    for (const i64 stride : t.strides())
        text += " " + std::to_string(stride);
    text += " over";
    for (const i64 axis : axes)
        text += " " + std::to_string(axis);
    return text;
}

template <class T>
void compare(Stream& stream, const NdSpan<T>& t, const Axes& axes, ReduceOp op = ReduceOp::sum) {
    CAPTURE(name_of_case(t.view(), axes));
    const auto expected = line_by_line<T>(stream, t.view(), axes, [&](const auto& in, const auto& out) {
        reduce(stream, in, out, op, {"fixed"});
    });
    CHECK(same_bits(reduce(stream, t, op, axes).to_host(stream), expected));
}

// Lengths around the limits of the kernels: short lines, 128 columns, chunks of 1024 elements, and two levels.
constexpr u64 lengths[] = {1, 16, 31, 33, 127, 128, 129, 1023, 1024, 1025, 5000};

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(rows_have_the_bits_of_reduce) {
    for (const u64 n : lengths) {
        const Array<f32> x(stream, random_values<f32>(9 * n + 5));
        compare(stream, NdSpan(x, {9, n}), {1});
        // Rows that begin anywhere.
        compare(stream, NdSpan(x, {8, n}, {static_cast<i64>(n), 1}, 3), {-1});
    }
}

STREAM_TEST(columns_have_the_bits_of_reduce) {
    for (const u64 n : lengths) {
        const Array<f32> x(stream, random_values<f32>(n * 70 + 5));
        compare(stream, NdSpan(x, {n, 7}), {0});
        compare(stream, NdSpan(x, {n, 66}, {70, 1}, 2), {0});
    }
    // Rows of many cache lines.
    for (const u64 n : {3, 129, 1030}) {
        const Array<f32> x(stream, random_values<f32>(n * 301));
        compare(stream, NdSpan(x, {n, 301}), {0});
    }
}

STREAM_TEST(long_lines_have_the_bits_of_reduce) {
    constexpr u64 n = 1 << 17;
    const Array<f32> x(stream, random_values<f32>(3 * n + 4));
    compare(stream, NdSpan(x, {3, n}), {1});
    compare(stream, NdSpan(x, {n, 3}), {0});
    compare(stream, NdSpan(x, {2, n}, {n + 3, 1}, 1).reversed(1), {1});
    compare(stream, NdSpan(x, {3, n}), {0, 1});
    compare(stream, NdSpan(x, {3, n}).transposed(), {0, 1});
}

// Three levels: more than 1024 chunks.
STREAM_TEST(lines_of_three_levels_have_the_bits_of_reduce) {
    constexpr u64 n = (1 << 20) + 1025;
    const Array<f32> x(stream, random_values<f32>(2 * n));
    compare(stream, NdSpan(x, {2, n}), {1});
    compare(stream, NdSpan(x, {n, 2}), {0});
}

STREAM_TEST(many_lines_have_the_bits_of_reduce) {
    const Array<f32> x(stream, random_values<f32>(700 * 40));
    for (const u64 n : {3, 16, 40}) {
        compare(stream, NdSpan(x, {700, n}), {1});
        compare(stream, NdSpan(x, {700, n}, {40, 1}), {1});
        compare(stream, NdSpan(x, {n, 700}), {0});
    }
}

STREAM_TEST(axes_of_array_views_have_the_bits_of_reduce) {
    const Array<f32> x(stream, random_values<f32>(50000));
    const NdSpan three(x, {6, 130, 17});
    for (const Axes& axes :
         {Axes{0}, Axes{1}, Axes{2}, Axes{0, 1}, Axes{0, 2}, Axes{1, 2}, Axes{2, 0}, Axes{0, 1, 2}})
        compare(stream, three, axes);
    compare(stream, three, {});
    const NdSpan four(x, {5, 3, 1, 140});
    for (const Axes& axes : {Axes{1}, Axes{-1}, Axes{0, 3}, Axes{0, 2}, Axes{1, 2, 3}})
        compare(stream, four, axes);
    const NdSpan five(x, {3, 4, 5, 6, 7});
    for (const Axes& axes : {Axes{2}, Axes{1, 3}, Axes{0, 2, 4}, Axes{-2, -1}})
        compare(stream, five, axes);
    const NdSpan eight(x, {2, 3, 2, 3, 2, 3, 2, 3});
    compare(stream, eight, {1, 3, 5, 7});
    compare(stream, eight, {0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(sum(stream, NdSpan(x, {}), {}).size() == 1);
}

STREAM_TEST(strides_have_the_bits_of_reduce) {
    const Array<f32> x(stream, random_values<f32>(50000));
    const NdSpan t(x, {40, 150, 6});
    for (const i64 axis : {0, 1, 2}) {
        compare(stream, t.transposed(), {axis});
        compare(stream, t.permuted({1, 2, 0}), {axis});
        compare(stream, t.reversed(axis), {axis});
        compare(stream, t.reversed((axis + 1) % 3).reversed((axis + 2) % 3), {axis});
        compare(stream, t.part(0, 3, 20).part(1, 1, 140).part(2, 1, 4), {axis});
    }
    compare(stream, t.reversed(0).reversed(2), {0, 2});
    // Elements that are two apart, and repeated ones.
    compare(stream, NdSpan(x, {50, 200}, {400, 2}, 1), {1});
    compare(stream, NdSpan(x, {200, 50}, {2, 400}, 1), {1});
    compare(stream, NdSpan(x, {200, 50}, {200, 2}), {0});
    const NdSpan row(x, {1, 300});
    compare(stream, row.broadcast({40, 300}), {0});
    compare(stream, row.broadcast({40, 300}), {1});
    compare(stream, row.transposed().broadcast({300, 40}), {1});
    compare(stream, row.broadcast({3, 1100, 300}), {1});
    compare(stream, NdSpan(Matrix(x, 100, 50, 60)), {0});
    CHECK(same_bits(sum(stream, Matrix(x, 100, 50, 60), 1).to_host(stream),
                    sum(stream, NdSpan(x, {100, 50}, {60, 1}), 1).to_host(stream)));
    CHECK(sum(stream, Volume(x, 2, 3, 4), {0, 2}).size() == 3);
}

STREAM_TEST(all_types_and_operators_have_the_bits_of_reduce) {
    const auto each = [&]<class T>(T) {
        const Array<T> x(stream, random_values<T>(1100 * 37));
        compare(stream, NdSpan(x, {37, 1100}), {1});
        compare(stream, NdSpan(x, {1100, 37}), {0}, ReduceOp::min);
        compare(stream, NdSpan(x, {370, 20}), {1}, ReduceOp::max);
        compare(stream, NdSpan(x, {20, 370}), {0}, ReduceOp::product);
        compare(stream, NdSpan(x, {5, 129, 60}), {0, 2});
    };
    each(f32{});
    each(u8{});
    each(i64{});
    if (device.traits().fp64) each(f64{});
}

STREAM_TEST(user_operators_over_axes_have_the_bits_of_reduce) {
    const Array<f32> x(stream, random_values<f32>(300000));
    const auto same = [&](const NdSpan<f32>& t, const Axes& axes) {
        CAPTURE(name_of_case(t.view(), axes));
        const auto expected = line_by_line<f32>(stream, t.view(), axes, [&](const auto& in, const auto& out) {
            reduce(stream, in, out, lopsided_axes_test, 0.0f);
        });
        CHECK(same_bits(reduce(stream, t, lopsided_axes_test, 0.0f, axes).to_host(stream), expected));
    };
    // Lines of every kernel: the operator is applied to the identity where reduce() does so.
    for (const u64 n : {1, 20, 33, 100, 129, 3000}) {
        same(NdSpan(x, {40, n}), {1});
        same(NdSpan(x, {n, 40}), {0});
        same(NdSpan(x, {5, n}, {6000, 2}), {1});
    }
    same(NdSpan(x, {300, 300}), {0});
    same(NdSpan(x, {6, 50, 40}), {0, 2});
    if (device.traits().fp64) {
        const Array<f64> y(stream, random_values<f64>(2000));
        for (const f64 weight : {0.25, 3.0}) {
            const auto op = weighted_axes_test.bind(weight);
            const NdSpan t(y, {40, 50});
            const auto expected =
                line_by_line<f64>(stream, t.view(), {0},
                                  [&](const auto& in, const auto& out) { reduce(stream, in, out, op, 0.0); });
            CHECK(same_bits(reduce(stream, t, op, 0.0, {0}).to_host(stream), expected));
        }
    }
}

STREAM_TEST(empty_axes_give_the_identity) {
    const Array<f32> x(stream, random_values<f32>(100));
    for (const ReduceOp op : all_reduce_ops) {
        const std::vector<f32> identity(12, identity_of<f32>(op));
        CHECK(same_bits(reduce(stream, NdSpan(x, {3, 0, 4}), op, 1).to_host(stream), identity));
        CHECK(same_bits(reduce(stream, NdSpan(x, {3, 4, 0}), op, -1).to_host(stream), identity));
        // A result with gaps.
        Array<f32> out(stream, std::vector<f32>(24, 7.0f));
        reduce(stream, NdSpan(x, {0, 12}), NdSpan(out, {12}, {2}), op, 0);
        const std::vector<f32> all = out.to_host(stream);
        for (u64 i = 0; i < 24; ++i)
            CHECK(all[i] == (i % 2 == 0 ? identity[0] : 7.0f));
    }
    CHECK(sum(stream, NdSpan<f32>(NdView(View{.type = Type::f32}, {0, 4})), 0).to_host(stream) ==
          std::vector<f32>(4, 0.0f));
    CHECK(sum(stream, NdSpan(x, {0, 4}), 1).size() == 0);
    CHECK(sum(stream, NdSpan(x, {0, 4, 0}), {0, 1}).size() == 0);
    CHECK(reduce(stream, NdSpan(x, {0, 2}), lopsided_axes_test, 0.0f, 0).to_host(stream) ==
          std::vector<f32>(2, 0.0f));
}

STREAM_TEST(results_over_axes_go_to_array_views) {
    const Array<f32> x(stream, random_values<f32>(20 * 30 * 40));
    const NdSpan t(x, {20, 30, 40});
    const std::vector<f32> expected = sum(stream, t, 1).to_host(stream);
    Array<f32> out(stream, std::vector<f32>(2000, -1.0f));
    const Enqueued run = reduce(stream, t, NdSpan(out, {20, 40}, {1, 25}, 3), ReduceOp::sum, 1);
    CHECK(run.variant == "fixed");
    CHECK(run.order == OperationOrder::canonical);
    std::vector<f32> wanted(2000, -1.0f);
    for (u64 i = 0; i < 20; ++i) {
        for (u64 j = 0; j < 40; ++j)
            wanted[3 + i + j * 25] = expected[i * 40 + j];
    }
    CHECK(same_bits(out.to_host(stream), wanted));
    reduce(stream, t, NdSpan(out, {20, 40}).reversed(0).reversed(1), ReduceOp::sum, {1});
    std::vector<f32> turned = out.to_host(stream);
    turned.resize(800);
    std::reverse(turned.begin(), turned.end());
    CHECK(same_bits(turned, expected));
    // A range, and lines of several chunks.
    const NdSpan tall(x, {2000, 12});
    reduce(stream, tall, NdSpan(out, {12}, {-3}, 40), ReduceOp::sum, 0);
    const std::vector<f32> sums = sum(stream, tall, 0).to_host(stream), spread = out.to_host(stream);
    for (u64 i = 0; i < 12; ++i)
        CHECK(spread[40 - 3 * i] == sums[i]);
    reduce(stream, tall, out.span().part(5, 12), ReduceOp::sum, -2);
    CHECK(same_bits(read<f32>(stream, out.span().part(5, 12).view()), sums));
    CHECK(same_bits(min(stream, t, {0, 1, 2}).to_host(stream), std::vector<f32>{min(stream, x).get()}));
}

STREAM_TEST(a_nan_over_axes_is_canonical) {
    std::vector<f32> values(64 * 64, 1.0f);
    const u32 payload = 0xffc12345;
    std::memcpy(&values[5 * 64 + 9], &payload, sizeof payload);
    const Array<f32> x(stream, values);
    const NdSpan t(x, {64, 64});
    const u32 canonical = 0x7fc00000;
    for (const ReduceOp op : all_reduce_ops) {
        for (const auto& [result, at] :
             {std::pair(reduce(stream, t, op, 1).to_host(stream), 5),
              std::pair(reduce(stream, t, op, 0).to_host(stream), 9),
              std::pair(reduce(stream, t, op, Axes{}).to_host(stream), 5 * 64 + 9)}) {
            CHECK(std::bit_cast<u32>(result[static_cast<u64>(at)]) == canonical);
            CHECK(std::count_if(result.begin(), result.end(), [](f32 r) { return r != r; }) == 1);
        }
    }
}

STREAM_TEST(reduce_over_axes_rejects_invalid_calls) {
    const Array<f32> x(stream, random_values<f32>(100)), out(stream, 20);
    const NdSpan t(x, {4, 5, 3});
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("reduce: axis out of range, got 3; the array view has rank 3, axes -3 to 2",
            [&] { (void)sum(stream, t, 3); });
    refused("reduce: axis out of range, got -4", [&] { (void)sum(stream, t, {0, -4}); });
    refused("reduce: repeated axis, got -3 (axis 0); name each axis once", [&] {
        (void)sum(stream, t, {0, -3});
    });
    refused("reduce: repeated axis, got 1; name each axis once", [&] {
        reduce(stream, t, out, ReduceOp::sum, {1, 1});
    });
    refused("reduce: out must have 15 elements (5 x 3), got 20",
            [&] { reduce(stream, t, out, ReduceOp::sum, 0); });
    refused("reduce: out must have the extents of the kept axes, 5 x 3, got 3 x 5", [&] {
        reduce(stream, t, NdSpan(out, {3, 5}), ReduceOp::sum, 0);
    });
    refused("reduce: indices of out may share elements", [&] {
        reduce(stream, t, NdSpan(out, {5, 3}, {1, 1}), ReduceOp::sum, 0);
    });
    refused("overlaps in", [&] { reduce(stream, t, x.span().part(40, 15), ReduceOp::sum, 0); });
    refused("unknown variant 'atomic'", [&] { (void)sum(stream, t, 0, {"atomic"}); });
    CHECK(throws(ErrorCode::unsupported, "does not support axes",
                 [&] { (void)sum(stream, t, 0, {"serial"}); }));
    CHECK_NOTHROW(reduce(stream, t, x.span().part(60, 15), ReduceOp::sum, 0));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
