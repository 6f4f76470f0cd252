#pragma once
/// Searches a device's table: `concord tune`.
///
/// For each algorithm, with the data that people mostly have, element type and size: what the library does without a table is
/// verified and timed; then every variant that `auto` may take instead is, then, from the best variant on, each value of each
/// tunable that its launch asks for, by coordinate descent. What is wrong is reported and never taken. Two candidates take
/// turns (paired_timing.hpp), and one is better only beyond the noise of that. At the end what was found is measured a second time,
/// and given up unless it is faster again, and not slower with other data that the same rows are for. What was measured at one size counts for those up to half-way (in powers of two)
/// to the next one that was.

#include <concord/lab/suite.hpp>
#include <concord/tuning.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace concord::lab {

struct TuneOptions {
    std::vector<std::string> algorithms = {};  ///< empty: all
    std::string device = {};                   ///< a selector; empty: $CONCORD_DEVICE, else auto
    std::vector<Type> types = {};              ///< empty: a few that matter, by algorithm
    std::vector<u64> sizes = {};  ///< as the algorithms count; empty: a few for the kind of device
    bool quick = false;           ///< fewer sizes and types, less effort
    double budget_s = 0;  ///< what is left when it is spent is left out; 0: an hour, quick: three minutes
    double least_gain = 1.03;  ///< what a row must bring
    u64 seed = 1;
};

/// What was found for one piece of work.
struct TunePoint {
    std::string algorithm, workload;
    Type type = Type::u8;
    u64 n = 0;
    std::string default_variant, variant;  ///< what `auto` takes without the table and with it
    double default_ms = 0, tuned_ms = 0;   ///< of a call; device time
    double gain = 1;
    std::vector<TuningRow> rows;  ///< that bring it; none: the defaults are best
    u64 tried = 0;                ///< candidates that were measured
    std::string problem;          ///< why it has no result; empty: it has
    std::string note;             ///< what was found and given up
};

struct TuneReport {
    TuningTable table;   ///< with the rows of what was not tuned now, from the table that was in use
    u64 rows_found = 0;  ///< of the table, now
    std::vector<TunePoint> points;
    std::vector<std::string> wrong;  ///< candidates that gave a wrong result: which, and what
    double seconds = 0;
    double load = 0;      ///< the most: runnable threads for each of a CPU's; tuning itself makes about 1
    bool failed = false;  ///< the device did

    /// A load above this: candidates of one group, which look better then than they are, are left out.
    static constexpr double busy = 2;

    /// 0: all well; 1: a candidate was wrong; 4: the device failed.
    int status() const { return !wrong.empty() ? 1 : failed ? 4 : 0; }
    void print(std::ostream& out) const;
    std::string json() const;
};

/// Blocks. Throws unavailable for a device that cannot be had, unsupported for one that only compiles. The device has its own
/// table again afterwards.
TuneReport tune(const TuneOptions& options);

}  // namespace concord::lab
