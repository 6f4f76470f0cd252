// The test harness itself: correct kernels pass, and every kind of fault is detected and reported.
#include "devices.hpp"

#include <concord/internal/builtin_operator.hpp>
#include <concord/lab/baseline.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/kernel_test.hpp>
#include <concord/lab/measure.hpp>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace concord;
using namespace concord::lab;
using test::random_values;
using test::throws;

namespace {

// out[i] = 2 in[i] + 1, with an optional planted FAULT.
constexpr u32 text_line = __LINE__ + 3;
const KernelSource doubled_source{"doubled",
                                  {CONCORD_SOURCE(R"(
extern "C" __global__ void doubled(T* in, T* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n + (FAULT == 1) || (FAULT == 4 && i + 1 == n)) return;
    out[i] = in[i] * 2 + (FAULT == 2 && i == 3 ? 2 : 1);
    if (FAULT == 5 && i == 0) in[0] = 0;
#if FAULT == 3
    this is not a statement;
#endif
}
)")},
                                  {CONCORD_SOURCE(R"(
__kernel void doubled(__global T* in, ulong in_at, __global T* out, ulong out_at, u64 n) {
    const u64 i = get_global_id(0);
    if (i >= n + (FAULT == 1) || (FAULT == 4 && i + 1 == n)) return;
    out[out_at + i] = in[in_at + i] * 2 + (FAULT == 2 && i == 3 ? 2 : 1);
    if (FAULT == 5 && i == 0) in[in_at] = 0;
#if FAULT == 3
    this is not a statement;
#endif
}
)")}};
enum Fault : int { none, past_the_end, wrong_element, no_statement, tail_left, input_written };
constexpr u64 group_size = 64;

template <class T, int fault>
void doubled_group(const Group& group, T* in, T* out, u64 n) {
    const u64 last = n + (fault == past_the_end ? 1 : 0) - (fault == tail_left && n > 0 ? 1 : 0);
    for (u64 i = group.x * group_size; i < std::min(last, (group.x + 1) * group_size); ++i)
        out[i] = static_cast<T>(static_cast<detail::ops::Wide<T>>(in[i]) * 2 +
                                (fault == wrong_element && i == 3 ? 2 : 1));
    if (fault == input_written && group.x == 0 && n > 0) in[0] = 0;
}

template <class T, int fault>
KernelTest doubled() {
    KernelTest test;
    test.name = "doubled";
    test.inputs = {{type_of<T>(), [](u64 n) { return n; }}};
    test.outputs = {{type_of<T>(), [](u64 n) { return n; }}};
    test.variants = {{"direct", [](Stream& stream, const KernelCall& call) {
                          KernelSpec spec;
                          spec.source = &doubled_source;
                          spec.entry = "doubled";
                          spec.constants = {{"T", type_of<T>()}, {"FAULT", fault}};
                          spec.host = host_kernel<&doubled_group<T, fault>>();
                          const auto kernel = stream.device().compile(spec);
                          const bool whole = stream.device().traits().launch == LaunchModel::host;
                          // One group more than needed, so that a missing bounds check is detected.
                          launch(stream, *kernel,
                                 LaunchShape::linear(call.n / group_size + 1, whole ? 1 : u32{group_size}),
                                 call.in[0], call.out[0], call.n);
                      }}};
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<T>(0);
        const auto out = call.out<T>(0);
        for (u64 i = 0; i < call.n; ++i)
            out[i] = static_cast<T>(static_cast<detail::ops::Wide<T>>(in[i]) * 2 + 1);
    };
    test.sizes = {0, 1, 5, 64, 1000};
    return test;
}

CheckReport run(Device& device, const KernelTest& test) {
    CheckOptions options;
    options.devices = {device.info().selector};
    return check({suite_of(test)}, options);
}

bool tells(const CheckReport& report, std::string_view part) {
    const bool found = report.json().find(part) != std::string::npos;
    if (!found) MESSAGE(report.json());
    return found;
}

std::vector<f64> values_of(Pattern pattern, Type type, u64 n) {
    const Input input{type, n, pattern, 7};
    std::vector<std::byte> bytes(input.bytes());
    input.make(0, bytes);
    std::vector<f64> values;
    detail::visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (u64 i = 0; i < n; ++i)
            values.push_back(static_cast<f64>(element<T>(bytes, i)));
    });
    return values;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(a_variant_that_refuses_all_work_is_a_failure) {
    KernelTest test = doubled<f32, none>();
    test.variants.push_back({"refuses", [](Stream&, const KernelCall&) {
                                 throw Error(ErrorCode::unsupported, "doubled", "needs a full moon");
                             }});
    CheckOptions options;
    options.devices = {device.info().selector};
    Suite suite = suite_of(test);
    CHECK(check({suite}, options).failed() == 0);  // a user's suite may have such variants
    suite.must_run = true;
    const CheckReport lost = check({suite}, options);
    CHECK(lost.failed() == 1);
    CHECK(lost.status() == 1);
    CHECK(tells(lost, "needs a full moon"));
    CHECK(lost.junit().find("refuses") != std::string::npos);

    // With an entry it passes; with an entry for a variant that runs it fails.
    const auto always = [](const DeviceTraits&) { return true; };
    const Refusal explained[] = {{.variant = "refuses", .applies = always, .reason = "full moon"}};
    suite.refusals = explained;
    CHECK(check({suite}, options).failed() == 0);
    const Refusal other_reason[] = {{.variant = "refuses", .applies = always, .reason = "half moon"}};
    suite.refusals = other_reason;
    CHECK(check({suite}, options).failed() == 1);
    const Refusal not_needed[] = {explained[0],
                                  {.variant = "direct", .applies = always, .reason = "full moon"}};
    suite.refusals = not_needed;
    const CheckReport stale = check({suite}, options);
    CHECK(stale.failed() == 1);
    CHECK(tells(stale, "remove the entry"));

    // A check that is limited to some sizes judges it only if that is asked for.
    options.sizes = {5};
    CHECK(check({suite}, options).failed() == 0);
    options.every_variant = true;
    CHECK(check({suite}, options).failed() == 1);
}

DEVICE_TEST(a_correct_kernel_passes) {
    const CheckReport integers = run(device, doubled<i32, none>()),
                      floats = run(device, doubled<f32, none>());
    CHECK(integers.status() == 0);
    CHECK(integers.failed() == 0);
    CHECK(integers.passed() >= 5);
    CHECK(floats.status() == 0);
    CHECK(tells(floats, "\"verdict\": \"bits\""));
}

DEVICE_TEST(a_wrong_element_is_named) {
    const CheckReport report = run(device, doubled<i32, wrong_element>());
    CHECK(report.status() == 1);
    CHECK(tells(report, "element 3: expected"));
    CHECK(tells(report, "DIFFERS"));
}

DEVICE_TEST(a_write_past_the_end_is_detected) {
    const CheckReport report = run(device, doubled<u8, past_the_end>());
    CHECK(report.status() == 1);
    CHECK(tells(report, "a write 1 bytes past it"));
}

DEVICE_TEST(a_missing_tail_is_detected) {
    CHECK(run(device, doubled<f64, tail_left>()).status() == 1);
}

DEVICE_TEST(a_modified_input_is_detected) {
    const CheckReport report = run(device, doubled<i64, input_written>());
    CHECK(report.status() == 1);
    CHECK(tells(report, "input 0 unchanged"));
}

DEVICE_TEST(compilers_errors_name_this_file_and_line) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const CheckReport report = run(device, doubled<i32, no_statement>());
    CHECK(report.status() == 1);
    const u32 line = text_line + (device.traits().dialect == Dialect::cuda ? 6 : 17);
    CHECK(tells(report, "conformance_test.cpp"));
    const std::string json = report.json();
    CHECK((tells(report, "conformance_test.cpp:" + std::to_string(line)) ||
           json.find("conformance_test.cpp(" + std::to_string(line) + ")") != std::string::npos));
}

DEVICE_TEST(a_reference_device_serves_as_reference) {
    KernelTest test = doubled<f32, none>();
    test.reference = nullptr;
    test.reference_device = "tbb";
    CHECK(run(device, test).status() == 0);
    // The reference runs the first variant, which is correct. The second one is wrong.
    test.variants.push_back(doubled<f32, wrong_element>().variants.front());
    test.variants.back().name = "wrong";
    const CheckReport report = run(device, test);
    CHECK(report.status() == 1);
    CHECK(tells(report, "\"variant\": \"wrong\""));
}

DEVICE_TEST(a_failure_names_the_command_that_repeats_it) {
    const KernelTest test = doubled<f64, tail_left>();
    const std::string& selector = device.info().selector;
    const CheckReport all = run(device, test);
    CHECK(tells(all, R"(CheckOptions{.algorithms = {\"doubled\"}, .devices = {\")" + selector +
                         R"(\"}, .variants = {\"direct\"}, .types = {Type::f64}, .sizes = {64}, )"
                         R"(.patterns = {Pattern::random}, .placements = {Placement{.b = 1, .out = 3}}, )"
                         R"(.seed = 1}")"));
    const CheckReport one = check({suite_of(test)}, CheckOptions{.algorithms = {"doubled"},
                                                                 .devices = {selector},
                                                                 .variants = {"direct"},
                                                                 .types = {Type::f64},
                                                                 .sizes = {64},
                                                                 .patterns = {Pattern::random},
                                                                 .placements = {Placement{.b = 1, .out = 3}},
                                                                 .seed = 1});
    CHECK(all.failed() > 1);
    CHECK(one.failed() == 1);
    CHECK(one.passed() == 0);
}

DEVICE_TEST(cases_skipped_on_a_failing_device_are_counted) {
    KernelTest test = doubled<i32, none>();
    const u64 cases = run(device, test).passed();
    test.variants.front().enqueue = [](Stream&, const KernelCall&) {
        throw Error(ErrorCode::device_failed, "doubled", "the device crashed");
    };
    const CheckReport report = run(device, test);
    CHECK(report.status() == 4);
    CHECK(report.failed() == 3);
    CHECK(report.failed() + report.skipped() == cases);
    CHECK(tells(report, "failed three times in a row"));
}

DEVICE_TEST(a_test_can_generate_its_inputs) {
    KernelTest test = doubled<i32, none>();
    test.inputs[0].generate = [](u64 n, u64, void* to) {
        for (u64 i = 0; i < n; ++i)
            static_cast<i32*>(to)[i] = static_cast<i32>(n - i);
    };
    bool seen = true;
    const auto reference = test.reference;
    test.reference = [&](const ReferenceCall& call) {
        for (u64 i = 0; i < call.n; ++i)
            seen = seen && call.in<i32>(0)[i] == static_cast<i32>(call.n - i);
        reference(call);
    };
    CHECK(run(device, test).status() == 0);
    CHECK(seen);
}

DEVICE_TEST(comparisons_respect_their_tolerance) {
    // The kernel computes 2 x + 1. The reference differs by one part in 2^20.
    auto with = [&](Comparison comparison) {
        KernelTest test = doubled<f32, none>();
        test.outputs[0].comparison = std::move(comparison);
        test.inputs[0].patterns = {Pattern::near_one};
        test.reference = [](const ReferenceCall& call) {
            const auto in = call.in<f32>(0);
            const auto out = call.out<f64>(0), magnitude = call.magnitude(0);
            for (u64 i = 0; i < call.n; ++i) {
                out[i] = (2.0 * in[i] + 1) * (1 + 0x1p-20);
                magnitude[i] = 2.0 * in[i] + 1;
            }
        };
        return run(device, test).status();
    };
    CHECK(with(Comparison::bits()) == 1);
    CHECK(with(Comparison::ulps(1)) == 1);
    CHECK(with(Comparison::ulps(20)) == 0);
    CHECK(with(Comparison::within([](u64, double x) { return x * 0x1p-21; })) == 1);
    CHECK(with(Comparison::within([](u64, double x) { return x * 0x1p-19; })) == 0);
    CHECK(with(Comparison::rounding([](u64) { return 2.0; })) == 1);
    CHECK(with(Comparison::rounding([](u64) { return 40.0; })) == 0);
}

DEVICE_TEST(only_correct_results_are_timed) {
    BenchOptions options;
    options.devices = {device.info().selector};
    options.types = {Type::i32};
    options.sizes = {1000};
    options.devices.push_back(options.devices.front());  // measured once, even if it is named twice
    const BenchReport good = bench({suite_of(doubled<i32, none>())}, options);
    REQUIRE(good.rows().size() == 1);
    REQUIRE(good.rows()[0].timing);
    CHECK(good.rows()[0].timing->median > 0);
    CHECK(good.status() == 0);
    const BenchReport bad = bench({suite_of(doubled<i32, wrong_element>())}, options);
    REQUIRE(bad.rows().size() == 1);
    CHECK(!bad.rows()[0].timing);
    CHECK(bad.rows()[0].problem.find("element 3") != std::string::npos);
    CHECK(bad.wrong());
    CHECK(bad.status() == 1);
}

DEVICE_TEST(many_calls_are_timed_by_the_host_and_verified) {
    BenchOptions options;
    options.devices = {device.info().selector};
    options.types = {Type::i32};
    options.sizes = {1000};
    options.calls = 20;
    u64 calls = 0, right_calls = ~u64{0};
    KernelTest test = doubled<i32, none>();
    test.variants[0].enqueue = [&](Stream& stream, const KernelCall& call) {
        const auto function = ++calls <= right_calls ? MapFunction::negate : MapFunction::copy;
        map(stream, call.in[0], call.out[0], function);
    };
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<i32>(0);
        const auto out = call.out<i32>(0);
        for (u64 i = 0; i < call.n; ++i)
            out[i] = -in[i];
    };
    const BenchReport good = bench({suite_of(test)}, options);
    REQUIRE(good.rows().size() == 1);
    const BenchRow& row = good.rows()[0];
    CAPTURE(row.problem);
    REQUIRE(row.timing);
    CHECK(row.timing->median > 0);
    CHECK(row.timing->batch == 20);
    CHECK(row.timing->repetitions == 3);
    CHECK(row.host_clock);
    CHECK(good.json().find("\"calls\": 20,") != std::string::npos);
    CHECK(calls > 4 * 20);
    // Replays a recording of one call.
    const u64 calls_made = calls;
    calls = 0;
    options.recorded = true;
    const BenchReport replayed = bench({suite_of(test)}, options);
    CHECK(replayed.rows().at(0).timing);
    CHECK(calls == calls_made - 4 * 20 + 1);
    options.recorded = false;
    calls = calls_made;
    // Wrong in the last call only.
    right_calls = calls - 1;
    calls = 0;
    const BenchReport bad = bench({suite_of(test)}, options);
    REQUIRE(bad.rows().size() == 1);
    CHECK(!bad.rows()[0].timing);
    CHECK(bad.rows()[0].problem.find("element 0") != std::string::npos);
    CHECK(bad.status() == 1);
}

STREAM_TEST(a_stream_shows_its_launches) {
    const Array<f32> in(stream, std::vector<f32>(1000, 1.0F)), out(stream, 1);
    std::vector<std::string> names;
    observe_launches(stream,
                     [&](const Kernel& kernel, const LaunchShape&) { names.push_back(kernel.name()); });
    reduce(stream, in, out);
    observe_launches(stream, {});
    reduce(stream, in, out);
    stream.synchronize();
    REQUIRE(!names.empty());
    CHECK(names.size() <= 2);
    CHECK(names[0].find("reduce") != std::string::npos);
}

TEST_SUITE_END();
TEST_SUITE_BEGIN("core");

TEST_CASE("an incomplete kernel test is rejected with the missing part") {
    auto refuses = [](std::string_view words, auto change) {
        KernelTest test = doubled<f32, none>();
        change(test);
        return throws(ErrorCode::invalid_argument, words, [&] { (void)suite_of(test); });
    };
    CHECK(refuses("no name", [](KernelTest& t) { t.name.clear(); }));
    CHECK(refuses("no output", [](KernelTest& t) { t.outputs.clear(); }));
    CHECK(refuses("no variant", [](KernelTest& t) { t.variants.clear(); }));
    CHECK(refuses("no reference; set", [](KernelTest& t) { t.reference = nullptr; }));
    CHECK(refuses("both a reference function", [](KernelTest& t) { t.reference_device = "tbb"; }));
    CHECK(refuses("without a count", [](KernelTest& t) { t.inputs[0].count = nullptr; }));
    CHECK(refuses("needs a reference", [](KernelTest& t) {
        t.reference = nullptr;
        t.reference_device = "tbb";
        t.outputs[0].comparison = Comparison::rounding([](u64) { return 1.0; });
    }));
    CHECK(refuses("pattern zeros for an input of type i32", [](KernelTest& t) {
        t.inputs[0].type = Type::i32;
        t.inputs[0].patterns = {Pattern::zeros};
    }));
}

TEST_CASE("a kernel file of any length is read completely") {
    namespace fs = std::filesystem;
    const fs::path path = fs::temp_directory_path() / ("concord-text-" + std::to_string(getpid()));
    for (const std::size_t length : {0, 1, 1 << 14, 100000}) {
        const std::string text(length, 'x');
        std::ofstream(path, std::ios::binary) << text;
        CHECK(kernel_file(path.string()).text == text);
    }
    fs::remove(path);
    CHECK(throws(ErrorCode::io, path.string(), [&] { (void)kernel_file(path.string()); }));
    CHECK(
        throws(ErrorCode::io, "not a regular file", [&] { (void)kernel_file(path.parent_path().string()); }));
}

TEST_CASE("patterns have their documented values") {
    for (const Type type : {Type::i8, Type::u32, Type::i64, Type::f32, Type::f64}) {
        CAPTURE(name_of(type));
        const auto sorted = values_of(Pattern::sorted, type, 1001),
                   reversed = values_of(Pattern::reversed, type, 1001);
        CHECK(std::is_sorted(sorted.begin(), sorted.end()));
        CHECK(std::is_sorted(reversed.rbegin(), reversed.rend()));
        CHECK(sorted.front() < sorted.back());
        const auto skewed = values_of(Pattern::skewed, type, 10000);
        const auto most = std::count(skewed.begin(), skewed.end(), is_float(type) ? skewed[0] : 3.0);
        CHECK(most > 9800);
        CHECK(most < 9980);
    }
    const auto alternating = values_of(Pattern::alternating, Type::f32, 1000);
    for (std::size_t i = 0; i < alternating.size(); ++i)
        CHECK((alternating[i] > 0) == (i % 2 == 0));
    for (const f64 zero : values_of(Pattern::zeros, Type::f64, 100))
        CHECK(zero == 0);
}

TEST_CASE("ulps are counted exactly") {
    CHECK(ulps_between(1.0F, std::nextafter(1.0F, 2.0F)) == 1);
    CHECK(ulps_between(1.0, std::nextafter(1.0, 2.0)) == 1);
    CHECK(ulps_between(-0.0, 0.0) == 0);
    CHECK(ulps_between(-std::numeric_limits<f64>::denorm_min(), std::numeric_limits<f64>::denorm_min()) == 2);
    CHECK(ulps_between(-1.0F, 1.0F) == 2.0 * 0x3f800000);
    CHECK(ulps_between(1.0F, std::numeric_limits<f32>::quiet_NaN()) == -1);
}

TEST_CASE("error bounds hold") {
    auto held = [](double error, double hard, double alarm) {
        Verdict verdict;
        verify_within(ErrorBounds{error, hard, alarm}, 0, 1.0F, 1.0F, verdict);
        return verdict;
    };
    CHECK(!held(1, 2, 2).difference);
    CHECK(held(1, 2, 4).ratio == doctest::Approx(0.5));
    CHECK(held(1, 2, 4).alarm == doctest::Approx(0.25));
    CHECK(!held(1, 2, 4).bits);
    REQUIRE(held(3, 2, 4).difference);
    CHECK(!held(3, 2, 4).difference->alarm);
    REQUIRE(held(3, 4, 2).difference);
    CHECK(held(3, 4, 2).difference->alarm);
    CHECK(held(0, 0, 0).ratio == 0);
    CHECK(held(std::numeric_limits<double>::quiet_NaN(), 1, 1).difference);
    CHECK(held(1, 0, 1).difference);
    CHECK(held(1, 2, 4).differences == 0);
    CHECK(held(3, 2, 4).differences == 1);
}

TEST_CASE("long sums are verified by a statistical bound") {
    constexpr double none = std::numeric_limits<double>::infinity();
    auto held = [](double error, double statistical) {
        Verdict verdict;
        verify_within(ErrorBounds{error, none, none, statistical}, 0, 1.0F, 1.0F, verdict);
        return verdict;
    };
    CHECK((held(1, 2).statistical && !held(1, 2).no_bound));
    CHECK((held(3, 2).no_bound && !held(3, 2).statistical && !held(3, 2).difference));
    CHECK((held(0, none).no_bound && !held(0, none).statistical));
    // A worst-case bound has precedence.
    Verdict verdict;
    verify_within(ErrorBounds{3, 4, none, 2}, 0, 1.0F, 1.0F, verdict);
    CHECK((!verdict.statistical && !verdict.difference));
    // One chain of random numbers, longer than 1 / u, stays within the bound. Without its last quarter it does not.
    constexpr u64 n = u64{5} << 22;
    CHECK(std::isinf(gamma_bound<f32>(n)));
    const std::vector<f32> x = random_values<f32>(n);
    f32 sum = 0, part = 0;
    double exact = 0, magnitude = 0;
    for (u64 i = 0; i < n; ++i) {
        sum += x[i];
        exact += static_cast<double>(x[i]);
        magnitude += std::abs(static_cast<double>(x[i]));
        if (i < n / 4 * 3) part += std::abs(x[i]);
    }
    const double bound = statistical_bound<f32>(n, 1) * magnitude;
    CHECK(bound < 0.01 * magnitude);
    CHECK(std::abs(static_cast<double>(sum) - exact) < bound);
    CHECK(std::abs(static_cast<double>(part) - magnitude) > bound);
    // More results make it more likely that one of them has a large error.
    CHECK(statistical_bound<f32>(n, n) > statistical_bound<f32>(n, 1));
}

TEST_SUITE_END();
