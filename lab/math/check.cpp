// concord-math-check: compares the functions of concord/detail/math with MPFR.
//
//     concord-math-check [--type f32|f64] [--functions exp,log] [--first 0] [--end 0x100000000] [--stride 1]
//                        [--count 1000000] [--threads 1] [--list 20]
//
// f32, one argument: every stride-th bit pattern from first to end. glibc's f64 function decides unless its result lies
// within 2^-40 of a rounding boundary, where MPFR decides. f32, two arguments, and f64: count inputs, random in their
// bits and near special points. Prints the inputs tried, wrong roundings or the largest error in ulp, and the digest of
// all results.

#include <mpfr.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "functions.hpp"

namespace {

using namespace concord;

constexpr u32 block = 4096;

// --- references ------------------------------------------------------------------------------------------------------

f64 reference_sinpi(f64 x) {
    if (!std::isfinite(x)) return NAN;
    const f64 r = std::remainder(x, 2.0);
    if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
    const f64 a = std::fabs(r), b = a > 0.5 ? 1 - a : a;
    return std::copysign(b <= 0.25 ? std::sin(M_PI * b) : std::cos(M_PI * (0.5 - b)), r);
}
f64 reference_cospi(f64 x) {
    if (!std::isfinite(x)) return NAN;
    const f64 a = std::fabs(std::remainder(x, 2.0));
    if (a == 0.5) return 0.0;
    const f64 b = a > 0.5 ? 1 - a : a;
    return std::copysign(b <= 0.25 ? std::cos(M_PI * b) : std::sin(M_PI * (0.5 - b)), 0.5 - a);
}
f64 reference_rsqrt(f64 x) {
    return 1 / std::sqrt(x);
}
f64 reference_lgamma(f64 x) {
    int sign = 0;
    return lgamma_r(x, &sign);
}
f64 reference_tgamma(f64 x) {
    return x == -INFINITY ? NAN : std::tgamma(x);
}

int mpfr_of_sinpi(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) {
    return mpfr_sinpi(y, x, r);
}
int mpfr_of_cospi(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) {
    return mpfr_cospi(y, x, r);
}
int mpfr_of_lgamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) {
    int sign = 0;
    return mpfr_lgamma(y, &sign, x, r);
}

struct Unary {
    const char* name;
    void (*f32_block)(const f32* x, f32* y);
    void (*f64_block)(const f64* x, f64* y);
    f64 (*reference)(f64);
    int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
    i32 parity;  // -1: odd, 1: even
};

struct Binary {
    const char* name;
    f32 (*f32_value)(f32, f32);
    f64 (*f64_value)(f64, f64);
    f64 (*reference)(f64, f64);
    int (*exact)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);
};

#define CHECK_BLOCK(name)                                           \
    [[gnu::noinline]] void name##_f32_block(const f32* x, f32* y) { \
        for (u32 i = 0; i < block; ++i)                             \
            y[i] = concord_##name##_f32(x[i]);                      \
    }
CONCORD_MATH_UNARY(CHECK_BLOCK)
#ifdef CONCORD_MATH_F64
#define CHECK_BLOCK_F64(name)                                       \
    [[gnu::noinline]] void name##_f64_block(const f64* x, f64* y) { \
        for (u32 i = 0; i < block; ++i)                             \
            y[i] = concord_##name##_f64(x[i]);                      \
    }
CONCORD_MATH_UNARY(CHECK_BLOCK_F64)
#define CHECK_F64(name) name##_f64_block
#define CHECK_F64_BINARY(name) [](f64 x, f64 y) { return concord_##name##_f64(x, y); }
#else
#define CHECK_F64(name) nullptr
#define CHECK_F64_BINARY(name) nullptr
#endif

#define CHECK_UNARY(name, reference, exact, parity) \
    { #name, name##_f32_block, CHECK_F64(name), reference, exact, parity }
const Unary unary[] = {
    CHECK_UNARY(exp, std::exp, mpfr_exp, 0),
    CHECK_UNARY(exp2, std::exp2, mpfr_exp2, 0),
    CHECK_UNARY(expm1, std::expm1, mpfr_expm1, 0),
    CHECK_UNARY(log, std::log, mpfr_log, 0),
    CHECK_UNARY(log2, std::log2, mpfr_log2, 0),
    CHECK_UNARY(log10, std::log10, mpfr_log10, 0),
    CHECK_UNARY(log1p, std::log1p, mpfr_log1p, 0),
    CHECK_UNARY(sin, std::sin, mpfr_sin, -1),
    CHECK_UNARY(cos, std::cos, mpfr_cos, 1),
    CHECK_UNARY(tan, std::tan, mpfr_tan, -1),
    CHECK_UNARY(sinpi, reference_sinpi, mpfr_of_sinpi, -1),
    CHECK_UNARY(cospi, reference_cospi, mpfr_of_cospi, 1),
    CHECK_UNARY(asin, std::asin, mpfr_asin, -1),
    CHECK_UNARY(acos, std::acos, mpfr_acos, 0),
    CHECK_UNARY(atan, std::atan, mpfr_atan, -1),
    CHECK_UNARY(sinh, std::sinh, mpfr_sinh, -1),
    CHECK_UNARY(cosh, std::cosh, mpfr_cosh, 1),
    CHECK_UNARY(tanh, std::tanh, mpfr_tanh, -1),
    CHECK_UNARY(erf, std::erf, mpfr_erf, -1),
    CHECK_UNARY(erfc, std::erfc, mpfr_erfc, 0),
    CHECK_UNARY(rsqrt, reference_rsqrt, mpfr_rec_sqrt, 0),
    CHECK_UNARY(cbrt, std::cbrt, mpfr_cbrt, -1),
    CHECK_UNARY(lgamma, reference_lgamma, mpfr_of_lgamma, 0),
    CHECK_UNARY(tgamma, reference_tgamma, mpfr_gamma, 0),
};

#define CHECK_BINARY(name, reference, exact)                                                               \
    {                                                                                                      \
#name, [](f32 x, f32 y) { return concord_##name##_f32(x, y); }, CHECK_F64_BINARY(name), reference, \
                                                                     exact                                 \
    }
const Binary binary[] = {
    CHECK_BINARY(pow, std::pow, mpfr_pow),
    CHECK_BINARY(atan2, std::atan2, mpfr_atan2),
    CHECK_BINARY(hypot, std::hypot, mpfr_hypot),
};

// --- f32 -------------------------------------------------------------------------------------------------------------

u32 bits(f32 x) {
    return std::bit_cast<u32>(x);
}
u64 bits(f64 x) {
    return std::bit_cast<u64>(x);
}

// The correctly rounded result, from an f64 value with a relative error below 2^-42, and whether it is sure.
bool decided(f64 y, f32& rounded) {
    const f64 margin = std::fabs(y) * 0x1p-40;
    const f32 low = static_cast<f32>(y - margin), high = static_cast<f32>(y + margin);
    rounded = static_cast<f32>(y);
    if (rounded != rounded) rounded = std::bit_cast<f32>(0x7fc00000u);
    if (y != y || std::isinf(y) || y == 0) return true;
    return low == high && (low != 0 || std::fabs(y) < 0x1p-160);
}

struct Work {
    mpfr_t x, y, z;
    Work() { mpfr_inits2(300, x, y, z, static_cast<mpfr_ptr>(nullptr)); }
    ~Work() { mpfr_clears(x, y, z, static_cast<mpfr_ptr>(nullptr)); }
};

struct Count {
    u64 tried = 0, wrong = 0, exact = 0, digest = 0;
    f64 worst = 0;  // error of the worst result in ulp
    f64 worst_at[2] = {};
    void add(const Count& c) {
        tried += c.tried, wrong += c.wrong, exact += c.exact, digest += c.digest;
        if (c.worst > worst) worst = c.worst, worst_at[0] = c.worst_at[0], worst_at[1] = c.worst_at[1];
    }
};

std::mutex printing;
u64 list = 20;

void wrong_f32(const char* name, u32 x, u32 y, u32 expected, Count& count) {
    const f64 error = std::fabs(static_cast<f64>(static_cast<i32>(y)) - static_cast<i32>(expected));
    if (error > count.worst) count.worst = error, count.worst_at[0] = std::bit_cast<f32>(x);
    if (count.wrong++ >= list) return;
    const std::scoped_lock lock(printing);
    std::printf("wrong: %s(0x%08x = %a) is 0x%08x, not 0x%08x\n", name, x,
                static_cast<f64>(std::bit_cast<f32>(x)), y, expected);
}

// Compares results with the correctly rounded ones, which are the references with these signs where those decide.
void compare_f32(const Unary& f, const f32* x, const f32* y, const f64* reference, Work& work, Count& count) {
    u32 open[block];
    for (u32 i = 0; i < block; ++i) {
        const f64 r = reference[i], margin = std::fabs(r) * 0x1p-40;
        const u32 low = bits(static_cast<f32>(r - margin)), high = bits(static_cast<f32>(r + margin));
        open[i] = (low ^ high) | (bits(y[i]) ^ low);
    }
    u64 digest = 0;
    for (u32 i = 0; i < block; ++i)
        digest += math_check::digest_f32(bits(x[i]), bits(y[i]));
    count.digest += digest;
    count.tried += block;
    for (u32 i = 0; i < block; ++i) {
        if (open[i] == 0) continue;
        f32 expected = 0;
        if (!decided(reference[i], expected)) {
            mpfr_set_flt(work.x, x[i], MPFR_RNDN);
            f.exact(work.y, work.x, MPFR_RNDN);
            expected = mpfr_get_flt(work.y, MPFR_RNDN);
            ++count.exact;
        }
        if (bits(y[i]) != bits(expected)) wrong_f32(f.name, bits(x[i]), bits(y[i]), bits(expected), count);
    }
}

void check_unary_f32(const Unary& f, u32 first, u32 stride, Work& work, Count& count) {
    f32 x[block], y[block];
    f64 reference[block];
    for (u32 i = 0; i < block; ++i)
        x[i] = std::bit_cast<f32>(first + i * stride);
    for (u32 i = 0; i < block; ++i)
        reference[i] = f.reference(static_cast<f64>(x[i]));
    f.f32_block(x, y);
    compare_f32(f, x, y, reference, work, count);
    if (f.parity == 0) return;
    for (f32& v : x)
        v = -v;
    if (f.parity < 0) {
        for (f64& v : reference)
            v = -v;
    }
    f.f32_block(x, y);
    compare_f32(f, x, y, reference, work, count);
}

// Odd and even functions are decided for x >= 0, which gives the result for -x. Inputs that fill no block are left out.
Count run_unary_f32(const Unary& f, u64 first, u64 end, u64 stride, u32 threads) {
    if (f.parity != 0) end = std::min<u64>(end, u64(1) << 31);
    const u64 blocks = end <= first ? 0 : (end - first) / stride / block;
    std::atomic<u64> next = 0;
    Count total;
    std::vector<std::thread> pool;
    for (u32 t = 0; t < threads; ++t) {
        pool.emplace_back([&] {
            Work work;
            Count count;
            for (u64 b; (b = next.fetch_add(1)) < blocks;) {
                check_unary_f32(f, static_cast<u32>(first + b * block * stride), static_cast<u32>(stride),
                                work, count);
            }
            const std::scoped_lock lock(printing);
            total.add(count);
        });
    }
    for (std::thread& t : pool)
        t.join();
    return total;
}

// --- random inputs ---------------------------------------------------------------------------------------------------

struct Random {
    u64 state;
    u64 next() {
        state += 0x9e3779b97f4a7c15;
        return math_check::mix(state);
    }
    f64 unit() { return static_cast<f64>(next() >> 11) * 0x1p-53; }
};

// The last row is near zeros of lgamma.
const f64 points[] = {0.0,
                      1.0,
                      -1.0,
                      2.0,
                      -2.0,
                      0.5,
                      -0.5,
                      3.0,
                      -3.0,
                      10.0,
                      -10.0,
                      0.25,
                      1.5,
                      8.0,
                      -2.5,
                      100.,
                      1e-8,
                      1e8,
                      20.0,
                      25.0,
                      M_PI,
                      M_PI_2,
                      M_PI_4,
                      M_PI * 1e5,
                      M_SQRT2,
                      M_LN2,
                      709.0,
                      -745.0,
                      1024.,
                      -1074.,
                      0.875,
                      1.25,
                      -4.04,
                      171.6,
                      -0.3,
                      26.5,
                      5.8,
                      1e300,
                      1e-300,
                      22.0,
                      36.0,
                      0.0009765625,
                      -2.4570247382208006,
                      -2.7476826467274127,
                      -3.1435808883499798,
                      -3.9552942848585979,
                      -4.0393613654137503,
                      -4.9915448156888573};

// A quarter each: any bits, moderate magnitudes, near a special point (nearer and nearer), few significant bits.
template <class T>
T random_input(Random& r) {
    using U = std::conditional_t<sizeof(T) == 4, u32, u64>;
    const u64 kind = r.next() & 3;
    if (kind == 0) return std::bit_cast<T>(static_cast<U>(r.next()));
    if (kind == 1)
        return static_cast<T>((r.unit() * 2 - 1) * std::exp2(static_cast<f64>(r.next() % 24) - 12));
    if (kind == 2) {
        const f64 p = points[r.next() % std::size(points)];
        return static_cast<T>(p + (r.unit() * 2 - 1) * std::exp2(-static_cast<f64>(r.next() % 52)));
    }
    return static_cast<T>(std::ldexp(static_cast<f64>(static_cast<i64>(r.next() % 8192) - 4096),
                                     static_cast<i32>(r.next() % 24) - 12));
}

void note_f64(const char* name, f64 x0, f64 x1, f64 y, mpfr_t exact, mpfr_t scratch, Count& count, bool two) {
    const f64 expected = mpfr_get_d(exact, MPFR_RNDN);
    ++count.tried;
    f64 error = 0;
    if (expected != expected || std::isinf(expected) || expected == 0 || y != y || std::isinf(y)) {
        const u64 e = expected != expected ? 0x7ff8000000000000 : bits(expected);
        if (bits(y) == e) return;
        error = expected == expected && y == y && !std::isinf(y) ? 1.5 : INFINITY;
        // An infinity that is one rounding away, and zeros.
        if (std::isinf(expected) && std::fabs(y) == 0x1.fffffffffffffp1023 && (y > 0) == (expected > 0))
            error = 0.99;
        if (std::isinf(y) && std::fabs(expected) == 0x1.fffffffffffffp1023 && (y > 0) == (expected > 0))
            error = 0.99;
        if (expected == 0 && std::fabs(y) == 0x1p-1074) error = 0.99;
    } else {
        i32 exponent = 0;
        std::frexp(expected, &exponent);
        mpfr_sub_d(scratch, exact, y, MPFR_RNDN);
        mpfr_mul_2si(scratch, scratch, -std::max(exponent - 53, -1074), MPFR_RNDN);
        error = std::fabs(mpfr_get_d(scratch, MPFR_RNDN));
    }
    if (bits(y) != bits(expected)) ++count.wrong;
    if (error > count.worst) {
        count.worst = error, count.worst_at[0] = x0, count.worst_at[1] = x1;
        if (error <= 1) return;
        const std::scoped_lock lock(printing);
        if (two) {
            std::printf("%s(%a, %a) is %a, not %a: %.4f ulp\n", name, x0, x1, y, expected, error);
        } else {
            std::printf("%s(%a = %.17g) is %a, not %a: %.4f ulp\n", name, x0, x0, y, expected, error);
        }
    }
}

template <class Body>
Count on_threads(u64 count, u32 threads, Body body) {
    Count total;
    std::vector<std::thread> pool;
    for (u32 t = 0; t < threads; ++t) {
        pool.emplace_back([&, t] {
            Work work;
            Count c;
            for (u64 b = t; b < (count + block - 1) / block; b += threads) {
                Random random{b * 0x632be59bd9b4e019 + 1};
                body(random, work, c);
            }
            const std::scoped_lock lock(printing);
            total.add(c);
        });
    }
    for (std::thread& t : pool)
        t.join();
    return total;
}

Count run_unary_f64(const Unary& f, u64 count, u32 threads) {
    return on_threads(count, threads, [&](Random& random, Work& work, Count& c) {
        f64 x[block], y[block];
        for (f64& v : x)
            v = random_input<f64>(random);
        f.f64_block(x, y);
        for (u32 i = 0; i < block; ++i) {
            c.digest += math_check::digest_f64(bits(x[i]), bits(y[i]));
            mpfr_set_d(work.x, x[i], MPFR_RNDN);
            const bool trigonometric = std::strchr("sct", f.name[0]) && std::fabs(x[i]) > 1e5;
            mpfr_set_prec(work.y, trigonometric ? 200 : 160);
            f.exact(work.y, work.x, MPFR_RNDN);
            if (f.reference == reference_rsqrt && x[i] == 0) mpfr_set_d(work.y, f.reference(x[i]), MPFR_RNDN);
            if (!mpfr_number_p(work.y) || mpfr_zero_p(work.y))
                mpfr_set_d(work.y, f.reference(x[i]), MPFR_RNDN);
            note_f64(f.name, x[i], 0, y[i], work.y, work.z, c, false);
        }
    });
}

template <class T>
Count run_binary(const Binary& f, u64 count, u32 threads) {
    return on_threads(count, threads, [&](Random& random, Work& work, Count& c) {
        for (u32 i = 0; i < block; ++i) {
            T x = random_input<T>(random), y = random_input<T>(random);
            if ((random.next() & 3) == 0) {
                // Results in range: pow with x^y near a power of 2 in [2^-150, 2^150], the others with like magnitudes.
                x = std::fabs(x);
                if (f.exact == mpfr_pow && x > 0) {
                    y = static_cast<T>((random.unit() * 2 - 1) * (sizeof(T) == 4 ? 150 : 1080) /
                                       std::log2(x));
                } else {
                    y = static_cast<T>(x * (random.unit() * 4 - 2));
                }
            }
            mpfr_set_d(work.x, x, MPFR_RNDN);
            mpfr_set_d(work.z, y, MPFR_RNDN);
            if constexpr (sizeof(T) == 4) {
                const f32 result = f.f32_value(x, y);
                c.digest += math_check::mix(math_check::digest_f32(bits(x), bits(y)) ^ bits(result));
                f32 expected = 0;
                if (!decided(f.reference(x, y), expected)) {
                    f.exact(work.y, work.x, work.z, MPFR_RNDN);
                    expected = mpfr_get_flt(work.y, MPFR_RNDN);
                    ++c.exact;
                }
                ++c.tried;
                if (bits(result) == bits(expected)) continue;
                if (c.wrong < list) std::printf("(%a, %a): ", static_cast<f64>(x), static_cast<f64>(y));
                wrong_f32(f.name, bits(x), bits(result), bits(expected), c);
            } else {
                const f64 result = f.f64_value(x, y);
                c.digest += math_check::digest_f64(math_check::digest_f64(bits(x), bits(y)), bits(result));
                f.exact(work.y, work.x, work.z, MPFR_RNDN);
                if (!mpfr_number_p(work.y) || mpfr_zero_p(work.y))
                    mpfr_set_d(work.y, f.reference(x, y), MPFR_RNDN);
                note_f64(f.name, x, y, result, work.y, work.z, c, true);
            }
        }
    });
}

bool selected(const std::string& names, const char* name) {
    if (names.empty()) return true;
    std::string list_of_names = names;
    list_of_names.insert(0, 1, ',');
    list_of_names.push_back(',');
    return list_of_names.find(std::string(1, ',').append(name).append(1, ',')) != std::string::npos;
}

void report(const char* name, const char* type, const Count& c, f64 seconds) {
    std::printf(
        "%-7s %s  inputs %llu  wrong roundings %llu  worst %.4f ulp at (%a, %a)  by MPFR %llu  digest "
        "%016llx  %.1f s\n",
        name, type, static_cast<unsigned long long>(c.tried), static_cast<unsigned long long>(c.wrong),
        c.worst, c.worst_at[0], c.worst_at[1], static_cast<unsigned long long>(c.exact),
        static_cast<unsigned long long>(c.digest), seconds);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    std::string type = "f32", functions;
    u64 stride = 1, count = 1000000, first = 0, end = u64(1) << 32;
    u32 threads = 1;
    if (argc % 2 == 0) {
        std::fprintf(stderr,
                     "concord-math-check: an option lacks its value, or there is an argument too many; see "
                     "the head of check.cpp\n");
        return 2;
    }
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--type") type = argv[i + 1];
        if (option == "--functions") functions = argv[i + 1];
        if (option == "--stride") stride = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--first") first = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--end") end = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--count") count = std::strtoull(argv[i + 1], nullptr, 0);
        if (option == "--threads") threads = static_cast<u32>(std::strtoul(argv[i + 1], nullptr, 0));
        if (option == "--list") list = std::strtoull(argv[i + 1], nullptr, 0);
    }
    bool good = true;
    const auto timed = [&](const char* name, auto run) {
        if (!selected(functions, name)) return;
        const auto start = std::chrono::steady_clock::now();
        const Count c = run();
        report(name, type.c_str(), c,
               std::chrono::duration<f64>(std::chrono::steady_clock::now() - start).count());
        good = good && (type == "f32" ? c.worst <= 1 : c.worst <= 1);
    };
    for (const Unary& f : unary) {
        if (type == "f32") timed(f.name, [&] { return run_unary_f32(f, first, end, stride, threads); });
        if (type == "f64" && f.f64_block) timed(f.name, [&] { return run_unary_f64(f, count, threads); });
    }
    for (const Binary& f : binary) {
        if (type == "f32") timed(f.name, [&] { return run_binary<f32>(f, count, threads); });
        if (type == "f64" && f.f64_value) timed(f.name, [&] { return run_binary<f64>(f, count, threads); });
    }
    return good ? 0 : 1;
}
