#pragma once
/// @file
/// Descriptors of algorithms, and the registry of all of them.
///
/// The header of each algorithm declares its descriptor, for example `scan_algorithm`. The build generates the
/// registry from CONCORD_ALGORITHMS in algorithms/CMakeLists.txt.

#include <concord/variant.hpp>

#include <span>
#include <string_view>

namespace concord {

struct Tunable;

namespace detail {
class Calibration;
}

/// Descriptor of an algorithm.
struct Algorithm {
    std::string_view name;     ///< name on the command line and in tables, for example "scan"
    std::string_view summary;  ///< what it computes, as a formula if there is one
    /// Variants in order of preference. `auto` uses the first one that supports and suits the call.
    std::span<const Variant* const> variants;
    std::span<const Tunable* const> tunables = {};  ///< launch parameters that a tuning table may set
    /// Name of the number by which tuning tables distinguish problems of one size, for example "taps". Empty: none.
    std::string_view tuning_label = {};
    /// Measures rows for a CPU without a tuning table. Null: measures nothing.
    void (*calibrate)(detail::Calibration& calibration) = nullptr;
};

/// Returns all algorithms, in the order of CONCORD_ALGORITHMS.
std::span<const Algorithm* const> algorithms();
/// Returns the algorithm with the given name, or null if there is none.
const Algorithm* find_algorithm(std::string_view name);

}  // namespace concord
