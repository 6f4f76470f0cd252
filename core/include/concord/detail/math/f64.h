// Functions of f64 with the same bits on every backend, with errors below 1 ulp in the inputs of lab/math/check.cpp.
//
// Where f64 does not suffice, sums of two f64 carry the result until its last rounding. A NaN result is
// 0x7ff8000000000000.

#define CONCORD_MATH_F64

// --- exponential -----------------------------------------------------------------------------------------------------

// x = k ln 2 + r + low, |r| <= ln(2) / 2; k is an integer as f64.
typedef struct {
    f64 k, r, low;
} concord_exponent;

CONCORD_MATH concord_exponent concord_exponent_of(f64 x, f64 low) {
    concord_exponent e;
    e.k = concord_exp_rounded(x) - CONCORD_ROUNDER;
    f64 r = CONCORD_FMA(e.k, -CONCORD_LN2_HIGH, x);
    concord_pair s = concord_two_sum(r, CONCORD_FMA(e.k, -CONCORD_LN2_LOW, low));
    e.r = s.high;
    e.low = s.low;
    return e;
}

// exp(r + low) - 1 - r.
CONCORD_MATH f64 concord_exp_rest(f64 r, f64 low) {
    return CONCORD_FMA(r * r, concord_poly_exp_f64(r), CONCORD_FMA(low, r, low));
}

// y 2^k for an integer k, |k| <= 2000, in two steps.
CONCORD_MATH f64 concord_scaled(f64 y, f64 k) {
    f64 t = CONCORD_FMA(k, 0.5, CONCORD_ROUNDER);
    f64 rest = k - (t - CONCORD_ROUNDER);
    return y * concord_scale_of_rounded(t) * concord_scale_of_rounded(rest + CONCORD_ROUNDER);
}

// exp(r + low) as a sum of two f64.
CONCORD_MATH concord_pair concord_exp_pair(f64 r, f64 low) {
    concord_pair s = concord_quick_sum(1.0, r);
    return concord_quick_sum(s.high, s.low + concord_exp_rest(r, low));
}

// exp(x + low), |x| <= 800.
CONCORD_MATH f64 concord_exp_of_pair(f64 x, f64 low) {
    concord_exponent e = concord_exponent_of(x, low);
    return concord_scaled(concord_exp_pair(e.r, e.low).high, e.k);
}

// exp(x + low) - 1, |x| <= 700. A zero loses its sign.
CONCORD_MATH f64 concord_expm1_of_pair(f64 x, f64 low) {
    concord_exponent e = concord_exponent_of(x, low);
    f64 scale = concord_scale_of_rounded(e.k + CONCORD_ROUNDER);
    f64 u = scale - 1.0;
    f64 u_low = (scale - u) - 1.0;
    concord_pair s = concord_two_sum(u, scale * e.r);
    return s.high + (s.low + CONCORD_FMA(scale, concord_exp_rest(e.r, e.low), u_low));
}

CONCORD_MATH f64 concord_exp_f64(f64 x) {
    f64 y = concord_exp_of_pair(concord_limit_f64(x, -750.0, 712.0), 0.0);
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_exp2_f64(f64 x) {
    f64 d = concord_limit_f64(x, -1080.0, 1030.0);
    f64 k = (d + CONCORD_ROUNDER) - CONCORD_ROUNDER;
    concord_pair r = concord_product(d - k, CONCORD_LN2_HIGH);
    f64 y = concord_scaled(concord_exp_pair(r.high, CONCORD_FMA(d - k, CONCORD_LN2_LOW, r.low)).high, k);
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_expm1_f64(f64 x) {
    f64 d = concord_limit_f64(x, -60.0, 712.0);
    f64 y = d < 50.0 ? concord_expm1_of_pair(concord_limit_f64(d, -60.0, 50.0), 0.0)
                     : concord_exp_of_pair(d, 0.0);
    y = x == 0.0 ? x : y;
    return x != x ? CONCORD_NAN_F64 : y;
}

// --- logarithm -------------------------------------------------------------------------------------------------------

// log(x + low) + e ln 2 as a sum of two f64 with a relative error of about 2^-67, for a normal x > 0, |low| <= ulp(x).
CONCORD_MATH concord_pair concord_log_pair(f64 x, f64 low, f64 e) {
    u64 i = CONCORD_F64_BITS(x) - 0x3fe6000000000000;
    u64 row = 3 * ((i >> 45) & 127);
    f64 k = CONCORD_F64_OF(((i + 0x3ff0000000000000) >> 52) | 0x4330000000000000) - (0x1p52 + 1023.0);
    e += k;
    f64 m = CONCORD_F64_OF((i & 0xfffffffffffff) + 0x3fe6000000000000);
    f64 c = concord_table_log[row];
    f64 down = concord_scale_of_rounded(CONCORD_ROUNDER - (k > 1022.0 ? 1022.0 : k));
    // m c = 1 + r.
    concord_pair p = concord_product(m, c);
    concord_pair r = concord_quick_sum(p.high - 1.0, CONCORD_FMA(low * down, c, p.low));
    f64 a = -0.5 * r.high;
    concord_pair q = concord_product(a, r.high);
    f64 tail = r.high * r.high * r.high * concord_poly_log_tail(r.high);
    f64 rest =
        CONCORD_FMA(e, -0x1.718432a1b0e26p-35, concord_table_log[row + 2]) + (q.low - r.high * r.low + tail);
    concord_pair s =
        concord_two_sum(CONCORD_FMA(e, 0x1.62e42ff000000p-1, concord_table_log[row + 1]), r.high);
    concord_pair t = concord_two_sum(s.high, q.high);
    return concord_quick_sum(t.high, (s.low + t.low) + (r.low + rest));
}

// log(x) for any x > 0 that is finite.
CONCORD_MATH concord_pair concord_log_any(f64 x) {
    f64 small = x < 0x1p-1022 ? 1.0 : 0.0;
    return concord_log_pair(small != 0.0 ? x * 0x1p54 : x, 0.0, small != 0.0 ? -54.0 : 0.0);
}

CONCORD_MATH f64 concord_log_special_f64(f64 x, f64 y) {
    y = x == CONCORD_INF_F64 ? x : y;
    y = x == 0.0 ? -CONCORD_INF_F64 : y;
    return x >= 0.0 ? y : CONCORD_NAN_F64;
}

CONCORD_MATH f64 concord_log_f64(f64 x) {
    return concord_log_special_f64(x, concord_log_any(x).high);
}

CONCORD_MATH f64 concord_log2_f64(f64 x) {
    concord_pair l =
        concord_pair_multiply(concord_log_any(x), concord_pair_of(CONCORD_LOG2E, 0x1.777d0ffda0d24p-56));
    return concord_log_special_f64(x, l.high);
}

CONCORD_MATH f64 concord_log10_f64(f64 x) {
    concord_pair l = concord_pair_multiply(concord_log_any(x),
                                           concord_pair_of(0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
    return concord_log_special_f64(x, l.high);
}

CONCORD_MATH f64 concord_log1p_f64(f64 x) {
    concord_pair u = concord_two_sum(1.0, x);
    f64 y = concord_log_pair(u.high, u.low, 0.0).high;
    y = concord_abs_f64(x) < 0x1p-54 ? x : y;
    y = x == CONCORD_INF_F64 ? x : y;
    y = x == -1.0 ? -CONCORD_INF_F64 : y;
    return x >= -1.0 ? y : CONCORD_NAN_F64;
}

// --- power -----------------------------------------------------------------------------------------------------------

CONCORD_MATH f64 concord_pow_f64(f64 x, f64 y) {
    f64 a = concord_abs_f64(x);
    concord_pair l = concord_log_any(a);
    f64 high = a == 0.0 ? -CONCORD_INF_F64 : l.high;
    high = a == CONCORD_INF_F64 ? CONCORD_INF_F64 : high;
    f64 p = a == 1.0 ? 0.0 : y * high;
    f64 p_low = CONCORD_FMA(y, high, -p) + y * l.low;
    f64 q = concord_limit_f64(p, -800.0, 800.0);
    p_low = q == p ? p_low : 0.0;
    p_low = a == 1.0 ? 0.0 : p_low;
    f64 v = concord_exp_of_pair(q, p_low);
    // |y| >= 2^53 is an even integer.
    f64 b = concord_abs_f64(y);
    f64 b2 = 0.5 * b;
    u64 integer = (u64)((b >= 0x1p52) | ((b + 0x1p52) - 0x1p52 == b));
    u64 odd = integer & (u64)((b < 0x1p53) & ((b2 + 0x1p52) - 0x1p52 != b2));
    f64 w = CONCORD_F64_OF(CONCORD_F64_BITS(v) | ((odd << 63) & CONCORD_F64_BITS(x)));
    w = ((x < 0.0) & (integer == 0) & (x != -CONCORD_INF_F64)) ? CONCORD_NAN_F64 : w;
    w = ((x != x) | (y != y)) ? CONCORD_NAN_F64 : w;
    return ((x == 1.0) | (y == 0.0)) ? 1.0 : w;
}

// x^k as products of x, x^2, x^4, ... in the order of the bits of k, the lowest first: x^13 = (x * x^4) * x^8.
#define CONCORD_POWER(T, NAME, INVERSE, NOT_A_NUMBER)  \
    CONCORD_MATH T NAME(T x, u64 k, bool is_inverse) { \
        T r = (k & 1) != 0 ? x : (T)1;                 \
        while ((k >>= 1) != 0) {                       \
            x = x * x;                                 \
            r = (k & 1) != 0 ? r * x : r;              \
        }                                              \
        r = is_inverse ? INVERSE : r;                  \
        return r == r ? r : NOT_A_NUMBER;              \
    }
CONCORD_POWER(f32, concord_power_f32, CONCORD_INVERSE_F32(r), CONCORD_NAN_F32)
CONCORD_POWER(f64, concord_power_f64, 1.0 / r, CONCORD_NAN_F64)

// An integer exponent selects the products.
#define CONCORD_POW(T, REAL, PRODUCTS)                                    \
    CONCORD_OVERLOAD T concord_pow(T x, T y) {                            \
        return REAL(x, y);                                                \
    }                                                                     \
    CONCORD_OVERLOAD T concord_pow(T x, u64 n) {                          \
        return PRODUCTS(x, n, false);                                     \
    }                                                                     \
    CONCORD_OVERLOAD T concord_pow(T x, u32 n) {                          \
        return PRODUCTS(x, n, false);                                     \
    }                                                                     \
    CONCORD_OVERLOAD T concord_pow(T x, i64 n) {                          \
        return PRODUCTS(x, n < 0 ? (u64)0 - (u64)n : (u64)n, n < 0);      \
    }                                                                     \
    CONCORD_OVERLOAD T concord_pow(T x, i32 n) {                          \
        return PRODUCTS(x, n < 0 ? (u64)0 - (u64)(i64)n : (u64)n, n < 0); \
    }
CONCORD_POW(f32, concord_pow_f32, concord_power_f32)
CONCORD_POW(f64, concord_pow_f64, concord_power_f64)

// --- trigonometric ---------------------------------------------------------------------------------------------------

// An angle of k quarter turns and high + low radians, |high| <= pi/4 and a little more. Only k modulo 4 matters.
typedef struct {
    u64 k;
    f64 high, low;
} concord_angle;

// The angle x, 2^40 <= x < 2^1024: x = m 2^e, times the bits of 2/pi that matter modulo 4.
CONCORD_MATH concord_angle concord_angle_large(f64 x) {
    u64 bits = CONCORD_F64_BITS(x);
    u64 m = (bits & 0xfffffffffffff) | 0x10000000000000;
    u64 at = ((bits >> 52) & 0x7ff) - 1075 + 62;
    u64 word = at >> 6;
    u64 shift = at & 63;
    u64 w0 = concord_table_two_over_pi[word];
    u64 w1 = concord_table_two_over_pi[word + 1];
    u64 w2 = concord_table_two_over_pi[word + 2];
    u64 w3 = concord_table_two_over_pi[word + 3];
    u64 a2 = (w0 << shift) | ((w1 >> 1) >> (63 - shift));
    u64 a1 = (w1 << shift) | ((w2 >> 1) >> (63 - shift));
    u64 a0 = (w2 << shift) | ((w3 >> 1) >> (63 - shift));
    // The product modulo 2^192: two bits of quarter turns, then the fraction.
    u64 p0 = m * a0;
    u64 p1 = CONCORD_MULTIPLY_HIGH(m, a0) + m * a1;
    u64 carry = p1 < m * a1 ? 1 : 0;
    u64 p2 = CONCORD_MULTIPLY_HIGH(m, a1) + m * a2 + carry;
    u64 f1 = (p2 << 2) | (p1 >> 62);
    u64 f0 = (p1 << 2) | (p0 >> 62);
    u64 negative = f1 >> 63;
    f0 = negative != 0 ? ~f0 + 1 : f0;
    f1 = negative != 0 ? ~f1 + (f0 == 0 ? 1 : 0) : f1;
    concord_pair f = concord_two_sum((f64)(f1 >> 32) * 0x1p-32, (f64)(f1 & 0xffffffff) * 0x1p-64);
    f = concord_quick_sum(f.high, f.low + ((f64)(f0 >> 32) * 0x1p-96 + (f64)(f0 & 0xffffffff) * 0x1p-128));
    f = concord_pair_multiply(f, concord_pair_of(CONCORD_PIO2_HIGH, CONCORD_PIO2_LOW));
    concord_angle r;
    r.k = (p2 >> 62) + negative;
    r.high = negative != 0 ? -f.high : f.high;
    r.low = negative != 0 ? -f.low : f.low;
    return r;
}

// The angle |x| < 2^40, by pi/2 in three parts.
CONCORD_MATH concord_angle concord_angle_small(f64 x) {
    f64 t = CONCORD_FMA(x, 0x1.45f306dc9c883p-1, CONCORD_ROUNDER);
    f64 k = t - CONCORD_ROUNDER;
    f64 a = CONCORD_FMA(-k, CONCORD_PIO2_HIGH, x);
    concord_pair p = concord_product(k, CONCORD_PIO2_LOW);
    concord_pair s = concord_two_sum(a, -p.high);
    s = concord_quick_sum(s.high, s.low - CONCORD_FMA(k, -0x1.f1976b7ed8fbcp-110, p.low));
    concord_angle r;
    r.k = CONCORD_F64_BITS(t);
    r.high = s.high;
    r.low = s.low;
    return r;
}

CONCORD_MATH concord_angle concord_angle_of(f64 x) {
    concord_angle r;
    f64 a = concord_abs_f64(x);
    if (a < 0x1p40) {
        r = concord_angle_small(x);
    } else {
        r = concord_angle_large(a);
        if (x < 0.0) {
            r.k = 0 - r.k;
            r.high = -r.high;
            r.low = -r.low;
        }
    }
    return r;
}

// The angle pi x; |x| >= 2^53 is even.
CONCORD_MATH concord_angle concord_angle_of_pi(f64 x) {
    f64 a = concord_abs_f64(x);
    a = a < 0x1p53 ? a : 0.0;
    f64 h = 0.5 * a;
    f64 d = a - 2.0 * ((h + 0x1p52) - 0x1p52);
    d = CONCORD_F64_OF(CONCORD_F64_BITS(d) ^ (CONCORD_F64_BITS(x) & 0x8000000000000000));
    f64 t = CONCORD_FMA(d, 2.0, CONCORD_ROUNDER);
    f64 u = CONCORD_FMA(t - CONCORD_ROUNDER, -0.5, d);
    concord_pair p = concord_product(u, 2.0 * CONCORD_PIO2_HIGH);
    concord_angle r;
    r.k = CONCORD_F64_BITS(t);
    r.high = p.high;
    r.low = CONCORD_FMA(u, 2.0 * CONCORD_PIO2_LOW, p.low);
    return r;
}

CONCORD_MATH concord_pair concord_sin_pair(f64 x, f64 low) {
    f64 z = x * x;
    return concord_quick_sum(x, CONCORD_FMA(x * z, concord_poly_sin_f64(z), CONCORD_FMA(low * z, -0.5, low)));
}

CONCORD_MATH concord_pair concord_cos_pair(f64 x, f64 low) {
    concord_pair z = concord_product(x, x);
    f64 h = 0.5 * z.high;
    concord_pair w = concord_quick_sum(1.0, -h);
    f64 rest = CONCORD_FMA(z.high * z.high, concord_poly_cos_f64(z.high), -x * low) - 0.5 * z.low;
    return concord_quick_sum(w.high, w.low + rest);
}

// The sine of an angle.
CONCORD_MATH concord_pair concord_sin_of(concord_angle a) {
    concord_pair s = concord_sin_pair(a.high, a.low);
    concord_pair c = concord_cos_pair(a.high, a.low);
    f64 high = (a.k & 1) != 0 ? c.high : s.high;
    f64 low = (a.k & 1) != 0 ? c.low : s.low;
    return (a.k & 2) != 0 ? concord_pair_of(-high, -low) : concord_pair_of(high, low);
}

CONCORD_MATH f64 concord_sin_f64(f64 x) {
    f64 y = concord_sin_of(concord_angle_of(x)).high;
    y = x == 0.0 ? x : y;
    return x - x == 0.0 ? y : CONCORD_NAN_F64;
}

CONCORD_MATH f64 concord_cos_f64(f64 x) {
    concord_angle a = concord_angle_of(x);
    a.k += 1;
    f64 y = concord_sin_of(a).high;
    return x - x == 0.0 ? y : CONCORD_NAN_F64;
}

// sin(x), the high part, and cos(x), the low part, by one reduction of x.
CONCORD_MATH concord_pair concord_sine_and_cosine(f64 x) {
    concord_angle a = concord_angle_of(x);
    f64 s = concord_sin_of(a).high;
    a.k += 1;
    f64 c = concord_sin_of(a).high;
    s = x == 0.0 ? x : s;
    return x - x == 0.0 ? concord_pair_of(s, c) : concord_pair_of(CONCORD_NAN_F64, CONCORD_NAN_F64);
}

// sincos(x, s, c) assigns to the variables s and c, which are in one address space.
#define CONCORD_SINCOS(NAME, PLACE, S, C)                           \
    CONCORD_OVERLOAD void NAME(f32 x, PLACE(f32) s, PLACE(f32) c) { \
        S = concord_sin_f32(x);                                     \
        C = concord_cos_f32(x);                                     \
    }                                                               \
    CONCORD_OVERLOAD void NAME(f64 x, PLACE(f64) s, PLACE(f64) c) { \
        const concord_pair both = concord_sine_and_cosine(x);       \
        S = both.high;                                              \
        C = both.low;                                               \
    }
#if defined(__OPENCL_C_VERSION__)
#define concord_sincos(x, s, c) concord_sincos_to(x, &(s), &(c))
#define CONCORD_PLACE_PRIVATE(T) __private T*
#define CONCORD_PLACE_GLOBAL(T) __global T*
#define CONCORD_PLACE_LOCAL(T) __local T*
CONCORD_SINCOS(concord_sincos_to, CONCORD_PLACE_PRIVATE, *s, *c)
CONCORD_SINCOS(concord_sincos_to, CONCORD_PLACE_GLOBAL, *s, *c)
CONCORD_SINCOS(concord_sincos_to, CONCORD_PLACE_LOCAL, *s, *c)
#else
#define CONCORD_REFERENCE(T) T&
CONCORD_SINCOS(concord_sincos, CONCORD_REFERENCE, s, c)
#endif

CONCORD_MATH f64 concord_tan_f64(f64 x) {
    concord_angle a = concord_angle_of(x);
    concord_pair s = concord_sin_pair(a.high, a.low);
    concord_pair c = concord_cos_pair(a.high, a.low);
    u64 odd = a.k & 1;
    concord_pair num = concord_pair_of(odd != 0 ? -c.high : s.high, odd != 0 ? -c.low : s.low);
    concord_pair den = concord_pair_of(odd != 0 ? s.high : c.high, odd != 0 ? s.low : c.low);
    f64 y = concord_pair_divide(num, den).high;
    y = x == 0.0 ? x : y;
    return x - x == 0.0 ? y : CONCORD_NAN_F64;
}

CONCORD_MATH f64 concord_sinpi_f64(f64 x) {
    f64 y = concord_sin_of(concord_angle_of_pi(x)).high;
    y = y == 0.0 ? concord_copysign_f64(0.0, x) : y;
    return x - x == 0.0 ? y : CONCORD_NAN_F64;
}

CONCORD_MATH f64 concord_cospi_f64(f64 x) {
    concord_angle a = concord_angle_of_pi(concord_abs_f64(x));
    a.k += 1;
    f64 y = concord_sin_of(a).high;
    y = y == 0.0 ? 0.0 : y;
    return x - x == 0.0 ? y : CONCORD_NAN_F64;
}

// --- inverse trigonometric -------------------------------------------------------------------------------------------

// base + base_low + atan(num / den), |num / den| <= tan(pi/8) and a little more.
CONCORD_MATH f64 concord_atan_sum(f64 base, f64 base_low, concord_pair num, concord_pair den, f64 sign) {
    f64 r = 1.0 / den.high;
    f64 t = num.high * r;
    f64 t_low = ((CONCORD_FMA(-t, den.high, num.high) + num.low) - t * den.low) * r;
    t = t * sign;
    t_low = t_low * sign;
    f64 z = t * t;
    concord_pair s = concord_two_sum(base, t);
    return s.high + (s.low + (CONCORD_FMA(t * z, concord_poly_atan(z), t_low) + base_low));
}

CONCORD_MATH f64 concord_atan_f64(f64 x) {
    f64 a = concord_limit_f64(concord_abs_f64(x), 0.0, 0x1p60);
    f64 middle = a < CONCORD_TAN_3PI8 ? 1.0 : 0.0;
    f64 low = a < CONCORD_TAN_PI8 ? 1.0 : 0.0;
    concord_pair num = concord_two_sum(a, -1.0);
    concord_pair den = concord_two_sum(a, 1.0);
    f64 num_high = middle != 0.0 ? num.high : -1.0;
    f64 num_low = middle != 0.0 ? num.low : 0.0;
    f64 den_high = middle != 0.0 ? den.high : a;
    f64 den_low = middle != 0.0 ? den.low : 0.0;
    num = concord_pair_of(low != 0.0 ? a : num_high, low != 0.0 ? 0.0 : num_low);
    den = concord_pair_of(low != 0.0 ? 1.0 : den_high, low != 0.0 ? 0.0 : den_low);
    f64 base = middle != 0.0 ? 0.5 * CONCORD_PIO2_HIGH : CONCORD_PIO2_HIGH;
    f64 base_low = middle != 0.0 ? 0.5 * CONCORD_PIO2_LOW : CONCORD_PIO2_LOW;
    f64 v = concord_atan_sum(low != 0.0 ? 0.0 : base, low != 0.0 ? 0.0 : base_low, num, den, 1.0);
    f64 y = concord_copysign_f64(v, x);
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_atan2_f64(f64 y, f64 x) {
    f64 a = concord_abs_f64(x);
    f64 b = concord_abs_f64(y);
    f64 both = ((a == CONCORD_INF_F64) & (b == CONCORD_INF_F64)) ? 1.0 : 0.0;
    a = both != 0.0 ? 1.0 : a;
    b = both != 0.0 ? 1.0 : b;
    a = ((a == 0.0) & (b == 0.0)) ? 1.0 : a;
    f64 left = concord_copysign_f64(1.0, x) < 0.0 ? 1.0 : 0.0;
    f64 direct = b / a;
    // With one infinity, the quotient is 0 / 1 or 1 / 0.
    b = a == CONCORD_INF_F64 ? 0.0 : b;
    a = a == CONCORD_INF_F64 ? 1.0 : a;
    a = b == CONCORD_INF_F64 ? 0.0 : a;
    b = b == CONCORD_INF_F64 ? 1.0 : b;
    // Scaled by a power of 2, no sum overflows and no product that matters underflows.
    f64 most = a > b ? a : b;
    f64 scale = most > 0x1p400 ? 0x1p-600 : 1.0;
    scale = most < 0x1p-400 ? 0x1p600 : scale;
    a = a * scale;
    b = b * scale;
    f64 middle = b < CONCORD_TAN_3PI8 * a ? 1.0 : 0.0;
    f64 low = b < CONCORD_TAN_PI8 * a ? 1.0 : 0.0;
    concord_pair num = concord_two_sum(b, -a);
    concord_pair den = concord_two_sum(b, a);
    f64 num_high = middle != 0.0 ? num.high : -a;
    f64 num_low = middle != 0.0 ? num.low : 0.0;
    f64 den_high = middle != 0.0 ? den.high : b;
    f64 den_low = middle != 0.0 ? den.low : 0.0;
    num = concord_pair_of(low != 0.0 ? b : num_high, low != 0.0 ? 0.0 : num_low);
    den = concord_pair_of(low != 0.0 ? a : den_high, low != 0.0 ? 0.0 : den_low);
    f64 base = middle != 0.0 ? 0.5 * CONCORD_PIO2_HIGH : CONCORD_PIO2_HIGH;
    f64 base_low = middle != 0.0 ? 0.5 * CONCORD_PIO2_LOW : CONCORD_PIO2_LOW;
    base = low != 0.0 ? 0.0 : base;
    base_low = low != 0.0 ? 0.0 : base_low;
    // In the left half-plane the angle is pi minus this one. 3 pi/4 has its own two parts.
    f64 base_left = middle != 0.0 ? 0x1.2d97c7f3321d2p+1 : CONCORD_PIO2_HIGH;
    f64 base_left_low = middle != 0.0 ? 0x1.a79394c9e8a0ap-54 : CONCORD_PIO2_LOW;
    base_left = low != 0.0 ? 2.0 * CONCORD_PIO2_HIGH : base_left;
    base_left_low = low != 0.0 ? 2.0 * CONCORD_PIO2_LOW : base_left_low;
    f64 v = concord_atan_sum(left != 0.0 ? base_left : base, left != 0.0 ? base_left_low : base_low, num, den,
                             left != 0.0 ? -1.0 : 1.0);
    v = ((left == 0.0) & (b < 0x1p-30 * a)) ? direct : v;
    f64 r = concord_copysign_f64(v, y);
    return ((x != x) | (y != y)) ? CONCORD_NAN_F64 : r;
}

// s = sqrt(z) and what asin(s + s_low) is more, for asin_f64 and acos_f64: z is (1 - a) / 2, exactly.
CONCORD_MATH concord_pair concord_asin_half(f64 z) {
    f64 s = CONCORD_SQRT(z);
    f64 low = CONCORD_FMA(-s, s, z) / (s == 0.0 ? 1.0 : 2.0 * s);
    return concord_pair_of(s, low + concord_asin_tail(s, z));
}

CONCORD_MATH f64 concord_asin_f64(f64 x) {
    f64 a = concord_abs_f64(x);
    concord_pair h = concord_asin_half(a <= 1.0 ? CONCORD_FMA(a, -0.5, 0.5) : 0.0);
    concord_pair s = concord_two_sum(CONCORD_PIO2_HIGH, -2.0 * h.high);
    f64 large = s.high + (s.low + CONCORD_FMA(h.low, -2.0, CONCORD_PIO2_LOW));
    f64 v = a <= 0.5 ? a + concord_asin_tail(a, a * a) : large;
    f64 y = concord_copysign_f64(v, x);
    return a <= 1.0 ? y : CONCORD_NAN_F64;
}

CONCORD_MATH f64 concord_acos_f64(f64 x) {
    f64 a = concord_abs_f64(x);
    concord_pair h = concord_asin_half(a <= 1.0 ? CONCORD_FMA(a, -0.5, 0.5) : 0.0);
    concord_pair t = concord_two_sum(2.0 * CONCORD_PIO2_HIGH, -2.0 * h.high);
    f64 left = t.high + (t.low + CONCORD_FMA(h.low, -2.0, 2.0 * CONCORD_PIO2_LOW));
    f64 large = x < 0.0 ? left : 2.0 * (h.high + h.low);
    concord_pair s = concord_two_sum(CONCORD_PIO2_HIGH, -x);
    f64 small = s.high + (s.low + (CONCORD_PIO2_LOW - concord_asin_tail(x, x * x)));
    f64 y = a <= 0.5 ? small : large;
    return a <= 1.0 ? y : CONCORD_NAN_F64;
}

// --- hyperbolic ------------------------------------------------------------------------------------------------------

// sinh(x) and cosh(x) times 2^-k for |x| <= 720; k is 0 up to |x| = 41.
typedef struct {
    concord_pair sinh, cosh;
    f64 k;
} concord_hyperbolic_pair;

CONCORD_MATH concord_hyperbolic_pair concord_hyperbolic_of(f64 x) {
    concord_exponent e = concord_exponent_of(x, 0.0);
    f64 z = e.r * e.r;
    f64 s = CONCORD_FMA(e.r * z, concord_poly_sinh(z), e.low);
    f64 c = CONCORD_FMA(z, concord_poly_cosh_f64(z), e.r * e.low);
    f64 k = concord_limit_f64(e.k, -60.0, 60.0);
    u64 bits = CONCORD_F64_BITS(k + CONCORD_ROUNDER);
    f64 up = CONCORD_F64_OF((bits + 1022) << 52);
    f64 down = CONCORD_F64_OF((1022 - bits) << 52);
    concord_pair sk = concord_two_sum(up, -down);
    concord_pair ck = concord_two_sum(up, down);
    concord_pair p = concord_product(ck.high, e.r);
    concord_pair q = concord_two_sum(sk.high, p.high);
    concord_hyperbolic_pair h;
    h.sinh = concord_quick_sum(
        q.high, q.low + (p.low + CONCORD_FMA(ck.low, e.r, sk.low)) + CONCORD_FMA(sk.high, c, ck.high * s));
    p = concord_product(sk.high, e.r);
    q = concord_two_sum(ck.high, p.high);
    h.cosh = concord_quick_sum(
        q.high, q.low + (p.low + CONCORD_FMA(sk.low, e.r, ck.low)) + CONCORD_FMA(ck.high, c, sk.high * s));
    h.k = concord_abs_f64(e.k - k);
    return h;
}

CONCORD_MATH f64 concord_sinh_f64(f64 x) {
    concord_hyperbolic_pair h = concord_hyperbolic_of(concord_limit_f64(x, -720.0, 720.0));
    f64 y = concord_scaled(h.sinh.high, h.k);
    y = x == 0.0 ? x : y;
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_cosh_f64(f64 x) {
    concord_hyperbolic_pair h = concord_hyperbolic_of(concord_limit_f64(x, -720.0, 720.0));
    f64 y = concord_scaled(h.cosh.high, h.k);
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_tanh_f64(f64 x) {
    concord_hyperbolic_pair h = concord_hyperbolic_of(concord_limit_f64(x, -20.0, 20.0));
    f64 y = concord_pair_divide(h.sinh, h.cosh).high;
    y = x == 0.0 ? x : y;
    return x != x ? CONCORD_NAN_F64 : y;
}

// --- error function --------------------------------------------------------------------------------------------------

CONCORD_MATH f64 concord_erf_f64(f64 x) {
    f64 a = concord_limit_f64(concord_abs_f64(x), 0.0, 5.95);
    // erf(a) = -expm1(-q).
    concord_pair p = concord_product(a, 0x1.20dd750429b6dp+0);
    f64 low = CONCORD_FMA(a, 0x1.1ae3a914fed80p-56, p.low);
    concord_pair q = concord_two_sum(p.high, a * a * concord_poly_erf_f64(a));
    f64 y = concord_copysign_f64(concord_expm1_of_pair(-q.high, -(q.low + low)), x);
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_erfc_f64(f64 x) {
    f64 a = concord_limit_f64(concord_abs_f64(x), 0.0, 27.4);
    // exp(-a^2) (1 + t) G(t), t = (3 - a) / (3 + a).
    concord_pair t = concord_pair_divide(concord_two_sum(3.0, -a), concord_two_sum(3.0, a));
    concord_pair g = concord_poly_erfc_f64(t.high, t.low);
    concord_pair u = concord_two_sum(1.0, t.high);
    g = concord_pair_multiply(g, concord_pair_of(u.high, u.low + t.low));
    concord_pair s = concord_product(-a, a);
    concord_exponent e = concord_exponent_of(s.high, s.low);
    g = concord_pair_multiply(g, concord_exp_pair(e.r, e.low));
    f64 v = concord_scaled(g.high, e.k);
    f64 y = x < 0.0 ? 2.0 - v : v;
    return x != x ? CONCORD_NAN_F64 : y;
}

// --- roots -----------------------------------------------------------------------------------------------------------

CONCORD_MATH f64 concord_rsqrt_f64(f64 x) {
    f64 y = 1.0 / CONCORD_SQRT(x);
    concord_pair p = concord_product(x, y);
    f64 h = CONCORD_FMA(-p.high, y, 1.0) - p.low * y;
    f64 v = CONCORD_FMA(0.5 * y, h, y);
    v = ((x == 0.0) | (x == CONCORD_INF_F64)) ? y : v;
    return v != v ? CONCORD_NAN_F64 : v;
}

CONCORD_MATH f64 concord_cbrt_f64(f64 x) {
    f64 a = concord_abs_f64(x);
    f64 small = a < 0x1p-1022 ? 1.0 : 0.0;
    u64 bits = CONCORD_F64_BITS(small != 0.0 ? a * 0x1p54 : a);
    // The exponent plus 1200 is 3 third + rest: floor division by 3 as a product.
    u64 e = (bits >> 52) + (1200 - 1023);
    u64 third = (e * 21846) >> 16;
    u64 rest = e - 3 * third;
    f64 m = CONCORD_F64_OF((bits & 0xfffffffffffff) | 0x3ff0000000000000);
    f64 z = concord_poly_cbrt(m);
    z = z * (rest == 0 ? 1.0 : (rest == 1 ? 0x1.965fea53d6e3dp-1 : 0x1.428a2f98d728bp-1));
    m = m * (rest == 0 ? 1.0 : (rest == 1 ? 2.0 : 4.0));
    // z approximates m^(-1/3), and h = 1 - m z^3.
    f64 h = CONCORD_FMA(-m * z, z * z, 1.0);
    z = CONCORD_FMA(
        z * h,
        CONCORD_FMA(h, CONCORD_FMA(h, 0x1.61f9add3c0ca4p-3, 0x1.c71c71c71c71cp-3), 0x1.5555555555555p-2), z);
    f64 y = m * z * z;
    f64 w = y * y;
    f64 d = CONCORD_FMA(-w, y, m) - CONCORD_FMA(y, y, -w) * y;
    y = CONCORD_FMA(d * (z * z), 0x1.5555555555555p-2, y);
    y = y * CONCORD_F64_OF((third + (1023 - 400) - (small != 0.0 ? 18 : 0)) << 52);
    f64 r = concord_copysign_f64(y, x);
    r = ((x == 0.0) | (a == CONCORD_INF_F64)) ? x : r;
    return x != x ? CONCORD_NAN_F64 : r;
}

CONCORD_MATH f64 concord_hypot_f64(f64 x, f64 y) {
    f64 p = concord_abs_f64(x);
    f64 q = concord_abs_f64(y);
    f64 a = p > q ? p : q;
    f64 b = p > q ? q : p;
    f64 scale = a > 0x1p500 ? 0x1p-600 : 1.0;
    scale = a < 0x1p-400 ? 0x1p600 : scale;
    f64 back = a > 0x1p500 ? 0x1p600 : 1.0;
    back = a < 0x1p-400 ? 0x1p-600 : back;
    concord_pair u = concord_product(a * scale, a * scale);
    concord_pair v = concord_product(b * scale, b * scale);
    concord_pair s = concord_quick_sum(u.high, v.high);
    f64 low = s.low + (u.low + v.low);
    f64 r = CONCORD_SQRT(s.high);
    r = r + (CONCORD_FMA(-r, r, s.high) + low) / (r == 0.0 ? 1.0 : 2.0 * r);
    r = r * back;
    r = ((x != x) | (y != y)) ? CONCORD_NAN_F64 : r;
    return ((p == CONCORD_INF_F64) | (q == CONCORD_INF_F64)) ? CONCORD_INF_F64 : r;
}

// --- gamma -----------------------------------------------------------------------------------------------------------

// log(gamma(x)) for 0 < x <= 2^1000.
CONCORD_MATH concord_pair concord_lgamma_pair(f64 x) {
    // 2 <= x < 8: gamma(x) is product * gamma(y), 1 <= y < 2.
    f64 y = x;
    concord_pair product = concord_pair_of(1.0, 0.0);
    for (i32 i = 0; i < 6; ++i) {
        f64 factor = y >= 2.0 ? y - 1.0 : 1.0;
        concord_pair p = concord_product(product.high, factor);
        product = concord_quick_sum(p.high, CONCORD_FMA(product.low, factor, p.low));
        y = y >= 2.0 ? factor : y;
    }
    f64 a = x < 1.0 ? x : y - 1.0;
    f64 argument = x < 1.0 ? x : product.high;
    f64 argument_low = x < 1.0 ? 0.0 : product.low;
    argument = x >= 8.0 ? x : argument;
    argument_low = x >= 8.0 ? 0.0 : argument_low;
    f64 tiny = argument < 0x1p-1022 ? 1.0 : 0.0;
    concord_pair l =
        concord_log_pair(tiny != 0.0 ? argument * 0x1p54 : argument, argument_low, tiny != 0.0 ? -54.0 : 0.0);
    concord_pair b = concord_two_sum(a, -1.0);
    concord_pair u = concord_two_sum(a, -0.5);
    concord_pair f = concord_pair_multiply(concord_pair_of(a, 0.0), b);
    f = concord_pair_multiply(f, concord_poly_lgamma_f64(u.high, u.low));
    f64 sign = x < 1.0 ? -1.0 : 1.0;
    concord_pair small = concord_pair_add(f, concord_pair_of(sign * l.high, sign * l.low));
    // Stirling's series.
    f64 w = 1.0 / x;
    f64 w_low = CONCORD_FMA(-w, x, 1.0) * w;
    concord_pair v = concord_pair_add(l, concord_pair_of(-1.0, 0.0));
    concord_pair large = concord_pair_multiply(concord_two_sum(x, -0.5), v);
    concord_pair series = concord_product(w, 0x1.5555555555555p-4);
    series.low = series.low + CONCORD_FMA(w_low, 0x1.5555555555555p-4, w * 0x1.5555555555555p-58);
    series.low = CONCORD_FMA(w * w * w, concord_poly_stirling_f64(w * w), series.low);
    concord_pair offset =
        concord_pair_add(concord_pair_of(0x1.acfe390c97d69p-2, 0x1.3494bc9001442p-56), series);
    large = concord_pair_add(large, offset);
    return concord_pair_of(x >= 8.0 ? large.high : small.high, x >= 8.0 ? large.low : small.low);
}

// log |gamma(x)| for |x| <= 2^1000, not for poles.
CONCORD_MATH concord_pair concord_lgamma_any(f64 x) {
    f64 a = concord_abs_f64(x);
    concord_pair v = concord_lgamma_pair(a);
    if (x < -0x1p-60) {
        u64 row = concord_lgamma_row(a);
        concord_pair d = concord_two_sum(x - concord_table_lgamma[row], -concord_table_lgamma[row + 1]);
        d.low = d.low - concord_table_lgamma[row + 15];
        if (concord_abs_f64(d.high) < concord_table_lgamma[row + 4]) {
            // Near a zero, the series there.
            f64 p = concord_lgamma_series(row, d.high);
            concord_pair q = concord_product(d.high, concord_table_lgamma[row + 2]);
            f64 rest =
                CONCORD_FMA(d.high, concord_table_lgamma[row + 3], d.low * concord_table_lgamma[row + 2]);
            v = concord_quick_sum(q.high, q.low + CONCORD_FMA(d.high * d.high, p, rest));
        } else {
            // |gamma(-a)| = pi / (a |sin(pi a)| gamma(a)).
            f64 b = concord_limit_f64(a, 0.0, 0x1p52);
            f64 u = b < 0x1p51 ? concord_abs_f64(b - ((b + CONCORD_ROUNDER) - CONCORD_ROUNDER)) : 0.5;
            u = u == 0.0 ? 0.5 : u;
            concord_pair z = concord_product(u, u);
            concord_pair s =
                concord_pair_multiply(concord_poly_sinpi_f64(z.high, z.low), concord_product(u, b));
            s = concord_pair_divide(concord_pair_of(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), s);
            v = concord_pair_add(concord_log_pair(s.high, s.low, 0.0), concord_pair_negate(v));
        }
    }
    return v;
}

// Whether x is 0, -1, -2, ...
CONCORD_MATH u64 concord_is_gamma_pole(f64 x) {
    f64 b = concord_abs_f64(x);
    return (u64)((x <= 0.0) & ((b >= 0x1p52) | ((b + 0x1p52) - 0x1p52 == b)));
}

CONCORD_MATH f64 concord_lgamma_f64(f64 x) {
    f64 y = concord_lgamma_any(concord_limit_f64(x, -0x1p1000, 0x1p1000)).high;
    // x (log(x) - 1), scaled: the exact product may be near the largest number.
    concord_pair l = concord_log_any(x > 0x1p1000 ? concord_limit_f64(x, 0.0, 0x1.fffffffffffffp+1023) : 1.0);
    l = concord_pair_add(l, concord_pair_of(-1.0, 0.0));
    l = concord_pair_multiply(l, concord_pair_of(x * 0x1p-100, 0.0));
    y = x > 0x1p1000 ? l.high * 0x1p100 : y;
    y = x == CONCORD_INF_F64 ? x : y;
    y = (concord_is_gamma_pole(x) != 0) ? CONCORD_INF_F64 : y;
    return x != x ? CONCORD_NAN_F64 : y;
}

CONCORD_MATH f64 concord_tgamma_f64(f64 x) {
    // Below -190 results are zeros.
    f64 d = concord_limit_f64(x, -190.5, 175.0);
    concord_pair l = concord_lgamma_any(d == 0.0 ? 1.0 : d);
    f64 v = concord_exp_of_pair(concord_limit_f64(l.high, -800.0, 720.0), l.low);
    // Between poles below zero, the sign is that of -1 to the power floor(x).
    f64 b = concord_abs_f64(x);
    f64 whole = b + 0x1p52;
    u64 truncated = CONCORD_F64_BITS(whole) - (whole - 0x1p52 > b ? 1 : 0);
    u64 negative = x < 0.0 ? ~truncated & 1 : 0;
    f64 y = CONCORD_F64_OF(CONCORD_F64_BITS(v) | (negative << 63));
    y = concord_is_gamma_pole(x) != 0 ? CONCORD_NAN_F64 : y;
    y = x == 0.0 ? concord_copysign_f64(CONCORD_INF_F64, x) : y;
    return x != x ? CONCORD_NAN_F64 : y;
}
