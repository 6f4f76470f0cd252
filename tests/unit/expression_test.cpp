// Expressions: each part against a reference on the host, alone and nested, and the rules of calls that take them.
#include "expression_parts.hpp"

#include "devices.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <thread>

using namespace concord;
using test::difference;
using test::each_type;
using test::random_values;
using test::throws;
using test::without_payload;

namespace {

CONCORD_CONSTANT(f32, expression_offset, 0.75f)
CONCORD_STRUCT(ExpressionPoint, f32 x; f32 y;)
CONCORD_FUNCTION(f32, expression_helper, (f32 x), return x + expression_offset;)
CONCORD_FUNCTION(ExpressionPoint, expression_turned, (ExpressionPoint p), ExpressionPoint r = {p.y, -p.x};
                 return r;)
// Named as the parameters, values and types of generated sources.
CONCORD_FUNCTION(f32, a0, (f32 x), return x * 3;)
CONCORD_FUNCTION(f32, e1, (f32 in, f32 i), return a0(in) - i;)
// Also defined in statistics_test.cpp.
CONCORD_FUNCTION(f32, same_name_test, (f32 x), return x * 2;)

CONCORD_FUNCTION(f32, one_test, (f32 x), return x * 0.5f - 1;)
CONCORD_FUNCTION(f32, two_test, (f32 x, f32 y), return x * 0.5f + y;)
CONCORD_FUNCTION(f32, helped_test, (f32 x, f32 y), return expression_helper(x) * y;)
CONCORD_FUNCTION(f32, struct_test, (f32 x, f32 y), const ExpressionPoint p = {x, y};
                 const ExpressionPoint q = expression_turned(p); return q.x * 2 + q.y;)
CONCORD_FUNCTION(f32, bound_test, (f32 x, f32 scale, i16 shift, f64 by),
                 return x * scale + (f32)shift * (f32)by;)
CONCORD_FUNCTION(i64, mixed_test, (u8 a, i32 b, f32 c, u64 d),
                 return (i64)a * b + (i64)(c * 8) - (i64)(d & 0xffff);)
CONCORD_FUNCTION(f32, eight_test, (f32 a, f32 b, f32 c, f32 d, f32 e, f32 f, f32 g, f32 h),
                 return a - b * 2 + c * 3 - d * 4 + e * 5 - f * 6 + g * 7 - h * 8;)
CONCORD_FUNCTION(f32, seven_test, (f32 a, f32 b, f32 c, f32 d, f32 e, f32 f, f32 g),
                 return a + b - c + d - e + f - g;)
CONCORD_FUNCTION(f32, native_test, (f32 x), return native::exp(x);)
CONCORD_FUNCTION(f32, larger_magnitude_test, (f32 x, f32 y), return fabs(x) < fabs(y) ? y : x;)
CONCORD_FUNCTION(u8, positive_test, (f32 x), return x > 0 ? 1 : 0;)
CONCORD_FUNCTION(u8, less_test, (f32 x, f32 y), return x < y ? 1 : 0;)
CONCORD_FUNCTION(f32, key_test, (f32 x), return -x;)
CONCORD_FUNCTION(u32, bin_test, (f32 x), return x < 0 ? 0 : 1;)
CONCORD_FUNCTION(u32, next_test, (u32 x), return x * 3 + 1;)

// One of several results, so that one kernel computes them all.
CONCORD_FUNCTION_OF(T, (i8, u8, i16, u16, i32, u32, i64, u64, f32, f64), T, pick_test,
                    (T a, T b, T c, T d, T e, T f, T g, T h, u32 k),
                    return k == 0   ? a
                           : k == 1 ? b
                           : k == 2 ? c
                           : k == 3 ? d
                           : k == 4 ? e
                           : k == 5 ? f
                           : k == 6 ? g
                                    : h;)
CONCORD_FUNCTION(u64, pick_integer_test, (i8 a, u8 b, i16 c, u16 d, i32 e, u32 f, i64 g, u64 h, u32 k),
                 return k == 0   ? (u64)a
                        : k == 1 ? (u64)b
                        : k == 2 ? (u64)c
                        : k == 3 ? (u64)d
                        : k == 4 ? (u64)e
                        : k == 5 ? (u64)f
                        : k == 6 ? (u64)g
                                 : h;)
CONCORD_FUNCTION(u64, pick_float_test, (f32 a, f64 b, u32 k), return k == 0 ? (u64)as_u32(a) : as_u64(b);)

// Around a block of the CPU, around a group, and several tiles.
constexpr u64 sizes[] = {1, 2, 127, 255, 257, 511, 512, 513, 1025, 200001};

// A range of any view, which Span would check.
template <class T>
struct Raw {
    using Element = T;
    View range;
    View view() const { return range; }
};

template <class T, class F>
std::vector<T> made(u64 n, const F& f) {
    std::vector<T> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = f(i);
    return values;
}

template <class T>
std::vector<T> value_of(Stream& stream, const Expression<T>& e) {
    return evaluate(stream, e).to_host(stream);
}

// Numbers with NaNs of several payloads, infinities and zeros of both signs in between.
template <class T>
std::vector<T> special_values(u64 n, u32 seed = 1) {
    using Bits = test::BitsOf<T>;
    using Limits = std::numeric_limits<T>;
    const Bits quiet = std::bit_cast<Bits>(test::canonical_nan<T>()), sign = Bits{1} << (sizeof(T) * 8 - 1);
    const std::array<T, 10> special = {std::bit_cast<T>(Bits(quiet | 0x1234)),
                                       std::bit_cast<T>(Bits(quiet | sign | 1)),
                                       std::bit_cast<T>(quiet),
                                       Limits::infinity(),
                                       -Limits::infinity(),
                                       T(0),
                                       -T(0),
                                       Limits::denorm_min(),
                                       Limits::max(),
                                       Limits::lowest()};
    std::vector<T> values = random_values<T>(n, seed);
    for (u64 i = 0, k = 0; i < n; i += 3)
        values[i] = special[k++ % special.size()];
    return values;
}

// --- Conversions, from the bits of floats ---------------------------------------------------------------------------

// A number: (-1)^negative * magnitude * 2^exponent.
struct Number {
    enum class Kind : u8 { finite, infinite, nan } kind = Kind::finite;
    bool negative = false;
    u64 magnitude = 0;
    int exponent = 0;
};

template <class T>
Number number_of(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        constexpr int digits = std::numeric_limits<T>::digits - 1, width = sizeof(T) * 8 - 1 - digits;
        const u64 bits = std::bit_cast<test::BitsOf<T>>(value), fraction = bits & ((u64{1} << digits) - 1),
                  exponent = bits >> digits & ((u64{1} << width) - 1);
        Number x{.negative = bits >> (sizeof(T) * 8 - 1) != 0};
        if (exponent == (u64{1} << width) - 1) {
            x.kind = fraction == 0 ? Number::Kind::infinite : Number::Kind::nan;
            return x;
        }
        x.magnitude = exponent == 0 ? fraction : fraction | u64{1} << digits;
        x.exponent = static_cast<int>(std::max<u64>(exponent, 1)) - (1 << (width - 1)) + 1 - digits;
        return x;
    } else {
        const bool negative = value < 0;
        return {.negative = negative,
                .magnitude = negative ? 0 - static_cast<u64>(value) : static_cast<u64>(value)};
    }
}

// The float next to the number, ties to even.
template <class T>
T nearest_float(const Number& x) {
    constexpr int digits = std::numeric_limits<T>::digits, width = sizeof(T) * 8 - digits;
    constexpr int smallest =
        3 - (1 << (width - 1)) - digits;  // the exponent of the last place of the smallest
    if (x.kind == Number::Kind::nan) return test::canonical_nan<T>();
    const T sign = x.negative ? T(-1) : T(1);
    if (x.kind == Number::Kind::infinite) return sign * std::numeric_limits<T>::infinity();
    if (x.magnitude == 0) return sign * T(0);
    const int excess = std::max(64 - std::countl_zero(x.magnitude) - digits, smallest - x.exponent);
    if (excess <= 0) return sign * std::ldexp(static_cast<T>(x.magnitude), x.exponent);
    if (excess > 64) return sign * T(0);
    const u64 kept = excess == 64 ? 0 : x.magnitude >> excess, half = u64{1} << (excess - 1);
    const u64 rest = excess == 64 ? x.magnitude : x.magnitude & ((u64{1} << excess) - 1);
    const bool up = rest > half || (rest == half && kept % 2 == 1);
    return sign * std::ldexp(static_cast<T>(kept + (up ? 1 : 0)), x.exponent + excess);
}

// The integer that convert() documents for a float.
template <class T>
T nearest_integer(const Number& x) {
    using Limits = std::numeric_limits<T>;
    if (x.kind == Number::Kind::nan) return 0;
    const bool is_large = x.kind == Number::Kind::infinite ||
                          (x.magnitude != 0 && 64 - std::countl_zero(x.magnitude) + x.exponent > 64);
    u64 whole = 0;
    if (!is_large && x.exponent > -64)
        whole = x.exponent < 0 ? x.magnitude >> -x.exponent : x.magnitude << x.exponent;
    const u64 below = std::is_signed_v<T> ? u64{1} << Limits::digits : 0;
    if (x.negative) return is_large || whole >= below ? Limits::min() : static_cast<T>(0 - whole);
    return is_large || whole >= static_cast<u64>(Limits::max()) ? Limits::max() : static_cast<T>(whole);
}

template <class To, class From>
To expected_conversion(From value) {
    if constexpr (std::is_floating_point_v<To>) {
        return nearest_float<To>(number_of(value));
    } else if constexpr (std::is_floating_point_v<From>) {
        return nearest_integer<To>(number_of(value));
    } else {
        return static_cast<To>(static_cast<u64>(value));
    }
}

// Limits of all types, their neighbours, and random values over the whole range of exponents.
template <class T>
std::vector<T> edges() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values = random_values<T>(600, 5);
    if constexpr (std::is_floating_point_v<T>) {
        const std::vector<T> special = special_values<T>(30);
        values.insert(values.end(), special.begin(), special.end());
        std::mt19937_64 random(3);
        for (int e = -20; e < 70; ++e) {
            const T power = std::ldexp(T(1), e);
            for (const T x : {power, std::nextafter(power, T(0)), std::nextafter(power, 2 * power),
                              power - T(0.5), power + T(0.5), power * T(1.5)})
                values.insert(values.end(), {x, -x});
        }
        for (int i = 0; i < 500; ++i)
            values.push_back(std::bit_cast<T>(static_cast<test::BitsOf<T>>(random())));
        for (const double x : {1e39, 3.4028235677973366e38, 3.4028235677973362e38, 1e-45, 7e-46, 1e-320, 0.1})
            values.insert(values.end(), {static_cast<T>(x), static_cast<T>(-x)});
    } else {
        for (int bit = 0; bit < Limits::digits; ++bit) {
            const u64 power = u64{1} << bit;
            for (const u64 x : {power, power - 1, power + 1, power | power >> 24, power | power >> 25,
                                power | power >> 53 | power >> 24, power | power >> 54})
                values.insert(values.end(), {static_cast<T>(x), static_cast<T>(0 - x)});
        }
    }
    values.insert(values.end(), {Limits::min(), Limits::max(), Limits::lowest(), T(0), T(1)});
    return values;
}

// Calls f with each operator and its function on the host.
template <class T, class F>
void each_operator(const F& f) {
    const auto less = [](T x, T y) {
        return x < y || (x == y && std::signbit(double(x)) && !std::signbit(double(y)));
    };
    f(ReduceOp::sum, [](T x, T y) { return without_payload(static_cast<T>(x + y)); });
    f(ReduceOp::product, [](T x, T y) {
        if constexpr (std::is_floating_point_v<T>) {
            return without_payload(x * y);
        } else {
            return static_cast<T>(static_cast<u64>(x) * static_cast<u64>(y));
        }
    });
    f(ReduceOp::min, [=](T x, T y) { return without_payload(x != x ? x : y != y ? y : less(y, x) ? y : x); });
    f(ReduceOp::max, [=](T x, T y) { return without_payload(x != x ? x : y != y ? y : less(x, y) ? y : x); });
}

// The device memory that a call allocates and later returns to the pool.
template <class F>
u64 scratch_of(Device& device, Stream& stream, const F& call) {
    stream.synchronize();
    device.trim();
    const MemoryUse before = device.memory_use();
    call();
    stream.synchronize();
    const MemoryUse after = device.memory_use();
    return after.in_use + after.cached - before.in_use - before.cached;
}

}  // namespace

TEST_SUITE_BEGIN("device");

// --- Parts ----------------------------------------------------------------------------------------------------------

STREAM_TEST(expressions_of_each_part_around_blocks) {
    for (const u64 n : sizes) {
        CAPTURE(n);
        const auto x = random_values<f32>(n, 1), y = random_values<f32>(n, 2);
        const auto k = random_values<u32>(n, 3);
        const Array<f32> a(stream, x), b(stream, y);
        const auto list = made<u32>(n, [&](u64 i) { return static_cast<u32>(k[i] % n); });
        const Array<u32> index(stream, list);
        const auto check = [&](const std::string& part, const auto& e, const auto& f) {
            CAPTURE(part);
            using T = typename std::remove_cvref_t<decltype(e)>::Element;
            CHECK(e.size() == n);
            CHECK(difference(made<T>(n, f), value_of(stream, e)) == "");
        };
        check("one", transform(one_test, a), [&](u64 i) { return x[i] * 0.5f - 1; });
        check("two", transform(two_test, a, b), [&](u64 i) { return x[i] * 0.5f + y[i]; });
        check("zip", transform(two_test, zip(b, a)), [&](u64 i) { return y[i] * 0.5f + x[i]; });
        check("map", transform(MapFunction::square, a), [&](u64 i) { return x[i] * x[i]; });
        check("sqrt", transform(MapFunction::sqrt, transform(MapFunction::abs, a)),
              [&](u64 i) { return std::sqrt(std::fabs(x[i])); });
        check("counting", transform(two_test, a, counting<f32>(-2, 0.25f)),
              [&](u64 i) { return x[i] * 0.5f + (-2 + static_cast<f32>(i) * 0.25f); });
        check("constant", transform(two_test, constant(4.0f), a), [&](u64 i) { return 2 + x[i]; });
        check("gather", gather(a, index), [&](u64 i) { return x[list[i]]; });
        check("gather of a part", gather(transform(two_test, a, b), index),
              [&](u64 i) { return x[list[i]] * 0.5f + y[list[i]]; });
        check("gather of gather", gather(gather(a, index), index), [&](u64 i) { return x[list[list[i]]]; });
        check("gather at computed indices", gather(a, gather(index, index)),
              [&](u64 i) { return x[list[list[i]]]; });
        check("reversed", reversed(a), [&](u64 i) { return x[n - 1 - i]; });
        check("reversed twice", reversed(reversed(a)), [&](u64 i) { return x[i]; });
        check("reversed part", transform(two_test, reversed(transform(one_test, a)), gather(b, index)),
              [&](u64 i) { return (x[n - 1 - i] * 0.5f - 1) * 0.5f + y[list[i]]; });
        check("strided", strided(a, {n}, {1}), [&](u64 i) { return x[i]; });
        check("broadcast", strided(a, {n}, {0}, n - 1), [&](u64 /*i*/) { return x[n - 1]; });
        check("convert", convert<i32>(transform(bound_test.bind(1000.0f, 3, 0.5), a)),
              [&](u64 i) { return static_cast<i32>(x[i] * 1000.0f + 3 * 0.5f); });
    }
}

STREAM_TEST(expressions_of_parts_with_offsets) {
    const auto x = random_values<f32>(3001, 1);
    const Array<f32> a(stream, x), out(stream, std::vector<f32>(3001, 7));
    for (const u64 offset : {1, 3, 1000}) {
        evaluate(stream, transform(two_test, a.span().part(offset, 2000), reversed(a.span().part(1, 2000))),
                 out.span().part(offset, 2000));
        CHECK(difference(made<f32>(3001,
                                   [&](u64 i) {
                                       return i < offset || i >= offset + 2000
                                                  ? 7.0f
                                                  : x[i] * 0.5f + x[2000 - (i - offset)];
                                   }),
                         out.to_host(stream)) == "");
        fill(stream, out.view(), 7.0f);
    }
}

STREAM_TEST(expressions_count_and_repeat_in_all_types) {
    each_type(device, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const u64 n = 1025;
        const auto first = static_cast<T>(std::is_floating_point_v<T> ? 0.3 : 200), step = static_cast<T>(-7);
        const auto expected = made<T>(n, [&](u64 i) {
            if constexpr (std::is_floating_point_v<T>) {
                return (first + static_cast<T>(i) * step) + static_cast<T>(100);
            } else {
                return static_cast<T>(static_cast<u64>(first) + i * static_cast<u64>(step) + 100);
            }
        });
        const auto e =
            transform(ReduceOp::sum, strided(counting<T>(first, step), {n}, {1}), constant(T(100)));
        CHECK(difference(expected, value_of(stream, e)) == "");
    });
    const u32 limit = std::numeric_limits<u32>::max();
    CHECK(difference(std::vector<u32>(1000, limit),
                     value_of(stream, strided(constant(limit), {5, 200}, {9, 4}))) == "");
    // An index that exceeds 32 bits.
    CHECK(value_of(stream, strided(counting<u64>(5, 3), {2}, {-1}, u64{1} << 40)) ==
          std::vector<u64>{5 + (u64{3} << 40), 5 + (u64{3} << 40) - 3});
}

STREAM_TEST(expressions_of_built_in_operators_in_all_types) {
    each_type(device, [&]<class T>(T) {
        CAPTURE(std::string(name_of(type_of<T>())));
        const u64 n = 1025;
        std::vector<T> x = random_values<T>(n, 1), y = random_values<T>(n, 2);
        if constexpr (std::is_floating_point_v<T>) {
            x = special_values<T>(n, 1);
            y = special_values<T>(n, 2);
            std::rotate(y.begin(), y.begin() + 9, y.end());
        }
        const Array<T> a(stream, x), b(stream, y);
        const auto part = [&](MapFunction f) { return transform(f, a); };
        const auto pick = [&](u32 k) {
            return transform(pick_test.of<T>.bind(k), transform(ReduceOp::sum, a, b),
                             transform(ReduceOp::product, a, b), transform(ReduceOp::min, a, b),
                             transform(ReduceOp::max, a, b), part(MapFunction::copy),
                             part(MapFunction::negate), part(MapFunction::abs), part(MapFunction::square));
        };
        u32 k = 0;
        const auto check = [&](const auto& f) {
            CAPTURE(k);
            const auto expected = made<T>(n, [&](u64 i) { return without_payload(f(x[i], y[i])); });
            CHECK(difference(expected, value_of(stream, pick(k++))) == "");
        };
        each_operator<T>([&](ReduceOp /*op*/, const auto& f) { check(f); });
        const auto negative = [](T v) {
            if constexpr (std::is_floating_point_v<T>) {
                return -v;
            } else {
                return static_cast<T>(0 - static_cast<u64>(v));
            }
        };
        check([](T v, T) { return v; });
        check([&](T v, T) { return negative(v); });
        check([&](T v, T) { return v < 0 || v == 0 ? static_cast<T>(negative(v) + T(0)) : v; });
        check([](T v, T) {
            if constexpr (std::is_floating_point_v<T>) {
                return v * v;
            } else {
                return static_cast<T>(static_cast<u64>(v) * static_cast<u64>(v));
            }
        });
    });
    const auto x = random_values<f32>(1025, 1), y = random_values<f32>(1025, 2);
    const Array<f32> a(stream, x), b(stream, y);
    for (const MapFunction f : {MapFunction::exp, MapFunction::sin, MapFunction::tgamma})
        CHECK(difference(map(stream, a, f).to_host(stream), value_of(stream, transform(f, a))) == "");
    for (const PairFunction f : {PairFunction::pow, PairFunction::atan2, PairFunction::hypot})
        CHECK(difference(map(stream, a, b, f).to_host(stream), value_of(stream, transform(f, a, b))) == "");
    const Array<i32> whole(stream, 5);
    CHECK(throws(ErrorCode::unsupported, "supports f32 and f64, got i32",
                 [&] { (void)transform(MapFunction::exp, whole); }));
    CHECK(throws(ErrorCode::unsupported, "supports f32 and f64, got i32",
                 [&] { (void)transform(PairFunction::pow, whole, whole); }));
}

STREAM_TEST(expressions_convert_between_all_types) {
    const bool is_host = device.traits().launch == LaunchModel::host;
    each_type(device, [&]<class From>(From) {
        CAPTURE(std::string(name_of(type_of<From>())));
        const std::vector<From> x = edges<From>();
        const Array<From> in(stream, x);
        u32 integers = 0, floats = 0;
        each_type(device, [&]<class To>(To) {
            CAPTURE(std::string(name_of(type_of<To>())));
            if constexpr (std::is_same_v<From, To>) {
                CHECK(difference(x, value_of(stream, convert<To>(in))) == "");  // the elements themselves
            } else if (is_host) {
                const auto expected =
                    made<To>(x.size(), [&](u64 i) { return expected_conversion<To>(x[i]); });
                CHECK(difference(expected, value_of(stream, convert<To>(in))) == "");
            }
            // Several conversions in one kernel. A function of a NaN gives the canonical one.
            const auto expected = made<u64>(x.size(), [&](u64 i) {
                const To value = expected_conversion<To>(x[i]);
                if constexpr (std::is_floating_point_v<To>) {
                    return static_cast<u64>(std::bit_cast<test::BitsOf<To>>(value));
                } else {
                    return static_cast<u64>(value);
                }
            });
            if constexpr (std::is_integral_v<To>) {
                const auto pick = pick_integer_test.bind(integers++);
                CHECK(difference(
                          expected,
                          value_of(stream, transform(pick, convert<i8>(in), convert<u8>(in), convert<i16>(in),
                                                     convert<u16>(in), convert<i32>(in), convert<u32>(in),
                                                     convert<i64>(in), convert<u64>(in)))) == "");
            } else if (detail::supports_type(device, Type::f64) && !std::is_same_v<From, To>) {
                const auto pick = pick_float_test.bind(std::is_same_v<To, f32> ? 0 : 1);
                CHECK(difference(expected, value_of(stream, transform(pick, convert<f32>(in),
                                                                      convert<f64>(in)))) == "");
            }
            floats += std::is_floating_point_v<To> ? 1 : 0;
        });
        CHECK(integers == 8);
        CHECK(floats >= 1);
    });
}

STREAM_TEST(expressions_keep_payloads_of_ranges_and_not_of_functions) {
    each_type(device, [&]<class T>(T) {
        if constexpr (std::is_floating_point_v<T>) {
            const u64 n = 600;
            const auto x = special_values<T>(n);
            const Array<T> a(stream, x);
            const auto index = made<u32>(n, [&](u64 i) { return static_cast<u32>(i * 7 % n); });
            const Array<u32> at(stream, index);
            const auto check = [&](const auto& e, const auto& f) {
                CHECK(difference(made<T>(n, f), value_of(stream, e)) == "");
            };
            check(gather(a, at), [&](u64 i) { return x[index[i]]; });
            check(reversed(a), [&](u64 i) { return x[n - 1 - i]; });
            check(transform(MapFunction::copy, reversed(a)), [&](u64 i) { return x[n - 1 - i]; });
            using Bits = test::BitsOf<T>;
            check(transform(MapFunction::negate, a), [&](u64 i) {
                return std::bit_cast<T>(Bits(std::bit_cast<Bits>(x[i]) ^ Bits{1} << (sizeof(T) * 8 - 1)));
            });
            check(strided(constant(x[3]), {n}, {0}), [&](u64 /*i*/) { return x[3]; });
            check(strided(counting(x[0]), {n}, {1}), [&](u64 /*i*/) { return test::canonical_nan<T>(); });
            check(transform(ReduceOp::max, a, a), [&](u64 i) { return without_payload(x[i]); });
            check(transform(MapFunction::square, a), [&](u64 i) { return without_payload(x[i] * x[i]); });
        }
    });
    // A function that returns its argument.
    const auto x = special_values<f32>(600);
    const Array<f32> a(stream, x);
    CHECK(difference(made<f32>(600, [&](u64 i) { return without_payload(x[i]); }),
                     value_of(stream, transform(larger_magnitude_test, a, a))) == "");
    CHECK(difference(made<f32>(600, [&](u64 i) { return without_payload(x[i] * 2); }),
                     value_of(stream, transform(same_name_test, a))) == "");
}

STREAM_TEST(expressions_do_not_gather_from_outside_of_their_range) {
    // Elements before and behind the range, which an access outside would read.
    const u64 n = 100;
    std::vector<f32> x(3 * n, 1e30f);
    for (u64 i = 0; i < n; ++i)
        x[n + i] = static_cast<f32>(i) + 0.5f;
    const Array<f32> whole(stream, x);
    const auto in = whole.span().part(n, n);
    // What a call stores that synchronize() reports.
    const auto stored = [&](const auto& e) {
        using T = typename std::remove_cvref_t<decltype(e)>::Element;
        const Array<T> out(stream, e.size());
        evaluate(stream, e, out);
        CHECK(throws(ErrorCode::invalid_argument, "index out of range", [&] { stream.synchronize(); }));
        return out.to_host(stream);
    };
    each_type(device, [&]<class I>(I) {
        if constexpr (std::is_integral_v<I>) {
            CAPTURE(std::string(name_of(type_of<I>())));
            auto index = random_values<I>(700);
            index.insert(index.end(), {std::numeric_limits<I>::min(), std::numeric_limits<I>::max(), I(99),
                                       I(100), I(101), static_cast<I>(-1), static_cast<I>(-100), I(0)});
            const Array<I> at(stream, index);
            const auto expected = made<f32>(index.size(), [&](u64 i) {
                const u64 j = static_cast<u64>(index[i]);
                return x[n + (j < n ? j : 0)];
            });
            CHECK(difference(expected, stored(gather(in, at))) == "");
            if (std::is_same_v<I, i32>)
                CHECK(difference(expected, stored(gather(reversed(reversed(in)), at))) == "");
        }
    });
    // Of a computed x with a size, and of one element.
    const Array<i64> at(stream, {-1, 0, 1, 99, 100, i64{1} << 40});
    CHECK(stored(gather(strided(counting<u64>(7), {n}, {1}), at)) == std::vector<u64>{7, 7, 8, 106, 7, 7});
    CHECK(stored(gather(in.part(5, 1), at)) == std::vector<f32>(6, 5.5f));
}

STREAM_TEST(expressions_of_strided_arrays_in_all_ranks) {
    std::mt19937 random(11);
    const auto x = random_values<f32>(5000, 1);
    const Array<f32> a(stream, x);
    for (u32 rank = 1; rank <= 8; ++rank) {
        for (u32 round = 0; round < 6; ++round) {
            CAPTURE(rank);
            CAPTURE(round);
            std::vector<u64> extents(rank);
            std::vector<i64> strides(rank);
            u64 n = 1, origin = 0, reach = 0;
            for (u32 k = 0; k < rank; ++k) {
                extents[k] = 1 + random() % (rank == 1 ? 1500 : rank == 2 ? 60 : rank < 5 ? 9 : 4);
                if (round == 5 && k + 1 == rank) extents[k] = 700;  // rows longer than a block
                n *= extents[k];
                const u64 room = 4999 - reach, most = extents[k] == 1 ? 9 : room / (extents[k] - 1);
                const u64 size = round == 0 ? 0 : std::min<u64>(random() % 40, most);
                strides[k] = static_cast<i64>(round == 5 && k + 1 == rank ? std::min<u64>(1, most) : size);
                reach += (extents[k] - 1) * static_cast<u64>(strides[k]);
                if (random() % 2 == 0 && round != 5) {
                    origin += (extents[k] - 1) * static_cast<u64>(strides[k]);
                    strides[k] = -strides[k];
                }
            }
            std::vector<u64> digits(rank, 0), indices(n);
            for (u64 i = 0; i < n; ++i) {
                i64 at = static_cast<i64>(origin);
                for (u32 k = 0; k < rank; ++k)
                    at += static_cast<i64>(digits[k]) * strides[k];
                indices[i] = static_cast<u64>(at);
                for (u32 k = rank; k-- > 0 && ++digits[k] == extents[k];)
                    digits[k] = 0;
            }
            const auto e = strided(a, extents, strides, origin);
            CHECK(e.size() == n);
            CHECK(difference(made<f32>(n, [&](u64 i) { return x[indices[i]]; }), value_of(stream, e)) == "");
            // At the indices of another part.
            CHECK(difference(made<f32>(n, [&](u64 i) { return x[indices[n - 1 - i]] * 0.5f - 1; }),
                             value_of(stream, reversed(transform(one_test, e)))) == "");
        }
    }
}

STREAM_TEST(expressions_refuse_strides_outside_of_the_range) {
    const Array<f32> a(stream, 100);
    const auto refused = [&](std::string_view part, std::vector<u64> extents, std::vector<i64> strides,
                             u64 origin = 0) {
        CHECK(throws(ErrorCode::invalid_argument, part, [&] { (void)strided(a, extents, strides, origin); }));
    };
    refused("an element beyond x, got index 100", {101}, {1});
    refused("an element beyond x, got index 100", {10, 11}, {9, 1}, 9);
    refused("an element beyond x, got index 100", {1}, {0}, 100);
    refused("an element before the first one of x, got index 5 - 6", {7}, {-1}, 5);
    refused("an element before the first one of x", {2, 2}, {-1, 50}, 0);
    refused("an element beyond x", {2, 2}, {i64{1} << 62, i64{1} << 62});
    refused("an element beyond x", {3, 3, 3}, {i64{1} << 62, i64{1} << 62, i64{1} << 62});
    refused("an element before the first one", {5}, {std::numeric_limits<i64>::min()}, 99);
    refused("too many elements", {u64{1} << 40, u64{1} << 40}, {0, 0});
    refused("the rank must be 1 to 8", {}, {});
    refused("the rank must be 1 to 8", std::vector<u64>(9, 1), std::vector<i64>(9, 0));
    refused("the rank must be 1 to 8, got 2 extents and 1 strides", {1, 1}, {1});
    CHECK_NOTHROW((void)strided(a, {100}, {-1}, 99));
    CHECK_NOTHROW((void)strided(a, {0, 5}, {1000, 1000}, 1000));  // without elements
    CHECK_NOTHROW((void)strided(a, {1}, {std::numeric_limits<i64>::min()}, 99));
}

// --- Functions ------------------------------------------------------------------------------------------------------

STREAM_TEST(expressions_of_user_functions) {
    const u64 n = 1500;
    std::vector<std::vector<f32>> x;
    std::vector<Array<f32>> a;
    for (u32 k = 0; k < 8; ++k) {
        x.push_back(random_values<f32>(n, 10 + k));
        a.emplace_back(stream, x.back());
    }
    const auto check = [&](const std::string& part, const auto& e, const auto& f) {
        CAPTURE(part);
        using T = typename std::remove_cvref_t<decltype(e)>::Element;
        CHECK(difference(made<T>(n, f), value_of(stream, e)) == "");
    };
    check("helper", transform(helped_test, a[0], a[1]), [&](u64 i) { return (x[0][i] + 0.75f) * x[1][i]; });
    check("struct", transform(struct_test, a[0], a[1]), [&](u64 i) { return x[1][i] * 2 + -x[0][i]; });
    check("names of generated sources", transform(e1, transform(a0, a[0]), a[1]),
          [&](u64 i) { return x[0][i] * 3 * 3 - x[1][i]; });
    const auto eight = [](f32 a, f32 b, f32 c, f32 d, f32 e, f32 f, f32 g, f32 h) {
        return a - b * 2 + c * 3 - d * 4 + e * 5 - f * 6 + g * 7 - h * 8;
    };
    check(
        "eight inputs", transform(eight_test, zip(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7])),
        [&](u64 i) { return eight(x[0][i], x[1][i], x[2][i], x[3][i], x[4][i], x[5][i], x[6][i], x[7][i]); });
    // One function with other bound values in one expression; both helpers and structs twice.
    const auto bound = [](f32 v, f32 scale, f32 shift, f32 by) { return v * scale + shift * by; };
    check(
        "bound twice",
        transform(struct_test, transform(helped_test, transform(bound_test.bind(2.0f, -3, 0.5), a[0]), a[1]),
                  transform(struct_test, transform(bound_test.bind(-1.5f, 100, 0.25), a[0]),
                            transform(helped_test, a[2], a[3]))),
        [&](u64 i) {
            const f32 p = (bound(x[0][i], 2, -3, 0.5f) + 0.75f) * x[1][i];
            const f32 q = ((x[2][i] + 0.75f) * x[3][i]) * 2 + -bound(x[0][i], -1.5f, 100, 0.25f);
            return q * 2 + -p;
        });
    // Functions of one name from two files.
    check("two files", transform(two_test, transform(same_name_test, a[0]), test::part_of_another_file(a[0])),
          [&](u64 i) { return x[0][i] * 2 * 0.5f + x[0][i] * 0.25f; });
    const auto bytes = random_values<u8>(n, 1);
    const auto words = random_values<i32>(n, 2);
    const Array<u8> b(stream, bytes);
    const Array<i32> w(stream, words);
    check("several types", transform(mixed_test, b, w, a[0], counting<u64>(3, 5)), [&](u64 i) {
        return static_cast<i64>(bytes[i]) * words[i] + static_cast<i64>(x[0][i] * 8) -
               static_cast<i64>((3 + i * 5) & 0xffff);
    });
    // 24 parts, which are the limit.
    const auto left = transform(eight_test, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    const auto right = transform(eight_test, a[7], a[6], a[5], a[4], a[3], a[2], a[1], a[0]);
    check("24 parts", transform(seven_test, left, right, a[0], a[1], a[2], a[3], a[4]), [&](u64 i) {
        const f32 p = eight(x[0][i], x[1][i], x[2][i], x[3][i], x[4][i], x[5][i], x[6][i], x[7][i]);
        const f32 q = eight(x[7][i], x[6][i], x[5][i], x[4][i], x[3][i], x[2][i], x[1][i], x[0][i]);
        return p + q - x[0][i] + x[1][i] - x[2][i] + x[3][i] - x[4][i];
    });
    CHECK(throws(ErrorCode::invalid_argument, "too many parts of an expression, got 25", [&] {
        (void)transform(seven_test, left, right, a[0], a[1], a[2], a[3], transform(one_test, a[4]));
    }));
    auto deep = transform(one_test, a[0]);
    for (u32 parts = 2; parts < 24; ++parts)
        deep = parts % 2 == 0 ? reversed(deep) : transform(one_test, deep);
    check("24 deep", deep, [&](u64 i) {
        f32 v = x[0][n - 1 - i];
        for (int k = 0; k < 12; ++k)
            v = v * 0.5f - 1;
        return v;
    });
    auto gathers = gather(a[0], a[0].size() > 0 ? counting<u64>(0) : counting<u64>(1));
    CHECK(throws(ErrorCode::invalid_argument, "no size", [&] { (void)gathers.size(); }));
}

STREAM_TEST(expressions_of_functions_that_devices_compute_differently) {
    const auto x = random_values<f32>(1000);
    const Array<f32> a(stream, x), out(stream, 1000), one(stream, 1);
    const Array<u64> count(stream, 1);
    const Array<u32> bins(stream, 2);
    const auto e = transform(two_test, transform(native_test, a), a), right = transform(two_test, a, a);
    const Options canonical{.order = OperationOrder::canonical}, any{.order = OperationOrder::unspecified};
    const auto refused = [&](const std::string& call, const auto& f) {
        CAPTURE(call);
        CHECK(throws(ErrorCode::unsupported, "operator 'native_test' calls 'exp'", [&] { f(e, canonical); }));
        CHECK(f(e, any).order == OperationOrder::unspecified);
        CHECK(f(right, canonical).order == OperationOrder::canonical);
    };
    refused("evaluate", [&](const auto& in, const Options& o) { return evaluate(stream, in, out, o); });
    refused("map",
            [&](const auto& in, const Options& o) { return map(stream, in, out, MapFunction::square, o); });
    refused("reduce",
            [&](const auto& in, const Options& o) { return reduce(stream, in, one, ReduceOp::sum, o); });
    refused("reduce by a function", [&](const auto& in, const Options& o) {
        return reduce(stream, in, one, larger_magnitude_test, 0, o);
    });
    refused("mean", [&](const auto& in, const Options& o) { return mean(stream, in, one, o); });
    refused("variance", [&](const auto& in, const Options& o) { return variance(stream, in, one, 0, o); });
    refused("norm", [&](const auto& in, const Options& o) { return norm(stream, in, one, o); });
    refused("argmin", [&](const auto& in, const Options& o) { return argmin(stream, in, count, o); });
    refused("dot", [&](const auto& in, const Options& o) { return dot(stream, in, in, one, o); });
    refused("scan", [&](const auto& in, const Options& o) {
        return scan(stream, in, out, ReduceOp::max, ScanKind::inclusive, o);
    });
    // Kernels of sort take long to compile.
    CHECK(throws(ErrorCode::unsupported, "operator 'native_test' calls 'exp'",
                 [&] { sort(stream, e, out, {}, canonical); }));
    if (device.traits().launch == LaunchModel::host)
        refused("sort", [&](const auto& in, const Options& o) { return sort(stream, in, out, {}, o); });
    refused("compact", [&](const auto& in, const Options& o) {
        return compact(stream, in, out, count, KeepRule::nonzero, o);
    });
    refused("histogram", [&](const auto& in, const Options& o) {
        return histogram(stream, in, bins, HistogramBins::even(-9, 9), o);
    });
    CHECK(evaluate(stream, e, out).order == OperationOrder::unspecified);
    CHECK_NOTHROW(stream.synchronize());
}

// --- Rules of calls -------------------------------------------------------------------------------------------------

STREAM_TEST(expressions_without_elements) {
    const Array<f32> none(stream, 0), some(stream, 5), one(stream, 1);
    const Array<u32> no_index(stream, 0), index(stream, 5);
    CHECK(value_of(stream, transform(two_test, none, none)).empty());
    CHECK(value_of(stream, transform(two_test, none, constant(1.0f))).empty());
    CHECK(value_of(stream, gather(none, no_index)).empty());
    CHECK(value_of(stream, gather(some, no_index)).empty());
    CHECK(value_of(stream, reversed(none)).empty());
    CHECK(value_of(stream, strided(some, {4, 0, 2}, {1, 1, 1})).empty());
    CHECK(value_of(stream, convert<i32>(none)).empty());
    CHECK(throws(ErrorCode::invalid_argument, "x is empty, got indices", [&] { (void)gather(none, index); }));
    CHECK(reduce(stream, transform(one_test, none), ReduceOp::sum).get() == 0);
    CHECK(reduce(stream, transform(one_test, none), ReduceOp::product).get() == 1);
    CHECK(reduce(stream, transform(one_test, none), ReduceOp::max).get() ==
          -std::numeric_limits<f32>::infinity());
    CHECK(reduce(stream, transform(one_test, none), larger_magnitude_test, 0.0f).get() == 0);
    CHECK(sort(stream, transform(one_test, none)).size() == 0);
    CHECK(scan(stream, transform(one_test, none)).size() == 0);
    CHECK(count_if(stream, transform(one_test, none), positive_test).get() == 0);
}

STREAM_TEST(expressions_of_ranges_with_other_sizes_are_refused) {
    const Array<f32> five(stream, 5), six(stream, 6);
    const Array<u32> index(stream, 6);
    const auto refused = [&](std::string_view part, const auto& call) {
        CHECK(throws(ErrorCode::invalid_argument, part, call));
    };
    refused("all sources must have one size, got 5 and 6", [&] { (void)transform(two_test, five, six); });
    refused("all sources must have one size", [&] { (void)transform(ReduceOp::sum, six, five); });
    refused("all sources must have one size", [&] { (void)transform(two_test, five, gather(five, index)); });
    CHECK(transform(two_test, six, gather(five, index)).size() == 6);
    CHECK(transform(two_test, counting<f32>(), six).size() == 6);
    refused("no size", [&] { (void)transform(two_test, counting<f32>(), constant(1.0f)).size(); });
    refused("no size", [&] { evaluate(stream, transform(one_test, constant(1.0f)), five); });
    refused("no size", [&] { reduce(stream, transform(one_test, constant(1.0f)), five.span().part(0, 1)); });
    refused("x has no size", [&] { (void)gather(transform(one_test, constant(1.0f)), index); });
    refused("x has no size", [&] { (void)reversed(transform(one_test, constant(1.0f))); });
    refused("out must have the size of the expression, 5, got 6",
            [&] { evaluate(stream, transform(one_test, five), six); });
}

STREAM_TEST(expressions_in_place) {
    for (const u64 n : {u64{5}, u64{1025}, u64{200001}}) {
        CAPTURE(n);
        const auto x = random_values<f32>(n, 1), y = random_values<f32>(n, 2);
        const auto k = made<u32>(n, [&](u64 i) { return static_cast<u32>((i * 7919 + 3) % n); });
        const Array<f32> a(stream, x), b(stream, y);
        const Array<u32> index(stream, k), numbers(stream, random_values<u32>(n, 4));
        const auto old = numbers.to_host(stream);
        const auto check = [&](const std::string& part, const auto& e, const auto& out, const auto& before,
                               const auto& f) {
            CAPTURE(part);
            using T = typename std::remove_cvref_t<decltype(e)>::Element;
            evaluate(stream, e, out);
            CHECK(difference(made<T>(n, f), out.to_host(stream)) == "");
            stream.write(*out.buffer(), 0, before.data(), n * sizeof(T));
            stream.synchronize();
        };
        check("first", transform(two_test, a, b), a, x, [&](u64 i) { return x[i] * 0.5f + y[i]; });
        check("second", transform(two_test, a, b), b, y, [&](u64 i) { return x[i] * 0.5f + y[i]; });
        check("both", transform(two_test, a, a), a, x, [&](u64 i) { return x[i] * 0.5f + x[i]; });
        check("nested", transform(two_test, transform(helped_test, a, b), transform(one_test, a)), a, x,
              [&](u64 i) { return (x[i] + 0.75f) * y[i] * 0.5f + (x[i] * 0.5f - 1); });
        check("built-in", transform(MapFunction::negate, transform(ReduceOp::sum, a, b)), a, x,
              [&](u64 i) { return -(x[i] + y[i]); });
        check("next to gather", transform(two_test, gather(b, index), a), a, x,
              [&](u64 i) { return y[k[i]] * 0.5f + x[i]; });
        check("indices", gather(numbers, index), index, k, [&](u64 i) { return old[k[i]]; });
        check("indices of a part", gather(transform(next_test, numbers), index), index, k,
              [&](u64 i) { return old[k[i]] * 3 + 1; });
        // Another type of the same size.
        const auto bits = convert<u32>(transform(bound_test.bind(1e6f, 0, 0.0), a));
        evaluate(stream, bits, Raw<u32>{View{a.view().buffer, a.view().offset, n, Type::u32}});
        std::vector<u32> got(n);
        stream.read(got.data(), *a.buffer(), 0, n * sizeof(u32));
        stream.synchronize();
        CHECK(difference(made<u32>(n, [&](u64 i) { return expected_conversion<u32>(x[i] * 1e6f); }), got) ==
              "");
        stream.write(*a.buffer(), 0, x.data(), n * sizeof(f32));
        // Other algorithms.
        scan(stream, transform(two_test, a, b), a);
        const Array<f32> original(stream, x), sums = evaluate(stream, transform(two_test, original, b));
        CHECK(difference(scan(stream, sums).to_host(stream), a.to_host(stream)) == "");
    }
}

STREAM_TEST(expressions_refuse_outputs_that_overlap) {
    const u64 n = 100;
    const Array<f32> a(stream, random_values<f32>(n, 1)), b(stream, n);
    const Array<u32> index(stream, std::vector<u32>(n, 1));
    const auto before = a.to_host(stream);
    const auto refused = [&](const std::string& part, const auto& call) {
        CAPTURE(part);
        CHECK(throws(ErrorCode::invalid_argument, "a range of the expression", call));
    };
    const auto head = a.span().part(0, n / 2), tail = a.span().part(1, n / 2);
    refused("reversed", [&] { evaluate(stream, reversed(a), a); });
    refused("reversed part", [&] { evaluate(stream, transform(two_test, a, reversed(a)), a); });
    refused("gather", [&] { evaluate(stream, gather(a, index), a); });
    refused("strided", [&] { evaluate(stream, strided(a, {n}, {-1}, n - 1), a); });
    // The elements as they are.
    evaluate(stream, strided(a, {n / 10, 10}, {10, 1}), a);
    refused("indices of indices", [&] { evaluate(stream, gather(index, index), index); });
    refused("a shifted range", [&] { evaluate(stream, transform(one_test, head), tail); });
    refused("another size", [&] {
        evaluate(stream, convert<u8>(a), Raw<u8>{View{a.view().buffer, a.view().offset, n, Type::u8}});
    });
    refused("reduce", [&] { reduce(stream, transform(one_test, a), a.span().part(3, 1)); });
    refused("mean", [&] { mean(stream, transform(one_test, a), a.span().part(3, 1)); });
    refused("scan", [&] { scan(stream, reversed(a), a); });
    refused("sort", [&] { sort(stream, reversed(a), a); });
    refused("map", [&] { map(stream, reversed(a), a, one_test); });
    const Array<u64> count(stream, 1);
    refused("compact", [&] { compact(stream, transform(one_test, a), a, count, positive_test); });
    stream.synchronize();
    CHECK(difference(before, a.to_host(stream)) == "");
}

STREAM_TEST(expressions_in_recordings) {
    const u64 n = 5000;
    const Array<f32> a(stream, n), b(stream, n), out(stream, n), one(stream, 1), spread(stream, 1),
        scanned(stream, n);
    const Array<u64> at(stream, 1);
    std::shared_ptr<Recording> recording;
    {
        // Bound values and the expression end before the replay.
        const auto e = transform(two_test, transform(bound_test.bind(3.0f, 2, 0.5), a), reversed(b));
        stream.begin_recording();
        evaluate(stream, e, out);
        reduce(stream, e, one);
        variance(stream, e, spread);
        argmin(stream, e, at);
        scan(stream, e, scanned, ReduceOp::max);
        recording = stream.end_recording();
    }
    for (u32 round = 1; round < 4; ++round) {
        const auto x = random_values<f32>(n, round), y = random_values<f32>(n, 10 * round);
        stream.write(*a.buffer(), 0, x.data(), n * sizeof(f32));
        stream.write(*b.buffer(), 0, y.data(), n * sizeof(f32));
        recording->replay(stream);
        auto expected = made<f32>(n, [&](u64 i) { return (x[i] * 3.0f + 2 * 0.5f) * 0.5f + y[n - 1 - i]; });
        CHECK(difference(expected, out.to_host(stream)) == "");
        const Array<f32> values(stream, expected);
        CHECK(one.to_host(stream)[0] == sum(stream, values).get());
        CHECK(spread.to_host(stream)[0] == variance(stream, values).get());
        CHECK(at.to_host(stream)[0] ==
              static_cast<u64>(std::min_element(expected.begin(), expected.end()) - expected.begin()));
        std::partial_sum(expected.begin(), expected.end(), expected.begin(),
                         [](f32 p, f32 q) { return std::max(p, q); });
        CHECK(difference(expected, scanned.to_host(stream)) == "");
    }
}

DEVICE_TEST(expressions_on_several_streams_and_threads) {
    // All threads make and compile the same new expressions at once.
    constexpr u32 threads = 4;
    const u64 n = 20001;
    std::vector<std::string> problems(threads);
    const auto run = [&](u32 thread) {
        try {
            const auto stream = device.create_stream();
            for (u32 round = 0; round < 6; ++round) {
                const auto x = random_values<f32>(n, thread), y = random_values<f32>(n, 100 + round);
                const Array<f32> a(*stream, x), b(*stream, y);
                const auto scale = static_cast<f32>(thread + 1);
                const auto e = transform(struct_test, reversed(transform(bound_test.bind(scale, 1, 0.25), a)),
                                         transform(ReduceOp::max, a, b));
                const auto expected = made<f32>(
                    n, [&](u64 i) { return std::max(x[i], y[i]) * 2 + -(x[n - 1 - i] * scale + 1 * 0.25f); });
                std::string found = difference(expected, value_of(*stream, e));
                const f32 total = sum(*stream, e).get(),
                          right = test::canonical_reduce(expected, 0.0f, std::plus<f32>{});
                if (total != right)
                    found += " sum " + std::to_string(total) + " for " + std::to_string(right);
                if (!found.empty()) problems[thread] = found;
            }
        } catch (const std::exception& error) {
            problems[thread] = error.what();
        }
    };
    std::vector<std::thread> all;
    for (u32 thread = 0; thread < threads; ++thread)
        all.emplace_back(run, thread);
    for (std::thread& thread : all)
        thread.join();
    for (const std::string& problem : problems)
        CHECK(problem == "");
}

// --- Algorithms -----------------------------------------------------------------------------------------------------

namespace {

// Compares reduce of an expression by operators with reduce of its elements in an array.
template <class T>
void check_reduce(Stream& stream, const Expression<T>& e) {
    CAPTURE(std::string(name_of(type_of<T>())));
    CAPTURE(e.size());
    const Array<T> elements = evaluate(stream, e), fused(stream, 1), stored(stream, 1);
    for (const ReduceOp op : all_reduce_ops) {
        if (!std::is_same_v<T, f32> && op != ReduceOp::sum && op != ReduceOp::max) continue;
        CAPTURE(std::string(name_of(op)));
        const Enqueued done = reduce(stream, e, fused, op);
        CHECK(done.order == OperationOrder::canonical);
        CHECK(done.variant == "fixed");
        reduce(stream, elements, stored, op, {.variant = "fixed"});
        CHECK(difference(stored.to_host(stream), fused.to_host(stream)) == "");
    }
}

}  // namespace

STREAM_TEST(expressions_reduce_to_the_bits_of_their_elements) {
    for (const u64 n : {1, 127, 513, 1024, 1025, 200001}) {
        const Array<f32> x(stream, special_values<f32>(n, 1)), y(stream, random_values<f32>(n, 2));
        check_reduce(stream, transform(two_test, y, reversed(y)));
        check_reduce(stream, transform(ReduceOp::max, x, y));
        const Array<u8> bytes(stream, random_values<u8>(n, 3));
        check_reduce(stream, transform(ReduceOp::sum, bytes, reversed(bytes)));
        const Array<i64> words(stream, random_values<i64>(n, 4));
        check_reduce(stream, strided(words, {n}, {-1}, n - 1));
        if (detail::supports_type(device, Type::f64)) {
            const Array<f64> doubles(stream, random_values<f64>(n, 5));
            check_reduce(stream, transform(ReduceOp::product, doubles, convert<f64>(y)));
        }
        // A user's operator on a user's function.
        const auto e = transform(helped_test, y, x);
        CHECK(difference(std::vector{reduce(stream, evaluate(stream, e), larger_magnitude_test, 0.0f).get()},
                         std::vector{reduce(stream, e, larger_magnitude_test, 0.0f).get()}) == "");
    }
}

STREAM_TEST(expressions_reduce_in_all_variants) {
    const Array<f32> x(stream, random_values<f32>(3001, 1)), fused(stream, 1), stored(stream, 1);
    const auto e = transform(two_test, x, reversed(x));
    const Array<f32> elements = evaluate(stream, e);
    test::each_variant(device, reduce_algorithm, [&](const std::string& name) {
        const Enqueued done = reduce(stream, e, fused, ReduceOp::sum, {.variant = name});
        reduce(stream, elements, stored, ReduceOp::sum, {.variant = name});
        CHECK(done.variant == name);
        if (done.order != OperationOrder::unspecified)
            CHECK(difference(stored.to_host(stream), fused.to_host(stream)) == "");
    });
}

STREAM_TEST(expressions_reduce_in_the_canonical_order) {
    for (const u64 n : {1, 127, 1024, 1025, 4000, 200001}) {
        CAPTURE(n);
        const auto x = random_values<f32>(n, 1), y = random_values<f32>(n, 2);
        const Array<f32> a(stream, x), b(stream, y);
        const auto products = made<f32>(n, [&](u64 i) { return x[i] * y[n - 1 - i]; });
        each_operator<f32>([&](ReduceOp op, const auto& f) {
            CAPTURE(std::string(name_of(op)));
            const f32 infinity = std::numeric_limits<f32>::infinity(),
                      identity = op == ReduceOp::sum       ? 0
                                 : op == ReduceOp::product ? 1
                                 : op == ReduceOp::min     ? infinity
                                                           : -infinity;
            const f32 got = reduce(stream, transform(ReduceOp::product, a, reversed(b)), op).get();
            CHECK(difference(std::vector{test::canonical_reduce(products, identity, f)}, std::vector{got}) ==
                  "");
        });
    }
}

STREAM_TEST(expressions_that_kernels_compute_need_no_array) {
    const u64 n = (u64{1} << 20) + 1;
    const Array<f32> x(stream, random_values<f32>(n, 1)), y(stream, n), out(stream, n), one(stream, 1);
    const Array<u32> index(stream, test::random_indices(n, 2));
    const Array<u64> at(stream, 1);
    fill(stream, y.view(), 2.0f);
    const auto e = transform(two_test, gather(x, index), reversed(y));
    // The limit of reduce, in up to four buffers, which the pool rounds up to powers of two.
    const u64 limit = 2 * (n / 32 + 512) + 4 * 512;
    const auto scratch = [&](const std::function<void()>& call) {
        call();  // kernels, and memory that the stream keeps
        return scratch_of(device, stream, call);
    };
    CHECK(scratch([&] { reduce(stream, e, one); }) <= limit);
    CHECK(scratch([&] { reduce(stream, e, one, larger_magnitude_test, 0.0f); }) <= limit);
    CHECK(scratch([&] { dot(stream, x, y, one); }) <= limit);
    CHECK(scratch([&] { norm(stream, e, one); }) <= limit);
    CHECK(scratch([&] { mean(stream, e, one); }) <= limit);
    CHECK(scratch([&] { variance(stream, e, one); }) <= limit);
    CHECK(scratch([&] { argmin(stream, e, at); }) <= 2 * limit);  // of u64
    CHECK(scratch([&] { evaluate(stream, e, out); }) == 0);
    CHECK(scratch([&] { (void)count_if(stream, e, Keep::greater(0.5f)).get(); }) <= 2 * limit);  // of u64
    // Their limits for ranges: 32 KiB and a thousandth of the input, n / 3000 elements and flags, counters of tasks.
    const Array<u64> count(stream, 1), bins(stream, 2);
    const u64 few = n * sizeof(f32) / 16;
    // CPUs store what is read twice.
    const LaunchModel launch = device.traits().launch;
    const u64 array = n * sizeof(f32);
    const u64 compacted = scratch([&] { compact(stream, e, out, count, positive_test); }),
              parted = scratch([&] { partition(stream, e, out, count, Keep::greater(0.5f)); });
    CHECK((launch == LaunchModel::single_items ? compacted >= array : compacted <= few));
    CHECK((launch == LaunchModel::groups ? parted <= few : parted >= array));
    CHECK(scratch([&] { scan(stream, e, out); }) <= few);
    CHECK(scratch([&] { histogram(stream, e, bins, HistogramBins::even(-9, 9)); }) <= few);
}

STREAM_TEST(expressions_that_are_stored_need_an_array) {
    const u64 n = (u64{1} << 20) + 1;
    const Array<f32> x(stream, random_values<f32>(n, 1));
    const Array<u32> bins(stream, 2);
    const std::vector<f32> edges{-9, 0, 9};
    const auto call = [&] { histogram(stream, transform(one_test, x), bins, HistogramBins::edges(edges)); };
    call();
    CHECK(scratch_of(device, stream, call) >= n * sizeof(f32));
}

STREAM_TEST(expressions_as_inputs_of_all_algorithms) {
    for (const u64 n : {1, 600, 5001}) {
        CAPTURE(n);
        const Array<f32> x(stream, random_values<f32>(n, 1)), y(stream, random_values<f32>(n, 2));
        const auto e = transform(two_test, x, reversed(y));
        const Array<f32> t = evaluate(stream, e);
        const auto same = [&](const std::string& call, const auto& expected, const auto& got) {
            CAPTURE(call);
            CHECK(difference(expected.to_host(stream), got.to_host(stream)) == "");
        };
        same("map", map(stream, t, one_test), map(stream, e, one_test));
        same("map, built-in", map(stream, t, MapFunction::abs), map(stream, e, MapFunction::abs));
        same("map of two", map(stream, t, x, two_test), map(stream, e, x, two_test));
        same("map of two, second", map(stream, x, t, two_test), map(stream, x, e, two_test));
        same("map of a pair", map(stream, t, x, PairFunction::hypot), map(stream, e, x, PairFunction::hypot));
        same("scan", scan(stream, t), scan(stream, e));
        same("scan by a function", scan(stream, t, larger_magnitude_test, 0.0f),
             scan(stream, e, larger_magnitude_test, 0.0f));
        same("sort", sort(stream, t), sort(stream, e));
        same("sort by a function", sort(stream, t, less_test), sort(stream, e, less_test));
        same("sort by keys", sort(stream, t, key_test), sort(stream, e, key_test));
        const auto pairs = sort_pairs(stream, t, x), fused = sort_pairs(stream, e, x),
                   values = sort_pairs(stream, x, t), fused_values = sort_pairs(stream, x, e);
        same("sort_pairs, keys", pairs.first, fused.first);
        same("sort_pairs, values", pairs.second, fused.second);
        same("sort_pairs of values, keys", values.first, fused_values.first);
        same("sort_pairs of values, values", values.second, fused_values.second);
        same("compact", compact(stream, t, positive_test), compact(stream, e, positive_test));
        same("compact, built-in", compact(stream, t, Keep::greater(0.1f)),
             compact(stream, e, Keep::greater(0.1f)));
        const Array<f32> out(stream, n), out2(stream, n);
        const Array<u64> count(stream, 1), count2(stream, 1);
        partition(stream, t, out, count, positive_test);
        partition(stream, e, out2, count2, positive_test);
        same("partition", out, out2);
        same("partition, count", count, count2);
        partition(stream, t, out, count, Keep::greater(0.1f));
        partition(stream, e, out2, count2, Keep::greater(0.1f));
        same("partition, built-in", out, out2);
        CHECK(count_if(stream, t, positive_test).get() == count_if(stream, e, positive_test).get());
        CHECK(count_if(stream, t, Keep::greater(0.1f)).get() ==
              count_if(stream, e, Keep::greater(0.1f)).get());
        CHECK(count_if(stream, t, KeepRule::nonzero).get() == count_if(stream, e, KeepRule::nonzero).get());
        same("histogram", histogram(stream, t, 7, HistogramBins::even(-1, 1)),
             histogram(stream, e, 7, HistogramBins::even(-1, 1)));
        same("histogram by a function", histogram(stream, t, 2, bin_test), histogram(stream, e, 2, bin_test));
        CHECK(concord::min(stream, e).get() == concord::min(stream, t).get());
        CHECK(concord::max(stream, e).get() == concord::max(stream, t).get());
    }
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("core");

TEST_CASE("expressions compile for CUDA") {
    const auto gpu = test::cuda_compiler();
    REQUIRES(gpu, test::needs::nvrtc);
    const auto on_gpu = gpu->create_stream();
    Stream& stream = *on_gpu;
    const Array<f32> x(stream, 1000), y(stream, 1000), one(stream, 1);
    const Array<f64> doubles(stream, 1000);
    const Array<u8> bytes(stream, 1000);
    const Array<i16> index(stream, 1000);
    const Array<u64> at(stream, 1);
    const auto e =
        transform(struct_test, transform(helped_test, gather(x, index), reversed(y)),
                  transform(two_test, transform(same_name_test, x), test::part_of_another_file(y)));
    const auto rows = strided(transform(bound_test.bind(2, 3, 4), x), {5, 2, 100}, {1, -3, 9}, 3);
    CHECK_NOTHROW((void)evaluate(stream, e));
    CHECK_NOTHROW(reduce(stream, e, one, ReduceOp::max));
    CHECK_NOTHROW(reduce(stream, rows, one, larger_magnitude_test, 0.0f));
    CHECK_NOTHROW(argmin(stream, transform(MapFunction::negate, doubles), at));
    CHECK_NOTHROW(argmax(stream, bytes, at));
    CHECK_NOTHROW(variance(stream, transform(e1, transform(a0, x), transform(PairFunction::pow, x, y)), one));
    // Each type to and from f32; every pair only if CONCORD_TEST_LONG is set.
    const bool is_long = std::getenv("CONCORD_TEST_LONG") != nullptr;
    each_type(*gpu, [&]<class From>(From) {
        const Array<From> in(stream, 1000);
        each_type(*gpu, [&]<class To>(To) {
            if (is_long || std::is_same_v<From, f32> || std::is_same_v<To, f32>)
                CHECK_NOTHROW((void)evaluate(stream, convert<To>(in)));
        });
    });
}

STREAM_TEST(expressions_store_packs_and_their_ends) {
    constexpr u64 room = 120;
    const auto a = random_values<u8>(room, 3), b = random_values<u8>(room, 4);
    const auto x = random_values<f32>(room, 5), y = random_values<f32>(room, 6);
    const Array<u8> bytes_a(stream, a), bytes_b(stream, b), sums(stream, room);
    const Array<f32> floats_x(stream, x), floats_y(stream, y);
    const Array<bool> less(stream, room);
    for (const u64 n : {u64{0}, u64{1}, u64{15}, u64{16}, u64{17}, u64{33}, u64{70}}) {
        for (u64 first = 0; first < 18; first += n == 33 ? 1 : 5) {
            CAPTURE(n);
            CAPTURE(first);
            // The second range begins one element later.
            const auto part = [&](const auto& array, u64 from) { return array.span().part(from, n); };
            stream.fill(*sums.buffer(), 0, room, "\x4d", 1);
            stream.fill(*less.buffer(), 0, room, "\x01", 1);
            evaluate(stream, transform(BinaryFunction::add, part(bytes_a, first), part(bytes_b, first + 1)),
                     part(sums, first));
            evaluate(stream, transform(BinaryPredicate::less, part(floats_x, first), part(floats_y, first)),
                     part(less, first));
            const auto got = sums.to_host(stream);
            const auto got_less = less.to_host(stream);
            u64 wrong = 0;
            for (u64 i = 0; i < room; ++i) {
                const bool inside = i >= first && i < first + n;
                wrong += got[i] != (inside ? static_cast<u8>(a[i] + b[i + 1]) : 77);
                wrong += got_less[i] != (inside ? x[i] < y[i] : true);
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_SUITE_END();
