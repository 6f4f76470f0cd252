#pragma once
/// What a study knows of one measurement.

#include <concord/lab/suite.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace concord::study {

/// A row of the bench (lab/bench/bench.hpp), and what a study asked for when it had it measured.
struct Result {
    std::string asked;     ///< the variant's name, or "auto"
    std::string workload;  ///< its name in the suite
    u32 threads = 0;       ///< of the CPU's own device; 0: of any other
    std::string algorithm, variant, device, type, ceiling, problem;
    u64 n = 0;
    double bytes = 0, operations = 0;
    std::optional<double> ms, q1, q3, ceiling_ms;

    /// What was measured: equal for equal work, whoever asks.
    std::string key() const;
    /// There is no time because it was not tried, or could not be for want of room or of a bound to verify it by; else
    /// because it failed.
    bool left_out() const;
    /// "reduce sum, fixed, tbb:0, f32, 2^20".
    std::string title() const;
};

/// Why a measurement that would take too long was not made; Result::problem begins so.
inline constexpr std::string_view left_out = "left out: ";

/// A line of the results' file, and back.
nlohmann::ordered_json line_of(const Result& asked, nlohmann::ordered_json row);
Result result_of(const nlohmann::ordered_json& line);

}  // namespace concord::study
