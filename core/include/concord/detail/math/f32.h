// Functions of f32 with the same bits on every backend. Those of one argument are correctly rounded for all inputs.
//
// Each evaluates in f64 with a relative error of about 2^-52 and rounds once. Inputs whose f64 result rounds the wrong
// way are listed where they occur; lab/math/check.cpp finds them. A NaN result is 0x7fc00000.

#define CONCORD_LOG2E 0x1.71547652b82fep+0
#define CONCORD_LN2_HIGH 0x1.62e42fefa39efp-1
#define CONCORD_LN2_LOW 0x1.abc9e3b39803fp-56
#define CONCORD_PIO2_HIGH 0x1.921fb54442d18p+0
#define CONCORD_PIO2_LOW 0x1.1a62633145c07p-54

// --- exponential -----------------------------------------------------------------------------------------------------

// x = k ln 2 + r with an integer k and |r| <= ln(2) / 2: k + CONCORD_ROUNDER, and r from x and k.
CONCORD_MATH f64 concord_exp_rounded(f64 x) {
    return CONCORD_FMA(x, CONCORD_LOG2E, CONCORD_ROUNDER);
}

CONCORD_MATH f64 concord_exp_reduced(f64 x, f64 k) {
    f64 r = CONCORD_FMA(k, -CONCORD_LN2_HIGH, x);
    return CONCORD_FMA(k, -CONCORD_LN2_LOW, r);
}

// exp(x), |x| <= 700.
CONCORD_MATH f64 concord_exp_core(f64 x) {
    f64 t = concord_exp_rounded(x);
    f64 r = concord_exp_reduced(x, t - CONCORD_ROUNDER);
    f64 p = CONCORD_FMA(r * r, concord_poly_exp(r), r);
    f64 s = concord_scale_of_rounded(t);
    return CONCORD_FMA(s, p, s);
}

// exp(x) - 1, |x| <= 700. A zero loses its sign.
CONCORD_MATH f64 concord_expm1_core(f64 x) {
    f64 t = concord_exp_rounded(x);
    f64 r = concord_exp_reduced(x, t - CONCORD_ROUNDER);
    f64 p = CONCORD_FMA(r * r, concord_poly_exp_f64(r), r);
    f64 s = concord_scale_of_rounded(t);
    return CONCORD_FMA(s, p, s - 1.0);
}

CONCORD_MATH f32 concord_exp_f32(f32 x) {
    f32 y = (f32)concord_exp_core(concord_limit_f64((f64)x, -110.0, 100.0));
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_exp2_f32(f32 x) {
    f64 d = concord_limit_f64((f64)x, -160.0, 130.0);
    f64 t = d + CONCORD_ROUNDER;
    f64 r = d - (t - CONCORD_ROUNDER);
    f64 s = concord_scale_of_rounded(t);
    f32 y = (f32)CONCORD_FMA(s, r * concord_poly_exp2(r), s);
    y = CONCORD_EXCEPT(y, x, 0x3b429d37, 1);
    y = CONCORD_EXCEPT(y, x, 0xbcf3a937, 1);
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_expm1_f32(f32 x) {
    f32 y = (f32)concord_expm1_core(concord_limit_f64((f64)x, -60.0, 100.0));
    y = x == 0.0f ? x : y;
    return x != x ? CONCORD_NAN_F32 : y;
}

// --- logarithm -------------------------------------------------------------------------------------------------------

// A normal x > 0 is m 2^e with sqrt(1/2) <= m < sqrt(2).
CONCORD_MATH f64 concord_log_exponent(f64 x) {
    u64 i = CONCORD_F64_BITS(x) + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd);
    return CONCORD_F64_OF((i >> 52) | 0x4330000000000000) - (0x1p52 + 1023.0);
}

CONCORD_MATH f64 concord_log_mantissa(f64 x) {
    u64 i = CONCORD_F64_BITS(x) - 0x3fe6a09e667f3bcd;
    return CONCORD_F64_OF((i & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
}

// log(1 + f) + low, sqrt(1/2) <= 1 + f < sqrt(2), |low| small.
CONCORD_MATH f64 concord_log1p_reduced(f64 f, f64 low) {
    f64 s = f / (2.0 + f);
    f64 z = s * s;
    f64 h = 0.5 * f * f;
    return f - (h - CONCORD_FMA(s, CONCORD_FMA(z, concord_poly_log(z), h), low));
}

// log(x) for a normal x > 0.
CONCORD_MATH f64 concord_log_core(f64 x) {
    f64 e = concord_log_exponent(x);
    f64 l = concord_log1p_reduced(concord_log_mantissa(x) - 1.0, e * CONCORD_LN2_LOW);
    return CONCORD_FMA(e, CONCORD_LN2_HIGH, l);
}

// y with the results for zero, infinity, negative numbers and NaN of a logarithm.
CONCORD_MATH f32 concord_log_special_f32(f32 x, f32 y) {
    y = x == CONCORD_INF_F32 ? x : y;
    y = x == 0.0f ? -CONCORD_INF_F32 : y;
    return x >= 0.0f ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_log_f32(f32 x) {
    f32 y = (f32)concord_log_core((f64)x);
    y = CONCORD_EXCEPT(y, x, 0x3c413d3a, -1);
    y = CONCORD_EXCEPT(y, x, 0x41178feb, -1);
    y = CONCORD_EXCEPT(y, x, 0x4c5d65a5, 1);
    y = CONCORD_EXCEPT(y, x, 0x65d890d3, 1);
    y = CONCORD_EXCEPT(y, x, 0x6f31a8ec, 1);
    return concord_log_special_f32(x, y);
}

CONCORD_MATH f32 concord_log2_f32(f32 x) {
    f64 e = concord_log_exponent((f64)x);
    f64 l = concord_log1p_reduced(concord_log_mantissa((f64)x) - 1.0, 0.0);
    f64 y = CONCORD_FMA(l, CONCORD_LOG2E, CONCORD_FMA(l, 0x1.777d0ffda0d24p-56, e));
    return concord_log_special_f32(x, (f32)y);
}

CONCORD_MATH f32 concord_log10_f32(f32 x) {
    f64 e = concord_log_exponent((f64)x);
    f64 l = concord_log1p_reduced(concord_log_mantissa((f64)x) - 1.0, 0.0);
    f64 low = CONCORD_FMA(l, 0x1.95355baaafad3p-57, e * -0x1.9dc1da994fd21p-59);
    f64 y = CONCORD_FMA(e, 0x1.34413509f79ffp-2, CONCORD_FMA(l, 0x1.bcb7b1526e50ep-2, low));
    return concord_log_special_f32(x, CONCORD_EXCEPT((f32)y, x, 0x0efeee7a, 1));
}

CONCORD_MATH f32 concord_log1p_f32(f32 x) {
    f64 d = (f64)x;
    f64 u = 1.0 + d;
    f64 e = concord_log_exponent(u);
    f64 f = e == 0.0 ? d : concord_log_mantissa(u) - 1.0;
    f64 y = CONCORD_FMA(e, CONCORD_LN2_HIGH, concord_log1p_reduced(f, e * CONCORD_LN2_LOW));
    f32 r = x == 0.0f ? x : (f32)y;
    r = CONCORD_EXCEPT(r, x, 0x35400003, 1);
    r = CONCORD_EXCEPT(r, x, 0x3710001b, 1);
    r = CONCORD_EXCEPT(r, x, 0x3efd81ad, -1);
    r = CONCORD_EXCEPT(r, x, 0x41078feb, -1);
    r = CONCORD_EXCEPT(r, x, 0x65d890d3, 1);
    r = CONCORD_EXCEPT(r, x, 0x6f31a8ec, 1);
    r = CONCORD_EXCEPT(r, x, 0xb53ffffd, -1);
    r = CONCORD_EXCEPT(r, x, 0xb70fffe5, -1);
    r = CONCORD_EXCEPT(r, x, 0xbb0ec8c4, 1);
    r = x == CONCORD_INF_F32 ? x : r;
    r = x == -1.0f ? -CONCORD_INF_F32 : r;
    return x >= -1.0f ? r : CONCORD_NAN_F32;
}

// --- power -----------------------------------------------------------------------------------------------------------

// x^y. log2 |x| is the sum of two f64 with an error of about 2^-59.
CONCORD_MATH f32 concord_pow_f32(f32 x, f32 y) {
    f64 a = concord_abs_f64((f64)x);
    f64 d = (f64)y;
    f64 e = concord_log_exponent(a);
    f64 f = concord_log_mantissa(a) - 1.0;
    // s = f / (2 + f) = s + s_low; the quotient's remainder needs only a rough 1 / (2 + f).
    f64 den = 2.0 + f;
    f64 s = f / den;
    f64 h = 0.5 * f;
    f64 s_low = CONCORD_FMA(-s, den, f) * (0.5 - 0.5 * h * (1.0 - h * (1.0 - h)));
    f64 z = s * s;
    f64 t = s * 0x1.71547652b82fep+1;
    f64 t_low = CONCORD_FMA(s, 0x1.71547652b82fep+1, -t) +
                CONCORD_FMA(s, 0x1.777d0ffda0d24p-55,
                            CONCORD_FMA(s_low, 0x1.71547652b82fep+1, s * z * concord_poly_log2(z)));
    f64 sum = e + t;
    f64 sum_low = (t - (sum - e)) + t_low;
    f64 l = sum + sum_low;
    f64 l_low = sum_low - (l - sum);
    l = a == 0.0 ? -0x1p300 : l;
    l = a == CONCORD_INF_F64 ? 0x1p300 : l;
    f64 p = d * l;
    f64 p_low = CONCORD_FMA(d, l, -p) + d * l_low;
    // Where p is out of range, its low part does not matter and may not be finite.
    f64 q = concord_limit_f64(p, -400.0, 400.0);
    p_low = q == p ? p_low : 0.0;
    f64 k = q + CONCORD_ROUNDER;
    f64 r = (q - (k - CONCORD_ROUNDER)) + p_low;
    f64 scale = concord_scale_of_rounded(k);
    f64 v = CONCORD_FMA(scale, r * concord_poly_exp2(r), scale);
    // |y| >= 2^24 is an even integer.
    f32 b = CONCORD_F32_OF(CONCORD_F32_BITS(y) & 0x7fffffff);
    f32 b2 = 0.5f * b;
    u32 integer = (u32)((b >= 0x1p23f) | ((b + 0x1p23f) - 0x1p23f == b));
    u32 odd = integer & (u32)((b < 0x1p24f) & ((b2 + 0x1p23f) - 0x1p23f != b2));
    f32 w = CONCORD_F32_OF(CONCORD_F32_BITS((f32)v) | ((odd << 31) & CONCORD_F32_BITS(x)));
    w = ((x < 0.0f) & (integer == 0) & (x != -CONCORD_INF_F32)) ? CONCORD_NAN_F32 : w;
    w = ((x != x) | (y != y)) ? CONCORD_NAN_F32 : w;
    u32 one = (u32)((x == 1.0f) | (y == 0.0f)) | (u32)((x == -1.0f) & (b == CONCORD_INF_F32));
    return one != 0 ? 1.0f : w;
}

// --- trigonometric ---------------------------------------------------------------------------------------------------

// sin and cos of (pi/2) (u + low), |u| <= 1/2 and a little more.
CONCORD_MATH f64 concord_sin_reduced(f64 u, f64 low) {
    f64 z = u * u;
    f64 t = CONCORD_FMA(z, concord_poly_sin(z), CONCORD_PIO2_LOW);
    return CONCORD_FMA(u, CONCORD_PIO2_HIGH, CONCORD_FMA(low, CONCORD_PIO2_HIGH, u * t));
}

CONCORD_MATH f64 concord_cos_reduced(f64 u, f64 low) {
    f64 z = u * u;
    return 1.0 + CONCORD_FMA(z, concord_poly_cos(z), u * low * -0x1.3bd3cc9be45dep+1);
}

// sin of pi (u + low), |u| <= 1/2 and a little more.
CONCORD_MATH f64 concord_sin_half(f64 u, f64 low) {
    f64 z = u * u;
    f64 t = CONCORD_FMA(z, concord_poly_sin_half(z), 2.0 * CONCORD_PIO2_LOW);
    return CONCORD_FMA(u, 2.0 * CONCORD_PIO2_HIGH,
                       CONCORD_FMA(low, CONCORD_FMA(z, -0x1.f19f3p+3, 2.0 * CONCORD_PIO2_HIGH), u * t));
}

// An odd integer k negates x.
CONCORD_MATH f64 concord_negate_if_odd(f64 x, f64 k_plus_rounder) {
    return CONCORD_F64_OF(CONCORD_F64_BITS(x) ^ (CONCORD_F64_BITS(k_plus_rounder) << 63));
}

// (2/pi) x modulo 4 as a sum of three, for finite x. x is m 2^e, and the table holds (2/pi) 2^e modulo 4 in three parts
// whose products with m are exact, exact, and small.
typedef struct {
    f64 high, middle, low;
} concord_turns;

CONCORD_MATH concord_turns concord_turns_of(f32 x) {
    i32 row = (i32)((CONCORD_F32_BITS(x) >> 23) & 0xff) - 124;
    row = row < 0 ? 0 : row;
    row = row > 130 ? 130 : row;
    f64 m = (f64)(x * CONCORD_F32_OF((u32)(153 - row) << 23));
    u64 at = 3 * (u64)row;
    concord_turns r;
    r.high = m * concord_table_trig[at];
    r.middle = m * concord_table_trig[at + 1];
    r.low = m * concord_table_trig[at + 2];
    return r;
}

// high + middle + low - k as a sum of two.
CONCORD_MATH concord_pair concord_turns_less(concord_turns r, f64 k) {
    f64 a = r.high - k;
    f64 b = a + r.middle;
    f64 c = (r.middle - (b - a)) + r.low;
    return concord_quick_sum(b, c);
}

CONCORD_MATH f32 concord_sin_f32(f32 x) {
    concord_turns r = concord_turns_of(x);
    f64 t = CONCORD_FMA(r.high + r.middle, 0.5, CONCORD_ROUNDER);
    concord_pair u = concord_turns_less(r, 2.0 * (t - CONCORD_ROUNDER));
    f32 y = (f32)concord_negate_if_odd(concord_sin_half(0.5 * u.high, 0.5 * u.low), t);
    y = CONCORD_EXCEPT_BOTH(y, x, 0x46199998, -1);
    y = x == 0.0f ? x : y;
    return x - x == 0.0f ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_cos_f32(f32 x) {
    concord_turns r = concord_turns_of(x);
    f64 t = CONCORD_FMA(r.high + r.middle + 1.0, 0.5, CONCORD_ROUNDER);
    concord_pair u = concord_turns_less(r, CONCORD_FMA(t - CONCORD_ROUNDER, 2.0, -1.0));
    f32 y = (f32)concord_negate_if_odd(concord_sin_half(0.5 * u.high, 0.5 * u.low), t);
    y = CONCORD_EXCEPT_BOTH(y, x, 0x6115cb11, 1);
    return x - x == 0.0f ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_tan_f32(f32 x) {
    concord_turns r = concord_turns_of(x);
    f64 t = (r.high + r.middle) + CONCORD_ROUNDER;
    concord_pair u = concord_turns_less(r, t - CONCORD_ROUNDER);
    u64 odd = CONCORD_F64_BITS(t) & 1;
    f64 s = concord_sin_reduced(u.high, u.low);
    f64 c = concord_cos_reduced(u.high, u.low);
    f64 v = (odd != 0 ? -c : s) / (odd != 0 ? s : c);
    f32 y = x == 0.0f ? x : (f32)v;
    return x - x == 0.0f ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_sinpi_f32(f32 x) {
    f64 d = (f64)x;
    d = concord_abs_f64(d) < 0x1p24 ? d : 0.0;
    f64 t = d + CONCORD_ROUNDER;
    f32 y = (f32)concord_negate_if_odd(concord_sin_half(d - (t - CONCORD_ROUNDER), 0.0), t);
    y = y == 0.0f ? CONCORD_F32_OF(CONCORD_F32_BITS(x) & 0x80000000) : y;
    return x - x == 0.0f ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_cospi_f32(f32 x) {
    f64 d = (f64)x;
    d = concord_abs_f64(d) < 0x1p24 ? d : 0.0;
    // cos(pi d) = sin(pi (d + 1/2)).
    f64 t = (d + 0.5) + CONCORD_ROUNDER;
    f32 y = (f32)concord_negate_if_odd(concord_sin_half(d - (t - CONCORD_ROUNDER - 0.5), 0.0), t);
    y = y == 0.0f ? 0.0f : y;
    return x - x == 0.0f ? y : CONCORD_NAN_F32;
}

// --- inverse trigonometric -------------------------------------------------------------------------------------------

#define CONCORD_TAN_PI8 0x1.a827999fcef32p-2
#define CONCORD_TAN_3PI8 0x1.3504f333f9de6p+1

CONCORD_MATH f32 concord_atan_f32(f32 x) {
    f64 a = concord_abs_f64((f64)x);
    // atan(a) = base + atan(num / den), |num / den| <= tan(pi/8).
    f64 num = a < CONCORD_TAN_3PI8 ? a - 1.0 : -1.0;
    f64 den = a < CONCORD_TAN_3PI8 ? a + 1.0 : a;
    f64 base = a < CONCORD_TAN_3PI8 ? 0x1.921fb54442d18p-1 : CONCORD_PIO2_HIGH;
    f64 base_low = a < CONCORD_TAN_3PI8 ? 0x1.1a62633145c07p-55 : CONCORD_PIO2_LOW;
    num = a < CONCORD_TAN_PI8 ? a : num;
    den = a < CONCORD_TAN_PI8 ? 1.0 : den;
    base = a < CONCORD_TAN_PI8 ? 0.0 : base;
    base_low = a < CONCORD_TAN_PI8 ? 0.0 : base_low;
    f64 t = num / den;
    f64 z = t * t;
    f64 v = base + (t + CONCORD_FMA(t * z, concord_poly_atan(z), base_low));
    f32 y = (f32)concord_copysign_f64(v, (f64)x);
    y = CONCORD_EXCEPT_BOTH(y, x, 0x3d8d6b23, 1);
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_atan2_f32(f32 y, f32 x) {
    f64 a = concord_abs_f64((f64)x);
    f64 b = concord_abs_f64((f64)y);
    u32 both = (u32)((a == CONCORD_INF_F64) & (b == CONCORD_INF_F64));
    a = both != 0 ? 1.0 : a;
    b = both != 0 ? 1.0 : b;
    a = ((a == 0.0) & (b == 0.0)) ? 1.0 : a;
    u32 left = CONCORD_F32_BITS(x) >> 31;
    u32 middle = (u32)(b < CONCORD_TAN_3PI8 * a);
    u32 low = (u32)(b < CONCORD_TAN_PI8 * a);
    f64 num = middle != 0 ? b - a : -a;
    f64 den = middle != 0 ? b + a : b;
    num = low != 0 ? b : num;
    den = low != 0 ? a : den;
    f64 base = middle != 0 ? 0x1.921fb54442d18p-1 : CONCORD_PIO2_HIGH;
    f64 base_low = middle != 0 ? 0x1.1a62633145c07p-55 : CONCORD_PIO2_LOW;
    base = low != 0 ? 0.0 : base;
    base_low = low != 0 ? 0.0 : base_low;
    // In the left half-plane the angle is pi minus this one.
    f64 base_left = middle != 0 ? 0x1.2d97c7f3321d2p+1 : CONCORD_PIO2_HIGH;
    f64 base_left_low = middle != 0 ? 0x1.a79394c9e8a0ap-54 : CONCORD_PIO2_LOW;
    base_left = low != 0 ? 0x1.921fb54442d18p+1 : base_left;
    base_left_low = low != 0 ? 0x1.1a62633145c07p-53 : base_left_low;
    base = left != 0 ? base_left : base;
    base_low = left != 0 ? base_left_low : base_low;
    f64 t = num / den;
    t = left != 0 ? -t : t;
    f64 z = t * t;
    f64 v = base + (t + CONCORD_FMA(t * z, concord_poly_atan(z), base_low));
    // A subnormal result is the quotient less almost nothing, which decides a tie: its last f64 bit becomes 1.
    u64 bits = CONCORD_F64_BITS(v);
    u64 odd = CONCORD_FMA(-t, den, num) > 0.0 ? bits | 1 : bits - 1 + (bits & 1);
    v = ((v < 0x1p-120) & (v > 0.0)) ? CONCORD_F64_OF(odd) : v;
    f32 r = (f32)concord_copysign_f64(v, (f64)y);
    return ((x != x) | (y != y)) ? CONCORD_NAN_F32 : r;
}

// asin(s) for s^2 = z <= 1/4 is s + asin_tail.
CONCORD_MATH f64 concord_asin_tail(f64 s, f64 z) {
    return s * z * concord_poly_asin(z);
}

CONCORD_MATH f32 concord_asin_f32(f32 x) {
    f64 a = concord_abs_f64((f64)x);
    f64 z = a <= 0.5 ? a * a : CONCORD_FMA(a, -0.5, 0.5);
    f64 s = a <= 0.5 ? a : CONCORD_SQRT(z);
    f64 w = concord_asin_tail(s, z);
    // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
    f64 large = CONCORD_FMA(s, -2.0, CONCORD_PIO2_HIGH) - CONCORD_FMA(w, 2.0, -CONCORD_PIO2_LOW);
    f64 v = a <= 0.5 ? s + w : large;
    f32 y = (f32)concord_copysign_f64(v, (f64)x);
    return a <= 1.0 ? y : CONCORD_NAN_F32;
}

CONCORD_MATH f32 concord_acos_f32(f32 x) {
    f64 d = (f64)x;
    f64 a = concord_abs_f64(d);
    f64 z = a <= 0.5 ? a * a : CONCORD_FMA(a, -0.5, 0.5);
    f64 s = a <= 0.5 ? d : CONCORD_SQRT(z);
    f64 w = concord_asin_tail(s, z);
    f64 small = CONCORD_PIO2_HIGH - (s + (w - CONCORD_PIO2_LOW));
    f64 large = 2.0 * (s + w);
    large = d < 0.0 ? 2.0 * CONCORD_PIO2_HIGH - (large - 2.0 * CONCORD_PIO2_LOW) : large;
    f32 y = (f32)(a <= 0.5 ? small : large);
    y = CONCORD_EXCEPT(y, x, 0x328885a3, 1);
    y = CONCORD_EXCEPT(y, x, 0x39826222, 1);
    return a <= 1.0 ? y : CONCORD_NAN_F32;
}

// --- hyperbolic ------------------------------------------------------------------------------------------------------

// sinh and cosh of x = k ln 2 + r: sinh r and cosh r times the cosh and sinh of k ln 2, which 2^k gives.
typedef struct {
    f64 sinh, cosh;
} concord_hyperbolic;

CONCORD_MATH concord_hyperbolic concord_hyperbolic_core(f64 x) {
    concord_hyperbolic h;
    f64 t = concord_exp_rounded(x);
    f64 r = concord_exp_reduced(x, t - CONCORD_ROUNDER);
    f64 z = r * r;
    f64 s = CONCORD_FMA(r * z, concord_poly_sinh(z), r);
    f64 c = z * concord_poly_cosh(z);
    // 2^k / 2 and 2^-k / 2; the low bits of t hold k.
    f64 up = CONCORD_F64_OF((CONCORD_F64_BITS(t) + 1022) << 52);
    f64 down = CONCORD_F64_OF((1022 - CONCORD_F64_BITS(t)) << 52);
    f64 sk = up - down;
    f64 ck = up + down;
    h.sinh = sk + CONCORD_FMA(s, ck, c * sk);
    h.cosh = ck + CONCORD_FMA(s, sk, c * ck);
    return h;
}

CONCORD_MATH f32 concord_sinh_f32(f32 x) {
    f32 y = (f32)concord_hyperbolic_core(concord_limit_f64((f64)x, -100.0, 100.0)).sinh;
    y = CONCORD_EXCEPT_BOTH(y, x, 0x3a1285ff, -1);
    y = x == 0.0f ? x : y;
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_cosh_f32(f32 x) {
    f32 y = (f32)concord_hyperbolic_core(concord_limit_f64((f64)x, -100.0, 100.0)).cosh;
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_tanh_f32(f32 x) {
    concord_hyperbolic h = concord_hyperbolic_core(concord_limit_f64((f64)x, -20.0, 20.0));
    f32 y = (f32)(h.sinh / h.cosh);
    y = x == 0.0f ? x : y;
    return x != x ? CONCORD_NAN_F32 : y;
}

// --- error function --------------------------------------------------------------------------------------------------

CONCORD_MATH f32 concord_erf_f32(f32 x) {
    f64 a = concord_limit_f64(concord_abs_f64((f64)x), 0.0, 3.93);
    f64 v = concord_expm1_core(-a * concord_poly_erf(a));
    f32 y = (f32)concord_copysign_f64(v, (f64)x);
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_erfc_f32(f32 x) {
    f64 d = (f64)x;
    f64 a = concord_limit_f64(concord_abs_f64(d), 0.0, 10.07);
    f64 t = (2.5 - a) / (2.5 + a);
    f64 v = concord_exp_core(-a * a) * (concord_poly_erfc(t) * (1.0 + t));
    f32 y = (f32)(d < 0.0 ? 2.0 - v : v);
    y = CONCORD_EXCEPT(y, x, 0xb76c9f62, -1);
    return x != x ? CONCORD_NAN_F32 : y;
}

// --- roots -----------------------------------------------------------------------------------------------------------

CONCORD_MATH f32 concord_rsqrt_f32(f32 x) {
    f32 y = (f32)(1.0 / CONCORD_SQRT((f64)x));
    return y != y ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_cbrt_f32(f32 x) {
    f64 a = concord_abs_f64((f64)x);
    u64 bits = CONCORD_F64_BITS(a);
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
    y = y * CONCORD_F64_OF((third + (1023 - 400)) << 52);
    f32 r = (f32)concord_copysign_f64(y, (f64)x);
    r = ((x == 0.0f) | (a == CONCORD_INF_F64)) ? x : r;
    return x != x ? CONCORD_NAN_F32 : r;
}

CONCORD_MATH f32 concord_hypot_f32(f32 x, f32 y) {
    f64 a = (f64)x;
    f64 b = (f64)y;
    f32 r = (f32)CONCORD_SQRT(CONCORD_FMA(a, a, b * b));
    r = r != r ? CONCORD_NAN_F32 : r;
    a = concord_abs_f64(a);
    b = concord_abs_f64(b);
    return ((a == CONCORD_INF_F64) | (b == CONCORD_INF_F64)) ? CONCORD_INF_F32 : r;
}

// --- gamma -----------------------------------------------------------------------------------------------------------

// log(gamma(x)) for a normal x > 0.
CONCORD_MATH f64 concord_lgamma_positive(f64 x) {
    // 2 <= x < 8: gamma(x) is product * gamma(y), 1 <= y < 2.
    f64 y = x;
    f64 product = 1.0;
    for (i32 i = 0; i < 6; ++i) {
        product = y >= 2.0 ? product * (y - 1.0) : product;
        y = y >= 2.0 ? y - 1.0 : y;
    }
    f64 a = x < 1.0 ? x : y - 1.0;
    f64 argument = x < 1.0 ? x : product;
    argument = x >= 8.0 ? x : argument;
    f64 l = concord_log_core(argument);
    f64 p = a * (a - 1.0) * concord_poly_lgamma(a - 0.5);
    f64 small = x < 1.0 ? p - l : p + l;
    // Stirling's series.
    f64 w = 1.0 / x;
    f64 large =
        CONCORD_FMA(x - 0.5, l - 1.0, CONCORD_FMA(w, concord_poly_stirling(w * w), 0x1.acfe390c97d69p-2));
    return x >= 8.0 ? large : small;
}

// |sin(pi x)|, 0 <= x < 2^24.
CONCORD_MATH f64 concord_sinpi_core(f64 x) {
    return concord_abs_f64(concord_sin_half(x - ((x + CONCORD_ROUNDER) - CONCORD_ROUNDER), 0.0));
}

// Row of the table of the zero of lgamma(-a) nearest to a, for 2 < a < 16.
CONCORD_MATH u64 concord_lgamma_row(f64 a) {
    f64 c = concord_limit_f64(a, 2.0, 15.75);
    return 16 * ((CONCORD_F64_BITS(c * 2.0 - 0.5 + 0x1p52) & 31) - 4);
}

// Coefficients 2 to 11 of the series in d of that row.
CONCORD_MATH f64 concord_lgamma_series(u64 row, f64 d) {
    f64 p = concord_table_lgamma[row + 14];
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 13]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 12]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 11]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 10]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 9]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 8]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 7]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 6]);
    p = CONCORD_FMA(p, d, concord_table_lgamma[row + 5]);
    return p;
}

CONCORD_MATH f32 concord_lgamma_f32(f32 x) {
    f64 d = (f64)x;
    f64 a = concord_abs_f64(d);
    f64 v = concord_lgamma_positive(a);
    if (x < 0.0f) {
        u64 row = concord_lgamma_row(a);
        f64 r = (d - concord_table_lgamma[row]) - concord_table_lgamma[row + 1];
        if (concord_abs_f64(r) < concord_table_lgamma[row + 4]) {
            // Near a zero, the series there.
            v = r * CONCORD_FMA(r, concord_lgamma_series(row, r), concord_table_lgamma[row + 2]);
        } else {
            // gamma(-a) = pi / (a sin(pi a) gamma(a)), apart from the sign.
            f64 s = concord_sinpi_core(a < 0x1p24 ? a : 1.0);
            v = s == 0.0 ? CONCORD_INF_F64 : concord_log_core(0x1.921fb54442d18p+1 / (a * s)) - v;
        }
    }
    f32 y = (f32)v;
    y = CONCORD_EXCEPT(y, x, 0x3b7c53aa, -1);
    y = CONCORD_EXCEPT(y, x, 0x77ac5674, 1);
    y = ((x == 0.0f) | (a == CONCORD_INF_F64)) ? CONCORD_INF_F32 : y;
    return x != x ? CONCORD_NAN_F32 : y;
}

CONCORD_MATH f32 concord_tgamma_f32(f32 x) {
    // Negative integers have no limit. Below -60 results are zeros whose sign floor(x) gives.
    f64 d = concord_limit_f64((f64)x, -0x1p24, 40.0);
    u32 pole = (u32)((d < 0.0) & ((d + CONCORD_ROUNDER) - CONCORD_ROUNDER == d));
    u64 odd = CONCORD_F64_BITS((d - 0.5) + CONCORD_ROUNDER) & 1;
    d = d < -60.0 ? (odd != 0 ? -60.5 : -61.5) : d;
    // gamma(x) = product * gamma(y) or gamma(y) / product, 1 <= y < 2.
    f64 y = d;
    f64 product = 1.0;
    for (i32 i = 0; i < 38; ++i) {
        product = y >= 2.0 ? product * (y - 1.0) : product;
        y = y >= 2.0 ? y - 1.0 : y;
    }
    for (i32 i = 0; i < 62; ++i) {
        product = y < 1.0 ? product * y : product;
        y = y < 1.0 ? y + 1.0 : y;
    }
    f64 g = concord_poly_rgamma(y - 1.5);
    f64 v = d >= 2.0 ? product / g : 1.0 / (product * g);
    f32 r = (f32)v;
    r = CONCORD_EXCEPT(r, x, 0x27d43d43, 1);
    r = CONCORD_EXCEPT(r, x, 0x27de86a9, -1);
    r = CONCORD_EXCEPT(r, x, 0x27e05475, -1);
    r = CONCORD_EXCEPT(r, x, 0x3c7bb570, -1);
    r = CONCORD_EXCEPT(r, x, 0x41e886d1, -1);
    r = x == CONCORD_INF_F32 ? x : r;
    return ((x != x) | (pole != 0)) ? CONCORD_NAN_F32 : r;
}
