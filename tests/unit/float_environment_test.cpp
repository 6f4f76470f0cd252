// The floating-point environment of the caller changes no result, and calls do not change it.
#include "devices.hpp"

#include <concord/detail/float_environment.hpp>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

using namespace concord;
using test::random_values;

CONCORD_FUNCTION(f32, floats_third, (f32 x), return x / 3.0f;)
CONCORD_FUNCTION(f64, floats_exp, (f64 x), return exp(x) * 0.1;)
CONCORD_KERNEL(floats_kernel, (u64 i, f32* out, const f32* in, f32 a), out[i] = in[i] * a + in[i] / 7.0f;)

namespace {

enum class Floats { usual, flush, upward, downward, towardzero, traps };

// A floating-point environment of the calling thread. The destructor restores the one before.
class Environment {
  public:
    explicit Environment(Floats kind) {
        std::fegetenv(&before_);
        if (kind == Floats::upward) std::fesetround(FE_UPWARD);
        if (kind == Floats::downward) std::fesetround(FE_DOWNWARD);
        if (kind == Floats::towardzero) std::fesetround(FE_TOWARDZERO);
        if (kind == Floats::traps) feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
#if defined(__x86_64__)
        if (kind == Floats::flush) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
        std::feclearexcept(FE_ALL_EXCEPT);
    }
    ~Environment() {
        std::fesetenv(&before_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    std::fenv_t before_{};
};

// What a call must leave: rounding, flushing and traps, and the exceptions that occurred. Except inexact results, which
// the planning of launches has.
std::vector<u32> state() {
    std::vector<u32> state = {static_cast<u32>(std::fegetround()),
                              static_cast<u32>(std::fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT)),
                              static_cast<u32>(fegetexcept())};
#if defined(__x86_64__)
    state.push_back(__builtin_ia32_stmxcsr() & ~0x20U);
#endif
    return state;
}

template <class T>
void append(std::vector<std::byte>& to, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

// Values of both signs, a quarter of them denormal.
template <class T>
std::vector<T> values_of(u64 n) {
    std::vector<T> values = random_values<T>(n);
    for (u64 i = 0; i < n; i += 4)
        values[i] *= std::numeric_limits<T>::min();
    return values;
}

// The results of calls of every kind on n elements, in an environment. Inputs are made before.
std::vector<std::byte> results_in(Floats kind, Device& device, u64 n) {
    const std::vector<f32> x32 = values_of<f32>(n);
    const std::vector<f64> x64 = values_of<f64>(n);
    const std::vector<f32> mask(9, 0.3f);
    const auto stream = device.create_stream();
    const Array<f32> a(*stream, x32), out(*stream, n);
    const u64 side = static_cast<u64>(std::sqrt(static_cast<double>(n)));
    const Matrix<f32> square(a, side, side), square_out(out, side, side);
    std::vector<std::byte> result;
    std::vector<u32> before, after;
    // The results of the calls, which are enqueued and waited for in the environment.
    const auto in_environment = [&](const auto& calls) {
        const Environment environment(kind);
        before = state();
        calls();
        stream->synchronize();
        after = state();
    };
    const auto append_out = [&] { append(result, out.to_host(*stream)); };
    const auto run = [&](const char* name, const auto& calls) {
        CAPTURE(name);
        in_environment(calls);
        CHECK(before == after);
        append_out();
    };
    run("add", [&] { add(*stream, a, a, out); });
    run("map sqrt", [&] { map(*stream, a, out, MapFunction::square); });
    run("function", [&] { map(*stream, a, out, floats_third); });
    run("kernel", [&] { floats_kernel(*stream, {n}, out, a, 0.1f); });
    run("scan", [&] { scan(*stream, a, out); });
    run("reduce", [&] { reduce(*stream, a, out.span().part(0, 1)); });
    run("matmul", [&] { matmul(*stream, square, square, square_out, {.alpha = 0.1, .beta = 0}); });
    run("convolve", [&] { convolve(*stream, square, ConvolveMask(mask, 3, 3), square_out); });
    run("compact", [&] {
        const Array<u64> count(*stream, 1);
        compact(*stream, a, out, count, KeepRule::positive);
    });
    const Array<u64> counters(*stream, 1000);
    in_environment([&] { histogram(*stream, a, counters, HistogramBins::even(-0.7, 0.1)); });
    CHECK(before == after);
    append(result, counters.to_host(*stream));
    if (device.traits().fp64) {
        const Array<f64> b(*stream, x64), out64(*stream, n), one(*stream, 1);
        in_environment([&] {
            map(*stream, b, out64, floats_exp);
            reduce(*stream, b, one);
        });
        CHECK(before == after);
        append(result, out64.to_host(*stream));
        append(result, one.to_host(*stream));
    }
    return result;
}

}  // namespace

TEST_SUITE_BEGIN("device");

// Short calls run in the caller's thread, long ones also on other threads.
DEVICE_TEST(results_do_not_depend_on_the_callers_floating_point_environment) {
    for (const u64 n : {u64{100}, u64{100000}}) {
        CAPTURE(n);
        // Twice: the second call of a kernel may run on another thread.
        const std::vector<std::byte> expected = results_in(Floats::usual, device, n);
        for (const Floats kind :
             {Floats::flush, Floats::upward, Floats::downward, Floats::towardzero, Floats::traps}) {
            CAPTURE(static_cast<int>(kind));
            for (int i = 0; i < 2; ++i)
                CHECK(results_in(kind, device, n) == expected);
        }
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("a function is called in the default floating-point environment") {
    for (const Floats kind :
         {Floats::flush, Floats::upward, Floats::downward, Floats::towardzero, Floats::traps}) {
        CAPTURE(static_cast<int>(kind));
        const Environment environment(kind);
        const auto before = state();
        volatile f32 one = 1, three = 3;
        volatile f64 tiny = std::numeric_limits<f64>::min();
        const auto [third, negative, denormal] = detail::in_default_float_environment(
            [&] { return std::tuple(one / three, -one / three, tiny / 4); });
        const auto after = state();
        const auto same = [](auto x, auto y) {
            return std::bit_cast<u64>(f64{x}) == std::bit_cast<u64>(f64{y});
        };
        const bool right = same(third, 1.0f / 3.0f) && same(negative, -1.0f / 3.0f);
        const bool is_denormal = std::bit_cast<u64>(f64{denormal}) == u64{1} << 50;
        CHECK(right);
        CHECK(is_denormal);
        CHECK(before == after);
    }
}

TEST_SUITE_END();
