// Statistics: dot, norm, mean, variance, standard_deviation, argmin and argmax against references on the host.
#include "expression_parts.hpp"

#include "devices.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

using namespace concord;
using test::canonical_reduce;
using test::difference;
using test::each_type;
using test::random_values;
using test::throws;

namespace {

// Also defined in expression_test.cpp, with another body.
CONCORD_FUNCTION(f32, same_name_test, (f32 x), return x / 4;)
CONCORD_FUNCTION(f32, plus_one_test, (f32 x), return x + 1;)

// The type of means.
template <class T>
using Mean = std::conditional_t<std::is_same_v<T, f32>, f32, f64>;

// Values of an expression in the type of means, whose sums the canonical order defines.
template <class M>
M canonical_sum(const std::vector<M>& x) {
    return canonical_reduce(x, M(0), std::plus<M>{});
}

// The results of one input, by their definitions.
template <class M>
struct Statistics {
    explicit Statistics(const std::vector<M>& x, u64 ddof = 0) {
        const auto n = static_cast<M>(x.size());
        std::vector<M> squares(x.size());
        std::transform(x.begin(), x.end(), squares.begin(), [](M v) { return v * v; });
        norm = std::sqrt(canonical_sum(squares));
        mean = canonical_sum(x) / n;
        std::transform(x.begin(), x.end(), squares.begin(), [&](M v) { return (v - mean) * (v - mean); });
        variance = canonical_sum(squares) / static_cast<M>(x.size() > ddof ? x.size() - ddof : 0);
    }
    M norm, mean, variance;
};

template <class T>
std::string difference_of(T expected, T got) {
    return difference(std::vector{test::without_payload(expected)}, std::vector{got});
}

// The first index with the smallest or largest element, as NumPy defines it.
template <class T>
u64 index_of(const std::vector<T>& x, bool largest) {
    u64 best = 0;
    for (u64 i = 0; i < x.size(); ++i) {
        if (x[i] != x[i]) return i;
        if (largest ? x[best] < x[i] : x[i] < x[best]) best = i;
    }
    return best;
}

template <class T>
void check_extrema(Stream& stream, const std::vector<T>& x) {
    CAPTURE(std::string(name_of(type_of<T>())));
    CAPTURE(x.size());
    const Array<T> in(stream, x);
    const Array<u64> out(stream, 1);
    CHECK(argmin(stream, in).get() == index_of(x, false));
    CHECK(argmax(stream, in).get() == index_of(x, true));
    CHECK(argmin(stream, in, out).order == OperationOrder::canonical);
    CHECK(out.to_host(stream)[0] == index_of(x, false));
    argmax(stream, in, out);
    CHECK(out.to_host(stream)[0] == index_of(x, true));
    // With the element, whose NaN becomes canonical.
    const auto smallest = argmin_with_value(stream, in), largest = argmax_with_value(stream, in);
    CHECK(smallest.index.get() == index_of(x, false));
    CHECK(difference_of(x[index_of(x, false)], smallest.value.get()) == "");
    CHECK(largest.index.get() == index_of(x, true));
    CHECK(difference_of(x[index_of(x, true)], largest.value.get()) == "");
}

}  // namespace

Expression<f32> test::part_of_another_file(const Array<f32>& x) {
    return transform(same_name_test, x);
}

TEST_SUITE_BEGIN("device");

STREAM_TEST(statistics_of_all_types) {
    const bool has_f64 = static_cast<bool>(detail::supports_type(device, Type::f64));
    each_type(device, [&]<class T>(T) {
        using M = Mean<T>;
        CAPTURE(std::string(name_of(type_of<T>())));
        if (std::is_same_v<M, f64> && !has_f64) {
            const Array<T> some(stream, 5);
            CHECK(throws(ErrorCode::unsupported, "f64", [&] { (void)mean(stream, some); }));
            return;
        }
        for (const u64 n : {1, 2, 5, 511, 1025, 100003}) {
            CAPTURE(n);
            const auto x = random_values<T>(n, 1), y = random_values<T>(n, 2);
            const Array<T> a(stream, x), b(stream, y);
            const std::vector<M> values(x.begin(), x.end());
            const Statistics<M> right(values), sample(values, 1);
            CHECK(difference_of(right.mean, mean(stream, a).get()) == "");
            CHECK(difference_of(right.norm, norm(stream, a).get()) == "");
            CHECK(difference_of(right.variance, variance(stream, a).get()) == "");
            CHECK(difference_of(sample.variance, variance(stream, a, 1).get()) == "");
            CHECK(difference_of(std::sqrt(right.variance), standard_deviation(stream, a).get()) == "");
            CHECK(difference_of(std::sqrt(sample.variance), standard_deviation(stream, a, 1).get()) == "");
            // In the type of the elements.
            std::vector<T> products(n);
            for (u64 i = 0; i < n; ++i) {
                if constexpr (std::is_integral_v<T>) {
                    products[i] = static_cast<T>(static_cast<u64>(x[i]) * static_cast<u64>(y[i]));
                } else {
                    products[i] = x[i] * y[i];
                }
            }
            const auto plus = [](T p, T q) {
                if constexpr (std::is_integral_v<T>) {
                    return static_cast<T>(static_cast<u64>(p) + static_cast<u64>(q));
                } else {
                    return p + q;
                }
            };
            CHECK(difference_of(canonical_reduce(products, T(0), plus), dot(stream, a, b).get()) == "");
        }
    });
}

STREAM_TEST(statistics_are_near_those_of_long_arithmetic) {
    const u64 n = 200001;
    auto x = random_values<f32>(n, 1);
    for (f32& value : x)
        value = value * 0.25f + 3;  // the mean is larger than the deviation
    const auto y = random_values<f32>(n, 2);
    long double sum = 0, squares = 0, products = 0, deviations = 0;
    for (u64 i = 0; i < n; ++i) {
        sum += x[i];
        squares += static_cast<long double>(x[i]) * x[i];
        products += static_cast<long double>(x[i]) * y[i];
    }
    const long double middle = sum / n;
    for (const f32 value : x)
        deviations += (value - middle) * (value - middle);
    const auto expected_norm = static_cast<f64>(std::sqrt(squares)), expected_mean = static_cast<f64>(middle),
               expected_dot = static_cast<f64>(products),
               expected_variance = static_cast<f64>(deviations / n);
    // The depth of the tree times the rounding error, relative to the sum of absolute values.
    const f64 bound = 40 * 0x1p-24;
    const Array<f32> a(stream, x), b(stream, y);
    CHECK(std::abs(norm(stream, a).get() - expected_norm) <= bound * expected_norm);
    CHECK(std::abs(mean(stream, a).get() - expected_mean) <= bound * expected_mean);
    CHECK(std::abs(variance(stream, a).get() - expected_variance) <= bound * expected_variance);
    CHECK(std::abs(dot(stream, a, b).get() - expected_dot) <= bound * 4 * n);
    if (detail::supports_type(device, Type::f64)) {
        const Expression<f64> wide = convert<f64>(a);
        CHECK(std::abs(mean(stream, wide).get() - expected_mean) <= 1e-13 * expected_mean);
        CHECK(std::abs(variance(stream, wide).get() - expected_variance) <= 1e-13 * expected_variance);
        CHECK(std::abs(norm(stream, wide).get() - expected_norm) <= 1e-13 * expected_norm);
        CHECK(std::abs(dot(stream, wide, convert<f64>(b)).get() - expected_dot) <= 1e-13 * 4 * n);
    }
}

STREAM_TEST(statistics_of_few_elements_and_special_values) {
    const f32 infinity = std::numeric_limits<f32>::infinity(), nan = test::canonical_nan<f32>();
    const auto all_of = [&](const std::vector<f32>& x, f32 m, f32 v, f32 length) {
        const Array<f32> in(stream, x);
        CHECK(difference_of(m, mean(stream, in).get()) == "");
        CHECK(difference_of(v, variance(stream, in).get()) == "");
        CHECK(difference_of(v, standard_deviation(stream, in).get()) == "");
        CHECK(difference_of(length, norm(stream, in).get()) == "");
    };
    all_of({}, nan, nan, 0);
    all_of({1, 2, nan}, nan, nan, nan);
    all_of({1, infinity, 2}, infinity, nan, infinity);
    all_of({infinity, -infinity}, nan, nan, infinity);
    all_of({7}, 7, 0, 7);
    all_of({-3, -5}, -4, 1, std::sqrt(34.0f));
    const Array<f32> none(stream, 0), two(stream, {1, 3}), seven(stream, {7});
    CHECK(dot(stream, none, none).get() == 0);
    CHECK(difference_of(nan, variance(stream, seven, 1).get()) == "");  // 0 / 0
    CHECK(variance(stream, two, 1).get() == 2);
    CHECK(variance(stream, two, 2).get() == infinity);
    CHECK(variance(stream, two, ~u64{0}).get() == infinity);
    // NaNs with payloads give the canonical one.
    const Array<f32> payload(stream, {1, std::bit_cast<f32>(0xffc01234)});
    CHECK(difference_of(nan, mean(stream, payload).get()) == "");
    CHECK(difference_of(nan, dot(stream, payload, payload).get()) == "");
    // Means of integers do not wrap.
    if (detail::supports_type(device, Type::f64)) {
        const Array<u8> bytes(stream, {255, 255, 255, 255});
        CHECK(mean(stream, bytes).get() == 255);
        CHECK(norm(stream, bytes).get() == 510);
        CHECK(dot(stream, bytes, bytes).get() == 4);
        const Array<i64> words(stream, {std::numeric_limits<i64>::min(), std::numeric_limits<i64>::min()});
        CHECK(mean(stream, words).get() == -0x1p63);
    }
}

STREAM_TEST(statistics_of_expressions) {
    const u64 n = 3001;
    const auto x = random_values<f32>(n, 1), y = random_values<f32>(n, 2);
    const Array<f32> a(stream, x), b(stream, y), one(stream, 1);
    const auto e = transform(ReduceOp::product, transform(plus_one_test, a), reversed(b));
    const Array<f32> stored = evaluate(stream, e);
    CHECK(mean(stream, e).get() == mean(stream, stored).get());
    CHECK(variance(stream, e, 1).get() == variance(stream, stored, 1).get());
    CHECK(standard_deviation(stream, e, 1).get() == standard_deviation(stream, stored, 1).get());
    CHECK(norm(stream, e).get() == norm(stream, stored).get());
    CHECK(dot(stream, e, a).get() == dot(stream, stored, a).get());
    CHECK(dot(stream, a, e).get() == dot(stream, a, stored).get());
    CHECK(argmin(stream, e).get() == argmin(stream, stored).get());
    CHECK(argmax(stream, e).get() == argmax(stream, stored).get());
    CHECK(argmax_with_value(stream, e).value.get() == concord::max(stream, stored).get());
    const Array<u64> place(stream, 1);
    const Enqueued both = argmin(stream, e, place, one);
    CHECK(both.order == OperationOrder::canonical);
    CHECK(both.variant == "fixed");
    CHECK(place.to_host(stream)[0] == argmin(stream, stored).get());
    CHECK(one.to_host(stream)[0] == concord::min(stream, stored).get());
    // With an output.
    for (const auto& [call, expected] : std::vector<std::pair<std::function<Enqueued()>, f32>>{
             {[&] { return mean(stream, e, one); }, mean(stream, stored).get()},
             {[&] { return variance(stream, e, one, 1); }, variance(stream, stored, 1).get()},
             {[&] { return standard_deviation(stream, e, one, 1); },
              standard_deviation(stream, stored, 1).get()},
             {[&] { return norm(stream, e, one); }, norm(stream, stored).get()},
             {[&] { return dot(stream, e, a, one); }, dot(stream, stored, a).get()}}) {
        fill(stream, one.view(), -1.0f);
        const Enqueued done = call();
        CHECK(done.order == OperationOrder::canonical);
        CHECK(done.variant == "fixed");
        CHECK(one.to_host(stream)[0] == expected);
    }
}

STREAM_TEST(statistics_of_expressions_with_many_parts) {
    // argmin of 8-byte elements adds five parts, which makes 24.
    const Array<i64> x(stream, random_values<i64>(1500, 1));
    auto e = transform(MapFunction::negate, x);
    for (u32 parts = 2; parts < 19; ++parts)
        e = parts % 2 == 0 ? reversed(e) : transform(MapFunction::negate, e);
    const Array<i64> stored = evaluate(stream, e);
    CHECK(argmin(stream, e).get() == argmin(stream, stored).get());
    CHECK(throws(ErrorCode::invalid_argument, "too many parts of an expression, got 25",
                 [&] { (void)argmin(stream, reversed(e)); }));
    if (detail::supports_type(device, Type::f64)) {
        CHECK(variance(stream, reversed(e)).get() == variance(stream, reversed(stored)).get());
        CHECK(norm(stream, reversed(reversed(reversed(e)))).get() == norm(stream, reversed(stored)).get());
    } else {
        CHECK(throws(ErrorCode::unsupported, "f64", [&] { (void)norm(stream, stored); }));
    }
}

STREAM_TEST(statistics_of_extrema_in_all_types) {
    each_type(device, [&]<class T>(T) {
        using Limits = std::numeric_limits<T>;
        for (const u64 n : {1, 2, 511, 513, 1025, 100003}) {
            check_extrema(stream, random_values<T>(n, 1));
            // Many equal elements.
            std::vector<T> few(n);
            std::mt19937 random(5);
            for (T& value : few)
                value = static_cast<T>(random() % 3 + 4);
            check_extrema(stream, few);
        }
        // The first of equal ones, around chunks of reduce; limits, alone and among others.
        std::vector<T> values(5000, T(5));
        check_extrema(stream, values);
        for (const u64 at : {4999, 2048, 2047, 1024, 1023, 700, 128, 0}) {
            values[at] = Limits::max();
            check_extrema(stream, values);
        }
        for (const u64 at : {4998, 1025, 129, 3})
            values[at] = Limits::lowest();
        check_extrema(stream, values);
        check_extrema(stream, std::vector<T>(3000, Limits::max()));
        check_extrema(stream, std::vector<T>(3000, Limits::lowest()));
        check_extrema(stream, std::vector<T>(3000, T(0)));
        check_extrema(stream, std::vector<T>{T(2), T(1), T(3), T(1), T(3)});
        if constexpr (std::is_signed_v<T>)
            check_extrema(stream, std::vector<T>{T(0), T(-1), T(1), T(-1), T(1)});
    });
}

STREAM_TEST(statistics_of_extrema_of_floats) {
    each_type(device, [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>) {
            using Limits = std::numeric_limits<T>;
            using Bits = test::BitsOf<T>;
            const T nan = test::canonical_nan<T>(), infinity = Limits::infinity(),
                    negative =
                        std::bit_cast<T>(Bits(std::bit_cast<Bits>(nan) | Bits{1} << (sizeof(T) * 8 - 1))),
                    payload = std::bit_cast<T>(Bits(std::bit_cast<Bits>(nan) | 0x1234)),
                    signalling = std::bit_cast<T>(Bits(std::bit_cast<Bits>(infinity) | 1));
            // The first NaN wins, whatever its bits are.
            for (const T first : {nan, negative, payload, signalling}) {
                for (const T second : {nan, negative, payload, signalling})
                    check_extrema(stream, std::vector<T>{1, -infinity, first, infinity, second, -5});
            }
            std::vector<T> many = random_values<T>(5000, 1);
            many[4321] = negative;
            check_extrema(stream, many);
            many[1234] = nan;
            check_extrema(stream, many);
            check_extrema(stream, std::vector<T>(2000, nan));
            // -0 equals +0: the first of both.
            check_extrema(stream, std::vector<T>{0, -T(0), 0});
            check_extrema(stream, std::vector<T>{-T(0), 0, -T(0)});
            check_extrema(stream, std::vector<T>{1, 0, -T(0), 1});
            check_extrema(stream, std::vector<T>{-1, -T(0), 0, -1});
            check_extrema(stream, std::vector<T>{3, infinity, -infinity, infinity, -infinity});
            check_extrema(stream, std::vector<T>(700, infinity));
            check_extrema(stream, std::vector<T>(700, -infinity));
            if (device.traits().keeps_denormals) {
                check_extrema(stream,
                              std::vector<T>{0, Limits::denorm_min(), -T(0), -Limits::denorm_min(), 0});
                check_extrema(stream, std::vector<T>{Limits::min(), Limits::denorm_min(), Limits::min()});
            }
        }
    });
}

STREAM_TEST(statistics_refuse_wrong_operands) {
    const Array<f32> x(stream, 10), none(stream, 0), one(stream, 1), two(stream, 2);
    const Array<i32> whole(stream, 10);
    const Array<u64> index(stream, 1), keys(stream, 10);
    const auto refused = [&](std::string_view part, const auto& call) {
        CHECK(throws(ErrorCode::invalid_argument, part, call));
    };
    refused("argmin: empty input", [&] { (void)argmin(stream, none); });
    refused("argmax: empty input", [&] { argmax(stream, none, index); });
    if (detail::supports_type(device, Type::f64)) {
        refused("mean: out must be of f64, got f32", [&] { mean(stream, whole, one); });
        refused("norm: out must be of f64, got f32", [&] { norm(stream, whole, one); });
        refused("variance: out must be of f64, got f32", [&] { variance(stream, whole, one); });
        const Array<f64> wide(stream, 1);
        refused("standard_deviation: out must be of f32, got f64",
                [&] { standard_deviation(stream, x, wide); });
    }
    refused("out", [&] { mean(stream, x, two); });
    refused("out", [&] { variance(stream, x, two); });
    refused("out", [&] { argmin(stream, keys, keys); });
    refused("overlap", [&] { norm(stream, x, x.span().part(9, 1)); });
    refused("overlap", [&] { variance(stream, x, x.span().part(0, 1)); });
    refused("overlap", [&] { argmin(stream, keys, keys.span().part(5, 1)); });
    refused("argmin: empty input", [&] { (void)argmin_with_value(stream, none); });
    refused("argmin: values must have 1 element, got 2", [&] { argmin(stream, x, index, two); });
    refused("overlap", [&] { argmax(stream, x, index, x.span().part(3, 1)); });
    refused("overlap", [&] { argmax(stream, keys, index, index); });
    // Nothing ran.
    fill(stream, index.view(), u64{77});
    refused("overlap", [&] { argmin(stream, keys, index, keys.span().part(3, 1)); });
    CHECK(index.to_host(stream)[0] == 77);
    refused("all sources must have one size", [&] { (void)dot(stream, x, two); });
    // A future has no value until a recording is replayed.
    stream.begin_recording();
    CHECK(throws(ErrorCode::unsupported, "mean: a result for the host", [&] { (void)mean(stream, x); }));
    CHECK(throws(ErrorCode::unsupported, "argmax: a result for the host", [&] { (void)argmax(stream, x); }));
    CHECK(throws(ErrorCode::unsupported, "argmin_with_value: a result for the host",
                 [&] { (void)argmin_with_value(stream, x); }));
    (void)stream.end_recording();
}

STREAM_TEST(statistics_that_need_f64_are_refused_without_it) {
    const Array<i32> x(stream, std::vector<i32>(10, 4));
    if (detail::supports_type(device, Type::f64)) {
        CHECK(mean(stream, x).get() == 4);
    } else {
        CHECK(throws(ErrorCode::unsupported, "f64", [&] { (void)mean(stream, x); }));
    }
    CHECK(argmin(stream, x).get() == 0);
}

TEST_SUITE_END();
