// Sorts of floats with NaN last and of bool, argsort of ranges, and sorts and scans over axes of expressions.
#include "devices.hpp"
#include "lines.hpp"

#include <concord/compact.hpp>
#include <concord/scan_axes.hpp>
#include <concord/sort_axes.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace concord;
using test::random_values;
using test::same_bits;
using test::throws;

namespace {

CONCORD_FUNCTION(u8, before_test, (f32 a, f32 b), return a < b ? 1 : 0;)

// Numbers with equal ones, zeros, infinities and NaNs of both signs with payloads.
template <class T>
std::vector<T> with_nans(u64 n) {
    using Bits = detail::SortBits<sizeof(T)>;
    std::vector<T> x = random_values<T>(n);
    const T special[] = {T(0),
                         -T(0),
                         std::numeric_limits<T>::infinity(),
                         -std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::denorm_min(),
                         -std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::quiet_NaN(),
                         -std::numeric_limits<T>::quiet_NaN(),
                         std::bit_cast<T>(Bits(std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN()) + 5)),
                         (std::numeric_limits<T>::max)(),
                         std::numeric_limits<T>::lowest()};
    for (u64 i = 0; i < n; i += 3)
        x[i] = special[i / 3 % std::size(special)];
    return x;
}

// The places of the elements of each line of n.
template <class T>
std::vector<u64> places(const std::vector<T>& x, u64 n, bool descending) {
    std::vector<u64> order(x.size());
    for (u64 first = 0; first < x.size(); first += n) {
        const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
        std::iota(begin, begin + static_cast<std::ptrdiff_t>(n), u64{0});
        std::stable_sort(begin, begin + static_cast<std::ptrdiff_t>(n), [&](u64 i, u64 j) {
            const T a = x[first + i], b = x[first + j];
            if constexpr (std::is_floating_point_v<T>) {
                if (std::isnan(a) || std::isnan(b)) return std::isnan(b) && !std::isnan(a);
            }
            return descending ? a > b : a < b;
        });
    }
    return order;
}

template <class T, class V>
std::vector<V> moved(const std::vector<V>& values, const std::vector<T>& keys, u64 n, bool descending) {
    const std::vector<u64> order = places(keys, n, descending);
    std::vector<V> sorted(values.size());
    for (u64 i = 0; i < values.size(); ++i)
        sorted[i] = values[i / n * n + order[i]];
    return sorted;
}

std::vector<u8> truths(u64 n) {
    std::vector<u8> bytes(n);
    for (u64 i = 0; i < n; ++i)
        bytes[i] = static_cast<u8>(i * 7 % 3 == 0 ? 0 : 1 + i % 255);
    return bytes;
}

Span<bool> as_bools(const Array<u8>& bytes) {
    View view = bytes.view();
    view.type = Type::boolean;
    return Span<bool>(view);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(sort_with_nan_last) {
    const auto check = [&]<class T>(T) {
        for (const u64 n : {u64{1}, u64{37}, u64{5000}}) {
            for (const bool down : {false, true}) {
                CAPTURE(name_of(type_of<T>()));
                CAPTURE(n);
                CAPTURE(down);
                const SortBy by{.order = down ? SortOrder::descending : SortOrder::ascending,
                                .nan = NanOrder::last};
                const std::vector<T> x = with_nans<T>(n);
                std::vector<u16> v(n);
                std::iota(v.begin(), v.end(), u16{0});
                const std::vector<T> sorted = moved(x, x, n, down);
                const std::vector<u16> sorted_values = moved(v, x, n, down);
                const Array<T> in(stream, x), out(stream, n);
                const Array<u16> values(stream, v), values_out(stream, n);
                sort(stream, in, out, by);
                CHECK(same_bits(out.to_host(stream), sorted));
                CHECK(same_bits(argsort(stream, in, by).to_host(stream), places(x, n, down)));
                const Array<i32> short_places(stream, n);
                argsort(stream, in, short_places, by);
                const std::vector<u64> expected = places(x, n, down);
                CHECK(short_places.to_host(stream) == std::vector<i32>(expected.begin(), expected.end()));
                sort_pairs(stream, in, values, out, values_out, by);
                CHECK(same_bits(out.to_host(stream), sorted));
                CHECK(values_out.to_host(stream) == sorted_values);
                CHECK(same_bits(in.to_host(stream), x));
                // In place.
                const Array<T> twice = in.clone(stream);
                sort_pairs(stream, in, values, in, values, by);
                CHECK(same_bits(in.to_host(stream), sorted));
                CHECK(values.to_host(stream) == sorted_values);
                sort(stream, twice, twice, by);
                CHECK(same_bits(twice.to_host(stream), sorted));
            }
        }
    };
    check(f32{});
    if (detail::supports_type(device, Type::f64)) check(f64{});
    // Integers have no NaN.
    const auto x = random_values<i32>(1000);
    const Array<i32> in(stream, x);
    CHECK(sort(stream, in, {.nan = NanOrder::last}).to_host(stream) == sort(stream, in).to_host(stream));
}

STREAM_TEST(sort_over_axes_with_nan_last) {
    const u64 lines = 37, n = 120;
    const std::vector<f32> x = with_nans<f32>(lines * n);
    std::vector<u16> v(lines * n);
    std::iota(v.begin(), v.end(), u16{0});
    for (const bool down : {false, true}) {
        const SortBy by{.order = down ? SortOrder::descending : SortOrder::ascending, .nan = NanOrder::last};
        const Array<f32> in(stream, x), out(stream, lines * n);
        const Array<u16> values(stream, v), values_out(stream, lines * n);
        const NdSpan rows(in, {lines, n}), rows_out(out, {lines, n});
        const NdSpan moving(values, {lines, n}), moving_out(values_out, {lines, n});
        sort(stream, rows, rows_out, 1, by);
        CHECK(same_bits(out.to_host(stream), moved(x, x, n, down)));
        CHECK(same_bits(argsort(stream, rows, -1, by).to_host(stream), places(x, n, down)));
        // The same lines as columns of a transposed view.
        CHECK(same_bits(test::read_lines<f32>(
                            stream, NdView(sort(stream, rows.transposed(), 0, by).view(), {n, lines}), 0),
                        moved(x, x, n, down)));
        sort_pairs(stream, rows, moving, rows_out, moving_out, 1, by);
        CHECK(same_bits(out.to_host(stream), moved(x, x, n, down)));
        CHECK(values_out.to_host(stream) == moved(v, x, n, down));
        sort_pairs(stream, rows, moving, rows, moving, 1, by);
        CHECK(same_bits(in.to_host(stream), moved(x, x, n, down)));
        CHECK(values.to_host(stream) == moved(v, x, n, down));
    }
}

STREAM_TEST(sort_of_bool) {
    for (const bool down : {false, true}) {
        CAPTURE(down);
        const SortBy by{.order = down ? SortOrder::descending : SortOrder::ascending};
        const u64 lines = 20, n = 150;
        const std::vector<u8> bytes = truths(lines * n);
        std::vector<u8> one(bytes.size());
        std::transform(bytes.begin(), bytes.end(), one.begin(), [](u8 x) { return x != 0 ? 1 : 0; });
        std::vector<u32> v(bytes.size());
        std::iota(v.begin(), v.end(), 0U);
        for (const u64 length : {lines * n, n}) {
            CAPTURE(length);
            const Array<u8> memory(stream, bytes), memory_out(stream, lines * n);
            const Span<bool> x = as_bools(memory), out = as_bools(memory_out);
            const Array<u32> values(stream, v), values_out(stream, lines * n);
            const NdExtents extents{lines * n / length, length};
            const NdSpan nd(x, extents), nd_out(out, extents);
            const NdSpan moving(values, extents), moving_out(values_out, extents);
            const bool flat = length == lines * n;
            const auto sort_all = [&](const Span<bool>& from, const NdSpan<bool>& nd_from,
                                      const Span<bool>& to, const NdSpan<bool>& nd_to) {
                if (flat) {
                    sort(stream, from, to, by);
                } else {
                    sort(stream, nd_from, nd_to, 1, by);
                }
            };
            sort_all(x, nd, out, nd_out);
            CHECK(memory_out.to_host(stream) == moved(one, one, length, down));
            CHECK((flat ? argsort(stream, x, by) : argsort(stream, nd, 1, by)).to_host(stream) ==
                  places(one, length, down));
            const SortBy stable{.order = by.order, .stable = true};
            if (flat) {
                sort_pairs(stream, x, values, out, values_out, stable);
            } else {
                sort_pairs(stream, nd, moving, nd_out, moving_out, 1, by);
            }
            CHECK(memory_out.to_host(stream) == moved(one, one, length, down));
            CHECK(values_out.to_host(stream) == moved(v, one, length, down));
            CHECK(memory.to_host(stream) == bytes);
            if (flat) {
                sort_pairs(stream, x, values, x, values, stable);
            } else {
                sort_pairs(stream, nd, moving, nd, moving, 1, by);
            }
            CHECK(memory.to_host(stream) == moved(one, one, length, down));
            CHECK(values.to_host(stream) == moved(v, one, length, down));
        }
        // Values of bool move as bytes.
        const std::vector<f32> keys = random_values<f32>(bytes.size());
        const Array<f32> k(stream, keys), k_out(stream, bytes.size());
        const Array<u8> memory(stream, bytes), memory_out(stream, bytes.size());
        sort_pairs(stream, k, as_bools(memory), k_out, as_bools(memory_out),
                   {.order = by.order, .stable = true});
        CHECK(memory_out.to_host(stream) == moved(bytes, keys, keys.size(), down));
    }
}

STREAM_TEST(compact_of_bool) {
    const std::vector<u8> bytes = truths(10007);
    const u64 kept = static_cast<u64>(std::count_if(bytes.begin(), bytes.end(), [](u8 x) { return x != 0; }));
    const Array<u8> memory(stream, bytes), memory_out(stream, std::vector<u8>(bytes.size(), 9));
    CHECK(compact(stream, as_bools(memory), as_bools(memory_out), Keep(KeepRule::nonzero)).get() == kept);
    CHECK(memory_out.to_host(stream)[kept - 1] == 1);
    CHECK(memory_out.to_host(stream)[kept] == 9);
    CHECK(count_if(stream, as_bools(memory), Keep(KeepRule::odd)).get() == kept);
    // By flags.
    std::vector<u8> flags(bytes.size());
    std::vector<bool> expected;
    for (u64 i = 0; i < bytes.size(); ++i) {
        flags[i] = i % 4 == 0 ? 2 : 0;
        if (flags[i] != 0) expected.push_back(bytes[i] != 0);
    }
    const Array<u8> some(stream, flags);
    CHECK(compact(stream, as_bools(memory), some).to_host(stream) == expected);
    CHECK(partition(stream, as_bools(memory), as_bools(memory_out), Keep(KeepRule::nonzero)).get() == kept);
    CHECK(memory_out.to_host(stream).back() == 0);
}

STREAM_TEST(sorts_and_scans_over_an_axis_of_an_expression) {
    const u64 lines = 30, n = 200;
    const auto x = random_values<f32>(lines * n), row = random_values<f32>(n);
    std::vector<f32> sums(lines * n);
    for (u64 i = 0; i < sums.size(); ++i)
        sums[i] = x[i] + row[i % n];
    const Array<f32> a(stream, x), b(stream, row), stored(stream, sums), out(stream, lines * n);
    const NdSpan t(a, {lines, n}), s(stored, {lines, n}), to(out, {lines, n});
    const auto e = transform(BinaryFunction::add, t, b);
    for (const i64 axis : {0, 1}) {
        CAPTURE(axis);
        sort(stream, e, to, axis);
        CHECK(same_bits(out.to_host(stream), sort(stream, s, axis).to_host(stream)));
        CHECK(same_bits(sort(stream, e, axis).to_host(stream), sort(stream, s, axis).to_host(stream)));
        CHECK(argsort(stream, e, axis).to_host(stream) == argsort(stream, s, axis).to_host(stream));
        scan(stream, e, to, ReduceOp::sum, axis);
        CHECK(same_bits(out.to_host(stream), scan(stream, s, ReduceOp::sum, axis).to_host(stream)));
        CHECK(same_bits(scan(stream, e, ReduceOp::max, axis, ScanKind::exclusive).to_host(stream),
                        scan(stream, s, ReduceOp::max, axis, ScanKind::exclusive).to_host(stream)));
    }
    const Array<bool> flags = sort(stream, transform(BinaryPredicate::less, t, b), 1);
    const Array<bool> less = evaluate(stream, transform(BinaryPredicate::less, t, b));
    CHECK(flags.to_host(stream) == sort(stream, NdSpan(less, {lines, n}), 1).to_host(stream));
}

STREAM_TEST(sort_refuses_nan_last_where_it_has_no_meaning) {
    const Array<f32> x(stream, random_values<f32>(100)), out(stream, 100);
    const Array<u64> places(stream, 100), few(stream, 99);
    CHECK(throws(ErrorCode::invalid_argument, "a comparator does not support NaN last",
                 [&] { sort(stream, x, out, before_test, {.nan = NanOrder::last}); }));
    CHECK(throws(ErrorCode::invalid_argument, "a bit range does not support NaN last",
                 [&] { sort(stream, x, out, {.begin_bit = 3, .nan = NanOrder::last}); }));
    CHECK(throws(ErrorCode::unsupported, "bit ranges", [&] {
        sort(stream, NdSpan(x, {10, 10}), NdSpan(out, {10, 10}), 0, {.begin_bit = 3, .nan = NanOrder::last});
    }));
    CHECK(throws(ErrorCode::invalid_argument, "same element count", [&] { argsort(stream, x, few); }));
    CHECK(name_of(NanOrder::last) == "last");
    CHECK(name_of(NanOrder::total) == "total");
}

TEST_SUITE_END();
