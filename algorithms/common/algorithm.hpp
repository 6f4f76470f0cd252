#pragma once
/// The descriptor of an algorithm. Each algorithm's header declares its own (`scan_algorithm`); the build makes the list of all of
/// them from CONCORD_ALGORITHMS in algorithms/CMakeLists.txt.

#include <concord/variant.hpp>

#include <span>
#include <string_view>

namespace concord {

struct Tunable;

struct Algorithm {
    std::string_view name;
    /// What it computes, as a formula where there is one.
    std::string_view summary;
    /// By preference: `auto` takes the first that supports and suits the call.
    std::span<const Variant* const> variants;
    /// Parameters of its launches that a tuning table may set.
    std::span<const Tunable* const> tunables = {};
    /// What tuning tables label its problems by: "taps". Empty: nothing.
    std::string_view tuning_label = {};
};

/// All algorithms, in the order of CONCORD_ALGORITHMS.
std::span<const Algorithm* const> algorithms();
/// The algorithm of that name; null if there is none.
const Algorithm* find_algorithm(std::string_view name);

}  // namespace concord
