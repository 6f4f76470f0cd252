// Sort over an axis: each line is bitwise identical to a stable sort of a contiguous copy.
#include "lines.hpp"

#include <concord/sort_axes.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

using namespace concord;
using test::name_of_case;
using test::random_values;
using test::read_lines;
using test::same_bits;
using test::throws;

namespace {

constexpr SortBy descending{.order = SortOrder::descending};

i64 front(i64 axis, const NdView& t) {
    return axis < 0 ? axis + t.rank() : axis;
}

// The order of the elements of each line: the code orders them, ties by place.
template <class T>
std::vector<u64> places(const std::vector<T>& lines, u64 n, const SortBy& by) {
    using Bits = detail::SortBits<sizeof(T)>;
    const detail::SortCode code = detail::sort_code(type_of<T>(), by);
    const detail::host::Ascending order{code.fold, code.flip};
    std::vector<Bits> codes(lines.size());
    std::transform(lines.begin(), lines.end(), codes.begin(),
                   [&](T x) { return order.encode(std::bit_cast<Bits>(x)); });
    std::vector<u64> found(lines.size());
    for (u64 first = 0; first < lines.size(); first += n) {
        const auto begin = found.begin() + static_cast<std::ptrdiff_t>(first);
        std::iota(begin, begin + static_cast<std::ptrdiff_t>(n), u64{0});
        std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(n),
                         [&](u64 a, u64 b) { return codes[first + a] < codes[first + b]; });
    }
    return found;
}

template <class T, class I = u64>
void compare(Stream& stream, const NdSpan<T>& t, i64 axis, const SortBy& by = {}) {
    CAPTURE(name_of_case(t.view(), axis));
    CAPTURE(name_of(type_of<T>()));
    const u64 n = t.extent(static_cast<u32>(front(axis, t.view())));
    const std::vector<T> lines = read_lines<T>(stream, t.view(), axis);
    const std::vector<u64> order = places(lines, n, by);
    std::vector<T> sorted(lines.size());
    for (u64 i = 0; i < lines.size(); ++i)
        sorted[i] = lines[i / n * n + order[i]];
    const Array<T> keys = sort(stream, t, axis, by);
    CHECK(same_bits(read_lines<T>(stream, NdView(keys.view(), t.extents()), axis), sorted));
    Array<I> found(stream, t.size());
    const NdSpan index(found, t.extents());
    argsort(stream, t, index, axis, by);
    CHECK(same_bits(read_lines<I>(stream, index.view(), axis), std::vector<I>(order.begin(), order.end())));
}

// Few values, so that many keys are equal.
template <class T>
std::vector<T> few_values(u64 n) {
    std::vector<T> values = random_values<T>(n);
    for (T& value : values) {
        if constexpr (std::is_floating_point_v<T>) {
            value = std::trunc(value * 20) * 0.5f;
        } else {
            value = static_cast<T>(value % 23);
        }
    }
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

// Lengths around blocks of insertion, elements of a work-item and tiles.
STREAM_TEST(rows_are_sorted_on_their_own) {
    const Array<f32> x(stream, few_values<f32>(60000));
    for (const u64 n : {1, 2, 9, 15, 16, 17, 31, 100, 257, 1000, 2304, 2305, 7000}) {
        compare(stream, NdSpan(x, {7, n}), 1);
        compare(stream, NdSpan(x, {5, n}, {static_cast<i64>(n) + 2, 1}, 3), -1, descending);
    }
    compare(stream, NdSpan(x, {700, 5}), 1);
    compare(stream, NdSpan(x, {300, 50}), 1);
}

STREAM_TEST(columns_are_sorted_on_their_own) {
    const Array<f32> x(stream, few_values<f32>(60000));
    for (const u64 n : {1, 2, 16, 100, 2305, 7000}) {
        compare(stream, NdSpan(x, {n, 7}), 0, descending);
        if (n <= 100) compare(stream, NdSpan(x, {n, 130}, {150, 1}, 2), 0);
    }
    compare(stream, NdSpan(x, {5, 10000}), 0);
}

// Several passes of merges, and lines that are sorted one after another.
STREAM_TEST(long_lines_are_sorted_on_their_own) {
    constexpr u64 n = (1 << 16) + 1000;
    const Array<f32> x(stream, few_values<f32>(2 * n + 4));
    compare(stream, NdSpan(x, {2, n}), 1);
    compare(stream, NdSpan(x, {n, 2}), 0, descending);
    compare<f32, u32>(stream, NdSpan(x, {2, n}, {n + 3, 1}, 1).reversed(1), 1);
    compare<f32, i32>(stream, NdSpan(x, {1, n}), 1);
}

STREAM_TEST(axes_of_array_views_are_sorted) {
    const Array<i32> x(stream, few_values<i32>(20000));
    compare(stream, NdSpan(x, {500}), 0);
    const NdSpan three(x, {6, 50, 17});
    for (const i64 axis : {0, 1, 2, -1, -3}) {
        compare(stream, three, axis);
        compare(stream, three.transposed(), axis);
        compare(stream, three.reversed(axis), axis);
        compare(stream, three.reversed((axis + 4) % 3), axis, descending);
        compare(stream, three.part(0, 1, 4).part(1, 3, 40).part(2, 1, 9), axis);
    }
    const NdSpan five(x, {3, 4, 5, 6, 7});
    for (const i64 axis : {0, 2, -1})
        compare(stream, five.permuted({1, 2, 0, 4, 3}), axis);
    compare(stream, NdSpan(x, {2, 3, 2, 3, 2, 3, 2, 3}), 3);
    compare(stream, NdSpan(x, {30, 200}, {400, 2}, 1), 1);
    compare(stream, NdSpan(x, {200, 30}, {2, 400}, 1), 1);
    compare(stream, NdSpan(x, {1, 300}).broadcast({20, 300}), 0);
    compare(stream, NdSpan(x, {1, 300}).broadcast({20, 300}), 1);
    const Matrix m(x, 100, 50, 60);
    CHECK(same_bits(sort(stream, m, 1).to_host(stream),
                    sort(stream, NdSpan(x, {100, 50}, {60, 1}), 1).to_host(stream)));
}

STREAM_TEST(all_types_are_sorted_over_an_axis) {
    const auto each = [&]<class T>(T) {
        const Array<T> x(stream, few_values<T>(20 * 300)), y(stream, random_values<T>(2 * 2500));
        compare(stream, NdSpan(x, {20, 300}), 1);
        compare<T, u32>(stream, NdSpan(x, {300, 20}), 0, descending);
        compare(stream, NdSpan(y, {2, 2500}), 1);
    };
    each(u8{});
    // Compiling kernels for each size takes long.
    if (device.traits().launch == LaunchModel::host) {
        each(i16{});
        each(u32{});
        each(i64{});
        each(f64{});
    }
}

// The order of sort(), which is a total order.
STREAM_TEST(nans_and_zeros_over_an_axis_have_their_place) {
    const f32 nan = std::numeric_limits<f32>::quiet_NaN(), infinity = std::numeric_limits<f32>::infinity();
    const f32 special[] = {nan, -nan, 0.0f, -0.0f, infinity, -infinity, std::bit_cast<f32>(0x7f812345u),
                           1.0f};
    std::vector<f32> values(24 * 40);
    for (u64 i = 0; i < values.size(); ++i)
        values[i] = special[i * i % 31 % 8];
    const Array<f32> x(stream, values);
    compare(stream, NdSpan(x, {24, 40}), 1);
    compare(stream, NdSpan(x, {24, 40}), 0, descending);
    const Array<f32> alone = sort(stream, x.span().part(40, 40)), all = sort(stream, NdSpan(x, {24, 40}), 1);
    std::vector<f32> second = all.to_host(stream);
    second = {second.begin() + 40, second.begin() + 80};
    CHECK(same_bits(second, alone.to_host(stream)));
}

STREAM_TEST(pairs_over_an_axis_have_the_bits_of_sort_pairs) {
    const auto each = [&]<class V>(V, u64 lines, u64 n, i64 axis) {
        const Array<u32> keys(stream, few_values<u32>(lines * n));
        const Array<V> values(stream, random_values<V>(lines * n));
        const NdExtents extents = axis == 1 ? NdExtents{lines, n} : NdExtents{n, lines};
        const NdSpan k(keys, extents);
        const NdSpan v(values, extents);
        const Array<u32> line_keys(stream, read_lines<u32>(stream, k.view(), axis)),
            line_keys_out(stream, lines * n);
        const Array<V> line_values(stream, read_lines<V>(stream, v.view(), axis)),
            line_values_out(stream, lines * n);
        for (u64 at = 0; at < lines * n; at += n)
            sort_pairs(stream, line_keys.span().part(at, n), line_values.span().part(at, n),
                       line_keys_out.span().part(at, n), line_values_out.span().part(at, n),
                       {.stable = true});
        const Array<u32> keys_out(stream, lines * n);
        const Array<V> values_out(stream, lines * n);
        const auto same = [&](const NdSpan<u32>& sorted, const NdSpan<V>& moved) {
            CHECK(same_bits(read_lines<u32>(stream, sorted.view(), axis), line_keys_out.to_host(stream)));
            CHECK(same_bits(read_lines<V>(stream, moved.view(), axis), line_values_out.to_host(stream)));
        };
        const NdSpan sorted(keys_out, extents);
        const NdSpan moved(values_out, extents);
        sort_pairs(stream, k, v, sorted, moved, axis);
        same(sorted, moved);
        sort_pairs(stream, k, v, k, v, axis);  // in place
        same(k, v);
    };
    each(u64{}, 3, 7000, 1);
    each(u64{}, 4, 300, 0);
    if (device.traits().launch == LaunchModel::host) {
        each(u8{}, 4, 300, 1);
        each(u16{}, 3, 2400, 0);
        each(f32{}, 2, 70000, 1);
    }
}

STREAM_TEST(sort_over_an_axis_writes_only_its_output) {
    const Array<f32> x(stream, few_values<f32>(20 * 30 * 40));
    const NdSpan t(x, {20, 30, 40});
    for (const i64 axis : {0, 1, 2}) {
        const std::vector<f32> expected = sort(stream, t, axis).to_host(stream);
        Array<f32> out(stream, std::vector<f32>(60000, -1.0f));
        const NdSpan to(out, {20, 30, 40}, {1, 25, -1000}, 45000);
        const Enqueued run = sort(stream, t, to, axis);
        CHECK(run.variant == "lines");
        CHECK(run.order == OperationOrder::canonical);
        std::vector<f32> wanted(60000, -1.0f);
        for (u64 i = 0; i < 20 * 30 * 40; ++i)
            wanted[45000 + i / 1200 + i / 40 % 30 * 25 - i % 40 * 1000] = expected[i];
        CHECK(same_bits(out.to_host(stream), wanted));
        Array<f32> y(stream, x.to_host(stream));
        const NdSpan own(y, {20, 30, 40});
        sort(stream, own, own, axis);
        CHECK(same_bits(y.to_host(stream), expected));
    }
    // In place in several passes, and to lines that are not of adjacent elements.
    Array<f32> tall(stream, few_values<f32>(30000));
    const std::vector<f32> before = tall.to_host(stream);
    const NdSpan own(tall, {10000, 3});
    const std::vector<f32> expected = sort(stream, own, 0).to_host(stream);
    sort(stream, own, own, 0);
    CHECK(same_bits(tall.to_host(stream), expected));
    const Array<f32> wide(stream, before);
    const NdSpan rows(wide, {3, 10000});
    const std::vector<f32> sorted = sort(stream, rows, 1).to_host(stream);
    sort(stream, rows, rows, 1);
    CHECK(same_bits(wide.to_host(stream), sorted));
}

STREAM_TEST(empty_axes_and_lines_are_sorted) {
    const Array<f32> x(stream, random_values<f32>(100));
    CHECK(sort(stream, NdSpan(x, {3, 0, 4}), 1).size() == 0);
    CHECK(argsort(stream, NdSpan(x, {3, 0, 4}), 0).size() == 0);
    CHECK(sort(stream, NdSpan<f32>(NdView(View{.type = Type::f32}, {0, 4})), 0).size() == 0);
}

STREAM_TEST(sort_over_an_axis_rejects_invalid_calls) {
    const Array<f32> x(stream, random_values<f32>(200)), out(stream, 100), halves(stream, 100);
    const Array<u32> index(stream, 100);
    const NdSpan t(x, {4, 5, 3}), to(out, {4, 5, 3}), other(halves, {4, 5, 3});
    const auto refused = [](const char* words, const auto& f) {
        CHECK(throws(ErrorCode::invalid_argument, words, f));
    };
    refused("sort: axis out of range, got 3; the array view has rank 3, axes -3 to 2",
            [&] { (void)sort(stream, t, 3); });
    refused("argsort: axis out of range, got -4", [&] { (void)argsort(stream, t, -4); });
    refused("sort: out must have the extents of in, 4 x 5 x 3, got 4 x 3 x 5", [&] {
        sort(stream, t, NdSpan(out, {4, 3, 5}), 0);
    });
    refused("argsort: out must have the extents of in", [&] {
        argsort(stream, t, NdSpan(index, {4, 3, 5}), 0);
    });
    refused("argsort: out must have integers of 4 or 8 bytes, got f32",
            [&] { argsort(stream, t.view(), to.view(), 0); });
    refused("sort: indices of out may share elements", [&] {
        sort(stream, t, NdSpan(out, {4, 5, 3}, {0, 3, 1}), 0);
    });
    refused("overlaps in", [&] { sort(stream, t, t.reversed(1), 0); });
    refused("sort_pairs: values_in must have the extents of keys_in", [&] {
        sort_pairs(stream, t, NdSpan(out, {4, 3, 5}), other, NdSpan(x.span().part(100, 60), {4, 3, 5}), 0);
    });
    refused("sort_pairs: values are sorted in place, keys are not",
            [&] { sort_pairs(stream, t, to, other, to, 0); });
    refused("overlaps keys_in", [&] { sort_pairs(stream, t, to, other, t, 0); });
    refused("overlaps values_out", [&] { sort_pairs(stream, t, to, other, other, 0); });
    refused("unknown variant 'atomic'", [&] { (void)sort(stream, t, 0, {}, {"atomic"}); });
    CHECK(throws(ErrorCode::unsupported, "does not support axes",
                 [&] { (void)sort(stream, t, 0, {}, {"merge"}); }));
    CHECK(throws(ErrorCode::unsupported, "does not support bit ranges",
                 [&] { (void)sort(stream, t, 0, {.begin_bit = 3}); }));
    CHECK_NOTHROW(sort(stream, t, to, 0));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
