#pragma once
// Reference of reduce in plain loops: the canonical order that reduce.hpp documents, and sums and products of floats
// with more precision than the type under test, for error bounds.

#include <concord/lab/input.hpp>

#include <concord/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace concord::lab {

// A built-in operator: integers wrap; min and max return the first NaN, and -0 is less than +0.
template <class T>
T reference(ReduceOp op, T a, T b) {
    if (op == ReduceOp::min || op == ReduceOp::max) {
        const bool min = op == ReduceOp::min;
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(a)) return a;
            if (std::isnan(b)) return b;
            if (a == b) return std::signbit(a) == min ? a : b;
        }
        return (b < a) == min ? b : a;
    }
    if constexpr (std::is_floating_point_v<T>) {
        return op == ReduceOp::sum ? a + b : a * b;
    } else {
        const u64 x = static_cast<u64>(a), y = static_cast<u64>(b);
        return static_cast<T>(op == ReduceOp::sum ? x + y : x * y);
    }
}

// Calls f with the operator as a type that the compiler can inline.
template <class T, class F>
auto with_reference(ReduceOp op, F f) {
    switch (op) {
        case ReduceOp::sum:
            return f([](T a, T b) { return reference(ReduceOp::sum, a, b); });
        case ReduceOp::product:
            return f([](T a, T b) { return reference(ReduceOp::product, a, b); });
        case ReduceOp::min:
            return f([](T a, T b) { return reference(ReduceOp::min, a, b); });
        default:
            return f([](T a, T b) { return reference(ReduceOp::max, a, b); });
    }
}

// Chunk length C = 1024 * 2^k: 1024 up to 2^22 elements, then n / 4096 rounded up to such a length, 8192 from 2^24 + 1
// to 2^28, then the smallest with n <= 32768 C.
constexpr u64 reference_chunk(u64 n) {
    auto fits = [n](u64 chunk, u64 chunks) { return n / chunk < chunks || n == chunk * chunks; };
    for (const u64 chunk : {1024, 2048, 4096}) {
        if (fits(chunk, 4096)) return chunk;
    }
    u64 chunk = 8192;
    while (!fits(chunk, 32768))
        chunk *= 2;
    return chunk;
}

// Element i of a chunk belongs to accumulator i mod 128. An accumulator starts with the identity and combines its
// elements in order. Then accumulator j combines j + 64, j + 32, j + 16, ..., j + 1, and accumulator 0 is the chunk's
// result.
template <class T, class Op>
T reference_reduce_chunk(const T* x, u64 n, T identity, Op op) {
    T accumulators[128];
    for (T& value : accumulators)
        value = identity;
    for (u64 i = 0; i < n; ++i)
        accumulators[i % 128] = op(accumulators[i % 128], x[i]);
    for (int distance = 64; distance >= 1; distance /= 2) {
        for (int j = 0; j < distance; ++j)
            accumulators[j] = op(accumulators[j], accumulators[j + distance]);
    }
    return accumulators[0];
}

// The results of several chunks are reduced by the same rule.
template <class T, class Op>
T reference_reduce(const std::vector<T>& x, T identity, Op op) {
    const u64 n = x.size(), chunk = reference_chunk(n);
    if (n <= chunk) return reference_reduce_chunk(x.data(), n, identity, op);
    std::vector<T> results;
    for (u64 first = 0; first < n; first += chunk)
        results.push_back(reference_reduce_chunk(x.data() + first, std::min(chunk, n - first), identity, op));
    return reference_reduce(results, identity, op);
}

// The same for an input that may exceed the memory.
template <class T, class Op>
T reference_reduce(const Input& input, T identity, Op op) {
    const u64 n = input.count, chunk = reference_chunk(n);
    std::vector<T> results(n == 0 ? 1 : (n - 1) / chunk + 1, identity);
    const u64 piece = std::max<u64>(chunk, u64{1} << 18);  // both are powers of two
    parallel_pieces(n, piece, [&](u64 first, u64 count) {
        std::vector<std::byte> scratch;
        std::vector<T> x(count);
        std::memcpy(x.data(), input.piece(first, count, scratch).data(), count * sizeof(T));
        for (u64 at = 0; at < count; at += chunk)
            results[(first + at) / chunk] =
                reference_reduce_chunk(x.data() + at, std::min(chunk, count - at), identity, op);
    });
    return results.size() == 1 ? results.front() : reference_reduce(results, identity, op);
}

// A sum of doubles that is exact to a few units in the last place (Neumaier's compensated summation, 1974), and the
// sum of the magnitudes.
struct ExactSum {
    double high = 0, low = 0, magnitude = 0;

    void add(double x) {
        const double sum = high + x;
        low += std::abs(high) >= std::abs(x) ? (high - sum) + x : (x - sum) + high;
        high = sum;
        magnitude += std::abs(x);
    }
    void add(const ExactSum& other) {
        const double sum_of_magnitudes = magnitude + other.magnitude;
        add(other.high);
        low += other.low;
        magnitude = sum_of_magnitudes;
    }
    double error_of(double result) const { return std::abs((result - high) - low); }
};

}  // namespace concord::lab
