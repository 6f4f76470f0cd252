#pragma once
// How the reduction of some elements is verified.

#include <concord/lab/internal/reduce_reference.hpp>
#include "longest_chain.hpp"

#include <concord/lab/compare.hpp>

#include <cmath>
#include <vector>

namespace concord::lab {

// How a result in another than the canonical order, that of a library, is verified.
enum class Tolerance { exact, sum, none };

// That of a built-in operator.
template <class T>
constexpr Tolerance tolerance_of(ReduceOp op) {
    const bool rounds = std::is_floating_point_v<T> && (op == ReduceOp::sum || op == ReduceOp::product);
    if (!rounds) return Tolerance::exact;
    return op == ReduceOp::sum ? Tolerance::sum : Tolerance::none;
}

// Compares the result `value` of a variant on these elements with the one expected in the canonical order.
template <class T>
void verify_reduction(const Variant& variant, Tolerance tolerance, const std::vector<T>& elements, u64 index,
                      T expected, T value, Verdict& verdict) {
    if (variant.order == OperationOrder::canonical || tolerance == Tolerance::exact) {
        if (!same(expected, value)) verdict.differ(difference_of(index, expected, value));
        return;
    }
    ErrorBounds bounds;
    if constexpr (std::is_floating_point_v<T>) {
        if (tolerance == Tolerance::sum && std::isfinite(expected)) {
            ExactSum exact;
            for (const T x : elements)
                exact.add(static_cast<double>(x));
            const auto chain = static_cast<double>(longest_chain_of(variant, elements.size()));
            bounds.error = exact.error_of(static_cast<double>(value));
            bounds.hard = gamma_bound<T>(chain) * exact.magnitude;
        }
    }
    verify_within(bounds, index, expected, value, verdict);
}

}  // namespace concord::lab
