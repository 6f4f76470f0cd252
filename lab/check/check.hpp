#pragma once
/// Runs suites on devices and reports what agreed: `concord check`, and the same for kernels of one's own.

#include <concord/lab/suite.hpp>

#include <iosfwd>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace concord::lab {

class Harness;

struct CheckOptions {
    std::vector<std::string> algorithms = {};  ///< names of suites; empty: all
    std::vector<std::string> devices = {};     ///< selectors; empty, or "all": every device there is
    std::vector<std::string> variants = {};    ///< empty, or "all": all
    std::vector<Type> types = {};              ///< empty: all
    std::vector<u64> sizes = {};               ///< empty: those of the plan
    std::vector<Pattern> patterns = {};        ///< empty: those of the suite
    std::vector<Placement> placements = {};    ///< only these of the plan's; empty: all of them
    bool full = false;                         ///< sizes past 2^32 too, as far as memory goes
    bool verbose = false;                      ///< print() lists what was skipped or is not applicable
    u64 seed = 1;
    /// What to call with a failure's options, to run the case again; empty: it is told as the CheckOptions
    /// that run it.
    std::string program = {};
};

/// One run of one piece of work by one variant on one device.
struct CheckCase {
    std::string algorithm;
    const Variant* variant = nullptr;
    std::string device;
    const Work* work = nullptr;
    Placement placement;

    /// "sum of 1025 f32, mixed, offsets 0, 1, 3".
    std::string description() const;
};

/// A case that failed, in words; `command` runs it again, see CheckOptions::program.
struct CheckFailure {
    std::string algorithm, variant, device, description, what, command;
    Type type = Type::u8;
};

/// Counts, failures and reasons; prints the matrix.
class CheckReport {
  public:
    /// Failures are printed to `live` as they come, unless it is null.
    CheckReport(CheckOptions options, const std::vector<Suite>& suites, std::vector<std::string> devices,
                std::ostream* live);

    /// `ran` is false on devices that only compile.
    void pass(const CheckCase& at, const Verdict& verdict, bool ran);
    void fail(const CheckCase& at, const Difference& difference);
    /// The call threw. `device_failed`: the device's fault.
    void fail(const CheckCase& at, const std::string& message, bool device_failed);
    /// `other`: a device whose bits were different.
    void disagree(const CheckCase& at, const std::string& other);
    void skip(const CheckCase& at, const std::string& reason);
    void not_applicable(const CheckCase& at, const std::string& reason);
    void no_cases(const std::string& algorithm);

    u64 passed() const;
    u64 failed() const;
    u64 skipped() const;
    u64 not_applicable() const;
    /// 0: all well; 1: a result is wrong or differs; 2: nothing that was asked for could be checked; 4: the
    /// device failed or ran out of memory. What `concord check` exits with.
    int status() const;

    /// The matrix variant x device and one line of counts. Before these, where the options ask for it or nothing ran, what
    /// was not run, with the reasons.
    void print(std::ostream& out) const;
    std::string json() const;
    std::string junit() const;

  private:
    struct Tally {
        u64 passed = 0, failed = 0, skipped = 0;
        u64 threw = 0;  // of those that failed
        double ratio = -1, alarm = -1;
        bool bits = true, ran = true;
        bool differs() const { return failed > threw; }
        void add(const Tally& other);
    };
    // algorithm, variant, device, type
    using Key = std::tuple<std::string, std::string, std::string, Type>;

    Tally& tally(const CheckCase& at);
    u64 sum(u64 Tally::*count) const;
    /// `all_placements`: the case is more than one call, with the operands at several places.
    void record(const CheckCase& at, std::string what, const std::vector<std::string>& devices,
                bool all_placements = false);
    std::string command(const CheckCase& at, const std::vector<std::string>& devices,
                        bool all_placements) const;
    void note(const CheckCase& at, const std::string& kind, const std::string& reason);
    Tally total(const std::string& algorithm, std::string_view variant, const std::string& device) const;
    std::string verdict(const Tally& tally) const;

    struct Row {
        std::string algorithm;
        std::string variant;
        OperationOrder order;
    };
    CheckOptions options_;
    std::vector<Row> rows_;
    std::vector<std::string> devices_;
    std::ostream* live_;
    std::map<Key, Tally> tallies_;
    std::vector<CheckFailure> failures_;
    std::map<std::string, u64> shown_;  // failures printed, by algorithm/variant/device
    struct Note {
        std::string kind, where, reason;
        auto operator<=>(const Note&) const = default;
    };
    std::map<Note, u64> notes_;  // how often
    // By algorithm, variant and device.
    std::map<std::tuple<std::string, std::string, std::string>, u64> not_applicable_;
    bool device_failed_ = false;
    std::vector<std::string> without_cases_;
};

/// Runs everything that the options ask for: each variant of each suite on each device against its reference,
/// with outputs poisoned, guard bytes around every range, and inputs compared afterwards; where an order is
/// fixed, the bits are also compared across the devices. Throws unavailable for a device that cannot be had;
/// what goes wrong later is in the report. Blocks.
CheckReport check(const std::vector<Suite>& suites, const CheckOptions& options,
                  std::ostream* live = nullptr);

}  // namespace concord::lab
