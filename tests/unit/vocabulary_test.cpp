// The vocabulary of bodies: every function of vocabulary.hpp gives the host's bits on every device.
#include "devices.hpp"

#include <concord/index_kernel.hpp>
#include <concord/internal/operator_text.hpp>
#include <concord/internal/vocabulary.hpp>
#include <concord/map.hpp>

#include <algorithm>

using namespace concord;
using test::throws;

namespace {

// Special values, subnormals, and values of all magnitudes.
template <class T>
std::vector<T> arguments() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> list = {0,
                           T(-0.0),
                           1,
                           -1,
                           T(0.5),
                           T(-0.5),
                           2,
                           3,
                           -2,
                           T(1e-3),
                           10,
                           100,
                           T(-1e5),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::min(),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           -Limits::quiet_NaN()};
    const std::vector<u64> bits = test::random_values<u64>(4000, 7);
    for (const u64 b : bits) {
        const T x = std::bit_cast<T>(static_cast<detail::BitsOf<T>>(b));
        list.push_back(x == x ? x : T(0));
        list.push_back(static_cast<T>(static_cast<double>(b) * 0x1p-60 - 8));
    }
    return list;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

#define VOCABULARY_UNARY(NAME)                                                                        \
    CONCORD_KERNEL(vocabulary_##NAME##_f32, (u64 i, f32 * out, const f32* in), out[i] = NAME(in[i]);) \
    CONCORD_KERNEL(vocabulary_##NAME##_f64, (u64 i, f64 * out, const f64* in), out[i] = NAME(in[i]);)
#define VOCABULARY_BINARY(NAME)                                                       \
    CONCORD_KERNEL(vocabulary_##NAME##_f32, (u64 i, f32 * out, const f32* in, u64 n), \
                   out[i] = NAME(in[i], in[(i * 7 + 3) % n]);)                        \
    CONCORD_KERNEL(vocabulary_##NAME##_f64, (u64 i, f64 * out, const f64* in, u64 n), \
                   out[i] = NAME(in[i], in[(i * 7 + 3) % n]);)
CONCORD_MATH_UNARY(VOCABULARY_UNARY)
VOCABULARY_UNARY(abs)
CONCORD_MATH_BINARY(VOCABULARY_BINARY)
VOCABULARY_BINARY(min)
VOCABULARY_BINARY(max)
VOCABULARY_BINARY(fmin)
VOCABULARY_BINARY(fmax)
VOCABULARY_BINARY(fmod)

namespace {

template <class T, class K, class F, class... A>
void check_function(Stream& stream, const char* name, const K& kernel, F f, const A&... more) {
    CAPTURE(name);
    const std::vector<T> in = arguments<T>();
    const Array<T> x(stream, in), y(stream, in.size());
    const Enqueued done = kernel(stream, in.size(), y, x, more...);
    CHECK(done.order == OperationOrder::canonical);
    std::vector<T> expected;
    for (u64 i = 0; i < in.size(); ++i)
        expected.push_back(f(in, i));
    const std::vector<T> got = y.to_host(stream);
    for (u64 i = 0; i < in.size() && !same_bits(got, expected); ++i) {
        CAPTURE(in[i]);
        const auto bits = std::bit_cast<detail::BitsOf<T>>(got[i]),
                   wanted = std::bit_cast<detail::BitsOf<T>>(expected[i]);
        CHECK(bits == wanted);
        if (bits != wanted) return;
    }
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(vocabulary_math_has_the_bits_of_the_host) {
    REQUIRES(device.traits().fp64, test::needs::fp64);  // refused, see below
    const auto stream = device.create_stream();
#define CHECK_ONE(NAME)                                                               \
    check_function<f32>(*stream, #NAME " f32", vocabulary_##NAME##_f32,               \
                        [](const auto& x, u64 i) { return Vocabulary::NAME(x[i]); }); \
    check_function<f64>(*stream, #NAME " f64", vocabulary_##NAME##_f64,               \
                        [](const auto& x, u64 i) { return Vocabulary::NAME(x[i]); });
#define CHECK_TWO(NAME)                                                                         \
    check_function<f32>(                                                                        \
        *stream, #NAME " f32", vocabulary_##NAME##_f32,                                         \
        [](const auto& x, u64 i) { return Vocabulary::NAME(x[i], x[(i * 7 + 3) % x.size()]); }, \
        arguments<f32>().size());                                                               \
    check_function<f64>(                                                                        \
        *stream, #NAME " f64", vocabulary_##NAME##_f64,                                         \
        [](const auto& x, u64 i) { return Vocabulary::NAME(x[i], x[(i * 7 + 3) % x.size()]); }, \
        arguments<f64>().size());
    CONCORD_MATH_UNARY(CHECK_ONE)
    CHECK_ONE(abs)
    CONCORD_MATH_BINARY(CHECK_TWO)
    CHECK_TWO(min)
    CHECK_TWO(max)
    CHECK_TWO(fmin)
    CHECK_TWO(fmax)
    CHECK_TWO(fmod)
}

CONCORD_KERNEL(vocabulary_powers_f32, (u64 i, f32* out, const f32* in, i32 n),
               out[i] = i % 4 == 0   ? pow(in[i], 2)
                        : i % 4 == 1 ? pow(in[i], 7u)
                                     : pow(in[i], n);)
CONCORD_KERNEL(vocabulary_powers_f64, (u64 i, f64* out, const f64* in, i32 n),
               out[i] = i % 4 == 0   ? pow(in[i], -2)
                        : i % 4 == 1 ? pow(in[i], u64(7))
                                     : pow(in[i], i64(n));)
CONCORD_KERNEL(vocabulary_sincos_f32, (u64 i, f32* out, const f32* in), f32 c = in[i]; f32 s; sincos(c, s, c);
               out[i] = i % 2 == 0 ? s : c;)
CONCORD_KERNEL(vocabulary_sincos_f64, (u64 i, f64* sines, const f64* in, f64* cosines),
               sincos(in[i], sines[i], cosines[i]);)

DEVICE_TEST(vocabulary_of_powers_and_sincos) {
    REQUIRES(device.traits().fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    for (const i32 n : {-5, -1, 0, 1, 3, 13, 1000, INT_MIN}) {
        check_function<f32>(
            *stream, "pow f32", vocabulary_powers_f32,
            [n](const auto& x, u64 i) {
                return Vocabulary::pow(x[i], i % 4 == 0 ? 2 : i % 4 == 1 ? 7 : n);
            },
            n);
        check_function<f64>(
            *stream, "pow f64", vocabulary_powers_f64,
            [n](const auto& x, u64 i) {
                return Vocabulary::pow(x[i], i % 4 == 0 ? -2 : i % 4 == 1 ? 7 : n);
            },
            n);
    }
    check_function<f32>(*stream, "sincos f32", vocabulary_sincos_f32, [](const auto& x, u64 i) {
        return i % 2 == 0 ? Vocabulary::sin(x[i]) : Vocabulary::cos(x[i]);
    });
    const std::vector<f64> in = arguments<f64>();
    const Array<f64> cosines(*stream, in.size());
    check_function<f64>(
        *stream, "sincos f64", vocabulary_sincos_f64,
        [](const auto& x, u64 i) { return Vocabulary::sin(x[i]); }, cosines);
    std::vector<f64> expected(in.size());
    std::transform(in.begin(), in.end(), expected.begin(), [](f64 x) { return Vocabulary::cos(x); });
    CHECK(same_bits(cosines.to_host(*stream), expected));
}

// A function that calls it, and the vectors as local variables.
CONCORD_FUNCTION(u32, vocabulary_random, (u32 i, u32 seed), const u32x2 key = {seed, 0u};
                 return philox4x32(make_u32x4(i, 0, 0, 0), key).w;)
CONCORD_KERNEL(vocabulary_philox, (u64 i, u32* out, f32* uniform, const u32* in),
               const u32x4 r = philox4x32(make_u32x4(in[6 * i], in[6 * i + 1], in[6 * i + 2], in[6 * i + 3]),
                                          make_u32x2(in[6 * i + 4], in[6 * i + 5]));
               out[4 * i] = r.x; out[4 * i + 1] = r.y; out[4 * i + 2] = r.z; out[4 * i + 3] = r.w;
               uniform[i] = uniform_f32(r.x);)
CONCORD_KERNEL(vocabulary_uniform, (u64 i, f64* out),
               out[i] = uniform_f64(vocabulary_random(u32(i), 1u), u32(i));)

// The known answers of Random123.
DEVICE_TEST(vocabulary_of_random_numbers) {
    const auto stream = device.create_stream();
    constexpr u32 all = ~0u;
    const std::vector<u32> in = {0,          0,          0,          0,          0,          0,
                                 all,        all,        all,        all,        all,        all,
                                 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0};
    const std::vector<u32> known = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x408f276d, 0x41c83b0e,
                                    0xa20bc7c6, 0x6d5451fd, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    const Array<u32> x(*stream, in), y(*stream, known.size());
    const Array<f32> uniform(*stream, 3);
    CHECK(vocabulary_philox(*stream, 3, y, uniform, x).order == OperationOrder::canonical);
    CHECK(y.to_host(*stream) == known);
    CHECK(uniform.to_host(*stream) == std::vector<f32>{0x6627e8p-24f, 0x408f27p-24f, 0xd16cfep-24f});
}

DEVICE_TEST(vocabulary_of_random_numbers_of_64_bits) {
    REQUIRES(device.traits().fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    constexpr u32 all = ~0u;
    const Array<f64> out(*stream, 1000);
    vocabulary_uniform(*stream, 1000, out);
    std::vector<f64> expected(1000);
    for (u64 i = 0; i < expected.size(); ++i)
        vocabulary_uniform_concord_kernel::call(i, expected.data());
    CHECK(out.to_host(*stream) == expected);
    CHECK(std::all_of(expected.begin(), expected.end(), [](f64 u) { return u >= 0 && u < 1; }));
    CHECK(Vocabulary::uniform_f64(all, all) == 1 - 0x1p-53);
}

// Integers, bits, constants, casts, and functions that only CUDA C++ or only C++ has otherwise.
CONCORD_KERNEL(vocabulary_integers, (u64 i, u64* out, const u64* in), const uint32_t a = uint32_t(in[i]);
               const int32_t b = static_cast<i32>(a); const u8 c = u8(a); const u16 d = u16(a >> 3);
               const i64 e = i64(in[i]); u64 h = u64(popcount(a)) + 100 * u64(popcount(in[i])) +
                                                 10000 * u64(clz(a)) + u64(popcount(c)) * 7;
               h = h * 31 + u64(clz(in[i])); h = h * 31 + u64(clz(c)); h = h * 31 + u64(clz(d));
               h = h * 31 + u64(ctz(c)); h = h * 31 + u64(ctz(d)); h = h * 31 + u64(mul_hi(e, e));
               h = h * 31 + rotate(a, 7); h = h * 31 + u64(ctz(a)); h = h * 31 + u64(ctz(in[i]));
               h = h * 31 + rotate(a, 5u); h = h * 31 + rotate(in[i], u64(60)); h = h * 31 + rotate(c, u8(3));
               h = h * 31 + rotate(d, u16(16)); h = h * 31 + mul_hi(a, 0x9e3779b9u);
               h = h * 31 + mul_hi(in[i], in[i]); h = h * 31 + u64(min(b, -5));
               h = h * 31 + u64(max(e, i64(77))); h = h * 31 + u64(clamp(b, -100, 100));
               h = h * 31 + u64(abs(b)); h = h * 31 + u64(abs(e)); h = h * 31 + u64(select(1, 2, a > 7u));
               h = h * 31 + as_u32(float(b)); h = h * 31 + u64(as_i32(f32(c))); constexpr bool is_odd = true;
               h = h + (is_odd ? 1 : 0); out[i] = h + UINT_MAX + u64(INT_MAX);)
CONCORD_KERNEL(vocabulary_floats, (u64 i, f32* out, const u32* in), f32 x = as_f32(in[i]);
               f32 y = sqrtf(fabsf(x)) + expf(0.5f) + fminf(x, FLT_MAX) + FLT_MIN + FLT_EPSILON;
               y = isnan(y) ? clamp(floorf(2.5f), 0.0f, 1.0f) : y; y = signbit(x) ? y + 1.0f : y;
               out[i] = canonical(i % 3 == 0   ? y
                                  : i % 3 == 1 ? NAN
                                               : y * INFINITY);)
CONCORD_KERNEL(vocabulary_of_f32, (u64 i, f32* out, const f32* in),
               out[i] = sqrtf(in[i] * 0.1) * 3.3f + truncf(in[i] * 0.7) + fmaf(in[i] * 0.3, 2, 1) +
                        copysignf(0.1, in[i]);)
CONCORD_KERNEL(vocabulary_constants, (u64 i, f64* out),
               const f64 list[8] = {M_PI, M_E, M_SQRT2, M_LN2, M_1_PI, DBL_MAX, DBL_EPSILON, M_2_SQRTPI};
               out[i] = list[i] + as_f64(u64(i)) + f64(as_i64(0.0)) + f64(as_u64(0.0));)

DEVICE_TEST(vocabulary_of_integers_and_constants) {
    const auto stream = device.create_stream();
    std::vector<u64> in = test::random_values<u64>(3000, 3);
    for (const u64 x : {u64(0), u64(1), ~u64(0), u64(1) << 63, u64(1) << 31})
        in.push_back(x);
    const Array<u64> x(*stream, in), y(*stream, in.size());
    CHECK(vocabulary_integers(*stream, in.size(), y, x).order == OperationOrder::canonical);
    std::vector<u64> expected(in.size());
    for (u64 i = 0; i < in.size(); ++i)
        vocabulary_integers_concord_kernel::call(i, expected.data(), in.data());
    CHECK(y.to_host(*stream) == expected);

    std::vector<u32> bits = test::random_values<u32>(3000, 5);
    const Array<u32> from(*stream, bits);
    const Array<f32> to(*stream, bits.size());
    std::vector<f32> floats(bits.size());
    if (device.traits().fp64) {
        vocabulary_floats(*stream, bits.size(), to, from);
        for (u64 i = 0; i < bits.size(); ++i)
            vocabulary_floats_concord_kernel::call(i, floats.data(), bits.data());
        CHECK(same_bits(to.to_host(*stream), floats));

        const std::vector<f32> values = test::random_values<f32>(1000, 8);
        const Array<f32> in_f32(*stream, values), out_f32(*stream, values.size());
        vocabulary_of_f32(*stream, values.size(), out_f32, in_f32);
        std::vector<f32> rounded(values.size());
        for (u64 i = 0; i < values.size(); ++i)
            vocabulary_of_f32_concord_kernel::call(i, rounded.data(), values.data());
        for (f32& x : rounded)  // a NaN of a negative root has the device's bits
            x = x == x ? x : 0;
        std::vector<f32> got = out_f32.to_host(*stream);
        for (f32& x : got)
            x = x == x ? x : 0;
        CHECK(same_bits(got, rounded));

        const Array<f64> constants(*stream, 8);
        vocabulary_constants(*stream, 8, constants);
        std::vector<f64> list(8);
        for (u64 i = 0; i < 8; ++i)
            vocabulary_constants_concord_kernel::call(i, list.data());
        CHECK(constants.to_host(*stream) == list);
    }
}

CONCORD_KERNEL(vocabulary_count, (u64 i, u32* bins, u64* total, i32* extremes, const u32* in, u32 most),
               atomic_add(&bins[in[i] % most], 1u);
               atomic_add(total, u64(in[i])); atomic_min(extremes, i32(in[i] >> 1));
               atomic_max(extremes + 1, i32(in[i] >> 1));)
CONCORD_KERNEL(vocabulary_sum, (u64 i, f32* total, const u32* in), atomic_add(total, f32(in[i] % 4));)
CONCORD_KERNEL(vocabulary_tickets, (u64 i, u32* next, u32* owner), const u32 mine = atomic_add(next, 1u);
               atomic_exchange(owner + mine, u32(i)); atomic_compare_exchange(next + 1, 0u, 77u);)

DEVICE_TEST(vocabulary_of_atomics) {
    const auto stream = device.create_stream();
    const std::vector<u32> in = test::random_values<u32>(50000, 11);
    const Array<u32> x(*stream, in), bins(*stream, std::vector<u32>(10));
    const Array<u64> total(*stream, std::vector<u64>(1));
    const Array<i32> extremes(*stream, std::vector<i32>{INT_MAX, INT_MIN});
    const Enqueued done = vocabulary_count(*stream, in.size(), bins, total, extremes, x, 10);
    CHECK(done.order == OperationOrder::canonical);
    std::vector<u32> counts(10);
    u64 sum = 0;
    i32 least = INT_MAX, greatest = INT_MIN;
    f32 floats = 0;
    for (const u32 value : in) {
        ++counts[value % 10];
        sum += value;
        least = std::min(least, static_cast<i32>(value >> 1));
        greatest = std::max(greatest, static_cast<i32>(value >> 1));
        floats += static_cast<f32>(value % 4);
    }
    CHECK(bins.to_host(*stream) == counts);
    CHECK(total.to_host(*stream) == std::vector<u64>{sum});
    CHECK(extremes.to_host(*stream) == std::vector<i32>{least, greatest});

    // The sum of floats depends on the order, so it is not canonical; this one is exact.
    const Array<f32> float_total(*stream, std::vector<f32>(1));
    CHECK(vocabulary_sum(*stream, in.size(), float_total, x).order == OperationOrder::unspecified);
    CHECK(float_total.to_host(*stream) == std::vector<f32>{floats});

    const Array<u32> next(*stream, std::vector<u32>(2)), owner(*stream, in.size());
    CHECK(vocabulary_tickets(*stream, in.size(), next, owner).order == OperationOrder::unspecified);
    CHECK(next.to_host(*stream) == std::vector<u32>{50000, 77});
    std::vector<u32> owners = owner.to_host(*stream);
    std::sort(owners.begin(), owners.end());
    u64 wrong = 0;
    for (u32 i = 0; i < owners.size(); ++i)
        wrong += owners[i] != i ? 1 : 0;
    CHECK(wrong == 0);
}

// Atomics of 64 bits have this attribute on devices that lack them.
const KernelSource vocabulary_lacking{"lacking", {}, {CONCORD_SOURCE(R"(
__attribute__((unavailable("the device has no 64-bit atomics"))) void atomic_of_64_bits(void);
__kernel void lacking(__global int* x, ulong x_at) { atomic_of_64_bits(); }
)")}};

DEVICE_TEST(vocabulary_of_functions_that_a_device_lacks) {
    REQUIRES(device.traits().dialect == Dialect::opencl, test::needs::opencl);
    CHECK(throws(ErrorCode::unsupported, "the device has no 64-bit atomics",
                 [&] { (void)device.compile({.source = &vocabulary_lacking, .entry = "lacking"}); }));
}

#define VOCABULARY_BITS(T)                                                                                 \
    CONCORD_KERNEL(vocabulary_bits_##T, (u64 i, T * out, const u64* in), atomic_or(out, T(in[i] & in[0])); \
                   atomic_and(out + 1, T(in[i] | in[0])); atomic_xor(&out[2], T(in[i]));)
VOCABULARY_BITS(u32)
VOCABULARY_BITS(i32)
VOCABULARY_BITS(u64)
VOCABULARY_BITS(i64)
#define VOCABULARY_EXTREMES(T)                                                                          \
    CONCORD_KERNEL(vocabulary_extremes_##T, (u64 i, T * out, const T* in),                              \
                   atomic_min(&out[2 * (i % 3)], in[i]);                                                \
                   atomic_max(&out[2 * (i % 3) + 1], in[i]);)                                           \
    CONCORD_KERNEL(vocabulary_sum_##T, (u64 i, T * out, T * seen), seen[i] = atomic_add(out, T(i % 5)); \
                   atomic_exchange(out + 1, T(i));)
VOCABULARY_EXTREMES(f32)
VOCABULARY_EXTREMES(f64)

namespace {

template <class T, class K, class F>
void check_bits(Stream& stream, const K& kernel, F call) {
    const std::vector<u64> in = test::random_values<u64>(3001, 5);
    std::vector<T> expected = {0, static_cast<T>(~T(0)), 0};
    const Array<T> out(stream, expected);
    CHECK(kernel(stream, in.size(), out, Array<u64>(stream, in)).order == OperationOrder::canonical);
    for (u64 i = 0; i < in.size(); ++i)
        call(i, expected.data(), in.data());
    CHECK(out.to_host(stream) == expected);
}

// Three pairs of a minimum and a maximum: of numbers, of zeros, and of numbers with NaNs.
template <class T, class K, class F, class Sum>
void check_extremes(Stream& stream, const K& kernel, F call, const Sum& sum) {
    using Bits = detail::BitsOf<T>;
    constexpr T infinity = std::numeric_limits<T>::infinity();
    std::vector<T> in = test::random_values<T>(30000, 5);
    for (u64 i = 1; i < in.size(); i += 3) {
        in[i] = i % 2 == 0 ? T(0) : T(-0.0);
        if (i % 7 == 0) in[i + 1] = std::bit_cast<T>(~Bits(i));
    }
    std::vector<T> expected = {infinity, -infinity, infinity, -infinity, infinity, -infinity};
    const Array<T> out(stream, expected);
    CHECK(kernel(stream, in.size(), out, Array<T>(stream, in)).order == OperationOrder::canonical);
    for (u64 i = 0; i < in.size(); ++i)
        call(i, expected.data(), in.data());
    const std::vector<T> got = out.to_host(stream);
    CHECK(same_bits(got, expected));
    CHECK(std::signbit(got[2]));
    CHECK(!std::signbit(got[3]));
    const T nan = Vocabulary::canonical(std::numeric_limits<T>::quiet_NaN());
    CHECK(same_bits({got[4], got[5]}, std::vector<T>{nan, nan}));

    // Exact sums; the values from before begin with 0 and end below the sum.
    const Array<T> total(stream, std::vector<T>(2)), seen(stream, in.size());
    CHECK(sum(stream, in.size(), total, seen).order == OperationOrder::unspecified);
    CHECK(total.to_host(stream)[0] == T(60000));
    const std::vector<T> before = seen.to_host(stream);
    CHECK(*std::min_element(before.begin(), before.end()) == T(0));
    CHECK(*std::max_element(before.begin(), before.end()) >= T(60000 - 4));
}

}  // namespace

DEVICE_TEST(vocabulary_of_atomics_of_bits_and_floats) {
    const auto stream = device.create_stream();
#define CHECK_BITS(T) check_bits<T>(*stream, vocabulary_bits_##T, vocabulary_bits_##T##_concord_kernel::call);
    CHECK_BITS(u32)
    CHECK_BITS(i32)
    CHECK_BITS(u64)
    CHECK_BITS(i64)
#define CHECK_EXTREMES(T)                                                                               \
    check_extremes<T>(*stream, vocabulary_extremes_##T, vocabulary_extremes_##T##_concord_kernel::call, \
                      vocabulary_sum_##T);
    CHECK_EXTREMES(f32)
    if (device.traits().fp64) CHECK_EXTREMES(f64)
}

// What a debug build does at the first call: these compile for the other backends, too.
DEVICE_TEST(vocabulary_compiles_for_all_backends) {
    REQUIRES(device.traits().fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    const Array<u64> words(*stream, 8);
    const auto compile = [&](const auto& kernel, const auto&... arguments) {
        const KernelArgument list[] = {detail::argument(arguments)...};
        CHECK_NOTHROW(detail::run_index_kernel(*stream, kernel.definition(), {0, 1, 1}, list, true));
    };
    const View u64s = words.view();
    View u32s = u64s, i32s = u64s, f32s = u64s, f64s = u64s;
    u32s.type = Type::u32, i32s.type = Type::i32, f32s.type = Type::f32, f64s.type = Type::f64;
    compile(vocabulary_integers, u64s, u64s);
    compile(vocabulary_floats, f32s, u32s);
    compile(vocabulary_constants, f64s);
    compile(vocabulary_count, u32s, u64s, i32s, u32s, u32(1));
    compile(vocabulary_sum, f32s, u32s);
    compile(vocabulary_tickets, u32s, u32s);
    compile(vocabulary_lgamma_f64, f64s, f64s);
    compile(vocabulary_pow_f32, f32s, f32s, u64(1));
    compile(vocabulary_fmod_f32, f32s, f32s, u64(1));
    compile(vocabulary_fmod_f64, f64s, f64s, u64(1));
    compile(vocabulary_powers_f32, f32s, f32s, 3);
    compile(vocabulary_powers_f64, f64s, f64s, 3);
    compile(vocabulary_sincos_f32, f32s, f32s);
    compile(vocabulary_sincos_f64, f64s, f64s, f64s);
    compile(vocabulary_philox, u32s, f32s, u32s);
    compile(vocabulary_uniform, f64s);
    compile(vocabulary_bits_i32, i32s, u64s);
    compile(vocabulary_bits_u64, u64s, u64s);
    compile(vocabulary_extremes_f32, f32s, f32s);
    compile(vocabulary_extremes_f64, f64s, f64s);
    compile(vocabulary_sum_f64, f64s, f64s);
}

// Two functions of one name, which are in scope in different namespaces, and one with a name of CUDA and OpenCL C.
namespace {
CONCORD_FUNCTION(f32, step, (f32 x), return x + 1;)
CONCORD_FUNCTION(f32, vocabulary_step, (f32 x), return step(x) * 2;)
namespace other {
CONCORD_FUNCTION(f32, vocabulary_twice, (f32 x), return 2 * x;)
}
CONCORD_FUNCTION(f32, vocabulary_twice, (f32 x), return x + x;)
CONCORD_FUNCTION(f32, vocabulary_ambiguous, (f32 x), return vocabulary_twice(x);)
CONCORD_FUNCTION(void, vocabulary_largest, (f32 x, f32* most), if (x > 0) * most = x;)
}  // namespace

DEVICE_TEST(vocabulary_of_helper_functions) {
    const auto stream = device.create_stream();
    const std::vector<f32> in = {1, -2, 3};
    const Array<f32> x(*stream, in), y(*stream, std::vector<f32>{5, 5, 5});
    map(*stream, x, y, vocabulary_step);
    CHECK(y.to_host(*stream) == std::vector<f32>{4, -2, 8});
    CHECK(other::vocabulary_twice(1.0f) == vocabulary_twice(1.0f));
    CHECK(throws(ErrorCode::invalid_argument, "several functions have this name",
                 [&] { map(*stream, x, y, vocabulary_ambiguous); }));
    // Outputs that the function does not write are 0.
    map(*stream, inputs(x), outputs(y), vocabulary_largest);
    CHECK(y.to_host(*stream) == std::vector<f32>{1, 0, 3});
    const auto kept = inputs(x, constant(1.0f));
    CHECK(std::get<0>(kept.sources).count == 3);
}

CONCORD_FUNCTION(f32, vocabulary_logistic, (f32 x), return 1.0f / (1.0f + exp(-x));)
CONCORD_FUNCTION(f32, vocabulary_pair, (f32 x, f32 y), return vocabulary_logistic(x) * max(y, 0.25f);)
CONCORD_KERNEL(vocabulary_native, (u64 i, f32* out, const f32* in), out[i] = native::exp(in[i]);)

DEVICE_TEST(vocabulary_in_functions_that_call_functions) {
    REQUIRES(device.traits().fp64, test::needs::fp64);  // refused, see below
    const auto stream = device.create_stream();
    const std::vector<f32> in = test::random_values<f32>(10001, 4);
    const Array<f32> x(*stream, in), y(*stream, in.size());
    map(*stream, x, x, y, vocabulary_pair);
    std::vector<f32> expected(in.size());
    std::transform(in.begin(), in.end(), expected.begin(),
                   [](f32 value) { return vocabulary_pair(value, value); });
    CHECK(same_bits(y.to_host(*stream), expected));

    CHECK(vocabulary_native(*stream, in.size(), y, x).order == OperationOrder::unspecified);
    const std::vector<f32> own = y.to_host(*stream);
    u64 wrong = 0;
    for (u64 i = 0; i < in.size(); ++i)
        wrong += std::abs(own[i] - std::exp(in[i])) > 4e-7f * std::exp(in[i]) ? 1 : 0;
    CHECK(wrong == 0);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("a body is written in each language") {
    using detail::in_language;
    const auto in_opencl = [](const char* body) { return in_language(body, Dialect::opencl); };
    CHECK(in_opencl("f32(x) + float (y)") == "(f32)(x) + (float) (y)");
    CHECK(in_opencl("static_cast<u32>(x); constexpr int a = 1;") == "(u32)(x); const int a = 1;");
    CHECK(in_opencl("uint32_t a = uint8_t(b); sizeof(f32)") == "u32 a = (u8)(b); sizeof(f32)");
    CHECK(in_opencl("exp(x) + (exp)(x) + expf(x) + s.exp(x)") ==
          "concord_exp(x) + (concord_exp)(x) + concord_exp_f32(x) + s.exp(x)");
    CHECK(in_language("f(x) + step(y) + f", Dialect::opencl, {"f", "step"}) ==
          "concord_user_f(x) + concord_user_step(y) + f");
    CHECK(in_opencl("u32x2 k = make_u32x2(a, b); fmodf(k.u32x2, 1)") ==
          "concord_u32x2 k = concord_make_u32x2(a, b); concord_fmod(k.u32x2, 1)");
    CHECK(in_opencl("native::exp(x) + sqrtf(y)") == "exp(x) + concord_sqrt_f32(y)");
    CHECK(in_opencl("// exp(x)\nf32 max = 1; /* min(\n) */ \"min(\"") ==
          "// exp(x)\nf32 max = 1; /* min(\n) */ \"min(\"");
    CHECK(in_language("native::exp(x) + f32(min(a, b)) + sqrtf(y) + uint64_t(1)", Dialect::cuda) ==
          "::exp(x) + f32(concord_min(a, b)) + sqrtf(y) + u64(1)");
}

TEST_CASE("a source gets the definitions that it needs, and no others") {
    CHECK(detail::vocabulary_for("out[i] = concord_x + in[i];").empty());
    const std::string text = detail::vocabulary_for("concord_min(a, b)");
    CHECK(text.find("concord_min(f32") != std::string::npos);
    CHECK(text.find("concord_exp") == std::string::npos);
    const std::string exp = detail::vocabulary_for("concord_exp_f32(a)");
    CHECK(exp.find("concord_exp_core") != std::string::npos);
    CHECK(exp.find("concord_exp_f64") == std::string::npos);
    CHECK(exp.find("concord_lgamma") == std::string::npos);
}

namespace {
template <class T>
void check_fmod() {
    const std::vector<T> in = arguments<T>();
    for (u64 i = 0; i < in.size(); ++i) {
        const T x = in[i], y = in[(i * 7 + 3) % in.size()];
        CAPTURE(x);
        CAPTURE(y);
        const T expected = Vocabulary::canonical(std::fmod(x, y)), got = Vocabulary::fmod(x, y);
        CHECK(std::bit_cast<detail::BitsOf<T>>(got) == std::bit_cast<detail::BitsOf<T>>(expected));
    }
}
}  // namespace

TEST_CASE("remainders and integer powers on the host") {
    check_fmod<f32>();
    check_fmod<f64>();
    for (const f32 x : {1.1f, -3.3f, 1e-20f, 1e30f}) {
        const f32 x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
        CHECK(Vocabulary::pow(x, 3) == x * x2);
        CHECK(Vocabulary::pow(x, short(6)) == x2 * x4);
        CHECK(Vocabulary::pow(x, 13LL) == (x * x4) * x8);
        CHECK(Vocabulary::pow(x, -2) == 1 / x2);
    }
    CHECK(Vocabulary::pow(-0.0, -3) == -std::numeric_limits<f64>::infinity());
    CHECK(Vocabulary::pow(std::numeric_limits<f64>::quiet_NaN(), 0u) == 1);
    CHECK(Vocabulary::pow(2, 3.0) == 8);
}

TEST_CASE("what operators of the vocabulary need and promise") {
    const auto of = [](const std::string& body) {
        return operator_from_text("float f(float x) { " + body + " }");
    };
    CHECK(of("return exp(x);").needs_f64);
    CHECK(of("return exp(x);").unportable.empty());
    CHECK(!of("return fmin(x, sqrtf(x));").needs_f64);
    CHECK(of("return fmin(x, sqrtf(x));").unportable.empty());
    CHECK(of("return native::exp(x);").unportable == "exp");
    CHECK(!of("return native::exp(x);").needs_f64);
    CHECK(of("return ::exp(x);").unportable == "exp");
    CHECK(of("return remainder(x, 2.0f);").unportable == "remainder");
    CHECK(of("f32 s; f32 c; sincos(x, s, c); return s;").needs_f64);
    CHECK(!of("return fmod(x, 2.0f);").needs_f64);
    CHECK(of("return fmodf(x, 2.0f) + uniform_f32(7u);").unportable.empty());
    CHECK(detail::unportable_call("atomic_xor(p, 1); x = 1; atomic_min(q, 2.0f);").empty());
    CHECK(detail::unportable_call("x = atomic_or(p, 1);") == "atomic_or");
    CHECK(vocabulary_pair.erased().needs_f64);
    CHECK(vocabulary_pair.erased().helpers.size() == 1);
    CHECK(detail::unportable_call("atomic_add(p, 1); x = 1; atomic_add(q, 2);").empty());
    CHECK(detail::unportable_call("if (x > (y)) atomic_add(p, 1); else atomic_min(p, 2);").empty());
    CHECK(detail::unportable_call("x = atomic_add(p, 1);") == "atomic_add");
    CHECK(detail::unportable_call("x = (u32)atomic_add(p, 1);") == "atomic_add");
    CHECK(detail::unportable_call("for (; atomic_add(p, 1) < 10;) ++x;") == "atomic_add");
    CHECK(detail::unportable_call("for (; ; atomic_add(p, 1)) ++x;") == "atomic_add");
    CHECK(of("return x + 1'000.0f * exp(x);").needs_f64);
    for (const char* literal : {"0.1", ".5", "1e-3", "1.", "0x1p-3", "2.5e+3"})
        CHECK(of(std::string("return x * ") + literal + ";").needs_f64);
    for (const char* literal : {"0.1f", ".5f", "1e-3f", "1.f", "0x1p-3f", "2", "0xee", "x0", "0xe-1"})
        CHECK(!of(std::string("return x * ") + literal + ";").needs_f64);
    CHECK(operator_from_text("u32 f(u32 x) { return x + (u32)M_PI; }").needs_f64);
    CHECK(detail::may_divide_f32(operator_from_text("u32 f(u32 x) { return (u32)(x / 3.0f); }")));
    CHECK(detail::may_divide_f32(operator_from_text("u32 f(u32 x) { return (u32)(x / 1e-3f); }")));
    CHECK(detail::may_divide_f32(operator_from_text("u32 f(u32 x) { return (u32)sqrtf(x); }")));
    CHECK(of("return x * ex\\\np(x);").needs_f64);
    CHECK(!detail::may_divide_f32(operator_from_text("u32 f(u32 x) { return x / 0xff; }")));
    CHECK(detail::unportable_call("atomic_exchange(p, 1);") == "atomic_exchange");
}

TEST_SUITE_END();
