// Sort through the public API. `concord check` covers variants, types, sizes and patterns.
// No fixed bits: elements only move.
#include "devices.hpp"
#include "lines.hpp"

#include <concord/sort.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(u8, by_last_digit_test, (u32 a, u32 b), return a % 10 < b % 10 ? (u8)1 : (u8)0;)
CONCORD_FUNCTION(i64, greater_test, (float a, float b), return a > b ? (i64)1 << 40 : (i64)0;)
CONCORD_FUNCTION(u32, last_digits_test, (u32 x, u32 of), return x % of;)
CONCORD_FUNCTION(u8, before_test, (float a, float b), return a < b ? 1 : 0;)
CONCORD_FUNCTION(u8, always_test, (float a, float b), (void)a; (void)b; return 1;)
CONCORD_FUNCTION(u8, cyclic_test, (u32 a, u32 b), return (a - b) % 3 == 1 ? 1 : 0;)
CONCORD_FUNCTION(u8, hashed_test, (u32 a, u32 b, u32 one_in), u32 h = (a * 0x9e3779b9u ^ b) * 0x85ebca6bu;
                 h = (h ^ (h >> 15)) * 0xc2b2ae35u; return (a < b) != ((h >> 8) % one_in == 0) ? 1 : 0;)
CONCORD_FUNCTION(u8, nan_last_test, (float a, float b), return a < b || (a == a && b != b) ? 1 : 0;)

namespace {

// The source index of each element in a stable sort.
template <class Less>
std::vector<u32> order_of(u64 n, Less less) {
    std::vector<u32> from(n);
    std::iota(from.begin(), from.end(), 0U);
    std::stable_sort(from.begin(), from.end(), less);
    return from;
}

template <class T>
std::vector<T> taken(const std::vector<T>& x, const std::vector<u32>& from) {
    std::vector<T> result(from.size());
    std::transform(from.begin(), from.end(), result.begin(), [&](u32 i) { return x[i]; });
    return result;
}

// Whether the variant supports the call. If not, the call must throw `unsupported`.
template <class F>
bool supported(F call) {
    try {
        call();
        return true;
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::unsupported);
        return false;
    }
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(sort_orders_keys_and_keeps_its_input) {
    for (const u64 n : {0, 1, 2, 1000, 9001}) {
        CAPTURE(n);
        const auto x = random_values<u32>(n);
        auto expected = x;
        std::sort(expected.begin(), expected.end());
        const Array<u32> in(stream, x), out(stream, n);
        each_variant(device, sort_algorithm, [&](const std::string& name) {
            const Enqueued run = sort(stream, in, out, SortBy{}, {name});
            CHECK(run.variant == name);
            CHECK(out.to_host(stream) == expected);
            CHECK(in.to_host(stream) == x);
        });
    }
}

STREAM_TEST(stable_variants_keep_the_order_of_equal_keys) {
    constexpr u64 n = 20011;
    auto keys = random_values<i32>(n);
    for (i32& key : keys)
        key %= 100;
    std::vector<u32> index(n);
    std::iota(index.begin(), index.end(), 0U);
    const Array<i32> in(stream, keys), out(stream, n);
    const Array<u32> values(stream, index), values_out(stream, n);
    for (const bool descending : {false, true}) {
        CAPTURE(descending);
        const auto from =
            order_of(n, [&](u32 a, u32 b) { return descending ? keys[a] > keys[b] : keys[a] < keys[b]; });
        SortBy by{.order = descending ? SortOrder::descending : SortOrder::ascending};
        each_variant(device, sort_algorithm, [&](const Variant& variant) {
            by.stable = false;
            const auto call = [&] {
                sort_pairs(stream, in, values, out, values_out, by, {std::string(variant.name)});
            };
            call();
            CHECK(out.to_host(stream) == taken(keys, from));
            auto got = values_out.to_host(stream);
            REQUIRE(*std::max_element(got.begin(), got.end()) < n);
            CHECK(taken(keys, got) == taken(keys, from));
            if (variant.stable) CHECK(got == from);
            std::sort(got.begin(), got.end());
            CHECK(got == index);
            by.stable = true;
            CHECK(supported(call) == variant.stable);
            CHECK(values.to_host(stream) == index);
        });
        by.stable = true;
        sort_pairs(stream, in, values, out, values_out, by);
        CHECK(values_out.to_host(stream) == from);
    }
}

STREAM_TEST(pairs_are_sorted_in_place) {
    for (const u64 n : {1, 777, 30011}) {
        CAPTURE(n);
        const auto keys = random_values<u16>(n);
        const auto values = random_values<u64>(n);
        const auto from = order_of(n, [&](u32 a, u32 b) { return keys[a] < keys[b]; });
        each_variant(device, sort_algorithm, [&](const Variant& variant) {
            const Array<u16> k(stream, keys);
            const Array<u64> v(stream, values);
            sort_pairs(stream, k, v, k, v, SortBy{}, {std::string(variant.name)});
            CHECK(k.to_host(stream) == taken(keys, from));
            if (variant.stable) CHECK(v.to_host(stream) == taken(values, from));
        });
    }
}

STREAM_TEST(floats_are_sorted_by_total_order) {
    const auto bits = [](u32 x) { return std::bit_cast<float>(x); };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> ascending = {bits(0xffffffff),
                                          bits(0xffc00001),
                                          bits(0xffc00000),
                                          bits(0xff800001),
                                          -infinity,
                                          -2.5f,
                                          bits(0x80000001),
                                          -0.0f,
                                          0.0f,
                                          bits(1),
                                          2.5f,
                                          infinity,
                                          bits(0x7f800001),
                                          bits(0x7fc00000),
                                          bits(0x7fffffff)};
    auto shuffled = ascending;
    std::reverse(shuffled.begin(), shuffled.end());
    std::rotate(shuffled.begin(), shuffled.begin() + 6, shuffled.end());
    const auto same_bits = [](const std::vector<float>& a, const std::vector<float>& b) {
        return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    const Array<float> in(stream, shuffled), out(stream, shuffled.size());
    sort(stream, in, out);
    CHECK(same_bits(out.to_host(stream), ascending));
    sort(stream, in, out, SortBy{.order = SortOrder::descending});
    CHECK(same_bits(out.to_host(stream), {ascending.rbegin(), ascending.rend()}));
}

STREAM_TEST(a_bit_range_orders_by_its_bits_alone) {
    const auto keys = random_values<i64>(5003);
    const Array<i64> in(stream, keys), out(stream, keys.size());
    const auto middle = [](i64 x) { return static_cast<u64>(x) >> 7 & 0x3ff; };
    const auto from = order_of(keys.size(), [&](u32 a, u32 b) { return middle(keys[a]) < middle(keys[b]); });
    const auto back = order_of(keys.size(), [&](u32 a, u32 b) { return middle(keys[a]) > middle(keys[b]); });
    each_variant(device, sort_algorithm, [&](const Variant& variant) {
        SortBy by{.begin_bit = 7, .end_bit = 17};
        sort(stream, in, out, by, {std::string(variant.name)});
        CHECK(variant.stable);
        CHECK(out.to_host(stream) == taken(keys, from));
        by.order = SortOrder::descending;
        sort(stream, in, out, by, {std::string(variant.name)});
        CHECK(out.to_host(stream) == taken(keys, back));
    });
}

STREAM_TEST(user_comparators_and_key_functions) {
    const auto x = random_values<u32>(7001);
    const Array<u32> in(stream, x), out(stream, x.size());
    const auto by_digit = order_of(x.size(), [&](u32 a, u32 b) { return x[a] % 10 < x[b] % 10; });
    each_variant(device, sort_algorithm, [&](const Variant& variant) {
        sort(stream, in, out, by_last_digit_test, SortBy{}, {std::string(variant.name)});
        const auto got = out.to_host(stream);
        if (variant.stable) CHECK(got == taken(x, by_digit));
        CHECK(std::is_sorted(got.begin(), got.end(), [](u32 a, u32 b) { return a % 10 < b % 10; }));
    });
    // `auto` in place, with values of another size than the keys.
    const auto floats = random_values<float>(3001);
    const auto bytes = random_values<u8>(3001);
    const Array<float> f(stream, floats);
    const Array<u8> b(stream, bytes);
    const auto falling = order_of(floats.size(), [&](u32 i, u32 j) { return floats[i] > floats[j]; });
    sort_pairs(stream, f, b, f, b, greater_test, SortBy{.stable = true});
    CHECK(f.to_host(stream) == taken(floats, falling));
    CHECK(b.to_host(stream) == taken(bytes, falling));

    for (const u32 of : {3U, 1000U}) {
        CAPTURE(of);
        const auto from = order_of(x.size(), [&](u32 i, u32 j) { return x[i] % of > x[j] % of; });
        sort(stream, in, out, last_digits_test.bind(of),
             SortBy{.order = SortOrder::descending, .stable = true});
        CHECK(out.to_host(stream) == taken(x, from));
        CHECK(in.to_host(stream) == x);
    }
    const Array<u32> both(stream, x);
    sort(stream, both, both, last_digits_test.bind(10), SortBy{.stable = true});
    CHECK(both.to_host(stream) == taken(x, by_digit));
}

namespace {

// Sorts a part of arrays, alone and with values. The results must be the elements of the input, and nothing else may be
// written.
template <class T, class F>
void check_permutation(Device& device, Stream& stream, std::vector<T> x, const F& less) {
    constexpr u64 margin = 64;
    const u64 n = x.size(), all = n + 2 * margin;
    const auto bits_of_all = [](std::vector<T> v) {
        std::vector<detail::SortBits<sizeof(T)>> bits(v.size());
        std::memcpy(bits.data(), v.data(), v.size() * sizeof(T));
        return bits;
    };
    std::vector<u32> ids(n);
    std::iota(ids.begin(), ids.end(), 0U);
    const std::vector<T> blank(all, T(7));
    const std::vector<u32> no_ids(all, ~0U);
    const Array<T> in(stream, x);
    const Array<u32> values(stream, ids);
    const auto bits = bits_of_all(x);
    auto sorted_bits = bits;
    std::sort(sorted_bits.begin(), sorted_bits.end());
    each_variant(device, sort_algorithm, [&](const Variant& variant) {
        const Options options{std::string(variant.name)};
        for (const bool pairs : {false, true}) {
            CAPTURE(pairs);
            const Array<T> keys(stream, blank);
            const Array<u32> moved(stream, no_ids);
            const auto out = keys.span().part(margin, n);
            if (pairs)
                sort_pairs(stream, in, values, out, moved.span().part(margin, n), less, {}, options);
            else
                sort(stream, in, out, less, {}, options);
            auto got = bits_of_all(keys.to_host(stream));
            auto got_ids = moved.to_host(stream);
            const auto outside = bits_of_all(blank)[0];
            for (u64 i = 0; i < margin; ++i) {
                REQUIRE(got[i] == outside);
                REQUIRE(got[all - 1 - i] == outside);
                REQUIRE(got_ids[i] == ~0U);
                REQUIRE(got_ids[all - 1 - i] == ~0U);
            }
            got = {got.begin() + margin, got.end() - margin};
            got_ids = {got_ids.begin() + margin, got_ids.end() - margin};
            if (pairs) {
                bool together = true;
                for (u64 i = 0; i < n && together; ++i)
                    together = got_ids[i] < n && got[i] == bits[got_ids[i]];
                CHECK_MESSAGE(together, "values do not follow their keys");
                std::sort(got_ids.begin(), got_ids.end());
                CHECK(got_ids == ids);
            }
            std::sort(got.begin(), got.end());
            CHECK(got == sorted_bits);
        }
    });
}

}  // namespace

STREAM_TEST(any_comparator_gives_a_permutation) {
    for (const u64 n : {3, 1000, 40001, 300007}) {
        CAPTURE(n);
        auto floats = random_values<float>(n);
        check_permutation(device, stream, floats, always_test);
        for (u64 i = 0; i < n; i += 7)
            floats[i] = std::bit_cast<float>(0x7fc00000U + static_cast<u32>(i));
        check_permutation(device, stream, floats, before_test);
        const auto integers = random_values<u32>(n);
        check_permutation(device, stream, integers, cyclic_test);
        for (const u32 one_in : {2U, 50U, 5000U}) {
            CAPTURE(one_in);
            check_permutation(device, stream, integers, hashed_test.bind(one_in));
        }
    }
}

STREAM_TEST(a_comparator_can_order_nans_last) {
    auto x = random_values<float>(50021);
    for (u64 i = 0; i < x.size(); i += 7)
        x[i] = std::numeric_limits<float>::quiet_NaN();
    const Array<float> in(stream, x);
    const auto got = sort(stream, in, nan_last_test).to_host(stream);
    const auto nans = std::count_if(x.begin(), x.end(), [](float a) { return a != a; });
    CHECK(std::is_sorted(got.begin(), got.end() - nans));
    CHECK(std::all_of(got.end() - nans, got.end(), [](float a) { return a != a; }));
    CHECK(std::none_of(got.begin(), got.end() - nans, [](float a) { return a != a; }));
}

STREAM_TEST(sort_rejects_invalid_calls) {
    const Array<u32> in(stream, random_values<u32>(100)), out(stream, 100), small(stream, 99);
    const Array<u32> other(stream, 100);
    const Array<float> floats(stream, 100);
    const Array<u64> values(stream, std::vector<u64>(200));
    const auto low = values.span().part(0, 100), high = values.span().part(100, 100);
    auto refused = [&](const char* words, auto call) {
        CHECK(throws(ErrorCode::invalid_argument, words, call));
    };
    refused("in and out must have the same element count, got 100 and 99", [&] { sort(stream, in, small); });
    refused("in and out must have the same type, got u32 and f32",
            [&] { sort(stream, in.view(), floats.view()); });
    refused("out at byte 0 overlaps in at byte 40 of the same buffer; pass identical or disjoint ranges",
            [&] { sort(stream, in.span().part(10, 50), in.span().part(0, 50)); });
    refused("keys_in and values_in must have the same element count, got 100 and 200",
            [&] { sort_pairs(stream, in, values, out, high); });
    refused("values_in and values_out must have the same type, got u64 and u32",
            [&] { sort_pairs(stream, in.view(), low.view(), out.view(), in.view()); });
    refused("values_out at byte 80 overlaps values_in at byte 0",
            [&] { sort_pairs(stream, in, low, out, values.span().part(10, 100)); });
    refused("keys_out at byte 0 overlaps values_in at byte 0 of the same buffer; pass disjoint",
            [&] { sort_pairs(stream, in, out, out, other); });
    refused("keys_out at byte 0 overlaps values_out", [&] { sort_pairs(stream, in, other, out, out); });
    refused("keys are sorted in place, values are not", [&] { sort_pairs(stream, in, low, in, high); });
    refused("values are sorted in place, keys are not", [&] { sort_pairs(stream, in, low, out, low); });
    refused("invalid bit range, got [8, 8) for u32; pass 0 <= begin_bit < end_bit <= 32",
            [&] { sort(stream, in, out, SortBy{.begin_bit = 8, .end_bit = 8}); });
    refused("invalid bit range, got [8, 33)",
            [&] { sort(stream, in, out, SortBy{.begin_bit = 8, .end_bit = 33}); });
    refused("comparator 'by_last_digit_test' does not support a direction",
            [&] { sort(stream, in, out, by_last_digit_test, SortBy{.order = SortOrder::descending}); });
    refused("unknown variant 'bogo'; available: ", [&] { sort(stream, in, out, SortBy{}, {"bogo"}); });
    // Keys may also be passed as values.
    CHECK_NOTHROW(sort_pairs(stream, in, in, out, other));
    CHECK(out.to_host(stream) == other.to_host(stream));
}

// Calls in a row on one stream, and on several streams, share the scratch memory of their streams.
DEVICE_TEST(many_sorts_in_flight) {
    const auto x = random_values<u32>(70001);
    auto expected = x;
    std::sort(expected.begin(), expected.end());
    std::vector<std::shared_ptr<Stream>> streams;
    std::vector<Array<u32>> outs;
    const auto first = device.create_stream();
    const Array<u32> in(*first, x);
    for (int s = 0; s < 3; ++s) {
        streams.push_back(device.create_stream());
        outs.emplace_back(*streams.back(), x.size());
        for (int i = 0; i < 5; ++i)
            sort(*streams.back(), in, outs.back());
    }
    for (std::size_t s = 0; s < streams.size(); ++s)
        CHECK(outs[s].to_host(*streams[s]) == expected);
}

STREAM_TEST(sort_computes_keys_that_are_expressions) {
    const auto check = [&]<class T>(T /*type*/) {
        CAPTURE(std::string(name_of(type_of<T>())));
        for (const u64 n : {u64{5000}, u64{70001}, u64{1} << 17}) {
            CAPTURE(n);
            const auto x = random_values<T>(n + 1, 7);
            const Array<T> keys(stream, x), stored(stream, n), expected(stream, n), sorted(stream, n);
            const Array<u32> places(stream, n), expected_places(stream, n), sorted_places(stream, n);
            iota(stream, places);
            // One range is aligned, the other is not.
            for (const u64 first : {u64{0}, u64{1}}) {
                CAPTURE(first);
                const Span<T> part = keys.span().part(first, n);
                const auto e = transform(MapFunction::negate, part);
                evaluate(stream, e, stored);
                for (const SortOrder order : {SortOrder::ascending, SortOrder::descending}) {
                    const SortBy by{.order = order, .stable = true};
                    for (const char* variant : {"auto", "onesweep"}) {
                        CAPTURE(std::string(variant));
                        try {
                            sort(stream, e, sorted, by, {.variant = variant});
                        } catch (const Error& error) {
                            CHECK(error.code() == ErrorCode::unsupported);
                            continue;
                        }
                        sort(stream, stored, expected, by);
                        CHECK(test::same_bits(sorted.to_host(stream), expected.to_host(stream)));
                        sort_pairs(stream, e, places, sorted, sorted_places, by, {.variant = variant});
                        sort_pairs(stream, stored, places, expected, expected_places, by);
                        CHECK(test::same_bits(sorted.to_host(stream), expected.to_host(stream)));
                        CHECK(sorted_places.to_host(stream) == expected_places.to_host(stream));
                    }
                }
            }
        }
    };
    check(f32{});
    check(u8{});
    if (device.traits().fp64) check(f64{});
}

TEST_SUITE_END();
