// Functions of core/math: special values, exact results, and the digests of many results. concord-math-check compares
// them with MPFR.
#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <string>

#include "../../lab/math/functions.hpp"

using namespace concord;
using math_check::digest_f32;
using math_check::digest_f64;
using math_check::mix;

namespace {

constexpr f32 inf = CONCORD_INF_F32;
constexpr f64 inf64 = CONCORD_INF_F64;
constexpr f32 nan_with_payload = std::bit_cast<f32>(0xffc12345u);
constexpr f64 nan64_with_payload = std::bit_cast<f64>(0xfff8123456789abcu);

bool same(f32 a, f32 b) {
    return std::bit_cast<u32>(a) == std::bit_cast<u32>(b);
}
bool same(f64 a, f64 b) {
    return std::bit_cast<u64>(a) == std::bit_cast<u64>(b);
}

// f(x) has the bits of y in f32 and f64.
#define CHECK_BOTH(name, x, y)                                                                          \
    CHECK_MESSAGE(same(concord_##name##_f32(x), static_cast<f32>(y)), #name "_f32(" #x ") is not " #y); \
    CHECK_MESSAGE(same(concord_##name##_f64(x), static_cast<f64>(y)), #name "_f64(" #x ") is not " #y)
#define CHECK_BOTH_OF_TWO(name, x0, x1, y)                                 \
    CHECK_MESSAGE(same(concord_##name##_f32(x0, x1), static_cast<f32>(y)), \
                  #name "_f32(" #x0 ", " #x1 ") is not " #y);              \
    CHECK_MESSAGE(same(concord_##name##_f64(x0, x1), static_cast<f64>(y)), \
                  #name "_f64(" #x0 ", " #x1 ") is not " #y)
#define CHECK_NAN(name, x)                                                                              \
    CHECK_MESSAGE(same(concord_##name##_f32(x), CONCORD_NAN_F32), #name "_f32(" #x ") is not the NaN"); \
    CHECK_MESSAGE(same(concord_##name##_f64(x), CONCORD_NAN_F64), #name "_f64(" #x ") is not the NaN")
#define CHECK_KEEPS_ZERO(name)    \
    CHECK_BOTH(name, 0.0f, 0.0f); \
    CHECK_BOTH(name, -0.0f, -0.0f)

std::string hexadecimal(u64 x) {
    char text[20] = {};
    std::to_chars(text, text + sizeof text, x, 16);
    return text;
}

template <class Function>
u64 f32_digest(Function f) {
    u64 digest = 0;
    for (u64 bits = 0; bits < u64(1) << 32; bits += 32749) {
        const u32 x = static_cast<u32>(bits);
        digest += digest_f32(x, std::bit_cast<u32>(f(std::bit_cast<f32>(x))));
    }
    return digest;
}

// Half of the inputs have any bits, half a magnitude between 2^-8 and 2^8.
f64 f64_input(u64 i) {
    const u64 bits = mix(i + 1);
    if (i & 1) return std::bit_cast<f64>(bits);
    const u64 exponent = 1015 + (bits >> 52) % 16;
    return std::bit_cast<f64>((bits & 0x800fffffffffffff) | exponent << 52);
}

template <class Function>
u64 f64_digest(Function f) {
    u64 digest = 0;
    for (u64 i = 0; i < 40000; ++i) {
        const f64 x = f64_input(i);
        digest += digest_f64(std::bit_cast<u64>(x), std::bit_cast<u64>(f(x)));
    }
    return digest;
}

template <class F32, class F64>
void check_digests(const std::string& name, F32 f, F64 g, u64 expected, u64 expected64) {
    const u64 got = f32_digest(f), got64 = f64_digest(g);
    CHECK_MESSAGE(got == expected, name, "_f32: 0x", hexadecimal(got));
    CHECK_MESSAGE(got64 == expected64, name, "_f64: 0x", hexadecimal(got64));
}

}  // namespace

TEST_SUITE_BEGIN("math");

TEST_CASE("math_functions_return_one_nan") {
#define CHECK_NAN_ARGUMENT(name)                                          \
    CHECK(same(concord_##name##_f32(nan_with_payload), CONCORD_NAN_F32)); \
    CHECK(same(concord_##name##_f64(nan64_with_payload), CONCORD_NAN_F64));
    CONCORD_MATH_UNARY(CHECK_NAN_ARGUMENT)
#define CHECK_NAN_ARGUMENTS(name)                                                \
    CHECK(same(concord_##name##_f32(nan_with_payload, 2.0f), CONCORD_NAN_F32));  \
    CHECK(same(concord_##name##_f32(2.0f, nan_with_payload), CONCORD_NAN_F32));  \
    CHECK(same(concord_##name##_f64(nan64_with_payload, 2.0), CONCORD_NAN_F64)); \
    CHECK(same(concord_##name##_f64(2.0, nan64_with_payload), CONCORD_NAN_F64));
    CONCORD_MATH_BINARY(CHECK_NAN_ARGUMENTS)
    CHECK_NAN(log, -1.0f);
    CHECK_NAN(log2, -inf);
    CHECK_NAN(log10, -1e-30f);
    CHECK_NAN(log1p, -1.5f);
    CHECK_NAN(sin, inf);
    CHECK_NAN(cos, -inf);
    CHECK_NAN(tan, inf);
    CHECK_NAN(sinpi, -inf);
    CHECK_NAN(cospi, inf);
    CHECK_NAN(asin, 1.0000002f);
    CHECK_NAN(acos, -1.0000002f);
    CHECK_NAN(rsqrt, -1.0f);
    CHECK_NAN(tgamma, -1.0f);
    CHECK_NAN(tgamma, -inf);
    CHECK_BOTH_OF_TWO(pow, -2.0f, 0.5f, CONCORD_NAN_F64);
}

TEST_CASE("math_functions_at_zeros_and_infinities") {
    CHECK_KEEPS_ZERO(expm1);
    CHECK_KEEPS_ZERO(log1p);
    CHECK_KEEPS_ZERO(sin);
    CHECK_KEEPS_ZERO(tan);
    CHECK_KEEPS_ZERO(sinpi);
    CHECK_KEEPS_ZERO(asin);
    CHECK_KEEPS_ZERO(atan);
    CHECK_KEEPS_ZERO(sinh);
    CHECK_KEEPS_ZERO(tanh);
    CHECK_KEEPS_ZERO(erf);
    CHECK_KEEPS_ZERO(cbrt);
    CHECK_BOTH(exp, -inf, 0.0f);
    CHECK_BOTH(exp, inf, inf);
    CHECK_BOTH(exp2, -inf, 0.0f);
    CHECK_BOTH(exp2, inf, inf);
    CHECK_BOTH(expm1, -inf, -1.0f);
    CHECK_BOTH(expm1, inf, inf);
    CHECK_BOTH(log, 0.0f, -inf);
    CHECK_BOTH(log, -0.0f, -inf);
    CHECK_BOTH(log, inf, inf);
    CHECK_BOTH(log1p, -1.0f, -inf);
    CHECK_BOTH(log1p, inf, inf);
    CHECK_BOTH(sinh, -inf, -inf);
    CHECK_BOTH(cosh, -inf, inf);
    CHECK_BOTH(tanh, -inf, -1.0f);
    CHECK_BOTH(erf, inf, 1.0f);
    CHECK_BOTH(erfc, inf, 0.0f);
    CHECK_BOTH(erfc, -inf, 2.0f);
    CHECK_BOTH(rsqrt, 0.0f, inf);
    CHECK_BOTH(rsqrt, -0.0f, -inf);
    CHECK_BOTH(rsqrt, inf, 0.0f);
    CHECK_BOTH(cbrt, -inf, -inf);
    CHECK_BOTH(lgamma, 0.0f, inf);
    CHECK_BOTH(lgamma, -3.0f, inf);
    CHECK_BOTH(lgamma, -inf, inf);
    CHECK_BOTH(tgamma, 0.0f, inf);
    CHECK_BOTH(tgamma, -0.0f, -inf);
    CHECK_BOTH(tgamma, inf, inf);
    CHECK_BOTH(tgamma, -200.5f, -0.0f);
    CHECK_BOTH(sinpi, 3.0f, 0.0f);
    CHECK_BOTH(sinpi, -3.0f, -0.0f);
    CHECK_BOTH(cospi, -2.5f, 0.0f);
    CHECK(same(concord_atan_f32(-inf), -0x1.921fb6p+0f));
    CHECK(same(concord_atan_f64(-inf64), -0x1.921fb54442d18p+0));
}

TEST_CASE("math_functions_of_two_arguments_at_zeros_and_infinities") {
    CHECK_BOTH_OF_TWO(pow, nan_with_payload, 0.0f, 1.0f);
    CHECK_BOTH_OF_TWO(pow, 1.0f, nan_with_payload, 1.0f);
    CHECK_BOTH_OF_TWO(pow, -1.0f, inf, 1.0f);
    CHECK_BOTH_OF_TWO(pow, -0.0f, -3.0f, -inf);
    CHECK_BOTH_OF_TWO(pow, -0.0f, -2.0f, inf);
    CHECK_BOTH_OF_TWO(pow, -0.0f, 3.0f, -0.0f);
    CHECK_BOTH_OF_TWO(pow, -0.0f, 0.5f, 0.0f);
    CHECK_BOTH_OF_TWO(pow, -inf, 3.0f, -inf);
    CHECK_BOTH_OF_TWO(pow, -inf, -3.0f, -0.0f);
    CHECK_BOTH_OF_TWO(pow, inf, 1e-30f, inf);
    CHECK_BOTH_OF_TWO(pow, 0.0f, 0x1p-149f, 0.0f);
    CHECK_BOTH_OF_TWO(pow, inf, -0x1p-149f, 0.0f);
    CHECK_BOTH_OF_TWO(pow, 0.5f, inf, 0.0f);
    CHECK_BOTH_OF_TWO(pow, 0.5f, -inf, inf);
    CHECK_BOTH_OF_TWO(pow, -2.0f, 3.0f, -8.0f);
    CHECK_BOTH_OF_TWO(pow, -8.0f, -1.0f, -0.125f);
    CHECK_BOTH_OF_TWO(pow, 4097.0f, 2.0f, 16785409.0);
    CHECK_BOTH_OF_TWO(hypot, nan_with_payload, -inf, inf);
    CHECK_BOTH_OF_TWO(hypot, -3.0f, 4.0f, 5.0f);
    CHECK_BOTH_OF_TWO(hypot, 0.0f, -0.0f, 0.0f);
    CHECK_BOTH_OF_TWO(atan2, 0.0f, 1.0f, 0.0f);
    CHECK_BOTH_OF_TWO(atan2, -0.0f, 0.0f, -0.0f);
    CHECK_BOTH_OF_TWO(atan2, -1.0f, inf, -0.0f);
    CHECK(same(concord_atan2_f32(-0.0f, -0.0f), -0x1.921fb6p+1f));
    CHECK(same(concord_atan2_f64(0.0, -inf64), 0x1.921fb54442d18p+1));
    CHECK(same(concord_atan2_f64(inf64, -inf64), 0x1.2d97c7f3321d2p+1));
    CHECK(same(concord_atan2_f64(inf64, 1e300), 0x1.921fb54442d18p+0));
}

TEST_CASE("math_functions_are_exact_where_the_result_is_representable") {
    CHECK_BOTH(exp, 0.0f, 1.0f);
    CHECK_BOTH(exp2, -126.0f, 0x1p-126f);
    CHECK_BOTH(exp2, -149.0f, 0x1p-149f);
    CHECK_BOTH(exp2, 10.0f, 1024.0f);
    CHECK_BOTH(log, 1.0f, 0.0f);
    CHECK_BOTH(log2, 0x1p-149f, -149.0f);
    CHECK_BOTH(log2, 1024.0f, 10.0f);
    CHECK_BOTH(log10, 1e10f, 10.0f);
    CHECK_BOTH(cos, 0.0f, 1.0f);
    CHECK_BOTH(cospi, 1.0f, -1.0f);
    CHECK_BOTH(sinpi, -1.5f, 1.0f);
    CHECK_BOTH(acos, 1.0f, 0.0f);
    CHECK_BOTH(cosh, 0.0f, 1.0f);
    CHECK_BOTH(erfc, 0.0f, 1.0f);
    CHECK_BOTH(rsqrt, 0.0625f, 4.0f);
    CHECK_BOTH(cbrt, -27.0f, -3.0f);
    CHECK_BOTH(cbrt, 0x1p-147f, 0x1p-49f);
    CHECK_BOTH(lgamma, 1.0f, 0.0f);
    CHECK_BOTH(lgamma, 2.0f, 0.0f);
    CHECK_BOTH(tgamma, 5.0f, 24.0f);
    CHECK_BOTH(tgamma, 11.0f, 3628800.0f);
    CHECK(same(concord_exp2_f64(-1074.0), 0x1p-1074));
    CHECK(same(concord_log2_f64(0x1p-1074), -1074.0));
    CHECK(same(concord_tgamma_f64(23.0), 1124000727777607680000.0));
    CHECK(same(concord_cbrt_f64(0x1p-1074), 0x1p-358));
}

TEST_CASE("math_functions_of_subnormals") {
    const f32 tiny = 0x1p-149f;
    const f64 tiny64 = 0x1p-1074;
    CHECK(same(concord_sin_f32(tiny), tiny));
    CHECK(same(concord_sin_f64(-tiny64), -tiny64));
    CHECK(same(concord_expm1_f32(-tiny), -tiny));
    CHECK(same(concord_log1p_f64(tiny64), tiny64));
    CHECK(same(concord_sinpi_f32(tiny), 3 * tiny));
    CHECK(same(concord_sinpi_f64(tiny64), 3 * tiny64));
    CHECK(same(concord_exp_f32(-103.9f), tiny));
    CHECK(same(concord_exp_f32(-104.0f), 0.0f));
    CHECK(same(concord_exp_f64(-745.1), tiny64));
    CHECK(same(concord_exp_f64(-745.2), 0.0));
    CHECK(same(concord_atan2_f32(tiny, 1.0f), tiny));
    CHECK(same(concord_hypot_f64(3 * tiny64, 4 * tiny64), 5 * tiny64));
}

TEST_CASE("math_functions_have_the_digests_of_results_that_mpfr_confirmed") {
#define CHECK_DIGESTS(name, f32_digest, f64_digest)                                                          \
    check_digests(                                                                                           \
        #name, [](f32 x) { return concord_##name##_f32(x); }, [](f64 x) { return concord_##name##_f64(x); }, \
        f32_digest, f64_digest)
    CHECK_DIGESTS(exp, 0x4e43aa44bb5e7c3a, 0x617cad6e74c4e944);
    CHECK_DIGESTS(exp2, 0xe5fa97ace573d42e, 0xe0894bb4a9b1240c);
    CHECK_DIGESTS(expm1, 0x8125e603c84e6bd, 0xdd9ab5fd56ec4d2);
    CHECK_DIGESTS(log, 0x357ed75883943ed8, 0xe22db19679863348);
    CHECK_DIGESTS(log2, 0x9991d9808538d0b2, 0x7329bcdf3d164d77);
    CHECK_DIGESTS(log10, 0x9cf5c39bc48fb4b7, 0x2721ee30deb5b5b5);
    CHECK_DIGESTS(log1p, 0x7bd08a346555ad99, 0xea5d004ff25e3aed);
    CHECK_DIGESTS(sin, 0xb79dd4ee8b001644, 0x499c3446586f8a5e);
    CHECK_DIGESTS(cos, 0xb0fe03094812e43, 0xe6b6dfa2e4211062);
    CHECK_DIGESTS(tan, 0x5886dee6b62363b9, 0x48d54fa65a3b9671);
    CHECK_DIGESTS(sinpi, 0xe14d790582ff9f22, 0x57515d6dee6e1a37);
    CHECK_DIGESTS(cospi, 0xcdbf3b48124fb6b1, 0xa7e3eb78240c4785);
    CHECK_DIGESTS(asin, 0x172897ecc67853c4, 0x42b1ac068a5bd205);
    CHECK_DIGESTS(acos, 0xc1c938a3abbd521b, 0x53abdf172476109e);
    CHECK_DIGESTS(atan, 0x987241f8d52c1ade, 0xf3e9ecd44e23f983);
    CHECK_DIGESTS(sinh, 0xfdf72af3e7feb30a, 0xd80181f25a02d739);
    CHECK_DIGESTS(cosh, 0x9226624317a84935, 0xf3bb07f2d42abcc8);
    CHECK_DIGESTS(tanh, 0xdb29266dd512bfc, 0xe2cd65b6df2299ff);
    CHECK_DIGESTS(erf, 0x80487aa909aea365, 0xaaf5ca3552250d80);
    CHECK_DIGESTS(erfc, 0x5a0fb6cf83b66e09, 0x1143061aa8afb117);
    CHECK_DIGESTS(rsqrt, 0xd6d462fbddfd3bc8, 0x4ac890ccc81a8a3);
    CHECK_DIGESTS(cbrt, 0x871577a249905edf, 0x789eb51e8746051e);
    CHECK_DIGESTS(lgamma, 0x40fb1efdfe4fa82, 0xb40b777d222e5534);
    CHECK_DIGESTS(tgamma, 0x7668c9d98be367c4, 0x35c0c0adec80b623);
}

TEST_CASE("math_functions_of_two_arguments_have_their_digests") {
#define CHECK_DIGESTS_OF_TWO(name, expected, expected64)                                                   \
    {                                                                                                      \
        u64 got = 0, got64 = 0;                                                                            \
        for (u64 i = 0; i < 40000; ++i) {                                                                  \
            const f64 x = f64_input(2 * i + i % 2), y = f64_input(i % 5 ? 4 * i : 4 * i + 1);              \
            const u64 arguments = digest_f64(std::bit_cast<u64>(x), std::bit_cast<u64>(y));                \
            const f32 a = std::bit_cast<f32>(static_cast<u32>(mix(i)));                                    \
            const f32 result = concord_##name##_f32(i & 1 ? a : static_cast<f32>(x), static_cast<f32>(y)); \
            got += digest_f64(arguments, std::bit_cast<u32>(result));                                      \
            got64 += digest_f64(arguments, std::bit_cast<u64>(concord_##name##_f64(x, y)));                \
        }                                                                                                  \
        CHECK_MESSAGE(got == expected, #name "_f32: 0x", hexadecimal(got));                                \
        CHECK_MESSAGE(got64 == expected64, #name "_f64: 0x", hexadecimal(got64));                          \
    }
    CHECK_DIGESTS_OF_TWO(pow, 0x6e17bcce3e801a3c, 0x72b38de0f5731418);
    CHECK_DIGESTS_OF_TWO(atan2, 0x4beb022e8a543ed5, 0x79549292cd80067e);
    CHECK_DIGESTS_OF_TWO(hypot, 0xe5b2747245788fb0, 0x68334b7f4af399d4);
}

TEST_SUITE_END();
