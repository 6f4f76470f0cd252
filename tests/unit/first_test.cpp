// Calls on the first elements of a range, as many as a count on the device says.
#include "expression_parts.hpp"

#include <concord/first.hpp>

#include <algorithm>
#include <numeric>

using namespace concord;
using test::throws;

CONCORD_FUNCTION(f32, first_sum, (f32 a, f32 b), return a + b;)
// Its lowest byte is 0.
CONCORD_FUNCTION(i32, first_is_large, (f32 x), return x > 0 ? 256 : 0;)

namespace {

constexpr u64 n = 9001;
const Keep large = Keep::greater(-0.25f);

// All of one type, so that calls share kernels: compilers take most of the time.
std::vector<f32> keys_of(u64 size) {
    std::vector<f32> keys(size);
    for (u64 i = 0; i < size; ++i)
        keys[i] = i % 5 == 0 ? 0 : static_cast<f32>(i / 3 % 7);
    return keys;
}

// What a call leaves in its outputs, which hold 7 before.
template <class T, class... More>
struct Outputs {
    Array<T> out;
    std::tuple<Array<More>...> more;
    Outputs(Stream& stream, u64 size)
        : out(stream, std::vector<T>(size, T(7))),
          more(Array<More>(stream, std::vector<More>(size, More(7)))...) {}
    template <std::size_t I>
    const auto& get() const {
        return std::get<I>(more);
    }
};

// Compares what the calls write to `size` elements.
template <class T, class... More, class Counted, class Plain>
void compare(Stream& stream, u64 size, const Counted& counted, const Plain& plain) {
    const Outputs<T, More...> got(stream, size), expected(stream, size);
    counted(got);
    plain(expected);
    CHECK(test::difference(expected.out.to_host(stream), got.out.to_host(stream)).empty());
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        const bool same = (test::difference(expected.template get<I>().to_host(stream),
                                            got.template get<I>().to_host(stream))
                               .empty() &&
                           ...);
        CHECK(same);
    }
    (std::index_sequence_for<More...>{});
}

template <class T>
Span<T> part(const Array<T>& x, u64 count) {
    return x.span().part(0, count);
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(counted_inputs_reduce_and_scan_as_the_calls_of_their_size) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    constexpr u64 all = 70001;
    const Array<f32> x(s, test::random_values<f32>(all));
    for (const u64 c : {u64{0}, u64{1}, u64{1000}, u64{69999}, all}) {
        CAPTURE(c);
        const Array<u64> count(s, std::vector<u64>{c});
        const auto used = part(x, c);
        const auto squares = transform(MapFunction::square, x);
        compare<f32>(
            s, 1, [&](auto& to) { reduce(s, first(x, count), to.out); },
            [&](auto& to) { reduce(s, used, to.out); });
        compare<f32>(
            s, 1, [&](auto& to) { reduce(s, first(squares, count), to.out, first_sum, 0); },
            [&](auto& to) { reduce(s, transform(MapFunction::square, used), to.out, first_sum, 0); });
        for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive})
            compare<f32>(
                s, all, [&](auto& to) { scan(s, first(x, count), to.out, first_sum, 0, kind); },
                [&](auto& to) { scan(s, used, part(to.out, c), first_sum, 0, kind); });
    }
}

DEVICE_TEST(counted_inputs_move_as_the_calls_of_their_size) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    const Array<f32> x(s, test::random_values<f32>(n)), keys(s, keys_of(n));
    const auto rises = transform(BinaryPredicate::less, x, reversed(x));
    const Array<bool> stored = evaluate(s, rises);
    for (const u64 c : {u64{0}, u64{1}, u64{1000}, n}) {
        CAPTURE(c);
        const Array<u64> count(s, std::vector<u64>{c});
        const auto used = part(x, c);
        const auto squares = transform(MapFunction::square, x);
        // At an element that is not aligned as packs are.
        compare<f32>(
            s, n + 1, [&](auto& to) { evaluate(s, first(squares, count), to.out.span().part(1, n)); },
            [&](auto& to) { map(s, used, to.out.span().part(1, c), MapFunction::square); });
        compare<f32>(
            s, n, [&](auto& to) { evaluate(s, first(x, count), to.out); },
            [&](auto& to) { map(s, used, part(to.out, c), MapFunction::copy); });
        const SortBy down{.order = SortOrder::descending};
        compare<f32>(
            s, n, [&](auto& to) { sort(s, first(squares, count), to.out, down); },
            [&](auto& to) { sort(s, transform(MapFunction::square, used), part(to.out, c), down); });
        compare<f32, f32>(
            s, n, [&](auto& to) { sort_pairs(s, first(keys, count), x, to.out, to.template get<0>()); },
            [&](auto& to) {
                sort_pairs(s, part(keys, c), used, part(to.out, c), part(to.template get<0>(), c),
                           {.stable = true});
            });
        compare<f32, u64>(
            s, n,
            [&](auto& to) { compact(s, first(x, count), to.out, part(to.template get<0>(), 1), large); },
            [&](auto& to) { compact(s, used, part(to.out, c), part(to.template get<0>(), 1), large); });
        compare<f32, u64>(
            s, n,
            [&](auto& to) {
                partition(s, first(x, count), to.out, part(to.template get<0>(), 1), first_is_large);
                // Elements past the count are those of x then.
                const std::vector<f32> got = to.out.to_host(s), from = x.to_host(s);
                CHECK(std::equal(got.begin() + static_cast<std::ptrdiff_t>(c), got.end(),
                                 from.begin() + static_cast<std::ptrdiff_t>(c)));
            },
            [&](auto& to) {
                partition(s, used, part(to.out, c), part(to.template get<0>(), 1), first_is_large);
                s.copy(*to.out.buffer(), c * sizeof(f32), *x.buffer(), c * sizeof(f32),
                       (n - c) * sizeof(f32));
            });
        compare<f32, u64>(
            s, n,
            [&](auto& to) {
                compact(s, first(squares, count), rises, to.out, part(to.template get<0>(), 1));
            },
            [&](auto& to) {
                compact(s, transform(MapFunction::square, used), part(stored, c), part(to.out, c),
                        part(to.template get<0>(), 1));
            });
    }
}

DEVICE_TEST(counted_inputs_have_the_runs_of_the_calls_of_their_size) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    const Array<f32> x(s, test::random_values<f32>(n)), keys(s, keys_of(n));
    for (const u64 all : {u64{1}, n}) {
        for (const u64 c : {u64{0}, u64{1}, u64{1000}, u64{1001}, n}) {
            if (c > all) continue;
            CAPTURE(c);
            const Array<u64> count(s, std::vector<u64>{c});
            const auto counted = first(part(keys, all), count);
            const auto used = part(keys, c), values = part(x, all), used_values = part(x, c);
            compare<f32, u64>(
                s, n, [&](auto& to) { unique(s, counted, to.out, part(to.template get<0>(), 1)); },
                [&](auto& to) { unique(s, used, to.out, part(to.template get<0>(), 1)); });
            compare<f32>(
                s, n, [&](auto& to) { scan_by_key(s, counted, values, part(to.out, all), first_sum, 0); },
                [&](auto& to) { scan_by_key(s, used, used_values, part(to.out, c), first_sum, 0); });
            compare<f32, u64, u64>(
                s, n,
                [&](auto& to) {
                    run_length_encode(s, counted, to.out, to.template get<0>(),
                                      part(to.template get<1>(), 1));
                },
                [&](auto& to) {
                    run_length_encode(s, used, to.out, to.template get<0>(), part(to.template get<1>(), 1));
                });
            compare<f32, f32, u64>(
                s, n,
                [&](auto& to) {
                    reduce_by_key(s, counted, values, to.out, to.template get<0>(),
                                  part(to.template get<1>(), 1), first_sum, 0);
                },
                [&](auto& to) {
                    reduce_by_key(s, used, used_values, to.out, to.template get<0>(),
                                  part(to.template get<1>(), 1), first_sum, 0);
                });
        }
    }
}

DEVICE_TEST(counted_inputs_ignore_indices_past_the_count) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    const u64 c = 3001;
    std::vector<u32> list = test::random_indices(n, 3);
    std::fill(list.begin() + c, list.end(), u32{1} << 31);
    const Array<f32> x(s, test::random_values<f32>(n));
    const Array<u32> index(s, list);
    const Array<u64> count(s, std::vector<u64>{c});
    const auto counted = first(gather(x, index), count);
    const Array<f32> used = evaluate(s, gather(x, part(index, c)));
    compare<f32>(
        s, 1, [&](auto& to) { reduce(s, counted, to.out); }, [&](auto& to) { reduce(s, used, to.out); });
    compare<f32>(
        s, n, [&](auto& to) { scan(s, counted, to.out, first_sum, 0); },
        [&](auto& to) { scan(s, used, part(to.out, c), first_sum, 0); });
    compare<f32>(
        s, n, [&](auto& to) { scan_by_key(s, first(x, count), gather(x, index), to.out, first_sum, 0); },
        [&](auto& to) { scan_by_key(s, part(x, c), used, part(to.out, c), first_sum, 0); });
    compare<f32>(
        s, n, [&](auto& to) { sort(s, counted, to.out); }, [&](auto& to) { sort(s, used, part(to.out, c)); });
    compare<f32, u64>(
        s, n, [&](auto& to) { compact(s, counted, to.out, part(to.template get<0>(), 1), large); },
        [&](auto& to) { compact(s, used, part(to.out, c), part(to.template get<0>(), 1), large); });
    // partition moves all elements.
    const Array<u32> places(s, test::random_indices(n, 4));
    const auto moved = gather(x, places);
    const Array<f32> all = evaluate(s, moved);
    compare<f32, u64>(
        s, n,
        [&](auto& to) { partition(s, first(moved, count), to.out, part(to.template get<0>(), 1), large); },
        [&](auto& to) { partition(s, first(all, count), to.out, part(to.template get<0>(), 1), large); });
    CHECK_NOTHROW(s.synchronize());
}

DEVICE_TEST(a_count_above_the_size_is_reported_and_does_no_harm) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    // The operands lie between elements that no call may change.
    const std::vector<f32> around = keys_of(3 * n);
    const Array<f32> memory(s, around);
    const auto x = memory.span().part(n, n);
    const auto check = [&](const char* call, u64 size, const auto& counted, const auto& plain) {
        CAPTURE(call);
        const Array<f32> got(s, around), expected(s, around);
        for (const u64 too_many : {n + 1, ~u64{0}}) {
            const Array<u64> count(s, std::vector<u64>{too_many});
            counted(first(x, count), got.span().part(n, size));
            CHECK(throws(ErrorCode::invalid_argument,
                         std::string(call) + ": the count exceeds the 9001 elements of the input",
                         [&] { s.synchronize(); }));
        }
        plain(expected.span().part(n, size));
        CHECK(test::difference(expected.to_host(s), got.to_host(s)).empty());
    };
    const Array<u64> number(s, 1), lengths(s, n);
    const Array<f32> other(s, n);
    check(
        "reduce", 1, [&](auto in, auto out) { reduce(s, in, out); }, [&](auto out) { reduce(s, x, out); });
    check(
        "scan", n, [&](auto in, auto out) { scan(s, in, out, first_sum, 0); },
        [&](auto out) { scan(s, x, out, first_sum, 0); });
    check(
        "scan_by_key", n, [&](auto in, auto out) { scan_by_key(s, in, x, out, first_sum, 0); },
        [&](auto out) { scan_by_key(s, x, x, out, first_sum, 0); });
    check(
        "sort", n, [&](auto in, auto out) { sort(s, in, out); }, [&](auto out) { sort(s, x, out); });
    check(
        "evaluate", n, [&](auto in, auto out) { evaluate(s, in, out); },
        [&](auto out) { map(s, x, out, MapFunction::copy); });
    check(
        "compact", n, [&](auto in, auto out) { compact(s, in, out, number, large); },
        [&](auto out) { compact(s, x, out, number, large); });
    check(
        "unique", n, [&](auto in, auto out) { unique(s, in, out, number); },
        [&](auto out) { unique(s, x, out, number); });
    check(
        "run_length_encode", n, [&](auto in, auto out) { run_length_encode(s, in, out, lengths, number); },
        [&](auto out) { run_length_encode(s, x, out, lengths, number); });
    check(
        "reduce_by_key", n,
        [&](auto in, auto out) { reduce_by_key(s, in, x, out, other, number, first_sum, 0); },
        [&](auto out) { reduce_by_key(s, x, x, out, other, number, first_sum, 0); });
}

DEVICE_TEST(counts_pass_from_call_to_call_on_the_device) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    std::vector<f32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<f32>(i * 2654435761U % 5000);
    const Array<f32> x(s, values), kept(s, n), sorted(s, n), total(s, 1);
    const Array<u64> count(s, 1);
    compact(s, x, kept, count, Keep::greater(2500.0f));
    sort(s, first(kept, count), sorted);
    // An output may be where the count is.
    unique(s, first(sorted, count), kept, count);
    reduce(s, first(kept, count), total);
    std::erase_if(values, [](f32 value) { return value <= 2500; });
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    // Integers below 2^24: exact in every order.
    CHECK(count.to_host(s) == std::vector<u64>{values.size()});
    CHECK(total.to_host(s) == std::vector<f32>{std::accumulate(values.begin(), values.end(), 0.0f)});
    // In place, of codes of keys.
    const Array<f32> y(s, test::random_values<f32>(n));
    std::vector<f32> expected = y.to_host(s);
    sort(s, first(y, count), y, {.nan = NanOrder::last});
    std::sort(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(values.size()));
    CHECK(test::difference(expected, y.to_host(s)).empty());
}

DEVICE_TEST(counted_inputs_refuse_wrong_counts_and_options) {
    const auto stream = device.create_stream();
    Stream& s = *stream;
    const Array<f32> x(s, std::vector<f32>(4, 1)), out(s, 4);
    const Array<u64> two(s, std::vector<u64>{1, 2}), one(s, std::vector<u64>{3});
    constexpr ErrorCode invalid = ErrorCode::invalid_argument;
    CHECK(throws(invalid, "scan: the count of first must be one u64, got 2",
                 [&] { scan(s, first(x, two), out); }));
    CHECK(throws(invalid, "unknown variant 'serial'; available for a count on the device: auto",
                 [&] { sort(s, first(x, one), out, {}, {.variant = "serial"}); }));
    CHECK(throws(ErrorCode::unsupported, "bit ranges", [&] { sort(s, first(x, one), out, {.end_bit = 8}); }));
    CHECK(throws(invalid, "reduce: out must have the size", [&] { reduce(s, first(x, one), out); }));
    CHECK(throws(invalid, "no size", [&] { first(counting<u32>(), one); }));
    CHECK(throws(invalid, "sort: out must have the size of the input, 4, got 3",
                 [&] { sort(s, first(x, one), part(out, 3)); }));
    CHECK(throws(invalid, "compact: out may not overlap in with a count on the device",
                 [&] { compact(s, first(x, one), x, part(two, 1), large); }));
    // Nothing is stored before the sizes are known.
    const Array<u8> flags(s, std::vector<u8>(4, 1));
    const Array<u32> index(s, std::vector<u32>{0, 1, 2});
    const Array<u64> kept(s, 1);
    CHECK(throws(invalid, "compact: all sources must have one size, got 4 and 3",
                 [&] { compact(s, first(x, one), gather(flags, index), out, kept); }));
    s.synchronize();
}

TEST_SUITE_END();
