// Map through the public API. `concord check` covers variants, types, sizes and patterns.
// No fixed bits: no operation follows another.
// No scratch limit: it allocates none.
#include "devices.hpp"

#include <bit>
#include <cmath>

using namespace concord;
using test::random_values;
using test::throws;

CONCORD_FUNCTION(float, poly_test, (float x, float a, float b), return (x * a + b) * x;)
CONCORD_FUNCTION(float, triad_test, (float x, float y, float a), return x + a * y;)
CONCORD_FUNCTION(int, rounded_test, (float x), return (int)(x * 100.0f);)
CONCORD_FUNCTION(u8, threshold_test, (i32 x, i32 limit), return x > limit ? 255 : 0;)

// Does not terminate on values outside the input, such as 0.
CONCORD_FUNCTION(
    u32, collatz_test, (u32 x), u32 steps = 0; while (x != 1) {
        x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        ++steps;
    } return steps;)

CONCORD_FUNCTION(float, floor_test, (float x), return floor(x);)
CONCORD_FUNCTION(float, ceil_test, (float x), return ceil(x);)
CONCORD_FUNCTION(float, trunc_test, (float x), return trunc(x);)
CONCORD_FUNCTION(float, rint_test, (float x), return rint(x);)
CONCORD_FUNCTION(float, round_test, (float x), return round(x);)
CONCORD_FUNCTION(float, sqrt_test, (float x), return sqrt(fabs(x));)
CONCORD_FUNCTION(float, third_test, (float x), return x / 3;)
CONCORD_FUNCTION(float, copysign_test, (float x), return copysign(1.5f, x) * (float)abs((int)(x > 0) - 3);)
CONCORD_FUNCTION(float, fma_test, (float x), return fma(x, x, -0.3f);)
CONCORD_FUNCTION(float, class_test, (float x),
                 return (isnan(x) ? 1.0f : 0.0f) + (isinf(x) ? 2.0f : 0.0f) + (isfinite(x) ? 4.0f : 0.0f);)

TEST_SUITE_BEGIN("device");

STREAM_TEST(user_functions_with_bound_values) {
    const auto x = random_values<float>(100003, 1), y = random_values<float>(100003, 2);
    const Array<float> a(stream, x), b(stream, y), out(stream, x.size());
    test::each_variant(device, map_algorithm, [&](const std::string& name) {
        const Options options{name};
        for (float factor : {2.0f, -0.3f}) {
            const Enqueued run = map(stream, a, out, poly_test.bind(factor, 1.5f), options);
            CHECK(run.variant == name);
            CHECK(run.device == &device);
            auto got = out.to_host(stream);
            u64 wrong = 0;
            for (u64 i = 0; i < x.size(); ++i)
                wrong += got[i] != (x[i] * factor + 1.5f) * x[i];
            map(stream, a, b, out, triad_test.bind(factor), options);
            got = out.to_host(stream);
            for (u64 i = 0; i < x.size(); ++i)
                wrong += got[i] != x[i] + factor * y[i];
            CHECK(wrong == 0);
        }
    });
}

STREAM_TEST(functions_receive_only_elements_of_the_input) {
    const std::vector<u32> x(1009, 27);
    const Array<u32> in(stream, x), out(stream, x.size());
    for (u64 n : {1, 255, 257, 1003}) {
        map(stream, in.span().part(1, n), out.span().part(1, n), collatz_test);
        CHECK(out.to_host(stream)[n] == 111);
    }
}

STREAM_TEST(functions_may_change_the_type) {
    const auto x = random_values<float>(5001);
    const auto k = random_values<i32>(5001);
    const Array<float> a(stream, x);
    const Array<i32> b(stream, k), whole(stream, x.size());
    const Array<u8> flags(stream, x.size());
    map(stream, a, whole, rounded_test);
    map(stream, b.span().part(1, 5000), flags.span().part(0, 5000), threshold_test.bind(1000));
    const auto ints = whole.to_host(stream);
    const auto bytes = flags.to_host(stream);
    u64 wrong = 0;
    for (u64 i = 0; i < x.size(); ++i)
        wrong += ints[i] != static_cast<int>(x[i] * 100.0f);
    for (u64 i = 0; i < 5000; ++i)
        wrong += bytes[i] != (k[i + 1] > 1000 ? 255 : 0);
    CHECK(wrong == 0);
}

STREAM_TEST(source_functions_require_run_time_compilation) {
    const Operator cube = operator_from_text("float cube(float x) { return x * x * x; }");
    const auto x = random_values<float>(1000);
    const Array<float> a(stream, x), out(stream, 1000);
    if (device.traits().launch == LaunchModel::host) {
        CHECK(throws(ErrorCode::unsupported, "does not compile at run time",
                     [&] { map(stream, a.view(), out.view(), cube); }));
        return;
    }
    map(stream, a.view(), out.view(), cube);
    const auto got = out.to_host(stream);
    u64 wrong = 0;
    for (u64 i = 0; i < 1000; ++i)
        wrong += got[i] != x[i] * x[i] * x[i];
    CHECK(wrong == 0);
    const Array<double> doubles(stream, 1000);
    CHECK(throws(ErrorCode::invalid_argument, "f32(f32)",
                 [&] { map(stream, a.view(), doubles.view(), cube); }));
    const Operator broken = operator_from_text("float broken(float x) { return y; }");
    CHECK(throws(ErrorCode::compile_failed, "broken", [&] { map(stream, a.view(), out.view(), broken); }));
    CHECK_NOTHROW(map(stream, a.view(), out.view(), cube));
}

CONCORD_FUNCTION(float, exp_test, (float x, float a), return a * native::exp(x);)
CONCORD_FUNCTION(float, smaller_test, (float x, float y), return remainder(x, y);)
CONCORD_FUNCTION(float, exact_test, (float x), float y = floor(x) + ceil(x) - trunc(x);
                 if (isnan(x)) return 1; for (int i = 0; i < 2; ++i) y = fma(y, y, (f32)(rint(x) + round(x)));
                 return copysign(sqrt(fabs(y)), x);
                 /* not exp(x) */)

// Devices have math functions of their own, so that only some functions are reproducible.
STREAM_TEST(calls_with_an_order_refuse_functions_that_devices_compute_differently) {
    const auto x = random_values<float>(1000);
    const Array<float> a(stream, x), out(stream, 1000);
    for (const OperationOrder order : {OperationOrder::canonical, OperationOrder::variant_specific}) {
        const Options options{.order = order};
        CHECK(throws(ErrorCode::unsupported,
                     "map: operator 'exp_test' calls 'exp', which devices may compute differently",
                     [&] { map(stream, a, out, exp_test.bind(2.0F), options); }));
        CHECK(throws(ErrorCode::unsupported, "map: operator 'smaller_test' calls 'remainder'",
                     [&] { map(stream, a, a, out, smaller_test, options); }));
        CHECK(throws(ErrorCode::unsupported, "reduce: operator 'smaller_test' calls 'remainder'",
                     [&] { reduce(stream, a, out.span().part(0, 1), smaller_test, 9.0F, options); }));
        if (device.traits().exact_divide_sqrt) CHECK_NOTHROW(map(stream, a, out, exact_test, options));
        CHECK_NOTHROW(map(stream, a, out, MapFunction::square, options));
    }
    // Without an order they run, and the result says what holds.
    CHECK(map(stream, a, out, exp_test.bind(2.0F)).order == OperationOrder::unspecified);
    CHECK(map(stream, a, a, out, smaller_test).order == OperationOrder::unspecified);
    CHECK(map(stream, a, out, MapFunction::square).order == OperationOrder::canonical);
    CHECK_NOTHROW(stream.synchronize());
}

// Zeros, denormals, halves, large integers, infinities and NaN: the host's results are the reference.
STREAM_TEST(exact_functions_give_the_same_bits_on_every_device) {
    std::vector<float> x = random_values<float>(4000);
    for (u64 i = 0; i < 2000; ++i)
        x[i] = std::bit_cast<float>(static_cast<u32>(i * 2147001 + (i << 31)));  // all exponents, both signs
    for (float special : {0.0F, 0.5F, 1.5F, 2.5F, 8388607.5F, 16777216.0F, 1e-45F, 1.2e-38F, INFINITY, NAN})
        x.insert(x.end(), {special, -special});
    const Array<float> in(stream, x), out(stream, x.size());
    const auto same = [&](const auto& f) {
        map(stream, in, out, f, {.order = OperationOrder::canonical});
        const auto got = out.to_host(stream);
        u64 wrong = 0;
        for (u64 i = 0; i < x.size(); ++i) {
            const float expected = f(x[i]);
            const u32 bits = expected != expected ? 0x7fc00000 : std::bit_cast<u32>(expected);
            wrong += bits != std::bit_cast<u32>(got[i]);
        }
        return wrong == 0;
    };
    CHECK(same(floor_test));
    CHECK(same(ceil_test));
    CHECK(same(trunc_test));
    CHECK(same(rint_test));
    CHECK(same(round_test));
    CHECK(same(copysign_test));
    CHECK(same(fma_test));
    CHECK(same(class_test));
    if (device.traits().exact_divide_sqrt) {
        CHECK(same(sqrt_test));
        CHECK(same(third_test));
        return;
    }
    CHECK(throws(ErrorCode::unsupported, "operator 'sqrt_test' divides or takes a square root",
                 [&] { same(sqrt_test); }));
    CHECK(throws(ErrorCode::unsupported, "operator 'third_test' divides or takes a square root",
                 [&] { same(third_test); }));
    map(stream, in, out, third_test);  // without an order it runs
}

STREAM_TEST(map_rejects_invalid_calls) {
    const Array<float> a(stream, random_values<float>(100)), out(stream, 100);
    const Array<i32> ints(stream, 100);
    CHECK(throws(ErrorCode::invalid_argument, "the same element count, got 100, 100 and 99",
                 [&] { map(stream, a, out.span().part(0, 99), MapFunction::copy); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlaps",
                 [&] { map(stream, a.span().part(0, 50), a.span().part(10, 50), MapFunction::copy); }));
    CHECK_NOTHROW(map(stream, a, a, MapFunction::negate));
    CHECK(throws(ErrorCode::invalid_argument, "copy requires in and out of one type, got f32 and i32",
                 [&] { map(stream, a.view(), ints.view(), MapFunction::copy); }));
    CHECK(throws(ErrorCode::unsupported, "sqrt", [&] { map(stream, ints, ints, MapFunction::sqrt); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'fastest'; available: vectorized",
                 [&] { map(stream, a, out, MapFunction::copy, {"fastest"}); }));
    if (device.traits().dialect != Dialect::host)
        CHECK(throws(ErrorCode::unsupported, "available",
                     [&] { map(stream, a, out, MapFunction::copy, {"serial"}); }));
    CHECK_NOTHROW(stream.synchronize());
}

CONCORD_FUNCTION(f32, many_of_three, (f32 x, u8 y, f64 z, f32 a), return a * x + (f32)y - (f32)z;)
CONCORD_FUNCTION(void, many_sums, (f32 x, f32 y, f32* sum, f64* product, u64* bits, u64 more), *sum = x + y;
                 *product = (f64)x * (f64)y; *bits = (u64)as_u32(x) + more;)
CONCORD_FUNCTION(f32, many_difference, (f32 x, f32 y), return x - y;)
CONCORD_FUNCTION(void, many_both, (f32 x, f32 y, f32* difference, f32* sum), *difference = x - y;
                 *sum = x + y;)
CONCORD_FUNCTION(f32, many_nine, (f32 a, f32 b, f32 c, f32 d, f32 e, f32 f, f32 g, f32 h, f32 i),
                 return a + (b - c) + (d - e) + (f - g) + (h - h) + i;)
CONCORD_FUNCTION(u64, many_index, (u64 i, u32 x, u32 limit), return x < limit ? i : 0;)

STREAM_TEST(map_of_many_inputs_and_outputs) {
    const u64 n = 30011;
    const auto x = random_values<f32>(n, 1), y = random_values<f32>(n, 2);
    const auto bytes = random_values<u8>(n, 3);
    const auto words = random_values<u32>(n, 4);
    const Array<f32> a(stream, x), b(stream, y), out(stream, n);
    const Array<u8> c(stream, bytes);
    const Array<u32> w(stream, words);

    if (device.traits().fp64) {
        const auto z = random_values<f64>(n, 5);
        const Array<f64> d(stream, z);
        CHECK(map(stream, inputs(a, c, d), outputs(out), many_of_three.bind(1.5f)).order ==
              OperationOrder::canonical);
        std::vector<f32> expected(n);
        for (u64 i = 0; i < n; ++i)
            expected[i] = many_of_three(x[i], bytes[i], z[i], 1.5f);
        CHECK(out.to_host(stream) == expected);

        const Array<u64> bits(stream, n);
        map(stream, inputs(a, constant(0.25f)), outputs(out, d, bits), many_sums.bind(7));
        std::vector<f32> sums(n);
        std::vector<f64> products(n);
        std::vector<u64> all_bits(n);
        for (u64 i = 0; i < n; ++i) {
            sums[i] = x[i] + 0.25f;
            products[i] = static_cast<f64>(x[i]) * 0.25;
            all_bits[i] = u64{std::bit_cast<u32>(x[i])} + 7;
        }
        CHECK(out.to_host(stream) == sums);
        CHECK(d.to_host(stream) == products);
        CHECK(bits.to_host(stream) == all_bits);
    }

    // The index as an input, and outputs in place.
    const Array<u64> indices(stream, n);
    map(stream, inputs(counting<u64>(), w), outputs(indices), many_index.bind(u32{1} << 31));
    std::vector<u64> places(n);
    for (u64 i = 0; i < n; ++i)
        places[i] = words[i] < u32{1} << 31 ? i : 0;
    CHECK(indices.to_host(stream) == places);
    map(stream, inputs(indices, w), outputs(indices), many_index.bind(u32{1} << 31));
    CHECK(indices.to_host(stream) == places);

    // Expressions as inputs, of one output and of several.
    const Array<f32> differences(stream, n);
    map(stream, inputs(reversed(a), transform(MapFunction::negate, b)), outputs(out), many_difference);
    map(stream, inputs(reversed(a), transform(MapFunction::negate, b)), outputs(differences, b), many_both);
    std::vector<f32> from_reversed(n), sums_of_both(n);
    for (u64 i = 0; i < n; ++i) {
        from_reversed[i] = x[n - 1 - i] - -y[i];
        sums_of_both[i] = x[n - 1 - i] + -y[i];
    }
    CHECK(out.to_host(stream) == from_reversed);
    CHECK(differences.to_host(stream) == from_reversed);
    CHECK(b.to_host(stream) == sums_of_both);
    // Inputs without a size, and more than an expression takes.
    map(stream, inputs(constant(2.0f), counting<f32>(1.0f, 0.5f)), outputs(out), many_difference);
    map(stream, inputs(a, a, a, a, a, a, a, a, constant(1.0f)), outputs(differences), many_nine);
    const auto without_size = out.to_host(stream), of_nine = differences.to_host(stream);
    u64 wrong_many = 0;
    for (u64 i = 0; i < n; ++i)
        wrong_many +=
            (without_size[i] != 2.0f - (1.0f + static_cast<f32>(i) * 0.5f)) + (of_nine[i] != x[i] + 1.0f);
    CHECK(wrong_many == 0);

    iota(stream, indices);
    iota(stream, out, 0.5f, 0.1f);
    iota(stream, c, u8{250}, u8{3});
    const auto numbers = indices.to_host(stream);
    const auto steps = out.to_host(stream);
    const auto wrapped = c.to_host(stream);
    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i)
        wrong += (numbers[i] != i) + (steps[i] != 0.5f + static_cast<f32>(i) * 0.1f) +
                 (wrapped[i] != static_cast<u8>(250 + 3 * i));
    CHECK(wrong == 0);
}

CONCORD_FUNCTION(f32, many_quotient, (f32 x, f32 y), return x / y;)

STREAM_TEST(map_of_many_inputs_refuses_and_makes_canonical_nans) {
    const Array<f32> a(stream, std::vector<f32>{0, -0.0f, 1}), out(stream, 3), longer(stream, 4);
    CHECK(throws(ErrorCode::invalid_argument,
                 "map_many_quotient: range 0 must have the element count of output 0, 4",
                 [&] { map(stream, inputs(a, constant(1.0f)), outputs(longer), many_quotient); }));
    CHECK(throws(ErrorCode::invalid_argument, "output 0 overlaps range 0", [&] {
        map(stream, inputs(longer.span().part(0, 3), constant(1.0f)), outputs(longer.span().part(1, 3)),
            many_quotient);
    }));
    map(stream, inputs(a, a), outputs(out), many_quotient);
    const auto got = out.to_host(stream);
    CHECK(std::bit_cast<u32>(got[0]) == 0x7fc00000);
    CHECK(std::bit_cast<u32>(got[1]) == 0x7fc00000);
    CHECK(got[2] == 1);
}

TEST_SUITE_END();
