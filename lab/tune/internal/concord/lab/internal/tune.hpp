#pragma once
// Measures a tuning table for a device: `concord tune`.
//
// For each algorithm, workload, element type and size:
// 1. Verifies and times the call without a table.
// 2. Does the same with every variant that `auto` may choose.
// 3. Optimises the tunables of the best variant's launch by coordinate descent.
// 4. Measures the best candidate again. It becomes a row of the table if it is faster again, and not slower with other
//    data that the same row applies to.
// Calls of two candidates alternate (paired_timing.hpp), and a candidate wins only if it is faster beyond the noise.
// Wrong candidates are reported and never chosen. A row applies to sizes up to half-way (in powers of two) to the
// next measured size.

#include <concord/lab/suite.hpp>
#include <concord/tuning.hpp>

#include <iosfwd>
#include <string>
#include <vector>

namespace concord::lab {

struct TuneOptions {
    std::vector<std::string> algorithms = {};  // empty: all
    std::string device = {};                   // selector; empty: $CONCORD_DEVICE, else auto
    std::vector<Type> types = {};              // empty: the suite's choice
    std::vector<u64> sizes = {};               // element counts; empty: a few for the kind of device
    bool quick = false;                        // fewer sizes and types, shorter measurements
    double budget_s = 0;     // skips the remaining work after that time; 0: 3600, or 180 if quick
    double min_gain = 1.03;  // smallest speed-up of a row
    u64 seed = 1;
};

// Result for one piece of work.
struct TunePoint {
    std::string algorithm, workload;
    Type type = Type::u8;
    u64 n = 0;
    std::string default_variant, variant;  // choice of `auto` without and with the table
    double default_ms = 0, tuned_ms = 0;   // device time of a call
    double gain = 1;                       // default_ms / tuned_ms
    std::vector<TuningRow> rows;           // empty: the defaults are fastest
    u64 tried = 0;                         // measured candidates
    std::string problem;                   // why the work was skipped; empty: it was not
    std::string note;                      // why a faster candidate was rejected
};

struct TuneReport {
    TuningTable table;   // includes rows of the previous table for algorithms and types that were not tuned
    u64 rows_found = 0;  // rows that this run added
    std::vector<TunePoint> points;
    std::vector<std::string> wrong;  // candidates with wrong results
    double seconds = 0;
    double load = 0;  // largest number of runnable threads per device thread; tuning itself causes about 1
    bool failed = false;  // the device failed

    // Above this load candidates with a single group are skipped, because they look faster than they are.
    static constexpr double busy = 2;

    // 0: success; 1: a candidate was wrong; 4: the device failed.
    int status() const { return !wrong.empty() ? 1 : failed ? 4 : 0; }
    void print(std::ostream& out) const;
    std::string json() const;
};

// Tunes a device. Blocks. Afterwards the device uses its own table again. Throws unavailable if the device is not
// available or if it only compiles.
TuneReport tune(const TuneOptions& options);

}  // namespace concord::lab
