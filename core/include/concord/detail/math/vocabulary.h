// The functions of a body other than the math functions, in C++20, CUDA C++ and OpenCL C 1.2: overloads for element types.
//
// Only definitions that a source needs become part of it. A definition ends at an empty line, see vocabulary.cpp.

#define CONCORD_INTEGERS(X) X(i8) X(u8) X(i16) X(u16) X(i32) X(u32) X(i64) X(u64)

// --- choice ----------------------------------------------------------------------------------------------------------

// Like ReduceOp::min: NaN if one of them is NaN; -0 is below +0.
#define CONCORD_MIN(T)                         \
    CONCORD_OVERLOAD T concord_min(T a, T b) { \
        return b < a ? b : a;                  \
    }
CONCORD_INTEGERS(CONCORD_MIN)
CONCORD_OVERLOAD f32 concord_min(f32 a, f32 b) {
    f32 r = b < a ? b : a;
    r = a == b ? CONCORD_F32_OF(CONCORD_F32_BITS(a) | CONCORD_F32_BITS(b)) : r;
    return a == a && b == b ? r : CONCORD_NAN_F32;
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_min(f64 a, f64 b) {
    f64 r = b < a ? b : a;
    r = a == b ? CONCORD_F64_OF(CONCORD_F64_BITS(a) | CONCORD_F64_BITS(b)) : r;
    return a == a && b == b ? r : CONCORD_NAN_F64;
}
#endif

#define CONCORD_MAX(T)                         \
    CONCORD_OVERLOAD T concord_max(T a, T b) { \
        return a < b ? b : a;                  \
    }
CONCORD_INTEGERS(CONCORD_MAX)
CONCORD_OVERLOAD f32 concord_max(f32 a, f32 b) {
    f32 r = a < b ? b : a;
    r = a == b ? CONCORD_F32_OF(CONCORD_F32_BITS(a) & CONCORD_F32_BITS(b)) : r;
    return a == a && b == b ? r : CONCORD_NAN_F32;
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_max(f64 a, f64 b) {
    f64 r = a < b ? b : a;
    r = a == b ? CONCORD_F64_OF(CONCORD_F64_BITS(a) & CONCORD_F64_BITS(b)) : r;
    return a == a && b == b ? r : CONCORD_NAN_F64;
}
#endif

// IEEE 754-2019 minimumNumber: the other one if one of them is NaN.
CONCORD_OVERLOAD f32 concord_fmin(f32 a, f32 b) {
    f32 r = a != a || b < a ? b : a;
    r = a == b ? CONCORD_F32_OF(CONCORD_F32_BITS(a) | CONCORD_F32_BITS(b)) : r;
    return r == r ? r : CONCORD_NAN_F32;
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_fmin(f64 a, f64 b) {
    f64 r = a != a || b < a ? b : a;
    r = a == b ? CONCORD_F64_OF(CONCORD_F64_BITS(a) | CONCORD_F64_BITS(b)) : r;
    return r == r ? r : CONCORD_NAN_F64;
}
#endif

CONCORD_OVERLOAD f32 concord_fmax(f32 a, f32 b) {
    f32 r = a != a || a < b ? b : a;
    r = a == b ? CONCORD_F32_OF(CONCORD_F32_BITS(a) & CONCORD_F32_BITS(b)) : r;
    return r == r ? r : CONCORD_NAN_F32;
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_fmax(f64 a, f64 b) {
    f64 r = a != a || a < b ? b : a;
    r = a == b ? CONCORD_F64_OF(CONCORD_F64_BITS(a) & CONCORD_F64_BITS(b)) : r;
    return r == r ? r : CONCORD_NAN_F64;
}
#endif

#define CONCORD_CLAMP(T)                                   \
    CONCORD_OVERLOAD T concord_clamp(T x, T low, T high) { \
        return x < low ? low : x > high ? high : x;        \
    }
CONCORD_INTEGERS(CONCORD_CLAMP)
CONCORD_CLAMP(f32)
#if CONCORD_HAS_F64
CONCORD_CLAMP(f64)
#endif

// OpenCL's order of arguments: c ? b : a.
#define CONCORD_SELECT(T)                                 \
    CONCORD_OVERLOAD T concord_select(T a, T b, bool c) { \
        return c ? b : a;                                 \
    }
CONCORD_INTEGERS(CONCORD_SELECT)
CONCORD_SELECT(f32)
#if CONCORD_HAS_F64
CONCORD_SELECT(f64)
#endif

// The smallest value of a type keeps its value.
#define CONCORD_ABS(T, U)                    \
    CONCORD_OVERLOAD T concord_abs(T x) {    \
        return x < 0 ? (T)((U)0 - (U)x) : x; \
    }
CONCORD_ABS(i8, u32)
CONCORD_ABS(i16, u32)
CONCORD_ABS(i32, u32)
CONCORD_ABS(i64, u64)
#define CONCORD_ABS_UNSIGNED(T)           \
    CONCORD_OVERLOAD T concord_abs(T x) { \
        return x;                         \
    }
CONCORD_ABS_UNSIGNED(u8)
CONCORD_ABS_UNSIGNED(u16)
CONCORD_ABS_UNSIGNED(u32)
CONCORD_ABS_UNSIGNED(u64)
CONCORD_OVERLOAD f32 concord_abs(f32 x) {
    return CONCORD_F32_OF(CONCORD_F32_BITS(x) & 0x7fffffff);
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_abs(f64 x) {
    return CONCORD_F64_OF(CONCORD_F64_BITS(x) & 0x7fffffffffffffff);
}
#endif

CONCORD_OVERLOAD bool concord_signbit(f32 x) {
    return CONCORD_F32_BITS(x) >> 31 != 0;
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD bool concord_signbit(f64 x) {
    return CONCORD_F64_BITS(x) >> 63 != 0;
}
#endif

// The remainder x - n y, n = trunc(x / y), exactly: a long division of the significands, so many bits per step that the
// remainder and they fit in 64 bits. It has the sign of x.
#define CONCORD_FMOD(T, U, BITS, OF, CLZ, NOT_A_NUMBER, INFINITE, DIGITS, STEP)         \
    CONCORD_OVERLOAD T concord_fmod(T x, T y) {                                         \
        const U one = (U)1 << DIGITS, sign = BITS(x) & ~(~(U)0 >> 1);                   \
        const U a = BITS(x) ^ sign, b = BITS(y) & (~(U)0 >> 1);                         \
        if (a >= INFINITE || b > INFINITE || b == 0) return NOT_A_NUMBER;               \
        if (a < b) return x;                                                            \
        const i32 exponent = b < one ? 1 : (i32)(b >> DIGITS);                          \
        const u64 divisor = b < one ? b : (b & (one - 1)) | one;                        \
        u64 rest = a < one ? a : (a & (one - 1)) | one;                                 \
        i32 left = (a < one ? 1 : (i32)(a >> DIGITS)) - exponent;                       \
        for (i32 step; left >= 0; left = step < STEP ? -1 : left - step) {              \
            step = left < STEP ? left : STEP;                                           \
            rest = (rest << step) % divisor;                                            \
        }                                                                               \
        if (rest == 0) return OF(sign);                                                 \
        i32 shift = CLZ((U)rest) - (i32)(8 * sizeof(U) - 1 - DIGITS);                   \
        shift = shift < exponent ? shift : exponent - 1;                                \
        return OF(sign | (((U)rest << shift) + ((U)(exponent - 1 - shift) << DIGITS))); \
    }
CONCORD_FMOD(f32, u32, CONCORD_F32_BITS, CONCORD_F32_OF, CONCORD_CLZ_32, CONCORD_NAN_F32, 0x7f800000, 23, 40)
#if CONCORD_HAS_F64
CONCORD_FMOD(f64, u64, CONCORD_F64_BITS, CONCORD_F64_OF, CONCORD_CLZ_64, CONCORD_NAN_F64, 0x7ff0000000000000,
             52, 11)
#endif

// --- bits ------------------------------------------------------------------------------------------------------------

CONCORD_OVERLOAD i32 concord_popcount(u32 x) {
    return CONCORD_POPCOUNT_32(x);
}
CONCORD_OVERLOAD i32 concord_popcount(u64 x) {
    return CONCORD_POPCOUNT_64(x);
}
CONCORD_OVERLOAD i32 concord_popcount(u16 x) {
    return CONCORD_POPCOUNT_32((u32)x);
}
CONCORD_OVERLOAD i32 concord_popcount(u8 x) {
    return CONCORD_POPCOUNT_32((u32)x);
}
CONCORD_OVERLOAD i32 concord_popcount(i32 x) {
    return CONCORD_POPCOUNT_32((u32)x);
}
CONCORD_OVERLOAD i32 concord_popcount(i64 x) {
    return CONCORD_POPCOUNT_64((u64)x);
}
CONCORD_OVERLOAD i32 concord_popcount(i16 x) {
    return CONCORD_POPCOUNT_32((u32)(u16)x);
}
CONCORD_OVERLOAD i32 concord_popcount(i8 x) {
    return CONCORD_POPCOUNT_32((u32)(u8)x);
}

// Zeros before the first one; the width of the type for 0.
CONCORD_OVERLOAD i32 concord_clz(u32 x) {
    return CONCORD_CLZ_32(x);
}
CONCORD_OVERLOAD i32 concord_clz(u64 x) {
    return CONCORD_CLZ_64(x);
}
CONCORD_OVERLOAD i32 concord_clz(u16 x) {
    return CONCORD_CLZ_32((u32)x) - 16;
}
CONCORD_OVERLOAD i32 concord_clz(u8 x) {
    return CONCORD_CLZ_32((u32)x) - 24;
}
CONCORD_OVERLOAD i32 concord_clz(i32 x) {
    return CONCORD_CLZ_32((u32)x);
}
CONCORD_OVERLOAD i32 concord_clz(i64 x) {
    return CONCORD_CLZ_64((u64)x);
}
CONCORD_OVERLOAD i32 concord_clz(i16 x) {
    return CONCORD_CLZ_32((u32)(u16)x) - 16;
}
CONCORD_OVERLOAD i32 concord_clz(i8 x) {
    return CONCORD_CLZ_32((u32)(u8)x) - 24;
}

// Zeros after the last one; the width of the type for 0.
#define CONCORD_CTZ(T, BITS, WIDTH)                      \
    CONCORD_OVERLOAD i32 concord_ctz(T x) {              \
        const BITS bits = (BITS)x & ((BITS)0 - (BITS)x); \
        return x == 0 ? WIDTH : CONCORD_LAST_BIT(bits);  \
    }
#define CONCORD_LAST_BIT(bits) \
    (sizeof(bits) == 8 ? 63 - CONCORD_CLZ_64((u64)bits) : 31 - CONCORD_CLZ_32((u32)bits))
CONCORD_CTZ(u8, u32, 8)
CONCORD_CTZ(i8, u32, 8)
CONCORD_CTZ(u16, u32, 16)
CONCORD_CTZ(i16, u32, 16)
CONCORD_CTZ(u32, u32, 32)
CONCORD_CTZ(i32, u32, 32)
CONCORD_CTZ(u64, u64, 64)
CONCORD_CTZ(i64, u64, 64)

// Rotates to the left by n modulo the width.
#define CONCORD_ROTATE(T, U, WIDTH)                                                      \
    CONCORD_OVERLOAD T concord_rotate(T x, u32 n) {                                      \
        return (T)(U)(((U)x << (n & (WIDTH - 1))) | ((U)x >> ((0u - n) & (WIDTH - 1)))); \
    }
CONCORD_ROTATE(u8, u8, 8)
CONCORD_ROTATE(i8, u8, 8)
CONCORD_ROTATE(u16, u16, 16)
CONCORD_ROTATE(i16, u16, 16)
CONCORD_ROTATE(u32, u32, 32)
CONCORD_ROTATE(i32, u32, 32)
CONCORD_ROTATE(u64, u64, 64)
CONCORD_ROTATE(i64, u64, 64)

// The upper half of the product.
CONCORD_OVERLOAD u32 concord_mul_hi(u32 a, u32 b) {
    return (u32)(((u64)a * b) >> 32);
}
CONCORD_OVERLOAD i32 concord_mul_hi(i32 a, i32 b) {
    return (i32)(((i64)a * b) >> 32);
}
CONCORD_OVERLOAD u64 concord_mul_hi(u64 a, u64 b) {
    return CONCORD_MULTIPLY_HIGH(a, b);
}
CONCORD_OVERLOAD i64 concord_mul_hi(i64 a, i64 b) {
    return (i64)(CONCORD_MULTIPLY_HIGH((u64)a, (u64)b) - (a < 0 ? (u64)b : 0) - (b < 0 ? (u64)a : 0));
}

CONCORD_OVERLOAD f32 concord_as_f32(u32 x) {
    return CONCORD_F32_OF(x);
}
CONCORD_OVERLOAD f32 concord_as_f32(i32 x) {
    return CONCORD_F32_OF((u32)x);
}

CONCORD_OVERLOAD u32 concord_as_u32(f32 x) {
    return CONCORD_F32_BITS(x);
}

CONCORD_OVERLOAD i32 concord_as_i32(f32 x) {
    return (i32)CONCORD_F32_BITS(x);
}

CONCORD_OVERLOAD f64 concord_as_f64(u64 x) {
    return CONCORD_F64_OF(x);
}
CONCORD_OVERLOAD f64 concord_as_f64(i64 x) {
    return CONCORD_F64_OF((u64)x);
}

CONCORD_OVERLOAD u64 concord_as_u64(f64 x) {
    return CONCORD_F64_BITS(x);
}

CONCORD_OVERLOAD i64 concord_as_i64(f64 x) {
    return (i64)CONCORD_F64_BITS(x);
}

// x, but the canonical NaN for a NaN.
CONCORD_OVERLOAD f32 concord_canonical(f32 x) {
    return CONCORD_F32_OF(x == x ? CONCORD_F32_BITS(x) : 0x7fc00000);
}
#if CONCORD_HAS_F64
CONCORD_OVERLOAD f64 concord_canonical(f64 x) {
    return CONCORD_F64_OF(x == x ? CONCORD_F64_BITS(x) : 0x7ff8000000000000);
}
#endif

// --- atomics ---------------------------------------------------------------------------------------------------------

// Each returns the value from before. Relaxed: they order no other access. On global and local memory. Floats change by
// compare-and-swap of their bits, unless they keep their value.
#define CONCORD_ATOMIC_SWAP(NAME, T, U, BITS, OF, SPACE, NEXT)                                  \
    CONCORD_OVERLOAD T NAME(volatile SPACE T* p, T v) {                                         \
        U old = *(volatile SPACE U*)p;                                                          \
        for (U seen;; old = seen) {                                                             \
            const U next = BITS(NEXT(OF(old), v));                                              \
            seen = next == old ? old : concord_atomic_compare_exchange((SPACE U*)p, old, next); \
            if (seen == old) return OF(old);                                                    \
        }                                                                                       \
    }
#define CONCORD_SUM(a, b) ((a) + (b))
#define CONCORD_ATOMIC_BITS(T, U, BITS, OF, SPACE)                              \
    CONCORD_ATOMIC_SWAP(concord_atomic_min, T, U, BITS, OF, SPACE, concord_min) \
    CONCORD_ATOMIC_SWAP(concord_atomic_max, T, U, BITS, OF, SPACE, concord_max) \
    CONCORD_OVERLOAD T concord_atomic_exchange(volatile SPACE T* p, T v) {      \
        return OF(concord_atomic_exchange((SPACE U*)p, BITS(v)));               \
    }
#if defined(__OPENCL_C_VERSION__)
#define CONCORD_ATOMIC(T, SPACE, PREFIX)                                                       \
    CONCORD_OVERLOAD T concord_atomic_add(volatile SPACE T* p, T v) {                          \
        return PREFIX##_add(p, v);                                                             \
    }                                                                                          \
    CONCORD_OVERLOAD T concord_atomic_exchange(volatile SPACE T* p, T v) {                     \
        return PREFIX##_xchg(p, v);                                                            \
    }                                                                                          \
    CONCORD_OVERLOAD T concord_atomic_compare_exchange(volatile SPACE T* p, T expected, T v) { \
        return PREFIX##_cmpxchg(p, expected, v);                                               \
    }
#define CONCORD_ATOMIC_EXTENDED(T, SPACE, PREFIX)                     \
    CONCORD_OVERLOAD T concord_atomic_min(volatile SPACE T* p, T v) { \
        return PREFIX##_min(p, v);                                    \
    }                                                                 \
    CONCORD_OVERLOAD T concord_atomic_max(volatile SPACE T* p, T v) { \
        return PREFIX##_max(p, v);                                    \
    }                                                                 \
    CONCORD_OVERLOAD T concord_atomic_or(volatile SPACE T* p, T v) {  \
        return PREFIX##_or(p, v);                                     \
    }                                                                 \
    CONCORD_OVERLOAD T concord_atomic_and(volatile SPACE T* p, T v) { \
        return PREFIX##_and(p, v);                                    \
    }                                                                 \
    CONCORD_OVERLOAD T concord_atomic_xor(volatile SPACE T* p, T v) { \
        return PREFIX##_xor(p, v);                                    \
    }
// Declared for the compiler's message, which the backend reports as unsupported.
#define CONCORD_UNAVAILABLE __attribute__((overloadable, unavailable("the device has no 64-bit atomics")))
#define CONCORD_LACKS(T, SPACE, NAME)                     \
    CONCORD_UNAVAILABLE T NAME(volatile SPACE T* p, T v); \
    CONCORD_UNAVAILABLE T NAME(volatile SPACE T* p, T e, T v);
#define CONCORD_LACKS_BASE(T, SPACE)                 \
    CONCORD_LACKS(T, SPACE, concord_atomic_add)      \
    CONCORD_LACKS(T, SPACE, concord_atomic_exchange) \
    CONCORD_LACKS(T, SPACE, concord_atomic_compare_exchange)
#define CONCORD_LACKS_EXTENDED(T, SPACE)        \
    CONCORD_LACKS(T, SPACE, concord_atomic_min) \
    CONCORD_LACKS(T, SPACE, concord_atomic_max) \
    CONCORD_LACKS(T, SPACE, concord_atomic_or)  \
    CONCORD_LACKS(T, SPACE, concord_atomic_and) \
    CONCORD_LACKS(T, SPACE, concord_atomic_xor)
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#define CONCORD_ATOMIC_64(T, SPACE) CONCORD_ATOMIC(T, SPACE, atom)
#define CONCORD_ATOMIC_F64(SPACE)                                          \
    CONCORD_ATOMIC_BITS(f64, u64, CONCORD_F64_BITS, CONCORD_F64_OF, SPACE) \
    CONCORD_ATOMIC_SWAP(concord_atomic_add, f64, u64, CONCORD_F64_BITS, CONCORD_F64_OF, SPACE, CONCORD_SUM)
#else
#define CONCORD_ATOMIC_64 CONCORD_LACKS_BASE
#define CONCORD_ATOMIC_F64(SPACE) CONCORD_LACKS_BASE(f64, SPACE) CONCORD_LACKS_EXTENDED(f64, SPACE)
#endif
#ifdef cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define CONCORD_ATOMIC_EXTENDED_64(T, SPACE) CONCORD_ATOMIC_EXTENDED(T, SPACE, atom)
#else
#define CONCORD_ATOMIC_EXTENDED_64 CONCORD_LACKS_EXTENDED
#endif
#define CONCORD_ATOMICS(SPACE)                                             \
    CONCORD_ATOMIC(u32, SPACE, atomic)                                     \
    CONCORD_ATOMIC(i32, SPACE, atomic)                                     \
    CONCORD_ATOMIC_EXTENDED(u32, SPACE, atomic)                            \
    CONCORD_ATOMIC_EXTENDED(i32, SPACE, atomic)                            \
    CONCORD_ATOMIC_64(u64, SPACE)                                          \
    CONCORD_ATOMIC_64(i64, SPACE)                                          \
    CONCORD_ATOMIC_EXTENDED_64(u64, SPACE)                                 \
    CONCORD_ATOMIC_EXTENDED_64(i64, SPACE)                                 \
    CONCORD_ATOMIC_BITS(f32, u32, CONCORD_F32_BITS, CONCORD_F32_OF, SPACE) \
    CONCORD_ATOMIC_SWAP(concord_atomic_add, f32, u32, CONCORD_F32_BITS, CONCORD_F32_OF, SPACE, CONCORD_SUM)
CONCORD_ATOMICS(__global)
CONCORD_ATOMICS(__local)
#if CONCORD_HAS_F64
CONCORD_ATOMIC_F64(__global)
CONCORD_ATOMIC_F64(__local)
#endif
#elif defined(__CUDACC_RTC__) || defined(CONCORD_MATH_FOR_NVCC)
#define CONCORD_ATOMIC(T, BITS)                                                 \
    CONCORD_OVERLOAD T concord_atomic_add(T* p, T v) {                          \
        return (T)atomicAdd((BITS*)p, (BITS)v);                                 \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_min(T* p, T v) {                          \
        return atomicMin(p, v);                                                 \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_max(T* p, T v) {                          \
        return atomicMax(p, v);                                                 \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_exchange(T* p, T v) {                     \
        return (T)atomicExch((BITS*)p, (BITS)v);                                \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_compare_exchange(T* p, T expected, T v) { \
        return (T)atomicCAS((BITS*)p, (BITS)expected, (BITS)v);                 \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_or(T* p, T v) {                           \
        return (T)atomicOr((BITS*)p, (BITS)v);                                  \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_and(T* p, T v) {                          \
        return (T)atomicAnd((BITS*)p, (BITS)v);                                 \
    }                                                                           \
    CONCORD_OVERLOAD T concord_atomic_xor(T* p, T v) {                          \
        return (T)atomicXor((BITS*)p, (BITS)v);                                 \
    }
CONCORD_ATOMIC(u32, u32)
CONCORD_ATOMIC(i32, u32)
CONCORD_ATOMIC(u64, u64)
CONCORD_ATOMIC(i64, u64)
CONCORD_OVERLOAD f32 concord_atomic_add(f32* p, f32 v) {
    return atomicAdd(p, v);
}
CONCORD_OVERLOAD f64 concord_atomic_add(f64* p, f64 v) {
    return atomicAdd(p, v);
}
CONCORD_ATOMIC_BITS(f32, u32, CONCORD_F32_BITS, CONCORD_F32_OF, )
CONCORD_ATOMIC_BITS(f64, u64, CONCORD_F64_BITS, CONCORD_F64_OF, )
#else
template <class T, class F>
[[gnu::always_inline]] inline T atomic_update(T* p, F f) {
    T old;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    for (T next = f(old);
         __builtin_memcmp(&old, &next, sizeof(T)) != 0 &&
         !__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
        next = f(old);
    return old;
}
template <class T>
[[gnu::always_inline]] inline T atomic_exchanged(T* p, T v) {
    T old;
    __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);
    return old;
}
#define CONCORD_ATOMIC(T)                                                                        \
    CONCORD_OVERLOAD T concord_atomic_add(T* p, T v) {                                           \
        return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);                                       \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_min(T* p, T v) {                                           \
        return atomic_update(p, [v](T old) { return v < old ? v : old; });                       \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_max(T* p, T v) {                                           \
        return atomic_update(p, [v](T old) { return old < v ? v : old; });                       \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_exchange(T* p, T v) {                                      \
        return atomic_exchanged(p, v);                                                           \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_compare_exchange(T* p, T expected, T v) {                  \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return expected;                                                                         \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_or(T* p, T v) {                                            \
        return __atomic_fetch_or(p, v, __ATOMIC_RELAXED);                                        \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_and(T* p, T v) {                                           \
        return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);                                       \
    }                                                                                            \
    CONCORD_OVERLOAD T concord_atomic_xor(T* p, T v) {                                           \
        return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED);                                       \
    }
CONCORD_ATOMIC(u32)
CONCORD_ATOMIC(i32)
CONCORD_ATOMIC(u64)
CONCORD_ATOMIC(i64)
#define CONCORD_ATOMIC_FLOAT(T)                                              \
    CONCORD_OVERLOAD T concord_atomic_add(T* p, T v) {                       \
        return atomic_update(p, [v](T old) { return old + v; });             \
    }                                                                        \
    CONCORD_OVERLOAD T concord_atomic_min(T* p, T v) {                       \
        return atomic_update(p, [v](T old) { return concord_min(old, v); }); \
    }                                                                        \
    CONCORD_OVERLOAD T concord_atomic_max(T* p, T v) {                       \
        return atomic_update(p, [v](T old) { return concord_max(old, v); }); \
    }                                                                        \
    CONCORD_OVERLOAD T concord_atomic_exchange(T* p, T v) {                  \
        return atomic_exchanged(p, v);                                       \
    }
CONCORD_ATOMIC_FLOAT(f32)
CONCORD_ATOMIC_FLOAT(f64)
#endif
