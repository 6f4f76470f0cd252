// Black-Scholes
//
// The prices of European calls and puts of n options, which have a price, a strike and years each. Rate and volatility
// are the same for all.
//
// The port has the original's lines. The device function becomes a `CONCORD_FUNCTION`, which the kernel calls. `logf`,
// `expf` and `erfcf` may keep their names: in a body they are Concord's functions, correctly rounded and bitwise
// identical on all devices. The test `i >= n` goes, because the extent of the index space is n.
//
// The check compares all bits with plain loops that call the same functions on the host. Options are deep in and out of
// the money, so that all branches of `erfc` run.

#include "../port.hpp"

#include <cmath>

#include "original.hpp"

using namespace ports;

// clang-format off
CONCORD_FUNCTION(f32, cdf, (f32 x), return 0.5f * erfcf(-0.70710678f * x);)

CONCORD_KERNEL(black_scholes,
    (u64 i, f32* call, f32* put, const f32* price, const f32* strike, const f32* years,
     f32 rate, f32 volatility),
    const f32 spread = volatility * sqrtf(years[i]);
    const f32 drift = rate + 0.5f * volatility * volatility;
    const f32 d1 = (logf(price[i] / strike[i]) + drift * years[i]) / spread;
    const f32 n1 = cdf(d1), n2 = cdf(d1 - spread);
    const f32 discounted = strike[i] * expf(-rate * years[i]);
    call[i] = price[i] * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - price[i] * (1 - n1);)
// clang-format on

namespace {

// Planted faults: the port with one wrong line.
// clang-format off
#define PLANTED(NAME, N2, DISCOUNT, CALL, PUT)                                                                  \
    CONCORD_KERNEL(NAME, (u64 i, f32* call, f32* put, const f32* price, const f32* strike,                      \
                          const f32* years, f32 rate, f32 volatility),                                          \
        const f32 spread = volatility * sqrtf(years[i]);                                                        \
        const f32 d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread; \
        const f32 n1 = cdf(d1), n2 = cdf(N2);                                                                   \
        const f32 discounted = strike[i] * DISCOUNT;                                                            \
        call[i] = CALL;                                                                                         \
        put[i] = PUT;)
#define RIGHT_CALL price[i] * n1 - discounted * n2
#define RIGHT_PUT discounted * (1 - n2) - price[i] * (1 - n1)
// 1: the sign of the spread.
PLANTED(black_scholes_sign, d1 + spread, expf(-rate * years[i]), RIGHT_CALL, RIGHT_PUT)
// 2: no discount.
PLANTED(black_scholes_discount, d1 - spread, 1.0f, RIGHT_CALL, RIGHT_PUT)
// 3: call and put exchanged.
PLANTED(black_scholes_exchanged, d1 - spread, expf(-rate * years[i]), RIGHT_PUT, RIGHT_CALL)
// 4: the put by parity, which is the same without rounding.
PLANTED(black_scholes_parity, d1 - spread, expf(-rate * years[i]), RIGHT_CALL, call[i] + discounted - price[i])
// clang-format on

constexpr f32 rate = 0.02f, volatility = 0.3f;

struct Options {
    std::vector<f32> price, strike, years;
    explicit Options(u64 n)
        : price(random_values(n, 5, 30, 1)),
          strike(random_values(n, 1, 100, 2)),
          years(random_values(n, 0.01f, 10, 3)) {}
};

// The options and the results on a device.
struct OptionArrays {
    Array<f32> call, put, price, strike, years;
    OptionArrays(Stream& stream, const Options& options)
        : call(stream, options.price.size()),
          put(stream, options.price.size()),
          price(stream, options.price),
          strike(stream, options.strike),
          years(stream, options.years) {}
};

void run_port(Stream& stream, const OptionArrays& a, u32 fault) {
    const auto call = [&](const auto& kernel) {
        kernel(stream, a.price.size(), a.call, a.put, a.price, a.strike, a.years, rate, volatility);
    };
    switch (fault) {
        case 1:
            call(black_scholes_sign);
            break;
        case 2:
            call(black_scholes_discount);
            break;
        case 3:
            call(black_scholes_exchanged);
            break;
        case 4:
            call(black_scholes_parity);
            break;
        default:
            call(black_scholes);
    }
}

// The original, compiled for CUDA at run time.
const KernelSource original{"black_scholes", {{"original.cu", original_cu}}, {}};
const KernelSpec original_spec{.source = &original, .entry = "black_scholes", .max_group_size = 256};

void run_original(Stream& stream, const OptionArrays& a) {
    const u64 n = a.price.size();
    launch(stream, *stream.device().kernel(original_spec), LaunchShape::linear((n + 255) / 256, 256), a.call,
           a.put, a.price, a.strike, a.years, rate, volatility, n);
}

// The loop that one would write for the CPU, with Concord's functions and with those of the C library. The former is
// also the reference.
template <bool own>
[[gnu::always_inline]] inline void black_scholes_loop(const Group& part, f32* __restrict call,
                                                      f32* __restrict put, const f32* __restrict price,
                                                      const f32* __restrict strike,
                                                      const f32* __restrict years, f32 r, f32 v, u64 n) {
    const auto cumulative = [](f32 x) __attribute__((always_inline)) {
        return 0.5f * (own ? Vocabulary::erfc(-0.70710678f * x) : std::erfc(-0.70710678f * x));
    };
    for (u64 i = n * part.x / part.count_x; i < n * (part.x + 1) / part.count_x; ++i) {
        const f32 spread = v * std::sqrt(years[i]), ratio = price[i] / strike[i], exponent = -r * years[i];
        const f32 log = own ? Vocabulary::log(ratio) : std::log(ratio);
        const f32 d1 = (log + (r + 0.5f * v * v) * years[i]) / spread;
        const f32 n1 = cumulative(d1), n2 = cumulative(d1 - spread);
        const f32 discounted = strike[i] * (own ? Vocabulary::exp(exponent) : std::exp(exponent));
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1 - n2) - price[i] * (1 - n1);
    }
}

void check_port(Stream& stream, Check& result, u32 fault) {
    for (const u64 n : {u64{1}, u64{7}, u64{1000}, u64{100003}}) {
        const Options options(n);
        std::vector<f32> call(n), put(n);
        black_scholes_loop<true>(Group{}, call.data(), put.data(), options.price.data(),
                                 options.strike.data(), options.years.data(), rate, volatility, n);
        const OptionArrays a(stream, options);
        run_port(stream, a, fault);
        const std::string what = std::to_string(n) + " options";
        result.bits(what + ", call", call, a.call.to_host(stream));
        result.bits(what + ", put", put, a.put.to_host(stream));
        if (stream.device().traits().dialect != Dialect::cuda || fault != 0) continue;
        run_original(stream, a);
        result.near(what + ", original's call", call, a.call.to_host(stream), 1e-5, 10);
        result.near(what + ", original's put", put, a.put.to_host(stream), 1e-5, 10);
    }
}

void measure_port(Stream& stream, Bench& result) {
    for (const u64 n : {u64{1} << 14, u64{1} << 23}) {
        result.work(std::to_string(n) + " options", n, 20 * n);
        const Options options(n);
        const OptionArrays a(stream, options);
        result.row("CONCORD_KERNEL", [&] { run_port(stream, a, 0); });
        if (result.has_cuda()) result.row("original CUDA kernel", [&] { run_original(stream, a); });
        std::vector<f32> calls(n), puts(n);
        f32 *const call = calls.data(), *const put = puts.data();
        const f32 *const price = options.price.data(), *const strike = options.strike.data(),
                         *const years = options.years.data();
        result.loop("C++ loop", host_kernel<&black_scholes_loop<true>>(), call, put, price, strike, years,
                    rate, volatility, n);
        result.loop("C++ loop with libm", host_kernel<&black_scholes_loop<false>>(), call, put, price, strike,
                    years, rate, volatility, n);
    }
}

}  // namespace

int main(int argc, char** argv) {
    return run(argc, argv,
               Port{"black_scholes",
                    4,
                    check_port,
                    measure_port,
                    [] { return concord::check(black_scholes); },
                    {original_spec}});
}
