// Segmented sort through the public API; `concord check` covers types, sizes, patterns and shapes of segments.
// No fixed bits: elements only move.
#include "devices.hpp"

#include <concord/recording.hpp>
#include <concord/segmented_sort.hpp>
#include <concord/sort.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

using namespace concord;
using test::throws;

namespace {

std::vector<f32> values_of(u64 n) {
    std::vector<f32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<f32>((i * 2654435761U) % 1009) - 400;
    return values;
}

std::vector<u64> ends_of(u64 begin, const std::vector<u64>& lengths) {
    std::vector<u64> offsets{begin};
    for (const u64 length : lengths)
        offsets.push_back(offsets.back() + length);
    return offsets;
}

// The bits of each element.
template <class T>
auto bits_of(const std::vector<T>& values) {
    std::vector<std::conditional_t<sizeof(T) == 4, u32, u64>> bits(values.size());
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(T));
    return bits;
}

// The values of a stable sort of each segment with their positions as values.
template <class Before>
std::vector<u32> order_of(u64 n, const std::vector<u64>& offsets, const Before& before) {
    std::vector<u32> order(n);
    std::iota(order.begin(), order.end(), 0U);
    for (u64 s = 0; s + 1 < offsets.size(); ++s)
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
                         order.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]), before);
    return order;
}

// Around a tile of GPUs (1792 to 3840 elements) and of CPUs (4096 and more), and many short ones.
std::vector<u64> many_lengths() {
    std::vector<u64> lengths{0, 1, 2, 5, 0, 0, 129, 1792, 2304, 2305, 1, 3839, 3840, 3841, 0, 16384, 4095, 7};
    for (u64 i = 0; i < 400; ++i)
        lengths.push_back(i % 37);
    lengths.insert(lengths.end(), {50000, 2, 0, 0, 0, 2, 1023, 1024});
    return lengths;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(segments_are_sorted_like_calls_on_them_alone) {
    const auto stream = device.create_stream();
    const std::vector<u64> offsets = ends_of(7, many_lengths());
    const u64 n = offsets.back() + 11;
    std::vector<f32> values = values_of(n);
    const Array<f32> x(*stream, values), out(*stream, std::vector<f32>(n, 5));
    const Array<u64> at(*stream, offsets);
    for (const SortOrder order : {SortOrder::ascending, SortOrder::descending}) {
        segmented_sort(*stream, x, at, out, {.order = order});
        const std::vector<f32> got = out.to_host(*stream);
        stream->synchronize();
        for (u64 s = 0; s + 1 < offsets.size(); ++s) {
            std::sort(values.begin() + static_cast<std::ptrdiff_t>(offsets[s]),
                      values.begin() + static_cast<std::ptrdiff_t>(offsets[s + 1]),
                      [&](f32 a, f32 b) { return order == SortOrder::ascending ? a < b : b < a; });
        }
        const auto inner = [&](const std::vector<f32>& all) {
            return std::vector<f32>(all.begin() + 7, all.end() - 11);
        };
        CHECK(inner(got) == inner(values));
        // Elements outside of all segments stay.
        for (u64 i = 0; i < n; ++i) {
            if (i < 7 || i >= n - 11) CHECK(got[i] == 5);
        }
    }
    CHECK(x.to_host(*stream) == values_of(n));
    // The same of an expression, and in place.
    const std::vector<f32> negated =
        segmented_sort(*stream, transform(MapFunction::negate, x), at).to_host(*stream);
    for (u64 i = 7; i < n - 11; ++i)
        REQUIRE(negated[i] == -values[i]);
    segmented_sort(*stream, x, at, x, {.order = SortOrder::descending});
    const std::vector<f32> same = x.to_host(*stream);
    for (u64 i = 7; i < n - 11; ++i)
        REQUIRE(same[i] == values[i]);
    CHECK(same.front() == values_of(1)[0]);
}

DEVICE_TEST(segments_of_pairs_are_stable) {
    const auto stream = device.create_stream();
    const std::vector<u64> offsets = ends_of(0, many_lengths());
    const u64 n = offsets.back();
    std::vector<u16> keys(n);
    for (u64 i = 0; i < n; ++i)
        keys[i] = static_cast<u16>(i * 2654435761U >> 20) % 50;
    const Array<u16> from(*stream, keys), to(*stream, n);
    const Array<i64> at(*stream, std::vector<i64>(offsets.begin(), offsets.end()));
    const auto check = [&]<class V>(V, SortOrder direction, bool in_place) {
        const std::vector<u32> order = order_of(n, offsets, [&](u32 a, u32 b) {
            return direction == SortOrder::ascending ? keys[a] < keys[b] : keys[b] < keys[a];
        });
        std::vector<V> values(n), expected(n);
        std::vector<u16> expected_keys(n);
        for (u64 i = 0; i < n; ++i)
            values[i] = static_cast<V>(i);
        for (u64 i = 0; i < n; ++i) {
            expected[i] = values[order[i]];
            expected_keys[i] = keys[order[i]];
        }
        const Array<V> moved(*stream, values), sorted(*stream, n);
        if (in_place) {
            segmented_sort_pairs(*stream, from, moved, at, from, moved, {.order = direction});
            CHECK(from.to_host(*stream) == expected_keys);
            CHECK(moved.to_host(*stream) == expected);
            stream->write(*from.buffer(), 0, keys.data(), n * sizeof(u16));
            return;
        }
        segmented_sort_pairs(*stream, from, moved, at, to, sorted, {.order = direction});
        CHECK(to.to_host(*stream) == expected_keys);
        CHECK(sorted.to_host(*stream) == expected);
        CHECK(moved.to_host(*stream) == values);
    };
    check(u8{}, SortOrder::ascending, false);
    check(u16{}, SortOrder::descending, false);
    check(u32{}, SortOrder::ascending, true);
    check(f32{}, SortOrder::descending, false);
    check(u64{}, SortOrder::descending, true);
}

DEVICE_TEST(segments_of_nan_and_zeros) {
    const auto stream = device.create_stream();
    const f64 nan = std::numeric_limits<f64>::quiet_NaN();
    const std::vector<u64> offsets = ends_of(0, {1, 0, 300, 5000, 9, 20000, 2});
    const u64 n = offsets.back();
    std::vector<f64> keys(n);
    constexpr f64 some[] = {0.0, -0.0, 1.5, -2};
    for (u64 i = 0; i < n; ++i)
        keys[i] = i % 5 == 4 ? (i % 2 == 0 ? nan : -nan) : some[i * 2654435761U >> 13 & 3];
    const Array<f64> x(*stream, keys), sorted(*stream, n);
    const Array<u32> at(*stream, std::vector<u32>(offsets.begin(), offsets.end()));
    std::vector<u32> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0U);
    const Array<u32> places(*stream, numbers), moved(*stream, n);
    for (const SortBy& by : {SortBy{}, SortBy{.order = SortOrder::descending}, SortBy{.nan = NanOrder::last},
                             SortBy{.order = SortOrder::descending, .nan = NanOrder::last}}) {
        CAPTURE(name_of(by.order));
        CAPTURE(name_of(by.nan));
        const auto rank = [&](u32 i) {
            const u64 bits = std::bit_cast<u64>(keys[i]), sign = u64{1} << 63;
            const bool descends = by.order == SortOrder::descending;
            if (by.nan == NanOrder::last) {
                if (keys[i] != keys[i]) return std::pair(1, f64{0});
                return std::pair(0, descends ? -keys[i] : keys[i]);
            }
            // -NaN, -2, -0, 0, 1.5, NaN
            const f64 place = keys[i] != keys[i] ? ((bits & sign) != 0 ? -9 : 9)
                              : keys[i] == 0     ? ((bits & sign) != 0 ? -0.5 : 0.5)
                                                 : keys[i];
            return std::pair(0, descends ? -place : place);
        };
        const std::vector<u32> order = order_of(n, offsets, [&](u32 a, u32 b) { return rank(a) < rank(b); });
        std::vector<f64> expected(n);
        for (u64 i = 0; i < n; ++i)
            expected[i] = keys[order[i]];
        segmented_sort(*stream, x, at, sorted, by);
        CHECK(bits_of(sorted.to_host(*stream)) == bits_of(expected));
        segmented_sort_pairs(*stream, x, places, at, sorted, moved, by);
        CHECK(bits_of(sorted.to_host(*stream)) == bits_of(expected));
        CHECK(moved.to_host(*stream) == order);
        const Array<f64> same(*stream, keys);
        const Array<u32> same_places(*stream, numbers);
        segmented_sort_pairs(*stream, same, same_places, at, same, same_places, by);
        CHECK(bits_of(same.to_host(*stream)) == bits_of(expected));
        CHECK(same_places.to_host(*stream) == order);
    }
}

DEVICE_TEST(segments_of_bool) {
    const auto stream = device.create_stream();
    const std::vector<u64> offsets = ends_of(2, {3, 0, 5000, 1, 30});
    const u64 n = offsets.back();
    std::vector<u8> bytes(n);
    for (u64 i = 0; i < n; ++i)
        bytes[i] = i % 3 == 0 ? static_cast<u8>(i % 7) : 0;
    const std::vector<u32> order =
        order_of(n, offsets, [&](u32 a, u32 b) { return (bytes[a] != 0) < (bytes[b] != 0); });
    const Array<u8> held(*stream, bytes), to(*stream, std::vector<u8>(n, 7));
    const Array<u64> at(*stream, offsets);
    View keys = held.view(), sorted = to.view();
    keys.type = sorted.type = Type::boolean;
    std::vector<u32> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 0U);
    const Array<u32> places(*stream, numbers);
    const auto check = [&](const std::vector<u8>& got) {
        for (u64 i = 2; i < n; ++i)
            REQUIRE(got[i] == (bytes[order[i]] != 0 ? 1 : 0));
    };
    segmented_sort(*stream, keys, at.view(), sorted);
    check(to.to_host(*stream));
    CHECK(to.to_host(*stream)[1] == 7);
    segmented_sort_pairs(*stream, keys, places.view(), at.view(), keys, places.view());
    check(held.to_host(*stream));
    CHECK(places.to_host(*stream) == order);
}

DEVICE_TEST(wrong_offsets_of_segments_to_sort) {
    const auto stream = device.create_stream();
    const u64 n = 30000;
    const Array<f32> x(*stream, values_of(n)), guarded(*stream, std::vector<f32>(n + 2, 5));
    const Array<i64> offsets(*stream, std::vector<i64>{-1, 0, 3000, 0, 30000, 0, i64{1} << 62, 4, 3000});
    segmented_sort(*stream, x, offsets, guarded.span().part(1, n));
    CHECK(throws(
        ErrorCode::invalid_argument,
        "segmented_sort: offset that does not ascend or is out of range at position 0; expected 0 to 30000",
        [&] { stream->synchronize(); }));
    const Array<u32> descending(*stream, std::vector<u32>{0, 10, 9000, 20000, 19999, 30000});
    segmented_sort_pairs(*stream, x, x, descending, guarded.span().part(1, n), Array<f32>(*stream, n));
    CHECK(throws(ErrorCode::invalid_argument, "at position 4;", [&] { stream->synchronize(); }));
    const std::vector<f32> after = guarded.to_host(*stream);
    CHECK(after.front() == 5);
    CHECK(after.back() == 5);
    CHECK(x.to_host(*stream) == values_of(n));
}

DEVICE_TEST(segments_to_sort_without_elements) {
    const auto stream = device.create_stream();
    const Array<f32> none(*stream, 0), x(*stream, values_of(10)), out(*stream, std::vector<f32>(10, 5));
    const Array<u32> zeros(*stream, std::vector<u32>(4, 0)), one(*stream, std::vector<u32>{4}),
        tens(*stream, std::vector<u32>(5000, 10));
    CHECK(segmented_sort(*stream, none, zeros).to_host(*stream).empty());
    for (const Array<u32>* offsets : {&zeros, &one, &tens}) {
        segmented_sort(*stream, x, *offsets, out);
        CHECK(out.to_host(*stream) == std::vector<f32>(10, 5));
    }
    // Many empty segments at one place, between two that are sorted.
    std::vector<u32> many(7000, 4);
    many.front() = 0;
    many.back() = 10;
    const std::vector<f32> sorted = segmented_sort(*stream, x, Array<u32>(*stream, many)).to_host(*stream);
    CHECK(std::is_sorted(sorted.begin(), sorted.begin() + 4));
    CHECK(std::is_sorted(sorted.begin() + 4, sorted.end()));
    segmented_sort(*stream, none, one, none);
    CHECK(throws(ErrorCode::invalid_argument, "at position 0; expected 0 to 0",
                 [&] { stream->synchronize(); }));
}

DEVICE_TEST(recorded_segments) {
    const auto stream = device.create_stream();
    const u64 n = 20000;
    const Array<f32> x(*stream, values_of(n)), out(*stream, n);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 100, 15000, 20000});
    const auto check = [&](const std::vector<u64>& at) {
        const std::vector<f32> got = out.to_host(*stream);
        for (u64 s = 0; s + 1 < at.size(); ++s)
            CHECK(std::is_sorted(got.begin() + static_cast<std::ptrdiff_t>(at[s]),
                                 got.begin() + static_cast<std::ptrdiff_t>(at[s + 1])));
    };
    stream->begin_recording();
    segmented_sort(*stream, x, offsets, out);
    const auto recording = stream->end_recording();
    recording->replay(*stream);
    check({0, 100, 15000, 20000});
    const std::vector<u32> other{0, 19000, 19001, 20000};
    stream->write(*offsets.buffer(), 0, other.data(), other.size() * sizeof(u32));
    recording->replay(*stream);
    check({0, 19000, 19001, 20000});
}

DEVICE_TEST(segments_of_bool_with_values_of_bool) {
    const auto stream = device.create_stream();
    const Array<u32> offsets(*stream, std::vector<u32>{0, 3, 5});
    const Array<u8> keys(*stream, std::vector<u8>{3, 0, 2, 1, 0}),
        values(*stream, std::vector<u8>{1, 0, 0, 7, 1}), keys_out(*stream, 5), values_out(*stream, 5);
    const auto booleans = [](const Array<u8>& array) {
        View view = array.view();
        view.type = Type::boolean;
        return view;
    };
    segmented_sort_pairs(*stream, keys.view(), booleans(values), offsets.view(), keys_out.view(),
                         booleans(values_out));
    CHECK(keys_out.to_host(*stream) == std::vector<u8>{0, 2, 3, 0, 1});
    CHECK(values_out.to_host(*stream) == std::vector<u8>{0, 0, 1, 1, 7});
}

DEVICE_TEST(segmented_sort_refuses) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, values_of(10)), out(*stream, 10), more(*stream, 10);
    const Array<u32> offsets(*stream, std::vector<u32>{0, 4, 10}), none(*stream, 0);
    const auto refused = [&](const char* words, const auto& call) {
        CHECK(throws(ErrorCode::invalid_argument, words, call));
    };
    refused("in and out must have the same element count, got 10 and 9",
            [&] { segmented_sort(*stream, x, offsets, out.span().part(0, 9)); });
    refused("offsets must have 1 element more than there are segments, got 0",
            [&] { segmented_sort(*stream, x, none, out); });
    refused("overlap", [&] { segmented_sort(*stream, x.span().part(0, 9), offsets, x.span().part(1, 9)); });
    refused("offsets must have type u32, u64, i32 or i64, got f32",
            [&] { segmented_sort(*stream, x.view(), x.view(), out.view()); });
    refused("same type", [&] { segmented_sort(*stream, x.view(), offsets.view(), offsets.view()); });
    refused("keys are sorted in place, values are not",
            [&] { segmented_sort_pairs(*stream, x, more, offsets, x, out); });
    refused("overlap", [&] { segmented_sort_pairs(*stream, x, more, offsets, out, out); });
    CHECK(throws(ErrorCode::unsupported, "bit ranges are not supported",
                 [&] { segmented_sort(*stream, x, offsets, out, {.begin_bit = 3}); }));
}

TEST_SUITE_END();
