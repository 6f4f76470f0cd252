#pragma once
/// One call of an algorithm on generated inputs, and how its output is judged. Knows no device: `check`,
/// `bench` and `doctor` run the same work.

#include "work_input.hpp"

#include <concord/variant.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

namespace concord::app {

/// An element of the output that is not what it should be.
struct Difference {
    u64 index = 0;
    std::string expected, got;
    double ulps = -1;   ///< how many floats lie between them; -1: does not apply
    double ratio = -1;  ///< error / bound; -1: does not apply
};

/// What judging found so far.
struct Verdict {
    std::optional<Difference> difference;  ///< the first one
    double ratio = -1;                     ///< the worst error / bound of what was held to a bound
    bool bits = true;                      ///< everything was held to equal bits

    void differ(Difference found) {
        if (!difference || found.index < difference->index) difference = std::move(found);
    }
    void merge(Verdict other) {
        if (other.difference) differ(std::move(*other.difference));
        ratio = std::max(ratio, other.ratio);
        bits = bits && other.bits;
    }
};

/// What one call computes. Copies are cheap.
struct Work {
    std::string algorithm;
    std::string title;  ///< the operator or function: "sum", "saxpy"
    std::vector<Input> inputs;
    Type out_type = Type::u8;
    u64 out_count = 0;
    u64 traffic = 0;       ///< bytes that must move between device and memory
    bool in_place = true;  ///< whether the output may be the first input

    std::function<Run(Stream&, std::span<const View> in, const View& out, const Options&)> call;
    /// Compares elements [first, ...) of what `variant` gave; from several threads at once.
    std::function<void(const Variant& variant, u64 first, std::span<const std::byte> got, Verdict&)> judge;

    u64 out_bytes() const { return out_count * size_of(out_type); }
    u64 size() const { return inputs.front().count; }
};

/// "0.1 (0x3dcccccd)" for floats, the number for integers.
std::string value_name(Type type, const void* value);

/// How many floats lie between two; -1 if one is NaN.
template <class T>
double ulps_between(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        using I = std::conditional_t<sizeof(T) == 4, i32, i64>;
        if (a != a || b != b) return -1;
        auto place = [](T x) {
            const I bits = std::bit_cast<I>(x);
            return static_cast<double>(bits < 0 ? std::numeric_limits<I>::min() - bits : bits);
        };
        return std::abs(place(a) - place(b));
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

/// Work whose output element i is f(a[i]) or f(a[i], b[i]): A are the inputs' types. `payload`: NaNs are
/// compared bit by bit as well.
template <class U, class... A, class F>
Work elementwise(std::string algorithm, std::string title, const std::vector<Input>& inputs, F f,
                 bool payload = false) {
    Work work;
    work.algorithm = std::move(algorithm);
    work.title = std::move(title);
    work.inputs = inputs;
    work.out_type = type_of<U>();
    work.out_count = inputs.front().count;
    work.traffic = work.out_bytes();
    for (const Input& input : inputs)
        work.traffic += input.bytes();
    work.in_place = size_of(work.out_type) == size_of(inputs.front().type);
    work.judge = [inputs, f, payload](const Variant&, u64 first, std::span<const std::byte> got,
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

}  // namespace concord::app
