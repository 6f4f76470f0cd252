#pragma once
/// How results are compared: by bits, or by bounds.

#include <concord/lab/work.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace concord::lab {

/// "0.1 (0x3dcccccd)" for floats, the number for integers.
std::string value_name(Type type, const void* value);

/// How many floats lie between two; -1 if one is NaN.
template <class T>
double ulps_between(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        using U = std::conditional_t<sizeof(T) == 4, u32, u64>;
        if (a != a || b != b) return -1;
        // Floats in the order of their values, as unsigned integers: the difference is exact.
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

/// Whether two elements are the same to the bit; unless `payload` counts, any NaN is any other.
template <class T>
bool same(T a, T b, bool payload) {
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are what is compared
    if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
    if constexpr (std::is_floating_point_v<T>) return !payload && a != a && b != b;
    return false;
}

template <class T>
Difference difference_of(u64 index, T expected, T got) {
    return {index, value_name(type_of<T>(), &expected), value_name(type_of<T>(), &got),
            ulps_between(expected, got)};
}

template <class T>
T element(std::span<const std::byte> bytes, u64 i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof value);
    return value;
}

/// What an inexact result may differ from the exact one by. The hard bound is a theorem (gamma_h times the
/// sum of magnitudes, N. Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch. 3 and 4); the
/// alarm is six times its statistical form, with sqrt(h) for h, and is for random mantissas only: what is
/// between the two is no contradiction, but nothing that a correct program gives.
struct ErrorBounds {
    double error = 0;
    double hard = std::numeric_limits<double>::infinity();
    double alarm = std::numeric_limits<double>::infinity();
};

/// gamma_h = h u / (1 - h u) for T's unit roundoff u; infinite where that says nothing.
template <class T>
double gamma_bound(double h) {
    const double hu = h * static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
    return hu < 1 ? hu / (1 - hu) : std::numeric_limits<double>::infinity();
}
/// 6 sqrt(h) u; infinite where gamma_h is: a sum that has grown past 1 / u of its terms takes no more of them.
template <class T>
double alarm_bound(double h) {
    if (std::isinf(gamma_bound<T>(h))) return std::numeric_limits<double>::infinity();
    return 3 * std::sqrt(h) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Holds a result to its bounds: a difference where it is past one, or NaN; else the worst ratios are noted, or that there
/// is no finite gate.
template <class T>
void hold_to(const ErrorBounds& bounds, u64 index, T expected, T got, Verdict& verdict) {
    auto ratio_of = [&](double bound) { return bounds.error == 0 ? 0 : bounds.error / bound; };
    auto held = [&](double bound, double& worst, bool alarm) {
        if (std::isinf(bound)) return true;
        const double ratio = ratio_of(bound);
        worst = std::max(worst, ratio);
        if (ratio <= 1) return true;  // false for NaN
        Difference found = difference_of(index, expected, got);
        found.ratio = ratio;
        found.alarm = alarm;
        verdict.differ(std::move(found));
        return false;
    };
    verdict.bits = false;
    if (std::isnan(bounds.error)) return verdict.differ(difference_of(index, expected, got));
    if (std::isinf(bounds.hard) && std::isinf(bounds.alarm)) verdict.no_bound = true;
    if (held(bounds.hard, verdict.ratio, false)) held(bounds.alarm, verdict.alarm, true);
}

/// Work whose output element i is f(a[i]) or f(a[i], b[i]): A are the inputs' types. `payload`: NaNs are
/// compared bit by bit as well.
template <class U, class... A, class F>
Work elementwise(std::string algorithm, std::string title, const std::vector<Input>& inputs, F f,
                 bool payload = false) {
    Work work;
    work.algorithm = std::move(algorithm);
    work.title = std::move(title);
    work.inputs = inputs;
    work.n = inputs.front().count;
    work.outputs = {{type_of<U>(), work.n}};
    work.traffic = work.bytes();
    work.in_place = sizeof(U) == size_of(inputs.front().type);
    work.verify = [inputs, f, payload](const Variant&, std::size_t, u64 first, std::span<const std::byte> got,
                                       Verdict& verdict) {
        const u64 n = got.size() / sizeof(U);
        std::vector<std::byte> scratch[sizeof...(A)];
        std::span<const std::byte> in[sizeof...(A)];
        for (std::size_t k = 0; k < sizeof...(A); ++k)
            in[k] = inputs[k].piece(first, n, scratch[k]);
        for (u64 i = 0; i < n; ++i) {
            const U expected = [&]<std::size_t... K>(std::index_sequence<K...>) {
                return f(element<A>(in[K], i)...);
            }
            (std::index_sequence_for<A...>{});
            const U value = element<U>(got, i);
            if (!same(expected, value, payload))
                return verdict.differ(difference_of(first + i, expected, value));
        }
    };
    return work;
}

}  // namespace concord::lab
