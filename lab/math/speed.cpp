// concord-math-speed: ns per element of core/math, of libm's scalar functions and of libmvec's vectors of eight.

#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "functions.hpp"

namespace {

using namespace concord;
constexpr u32 elements = 4096;

struct Case {
    const char* name;
    f32 low, high;
    void (*ours)(const f32*, f32*);
    void (*libm)(const f32*, f32*);
    void (*mvec)(const f32*, f32*);
};

#define SPEED_OURS(name)                                                                                       \
    [[gnu::noinline]] void name##_ours(const f32* __restrict x, f32* __restrict y) {                           \
        for (u32 i = 0; i < elements; ++i) y[i] = concord_##name##_f32(x[i]);                                  \
    }
#define SPEED_LIBM(name)                                                                                       \
    [[gnu::noinline]] void name##_libm(const f32* __restrict x, f32* __restrict y) {                           \
        for (u32 i = 0; i < elements; ++i) y[i] = std::name(x[i]);                                             \
    }
#define SPEED_MVEC(name)                                                                                       \
    extern "C" __m256 _ZGVdN8v_##name##f(__m256);                                                              \
    [[gnu::noinline]] void name##_mvec(const f32* __restrict x, f32* __restrict y) {                           \
        for (u32 i = 0; i < elements; i += 8) _mm256_storeu_ps(y + i, _ZGVdN8v_##name##f(_mm256_loadu_ps(x + i))); \
    }
#define SPEED_ALL(name) SPEED_OURS(name) SPEED_LIBM(name)
SPEED_ALL(exp) SPEED_MVEC(exp)
SPEED_ALL(exp2) SPEED_MVEC(exp2)
SPEED_ALL(expm1) SPEED_MVEC(expm1)
SPEED_ALL(log) SPEED_MVEC(log)
SPEED_ALL(log2) SPEED_MVEC(log2)
SPEED_ALL(log10) SPEED_MVEC(log10)
SPEED_ALL(log1p) SPEED_MVEC(log1p)
SPEED_ALL(sin) SPEED_MVEC(sin)
SPEED_ALL(cos) SPEED_MVEC(cos)
SPEED_ALL(tan) SPEED_MVEC(tan)
SPEED_ALL(asin) SPEED_MVEC(asin)
SPEED_ALL(acos) SPEED_MVEC(acos)
SPEED_ALL(atan) SPEED_MVEC(atan)
SPEED_ALL(sinh) SPEED_MVEC(sinh)
SPEED_ALL(cosh) SPEED_MVEC(cosh)
SPEED_ALL(tanh) SPEED_MVEC(tanh)
SPEED_ALL(erf) SPEED_MVEC(erf)
SPEED_ALL(erfc) SPEED_MVEC(erfc)
SPEED_ALL(cbrt) SPEED_MVEC(cbrt)
SPEED_OURS(rsqrt) SPEED_OURS(sinpi) SPEED_OURS(cospi)
SPEED_ALL(lgamma) SPEED_ALL(tgamma)
[[gnu::noinline]] void pow_ours(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = concord_pow_f32(x[i], 2.7f - x[i]);
}
[[gnu::noinline]] void pow_libm(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = std::pow(x[i], 2.7f - x[i]);
}
extern "C" __m256 _ZGVdN8vv_powf(__m256, __m256);
[[gnu::noinline]] void pow_mvec(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; i += 8) {
        const __m256 v = _mm256_loadu_ps(x + i);
        _mm256_storeu_ps(y + i, _ZGVdN8vv_powf(v, _mm256_sub_ps(_mm256_set1_ps(2.7f), v)));
    }
}
[[gnu::noinline]] void atan2_ours(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = concord_atan2_f32(x[i], 2.7f - x[i]);
}
[[gnu::noinline]] void atan2_libm(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = std::atan2(x[i], 2.7f - x[i]);
}
[[gnu::noinline]] void hypot_ours(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = concord_hypot_f32(x[i], 2.7f - x[i]);
}
[[gnu::noinline]] void hypot_libm(const f32* __restrict x, f32* __restrict y) {
    for (u32 i = 0; i < elements; ++i) y[i] = std::hypot(x[i], 2.7f - x[i]);
}

#define SPEED_ROW(name, low, high) {#name, low, high, name##_ours, name##_libm, name##_mvec}
const Case cases[] = {
    SPEED_ROW(exp, -20, 20), SPEED_ROW(exp2, -20, 20), SPEED_ROW(expm1, -4, 4), SPEED_ROW(log, 0.01f, 100),
    SPEED_ROW(log2, 0.01f, 100), SPEED_ROW(log10, 0.01f, 100), SPEED_ROW(log1p, -0.9f, 10), SPEED_ROW(sin, -10, 10),
    SPEED_ROW(cos, -10, 10), SPEED_ROW(tan, -10, 10), {"sinpi", -10, 10, sinpi_ours, nullptr, nullptr},
    {"cospi", -10, 10, cospi_ours, nullptr, nullptr}, SPEED_ROW(asin, -1, 1), SPEED_ROW(acos, -1, 1),
    SPEED_ROW(atan, -5, 5), SPEED_ROW(sinh, -5, 5), SPEED_ROW(cosh, -5, 5), SPEED_ROW(tanh, -5, 5),
    SPEED_ROW(erf, -4, 4), SPEED_ROW(erfc, -4, 9), {"rsqrt", 0.1f, 9, rsqrt_ours, nullptr, nullptr},
    SPEED_ROW(cbrt, -9, 9), {"lgamma", 0.1f, 20, lgamma_ours, lgamma_libm, nullptr},
    {"tgamma", 0.1f, 20, tgamma_ours, tgamma_libm, nullptr}, SPEED_ROW(pow, 0.1f, 5),
    {"atan2", -5, 5, atan2_ours, atan2_libm, nullptr}, {"hypot", -5, 5, hypot_ours, hypot_libm, nullptr}};

// The least time of many short runs: other programs may use the processor.
f64 nanoseconds(void (*f)(const f32*, f32*), const std::vector<f32>& x, std::vector<f32>& y) {
    if (f == nullptr) return 0;
    f64 least = 1e9;
    for (u32 i = 0; i < 200; ++i) {
        const auto start = std::chrono::steady_clock::now();
        f(x.data(), y.data());
        const std::chrono::duration<f64, std::nano> time = std::chrono::steady_clock::now() - start;
        least = std::min(least, time.count() / elements);
    }
    return least;
}

}  // namespace

int main() {
    std::printf("f32      core/math  libm  libmvec   ns per element\n");
    for (const Case& c : cases) {
        std::vector<f32> x(elements), y(elements);
        for (u32 i = 0; i < elements; ++i)
            x[i] = c.low + (c.high - c.low) * static_cast<f32>(i * 2654435761u >> 8) * 0x1p-24f;
        std::printf("%-8s %7.2f %7.2f %7.2f\n", c.name, nanoseconds(c.ours, x, y), nanoseconds(c.libm, x, y),
                    nanoseconds(c.mvec, x, y));
    }
}
