// concord-math-speed: ns per element of concord/detail/math, of libm's scalar functions and of libmvec's AVX2 vectors.

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

template <class T>
using Loop = void (*)(const T*, T*);

// ours_NAME, libm_NAME and mvec_NAME: y[i] = NAME(x[i]), or NAME(x[i], 2.7 - x[i]).
#define SPEED_LOOP(name, type, call)                                            \
    [[gnu::noinline]] void name(const type* __restrict x, type* __restrict y) { \
        for (u32 i = 0; i < elements; ++i)                                      \
            y[i] = call;                                                        \
    }
#define SPEED_OURS(name)                                     \
    SPEED_LOOP(ours_##name, f32, concord_##name##_f32(x[i])) \
    SPEED_LOOP(ours_##name, f64, concord_##name##_f64(x[i]))
#define SPEED_LIBM(name) \
    SPEED_LOOP(libm_##name, f32, std::name(x[i])) SPEED_LOOP(libm_##name, f64, std::name(x[i]))
#define SPEED_MVEC(name)                                                             \
    extern "C" __m256 _ZGVdN8v_##name##f(__m256);                                    \
    extern "C" __m256d _ZGVdN4v_##name(__m256d);                                     \
    [[gnu::noinline]] void mvec_##name(const f32* __restrict x, f32* __restrict y) { \
        for (u32 i = 0; i < elements; i += 8)                                        \
            _mm256_storeu_ps(y + i, _ZGVdN8v_##name##f(_mm256_loadu_ps(x + i)));     \
    }                                                                                \
    [[gnu::noinline]] void mvec_##name(const f64* __restrict x, f64* __restrict y) { \
        for (u32 i = 0; i < elements; i += 4)                                        \
            _mm256_storeu_pd(y + i, _ZGVdN4v_##name(_mm256_loadu_pd(x + i)));        \
    }
#define SPEED_BINARY(name)                                                \
    SPEED_LOOP(ours_##name, f32, concord_##name##_f32(x[i], 2.7f - x[i])) \
    SPEED_LOOP(ours_##name, f64, concord_##name##_f64(x[i], 2.7 - x[i]))  \
    SPEED_LOOP(libm_##name, f32, std::name(x[i], 2.7f - x[i]))            \
    SPEED_LOOP(libm_##name, f64, std::name(x[i], 2.7 - x[i]))

// clang-format off
#define SPEED_WITH_LIBMVEC(X)                                                                              \
    X(exp)                                                                                                 \
    X(exp2)                                                                                                \
    X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
        X(tanh) X(erf) X(erfc) X(cbrt)
// clang-format on
CONCORD_MATH_UNARY(SPEED_OURS)
SPEED_WITH_LIBMVEC(SPEED_LIBM)
SPEED_WITH_LIBMVEC(SPEED_MVEC)
SPEED_LIBM(lgamma)
SPEED_LIBM(tgamma)
CONCORD_MATH_BINARY(SPEED_BINARY)

// The least time of many short runs: other programs may use the processor.
template <class T>
f64 nanoseconds(Loop<T> loop, const std::vector<T>& x, std::vector<T>& y) {
    if (loop == nullptr) return 0;
    f64 least = 1e9;
    for (u32 i = 0; i < 300; ++i) {
        const auto start = std::chrono::steady_clock::now();
        loop(x.data(), y.data());
        const std::chrono::duration<f64, std::nano> time = std::chrono::steady_clock::now() - start;
        least = std::min(least, time.count() / elements);
    }
    return least;
}

template <class T>
void row(const char* name, f64 low, f64 high, Loop<T> ours, Loop<T> libm, Loop<T> mvec) {
    std::vector<T> x(elements), y(elements);
    for (u32 i = 0; i < elements; ++i)
        x[i] = static_cast<T>(low + (high - low) * (i * 2654435761u) * 0x1p-32);
    std::printf("%-8s %s %9.2f %7.2f %8.2f\n", name, sizeof(T) == 4 ? "f32" : "f64",
                nanoseconds<T>(ours, x, y), nanoseconds<T>(libm, x, y), nanoseconds<T>(mvec, x, y));
}

template <class T>
void rows() {
#define SPEED_ROW(name, low, high) row<T>(#name, low, high, ours_##name, libm_##name, mvec_##name)
#define SPEED_ROW_LIBM(name, low, high) row<T>(#name, low, high, ours_##name, libm_##name, nullptr)
#define SPEED_ROW_OURS(name, low, high) row<T>(#name, low, high, ours_##name, nullptr, nullptr)
    SPEED_ROW(exp, -20, 20);
    SPEED_ROW(exp2, -20, 20);
    SPEED_ROW(expm1, -4, 4);
    SPEED_ROW(log, 0.01, 100);
    SPEED_ROW(log2, 0.01, 100);
    SPEED_ROW(log10, 0.01, 100);
    SPEED_ROW(log1p, -0.9, 10);
    SPEED_ROW_LIBM(pow, 0.1, 5);
    SPEED_ROW(sin, -10, 10);
    SPEED_ROW(cos, -10, 10);
    SPEED_ROW(tan, -10, 10);
    SPEED_ROW_OURS(sinpi, -10, 10);
    SPEED_ROW_OURS(cospi, -10, 10);
    SPEED_ROW(asin, -1, 1);
    SPEED_ROW(acos, -1, 1);
    SPEED_ROW(atan, -5, 5);
    SPEED_ROW_LIBM(atan2, -5, 5);
    SPEED_ROW(sinh, -5, 5);
    SPEED_ROW(cosh, -5, 5);
    SPEED_ROW(tanh, -5, 5);
    SPEED_ROW(erf, -4, 4);
    SPEED_ROW(erfc, -4, 9);
    SPEED_ROW_OURS(rsqrt, 0.1, 9);
    SPEED_ROW(cbrt, -9, 9);
    SPEED_ROW_LIBM(hypot, -5, 5);
    SPEED_ROW_LIBM(lgamma, 0.1, 20);
    SPEED_ROW_LIBM(tgamma, 0.1, 20);
}

}  // namespace

int main() {
    std::printf("ns per element: concord/detail/math    libm  libmvec (0: none)\n");
    rows<f32>();
    rows<f64>();
}
