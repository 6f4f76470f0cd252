#pragma once
/// @file
/// Comparison of results with a reference: bitwise, or within error bounds.

#include <concord/lab/work.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace concord::lab {

/// A value as text: "0.1 (0x3dcccccd)" for floats, the number for integers.
std::string value_name(Type type, const void* value);

/// Distance of two floats in units in the last place: the number of representable values from one to the other. -1 if
/// either is NaN or T is an integer type.
template <class T>
double ulps_between(T a, T b) {
    if constexpr (detail::has_float_values<T>) {
        using U = detail::BitsOf<T>;
        if (std::isnan(detail::widened(a)) || std::isnan(detail::widened(b))) return -1;
        // Maps floats to unsigned integers in the same order, so that the difference is exact.
        auto place = [](T x) {
            const U bits = std::bit_cast<U>(x), sign = U(1) << (sizeof(U) * 8 - 1);
            return (bits & sign) != 0 ? sign - (bits & ~sign) : sign + bits;
        };
        const U x = place(a), y = place(b);
        return static_cast<double>(x > y ? x - y : y - x);
    } else {
        return -1;
    }
}

/// Which NaNs a reference expects.
enum class ExpectedNans {
    canonical,  ///< the canonical NaN, as the result of arithmetic
    kept        ///< the NaN of the input, as the result of a move or of an operation on bits
};

/// The value as the result of arithmetic: the canonical NaN for every NaN. Independent of the library's code.
template <class T>
T as_computed(T x) {
    if constexpr (std::is_floating_point_v<T>) {
        constexpr u64 nan = sizeof(T) == 4 ? u64{0x7fc00000} : u64{0x7ff8000000000000};
        if (std::isnan(x)) return std::bit_cast<T>(static_cast<detail::BitsOf<T>>(nan));
    }
    return x;
}

/// Whether two elements are bitwise identical. By default two NaNs must have the same sign and payload.
template <class T>
bool same(T a, T b, NanComparison nans = NanComparison::bitwise) {
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the comparison is bitwise on purpose
    if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
    if constexpr (detail::has_float_values<T>)
        return nans == NanComparison::any && std::isnan(detail::widened(a)) && std::isnan(detail::widened(b));
    return false;
}

/// The Difference between an expected element and the actual one.
template <class T>
Difference difference_of(u64 index, T expected, T got) {
    return {index, value_name(type_of<T>(), &expected), value_name(type_of<T>(), &got),
            ulps_between(expected, got)};
}

/// Element i of raw bytes, which may be unaligned.
template <class T>
T element(std::span<const std::byte> bytes, u64 i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    return value;
}

/// Error of an inexact result and its bounds. `hard` is a worst-case bound: gamma_h times the sum of magnitudes, for
/// a longest chain of h roundings (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapters 3 and
/// 4). `alarm` is six times the statistical form of that bound, with sqrt(h) instead of h. It applies to random
/// mantissas only. An error between the two is possible in theory, but indicates a defect. `statistical` is for
/// chains that are so long that no useful worst-case bound exists. See statistical_bound().
struct ErrorBounds {
    double error = 0;                                        ///< |result - exact|
    double hard = std::numeric_limits<double>::infinity();   ///< worst-case bound; infinite: none
    double alarm = std::numeric_limits<double>::infinity();  ///< statistical bound; infinite: none
    /// Bound that a correct result exceeds with probability statistical_failure at most. It counts only if `hard` is
    /// infinite. Infinite: none.
    double statistical = std::numeric_limits<double>::infinity();
};

/// gamma_h = h u / (1 - h u) for the unit roundoff u of T. Infinite if h u >= 1.
template <class T>
double gamma_bound(double h) {
    const double hu = h * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    return hu < 1 ? hu / (1 - hu) : std::numeric_limits<double>::infinity();
}
/// 6 sqrt(h) u. Infinite where gamma_bound() is: a sum of more than 1 / u equal terms stagnates.
template <class T>
double alarm_bound(double h) {
    if (std::isinf(gamma_bound<T>(h))) return std::numeric_limits<double>::infinity();
    return 3 * std::sqrt(h) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Probability with which statistical bounds may reject a correct call.
constexpr double statistical_failure = 1e-9;

/// Statistical bound for chains of h >= 1 roundings in each of `results` sums: exp(l sqrt(h) u + h u^2 / (1 - u)) -
/// 1, times the sum of magnitudes. If rounding errors are independent and have mean zero, all sums are within it with
/// probability 1 - 2 results h exp(-l^2 (1 - u)^2 / 2) at least; l is chosen such that this is 1 -
/// statistical_failure (N. Higham and T. Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019, theorem
/// 2.4). The premise holds for random mantissas in sums that do not stagnate: a result within the bound counts as
/// verified, a result outside it as not verified.
template <class T>
double statistical_bound(double h, double results) {
    const double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    const double l = std::sqrt(2 * std::log(2 * results * h / statistical_failure)) / (1 - u);
    return std::expm1(l * std::sqrt(h) * u + h * u * u / (1 - u));
}

/// Verifies a result against its bounds. Records a difference if the error exceeds a worst-case or an alarm bound or is
/// NaN. Otherwise records the largest ratio of error to bound, or that no finite bound is available.
template <class T>
void verify_within(const ErrorBounds& bounds, u64 index, T expected, T got, Verdict& verdict) {
    // Returns the ratio of error to bound if it is above 1 or NaN, else 0.
    auto excess = [&](double bound, double& worst) -> double {
        if (std::isinf(bound)) return 0;
        const double ratio = bounds.error == 0 ? 0 : bounds.error / bound;
        worst = (std::max)(worst, ratio);
        return ratio <= 1 ? 0 : ratio;
    };
    verdict.bits = false;
    if (std::isnan(bounds.error)) return verdict.differ(difference_of(index, expected, got));
    if (std::isinf(bounds.hard) && std::isinf(bounds.alarm)) {
        if (bounds.error <= bounds.statistical && !std::isinf(bounds.statistical))
            verdict.statistical = true;
        else
            verdict.no_bound = true;
    }
    if (const double ratio = excess(bounds.hard, verdict.ratio); ratio != 0) {
        Difference found = difference_of(index, expected, got);
        found.ratio = ratio;
        verdict.differ(std::move(found));
    } else if (const double alarm_ratio = excess(bounds.alarm, verdict.alarm); alarm_ratio != 0) {
        Difference found = difference_of(index, expected, got);
        found.ratio = alarm_ratio;
        found.alarm = true;
        verdict.differ(std::move(found));
    }
}

/// Work whose output element i is f(a[i]) or f(a[i], b[i]). U is the output's type, A are the inputs' types. nans: the
/// NaNs of results.
template <class U, class... A, class F>
Work elementwise(std::string algorithm, std::string title, const std::vector<Input>& inputs, F f,
                 ExpectedNans nans = ExpectedNans::canonical) {
    Work work;
    work.algorithm = std::move(algorithm);
    work.title = std::move(title);
    work.inputs = inputs;
    work.n = inputs.front().count;
    work.outputs = {{type_of<U>(), work.n}};
    work.traffic = work.bytes();
    work.in_place = sizeof(U) == size_of(inputs.front().type);
    work.verify = [inputs, f, nans](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                                    Verdict& verdict) {
        const u64 n = got.size() / sizeof(U);
        std::vector<std::byte> scratch[sizeof...(A)];
        std::span<const std::byte> in[sizeof...(A)];
        for (std::size_t k = 0; k < sizeof...(A); ++k)
            in[k] = inputs[k].piece(first, n, scratch[k]);
        for (u64 i = 0; i < n; ++i) {
            const U computed = [&]<std::size_t... K>(std::index_sequence<K...>) {
                return f(element<A>(in[K], i)...);
            }
            (std::index_sequence_for<A...>{});
            const U expected = nans == ExpectedNans::canonical ? as_computed(computed) : computed;
            const U value = element<U>(got, i);
            if (!same(expected, value)) return verdict.differ(difference_of(first + i, expected, value));
        }
    };
    return work;
}

}  // namespace concord::lab
