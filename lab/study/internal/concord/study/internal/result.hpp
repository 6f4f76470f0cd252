#pragma once
// One measurement of a study.

#include <concord/lab/suite.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace concord::study {

// A row of the benchmark (lab/bench/include/concord/lab/bench.hpp), and what the study requested.
struct Result {
    std::string asked;     // name of the requested variant, or "auto"
    std::string workload;  // name of the workload in the suite
    u32 threads = 0;       // of a device that runs kernels in this process, otherwise 0
    std::string algorithm, variant, device, type, ceiling, problem;
    u64 n = 0;
    bool compared = false;  // measured together with the baselines
    bool baseline = false;  // a baseline's row
    std::string library, call, note;
    double bytes = 0, operations = 0;
    std::optional<double> ms, q1, q3, ceiling_ms;

    // Identifies the measurement. Studies that request the same measurement share the result.
    std::string key() const;
    // Identifies the work and where it ran, without the variant.
    std::string place() const;
    // Whether the measurement was skipped: it would take too long or too much memory, or no error bound is available.
    // If false, a result without a time failed.
    bool left_out() const;
    // "reduce sum, fixed, tbb:0, f32, 2^20".
    std::string title() const;
};

// Prefix of Result::problem for a measurement that would take too long.
inline constexpr std::string_view left_out = "left out: ";

// Conversion to a line of the results file, and back.
nlohmann::ordered_json line_of(const Result& asked, nlohmann::ordered_json row);
Result result_of(const nlohmann::ordered_json& line);

}  // namespace concord::study
