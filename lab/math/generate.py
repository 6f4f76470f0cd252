#!/usr/bin/env python3
"""Computes the coefficients and tables of concord/detail/math: python3 lab/math/generate.py > core/include/concord/detail/math/tables.h

Needs mpmath; gmpy2 makes it faster. Each polynomial is a weighted least-squares fit at Chebyshev nodes, which is within
a factor of about 2 of the minimax polynomial. Coefficients are rounded to f64 one at a time, lowest degree first, and
the remaining ones are fitted again after each rounding. `--report` prints the largest weighted error of each polynomial.
`--only NAME,...` restricts the run to some polynomials.
"""
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.prec = 220
PI, LN2, EULER = mp.pi, mp.ln(2), mp.euler


def f64(x):
    """The f64 nearest to x, as an mpf."""
    return mpf(float(x)) if x != 0 else mpf(0)


def hexa(x):
    return float(x).hex() if float(x) != int(float(x)) or abs(x) > 4 else repr(float(x))


def pair(x):
    """x as the sum of two f64."""
    return f64(x) + f64(x - f64(x))


def fit(g, w, lo, hi, degree, pairs=0):
    """Coefficients of a polynomial p of this degree with |p - g| * w small on [lo, hi], and the largest such error.

    The first `pairs` coefficients are sums of two f64.
    """
    lo, hi = mpf(lo), mpf(hi)
    count = 2 * (2 * degree + 8)
    nodes = [(lo + hi) / 2 + (hi - lo) / 2 * mp.cos((2 * i + 1) * PI / (2 * count)) for i in range(count)]
    goal = [mpf(g(x)) for x in nodes]
    weight = [mpf(w(x)) for x in nodes]
    scale = max(abs(lo), abs(hi))
    powers = [[(x / scale) ** k for k in range(degree + 1)] for x in nodes]
    done = []
    while len(done) <= degree:
        first = len(done)
        n = degree + 1 - first
        rest = [goal[i] - sum(done[k] * nodes[i] ** k for k in range(first)) for i in range(count)]
        rows = [[weight[i] * powers[i][first + k] for k in range(n)] for i in range(count)]
        a = mp.matrix(n, n)
        b = mp.matrix(n, 1)
        for j in range(n):
            for k in range(j + 1):
                a[j, k] = a[k, j] = mp.fsum(row[j] * row[k] for row in rows)
            b[j] = mp.fsum(rows[i][j] * weight[i] * rest[i] for i in range(count))
        c = mp.lu_solve(a, b)
        done.append((pair if first < pairs else f64)(c[0] / scale ** first))
    error = max(abs(sum(done[k] * x ** k for k in range(degree + 1)) - g(x)) * w(x)
                for x in [lo + (hi - lo) * (i + mpf(1) / 2) / 211 for i in range(211)])
    return done, error


POLYNOMIALS = {}


def polynomial(name, g, w, lo, hi, degree, pairs=0):
    POLYNOMIALS[name] = (g, w, lo, hi, degree, pairs)


def near(g, taylor):
    """g, replaced by its limit where |x| is tiny."""
    return lambda x: taylor if abs(x) < mpf(2) ** -60 else g(x)


half_ln2 = LN2 / 2 * mpf('1.0001')
exp_tail = near(lambda r: (mp.expm1(r) - r) / r ** 2, mpf(1) / 2)
polynomial('exp', exp_tail, lambda r: r ** 2, -half_ln2, half_ln2, 9)
polynomial('exp2', near(lambda r: mp.expm1(r * LN2) / r, LN2), lambda r: abs(r), -0.5, 0.5, 10)
# log1p(f) = f - f^2/2 + s (f^2/2 + z R(z)), s = f / (2 + f), z = s^2.
atanh_tail = near(lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z, mpf(2) / 3)
log_limit = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf('1.0001')
polynomial('log', atanh_tail, lambda z: z, 0, log_limit, 6)
polynomial('log2', lambda z: atanh_tail(z) / LN2, lambda z: z, 0, log_limit, 8)
# sin and cos of pi/2 u, and sin of pi u, |u| <= 1/2, z = u^2. sin has a first coefficient of two parts.
quarter = PI / 2
sin_tail = near(lambda z: (mp.sin(quarter * mp.sqrt(z)) / mp.sqrt(z) - quarter) / z, -quarter ** 3 / 6)
polynomial('sin', sin_tail, lambda z: z, 0, 0.2501, 6)
polynomial('cos', near(lambda z: (mp.cos(quarter * mp.sqrt(z)) - 1) / z, -quarter ** 2 / 2), lambda z: z, 0, 0.2501, 7)
polynomial('sin_half', near(lambda z: (mp.sin(PI * mp.sqrt(z)) / mp.sqrt(z) - PI) / z, -PI ** 3 / 6),
           lambda z: z * mp.sqrt(z) / mp.sin(PI * mp.sqrt(z)), 1e-12, 0.2501, 8)
polynomial('atan', near(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 3), lambda z: z, 0,
           (mp.sqrt(2) - 1) ** 2 * mpf('1.0001'), 10)
polynomial('asin', near(lambda z: (mp.asin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(1) / 6), lambda z: z, 0, 0.2501, 12)
polynomial('sinh', near(lambda z: (mp.sinh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mpf(1) / 6), lambda z: z, 0,
           half_ln2 ** 2, 4)
polynomial('cosh', near(lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, mpf(1) / 2), lambda z: z, 0, half_ln2 ** 2, 4)


def erf_log(x):  # -log(erfc(x)) / x
    return -mp.log(mp.erfc(x)) / x if abs(x) > mpf(2) ** -60 else 2 / mp.sqrt(PI)


# erf(x) = -expm1(-x P(x)).
polynomial('erf', erf_log, lambda x: (x / mp.expm1(x * erf_log(x)) if x > mpf(2) ** -60 else mp.sqrt(PI) / 2), 0, 3.93,
           23)
# erfc(x) = exp(-x^2) (1 + t) G(t) with t = (c - x) / (c + x).
ERFC_CENTRE = mpf(2.5)


def erfc_scaled(t):
    x = ERFC_CENTRE * (1 - t) / (1 + t)
    return mp.exp(x * x) * mp.erfc(x) / (1 + t)


erfc_low = (ERFC_CENTRE - mpf('10.07')) / (ERFC_CENTRE + mpf('10.07'))
polynomial('erfc', erfc_scaled, lambda t: 1 / erfc_scaled(t), erfc_low, 1, 23)
polynomial('cbrt', lambda m: m ** (-mpf(1) / 3), lambda m: m ** (mpf(1) / 3), 1, 2, 5)


def lgamma_factor(y):
    u = y + mpf(3) / 2
    if abs(u - 1) < mpf(2) ** -60:
        return EULER
    if abs(u - 2) < mpf(2) ** -60:
        return 1 - EULER
    return mp.loggamma(u).real / ((u - 1) * (u - 2))


# lgamma(u) = (u - 1) (u - 2) P(u - 3/2) for 1 <= u <= 2.
polynomial('lgamma', lgamma_factor, lambda y: 1, -0.5, 0.5, 21)


def stirling(w):
    if w < mpf(2) ** -40:
        return mpf(1) / 12 - w / 360
    x = 1 / mp.sqrt(w)
    mp.prec += 60
    r = (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * PI) / 2) * x
    mp.prec -= 60
    return r


polynomial('stirling', stirling, lambda w: 1, 0, mpf(1) / 64, 7)
# 1 / gamma(1 + y), 0 <= y <= 1, in y - 1/2.
polynomial('rgamma', lambda y: mp.rgamma(y + mpf(3) / 2), lambda y: 1, -0.5, 0.5, 16)


polynomial('exp_f64', exp_tail, lambda r: abs(r), -half_ln2, half_ln2, 10)
# f64 functions: the logarithm's series after r - r^2/2 with |r| < 2^-7, sin and cos of radians, sums of two f64.
polynomial('log_tail', near(lambda r: (mp.log1p(r) - r + r * r / 2) / r ** 3, mpf(1) / 3), lambda r: r * r, -0.0080,
           0.0080, 6)
angle = (PI / 4 * mpf('1.001')) ** 2
polynomial('sin_f64', near(lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, -mpf(1) / 6), lambda z: z, 0, angle, 6)
polynomial('cos_f64', near(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z ** 2, mpf(1) / 24), lambda z: z * z, 0,
           angle, 5)
polynomial('cosh_f64', near(lambda z: (mp.cosh(mp.sqrt(z)) - 1) / z, mpf(1) / 2), lambda z: z, 0, half_ln2 ** 2, 5)
polynomial('erf_f64', lambda x: (erf_log(x) - 2 / mp.sqrt(PI)) / x, lambda x: x * x / mp.expm1(x * erf_log(x)),
           1e-9, 5.95, 27)


def erfc_scaled_f64(t):
    x = 3 * (1 - t) / (1 + t)
    return mp.exp(x * x) * mp.erfc(x) / (1 + t)


polynomial('erfc_f64', erfc_scaled_f64, lambda t: 1 / erfc_scaled_f64(t), (3 - mpf('27.4')) / (3 + mpf('27.4')),
           1, 26, 8)
polynomial('lgamma_f64', lgamma_factor, lambda y: 1, -0.5, 0.5, 23, 6)

# sin(pi u) = u S(u^2), |u| <= 1/2, as a sum of two f64; Stirling's series behind 1 / (12 x).
polynomial('sinpi_f64', near(lambda z: mp.sin(PI * mp.sqrt(z)) / mp.sqrt(z), PI), lambda z: 1, 1e-14, 0.2501, 10, 5)
polynomial('stirling_f64', lambda w: (stirling(w) - mpf(1) / 12) / w, lambda w: w, 1e-10, mpf(1) / 64, 7)


def split(x, *bits):
    """x as a sum of f64 numbers: all but the last have at most these numbers of bits."""
    parts = []
    for b in bits:
        m, e = mp.frexp(x)
        part = mp.nint(m * mpf(2) ** b) * mpf(2) ** (e - b) if x != 0 else mpf(0)
        parts.append(part)
        x -= part
    parts.append(f64(x))
    return parts


# x 2/pi modulo 4 of x = m 2^e, |m| < 2^24: three parts of 2^e 2/pi mod 4, 28, 27 and 53 bits. Row i is for e = i - 2.
TRIG_FIRST = -26


def trig_table():
    rows = []
    mp.prec = 420
    for e in range(TRIG_FIRST, 105):
        v = mpf(2) ** e * 2 / PI
        v -= 4 * mp.nint(v / 4)
        h = mp.nint(v * mpf(2) ** 26) / mpf(2) ** 26 if e >= 0 else split(v, 28)[0]
        m = mp.nint((v - h) * mpf(2) ** 53) / mpf(2) ** 53 if e >= 0 else split(v - h, 27)[0]
        rows.append((h, m, f64(v - h - m)))
    mp.prec = 220
    return rows


# log of 128 bins of z, 0.6875 <= z < 1.375: an approximation c of 1/z with few bits, and -log(c) as a multiple of 2^-40
# and the rest. The two bins next to z = 1 have c = 1.
def log_table():
    rows = []
    for i in range(128):
        bits = 0x3fe6000000000000 + (i << 45)
        low, high = (mpf(m) for m in bin_bounds(bits))
        c = mpf(1) if 0.99 < low < 1.0001 else mp.nint(512 * 2 / (low + high)) / 512
        v = -mp.log(c)
        h = mp.nint(v * mpf(2) ** 40) / mpf(2) ** 40
        rows.append((c, h, f64(v - h)))
        assert max(abs(low * c - 1), abs(high * c - 1)) < mpf('0.0080'), i
    return rows


# Taylor series of lgamma at its zeros z < -2. Each half of (-n - 1, -n) has one zero. A row holds z and the first
# coefficient as sums of two f64, the radius where the series is used, coefficients 2 to 11, and the third part of z.
def lgamma_zeros():
    mp.prec = 300
    rows = []
    for i in range(28):
        n = 2 + i // 2
        # |gamma| falls from the pole to 1 on this side: bisection.
        low, high = (-mpf(n), -mpf(n) - mpf(1) / 2) if i % 2 == 0 else (-mpf(n) - 1, -mpf(n) - mpf(1) / 2)
        pole = low
        for _ in range(290):
            middle = (low + high) / 2
            if abs(mp.gamma(middle)) > 1:
                low = middle
            else:
                high = middle
        zero = (low + high) / 2
        c = [mp.psi(k - 1, zero) / mp.factorial(k) for k in range(1, 12)]
        low = f64(zero - f64(zero))
        rows.append((f64(zero), low, f64(c[0]), c[0] - f64(c[0]), abs(zero - pole) / 32, *c[1:], zero - f64(zero) - low))
    mp.prec = 220
    return rows


def bin_bounds(bits):
    return (struct.unpack('<d', struct.pack('<Q', b))[0] for b in (bits, bits + (1 << 45)))


def two_over_pi():
    """64 zero bits, then the bits of 2/pi behind the point, in words of 64."""
    mp.prec = 1400
    v = int(mp.floor(2 / PI * mpf(2) ** (64 * 19)))
    mp.prec = 220
    return [0] + [v >> (64 * (18 - i)) & (2 ** 64 - 1) for i in range(19)]


def write_polynomial(out, name, c, pairs):
    plain, double = c[pairs:], c[:pairs]
    out.append(f'CONCORD_MATH f64 concord_poly_{name}{"_high" if pairs else ""}(f64 x) {{')
    out.append(f'    f64 p = {hexa(plain[-1])};')
    for k in reversed(plain[:-1]):
        out.append(f'    p = CONCORD_FMA(p, x, {hexa(k)});')
    out += ['    return p;', '}', '']
    if pairs:
        out.append(f'CONCORD_MATH concord_pair concord_poly_{name}(f64 x, f64 low) {{')
        out.append(f'    concord_pair p = concord_pair_of(concord_poly_{name}_high(x), 0.0);')
        for k in reversed(double):
            out.append(f'    p = concord_pair_step(p, x, low, {hexa(f64(k))}, {hexa(k - f64(k))});')
        out += ['    return p;', '}', '']


def main():
    only = None
    if '--only' in sys.argv:
        only = sys.argv[sys.argv.index('--only') + 1].split(',')
    out = ['// Written by lab/math/generate.py. Coefficients and tables of f32.h and f64.h.',
           '// clang-format off', '']
    for name, spec in POLYNOMIALS.items():
        if only and name not in only:
            continue
        c, error = fit(*spec)
        if '--report' in sys.argv:
            print(f'{name}: degree {spec[4]}, error 2^{float(mp.log(error, 2)):.2f}', file=sys.stderr)
        write_polynomial(out, name, c, spec[5])
    if only is None:
        out.append('// Rows of (2^e 2/pi) modulo 4 in three parts, e = -26, -25, ...')
        out.append('CONCORD_TABLE(f64, concord_table_trig, 393) = {')
        for row in trig_table():
            out.append('    ' + ', '.join(hexa(v) for v in row) + ',')
        out += ['};', '', '// (c, -log(c), its rest) of bins of z from 0.6875.']
        out.append('CONCORD_TABLE(f64, concord_table_log, 384) = {')
        for row in log_table():
            out.append('    ' + ', '.join(hexa(v) for v in row) + ',')
        out += ['};', '', '// Zeros of lgamma with 16 numbers each.']
        out.append('CONCORD_TABLE(f64, concord_table_lgamma, 448) = {')
        for row in lgamma_zeros():
            out.append('    ' + ', '.join(hexa(v) for v in row) + ',')
        out += ['};', '', 'CONCORD_TABLE(u64, concord_table_two_over_pi, 20) = {']
        out += [f'    0x{w:016x},' for w in two_over_pi()]
        out.append('};')
    print('\n'.join(out))


if __name__ == '__main__':
    main()
