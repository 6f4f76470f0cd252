// Names that tables.h, f32.h, f64.h and vocabulary.h use in C++20, CUDA C++ and OpenCL C 1.2.
//
// A .cu file for nvcc sees the functions of the host, unless it defines CONCORD_MATH_FOR_NVCC. The types u32, u64, i32, i64, f32 and f64 exist before this file. Results are bitwise the same everywhere if the
// compiler neither contracts nor reassociates, keeps denormals, and rounds f64 +, -, *, /, sqrt and fma to nearest.
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define CONCORD_MATH inline static
#define CONCORD_OVERLOAD inline static __attribute__((overloadable))
#ifdef CONCORD_FP64
#define CONCORD_HAS_F64 1
#else
#define CONCORD_HAS_F64 0
#endif
#define CONCORD_TABLE(type, name, count) __constant type name[count]
#define CONCORD_FMA(a, b, c) fma((f64)(a), (f64)(b), (f64)(c))
#define CONCORD_SQRT(a) sqrt((f64)(a))
#define CONCORD_MULTIPLY_HIGH(a, b) mul_hi((u64)(a), (u64)(b))
#define CONCORD_POPCOUNT_32(x) (i32) popcount((u32)(x))
#define CONCORD_POPCOUNT_64(x) (i32) popcount((u64)(x))
#define CONCORD_CLZ_32(x) (i32) clz((u32)(x))
#define CONCORD_CLZ_64(x) (i32) clz((u64)(x))
#define CONCORD_F64_BITS(x) as_ulong((f64)(x))
#define CONCORD_F64_OF(u) as_double((u64)(u))
#define CONCORD_F32_BITS(x) as_uint((f32)(x))
#define CONCORD_F32_OF(u) as_float((u32)(u))
// Correctly rounded also where the division of f32 is not.
#define CONCORD_INVERSE_F32(x) (f32)(1.0 / (f64)(x))
#elif defined(__CUDACC_RTC__) || defined(CONCORD_MATH_FOR_NVCC)
#define CONCORD_MATH static __device__ __forceinline__
#define CONCORD_OVERLOAD static __device__ __forceinline__
#define CONCORD_HAS_F64 1
#define CONCORD_TABLE(type, name, count) static __device__ const type name[count]
#define CONCORD_FMA(a, b, c) __fma_rn(a, b, c)
#define CONCORD_SQRT(a) __dsqrt_rn(a)
#define CONCORD_MULTIPLY_HIGH(a, b) __umul64hi(a, b)
#define CONCORD_POPCOUNT_32(x) __popc(x)
#define CONCORD_POPCOUNT_64(x) __popcll(x)
#define CONCORD_CLZ_32(x) __clz((int)(x))
#define CONCORD_CLZ_64(x) __clzll((long long)(x))
#define CONCORD_F64_BITS(x) ((u64)__double_as_longlong(x))
#define CONCORD_F64_OF(u) __longlong_as_double((long long)(u))
#define CONCORD_F32_BITS(x) __float_as_uint(x)
#define CONCORD_F32_OF(u) __uint_as_float(u)
#define CONCORD_INVERSE_F32(x) (1.0f / (x))
#else
#define CONCORD_MATH [[gnu::always_inline]] inline
#define CONCORD_OVERLOAD [[gnu::always_inline]] inline
#define CONCORD_HAS_F64 1
#define CONCORD_TABLE(type, name, count) inline constexpr type name[count]
#define CONCORD_FMA(a, b, c) __builtin_fma(a, b, c)
#define CONCORD_SQRT(a) __builtin_sqrt(a)
#define CONCORD_POPCOUNT_32(x) __builtin_popcount(x)
#define CONCORD_POPCOUNT_64(x) __builtin_popcountll(x)
#define CONCORD_CLZ_32(x) ((x) == 0 ? 32 : __builtin_clz(x))
#define CONCORD_CLZ_64(x) ((x) == 0 ? 64 : __builtin_clzll(x))
#define CONCORD_MULTIPLY_HIGH(a, b) (u64)((__extension__(unsigned __int128)(a) * (b)) >> 64)
#define CONCORD_F64_BITS(x) __builtin_bit_cast(u64, (f64)(x))
#define CONCORD_F64_OF(u) __builtin_bit_cast(f64, (u64)(u))
#define CONCORD_F32_BITS(x) __builtin_bit_cast(u32, (f32)(x))
#define CONCORD_F32_OF(u) __builtin_bit_cast(f32, (u32)(u))
#define CONCORD_INVERSE_F32(x) (1.0f / (x))
#endif

#define CONCORD_NAN_F32 CONCORD_F32_OF(0x7fc00000)
#define CONCORD_NAN_F64 CONCORD_F64_OF(0x7ff8000000000000)
#define CONCORD_INF_F32 CONCORD_F32_OF(0x7f800000)
#define CONCORD_INF_F64 CONCORD_F64_OF(0x7ff0000000000000)

// y, but its bits plus `delta` if x has the bits `input`: the rounding of an input that f64 does not decide.
#define CONCORD_EXCEPT(y, x, input, delta) \
    CONCORD_F32_OF(CONCORD_F32_BITS(y) + (u32)(CONCORD_F32_BITS(x) == (input)) * (u32)(delta))

// The same for x of both signs.
#define CONCORD_EXCEPT_BOTH(y, x, input, delta) \
    CONCORD_F32_OF(CONCORD_F32_BITS(y) + (u32)((CONCORD_F32_BITS(x) & 0x7fffffff) == (input)) * (u32)(delta))

// Adding and subtracting it rounds |x| < 2^51 to an integer, to nearest even. The low bits of the sum hold the integer.
#define CONCORD_ROUNDER 0x1.8p52

CONCORD_MATH f64 concord_abs_f64(f64 x) {
    return CONCORD_F64_OF(CONCORD_F64_BITS(x) & 0x7fffffffffffffff);
}

CONCORD_MATH f64 concord_copysign_f64(f64 x, f64 sign) {
    return CONCORD_F64_OF((CONCORD_F64_BITS(x) & 0x7fffffffffffffff) |
                          (CONCORD_F64_BITS(sign) & 0x8000000000000000));
}

// x limited to [low, high]. NaN stays NaN.
CONCORD_MATH f64 concord_limit_f64(f64 x, f64 low, f64 high) {
    x = x < low ? low : x;
    return x > high ? high : x;
}

// 2^k for an integer k that CONCORD_ROUNDER was added to, -1022 <= k <= 1023.
CONCORD_MATH f64 concord_scale_of_rounded(f64 k_plus_rounder) {
    return CONCORD_F64_OF((CONCORD_F64_BITS(k_plus_rounder) + 1023) << 52);
}

// A sum of two f64, the second much smaller.
typedef struct {
    f64 high, low;
} concord_pair;

CONCORD_MATH concord_pair concord_pair_of(f64 high, f64 low) {
    concord_pair p;
    p.high = high;
    p.low = low;
    return p;
}

// a + b, exactly.
CONCORD_MATH concord_pair concord_two_sum(f64 a, f64 b) {
    f64 s = a + b;
    f64 t = s - a;
    return concord_pair_of(s, (a - (s - t)) + (b - t));
}

// a + b, exactly if |a| >= |b| or a is 0.
CONCORD_MATH concord_pair concord_quick_sum(f64 a, f64 b) {
    f64 s = a + b;
    return concord_pair_of(s, b - (s - a));
}

// a * b, exactly.
CONCORD_MATH concord_pair concord_product(f64 a, f64 b) {
    f64 p = a * b;
    return concord_pair_of(p, CONCORD_FMA(a, b, -p));
}

CONCORD_MATH concord_pair concord_pair_add(concord_pair a, concord_pair b) {
    concord_pair s = concord_two_sum(a.high, b.high);
    return concord_quick_sum(s.high, s.low + (a.low + b.low));
}

CONCORD_MATH concord_pair concord_pair_multiply(concord_pair a, concord_pair b) {
    concord_pair p = concord_product(a.high, b.high);
    return concord_quick_sum(p.high, p.low + CONCORD_FMA(a.high, b.low, a.low * b.high));
}

CONCORD_MATH concord_pair concord_pair_negate(concord_pair a) {
    return concord_pair_of(-a.high, -a.low);
}

// a / b, 2^-500 <= |b| <= 2^500.
CONCORD_MATH concord_pair concord_pair_divide(concord_pair a, concord_pair b) {
    f64 r = 1.0 / b.high;
    f64 q = a.high * r;
    return concord_quick_sum(q, (CONCORD_FMA(-q, b.high, a.high) + CONCORD_FMA(-q, b.low, a.low)) * r);
}

// p * (x + low) + (c + c_low): a step of Horner's scheme.
CONCORD_MATH concord_pair concord_pair_step(concord_pair p, f64 x, f64 low, f64 c, f64 c_low) {
    f64 h = p.high * x;
    f64 l = CONCORD_FMA(p.high, x, -h) + CONCORD_FMA(p.high, low, CONCORD_FMA(p.low, x, c_low));
    concord_pair s = concord_two_sum(c, h);
    return concord_quick_sum(s.high, s.low + l);
}
