#pragma once
/// @file
/// Runs suites on devices and reports which results agree with the reference: `concord check`, and the same for user
/// kernels.

#include <concord/lab/suite.hpp>
#include <concord/lab/table.hpp>

#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace concord::lab {

class Harness;

/// What to check.
struct CheckOptions {
    std::vector<std::string> algorithms = {};  ///< names of suites; empty: all
    /// Selectors; empty or "all": every device; "cuda:*": every device of a backend.
    std::vector<std::string> devices = {};
    std::vector<std::string> variants = {};  ///< names; empty or "all": all
    std::vector<Type> types = {};            ///< empty: all
    std::vector<u64> sizes = {};             ///< at most max_elements; empty: the sizes of the plan
    SizeNames size_names = {};               ///< texts that reports print for these sizes
    std::vector<Pattern> patterns = {};      ///< empty: the patterns of the suite
    std::vector<Placement> placements = {};  ///< restricts the plan's placements; empty: all of them
    bool full = false;                       ///< adds sizes up to 2^32 + 1, limited by memory
    /// Whether a variant without a passing case is a failure although sizes, patterns, placements or types are limited.
    bool every_variant = false;
    bool verbose = false;  ///< print() lists skipped and not applicable cases with their reasons
    u64 seed = 1;          ///< of the generated inputs
    /// Command that the text of a failure starts with, so that it repeats the case. Empty: the text is a CheckOptions
    /// initializer.
    std::string program = {};
    /// Polled before each call of a variant. When it returns true, the check ends with the results that it has.
    std::function<bool()> stop = {};
};

/// One piece of work, run by one variant on one device.
struct CheckCase {
    std::string algorithm;             ///< name of the suite
    const Variant* variant = nullptr;  ///< variant under test
    std::string device;                ///< selector
    const Work* work = nullptr;        ///< inputs and reference
    Placement placement;               ///< offsets of the operands

    /// Text such as "sum of 1025 f32, mixed, offsets 0, 1, 3". `sizes`: texts for the size.
    std::string description(const SizeNames& sizes = {}) const;
};

/// Failed case.
struct CheckFailure {
    std::string algorithm;    ///< name of the suite
    std::string variant;      ///< variant under test
    std::string device;       ///< selector
    std::string description;  ///< CheckCase::description()
    std::string what;         ///< what differs, or the message of the exception
    std::string command;      ///< repeats the case, see CheckOptions::program
    Type type = Type::u8;     ///< element type of the work
};

/// Why a call threw.
enum class FailureCause {
    device,  ///< the device failed or ran out of memory
    other    ///< anything else, such as an invalid argument
};

/// Counts, failures and reasons of a check.
class CheckReport {
  public:
    /// Prints failures to `live` when they are recorded, unless it is null.
    CheckReport(CheckOptions options, const std::vector<Suite>& suites, std::vector<std::string> devices,
                std::ostream* live);

    /// Records a correct result.
    void pass(const CheckCase& at, const Verdict& verdict);
    /// Records a case of a compile-only device, whose kernels were compiled.
    void compile(const CheckCase& at);
    /// Records a wrong result.
    void fail(const CheckCase& at, const Difference& difference);
    /// Records a call that threw.
    void fail(const CheckCase& at, const std::string& message, FailureCause cause);
    /// Records a result that is not bitwise identical to that of device `other`, and the first element that differs.
    /// Without one, the result of the other device does not repeat.
    void disagree(const CheckCase& at, const std::string& other, const std::optional<Difference>& difference);
    /// Records a case that was not run or not verified, although it applies. print() groups cases by `reason`. `detail`
    /// belongs to this case only.
    void skip(const CheckCase& at, const std::string& reason, const std::string& detail = {});
    /// Records a case that the variant or the device does not support.
    void not_applicable(const CheckCase& at, const std::string& reason);
    /// Records a failure of a device that belongs to no case.
    void fail_device(const std::string& message);
    /// Records a suite without cases, which is a failure.
    void no_cases(const std::string& algorithm);
    /// Records a failure for each variant of the suite without a passing case on the device and without an entry in
    /// Suite::refusals that explains it, and for each entry that is not needed there. Call it after the last case.
    /// Does nothing if the options limit sizes, patterns or placements, or leave out f32, unless
    /// CheckOptions::every_variant is set.
    void require_cases(const Suite& suite, const Device& device);
    /// Notes that the check was stopped by CheckOptions::stop. `done` and `total` count cases, on all devices and with
    /// all asked variants together.
    void note_interrupted(u64 done, u64 total);

    /// Number of correct cases.
    u64 passed() const;
    /// Number of cases that were compiled for a compile-only device, and not run.
    u64 compiled() const;
    /// Number of failed cases.
    u64 failed() const;
    /// Number of skipped cases.
    u64 skipped() const;
    /// Number of cases that are not applicable.
    u64 not_applicable() const;
    /// Whether the check was stopped before its last case.
    bool interrupted() const { return interrupted_; }
    /// Exit status of `concord check`. 0: no failure. 1: a result is wrong or differs between devices. 2: nothing could
    /// be checked. 4: a device failed or ran out of memory.
    int status() const;
    /// The first failure of a device or of memory, after the device's selector if it belongs to a case. Empty if there
    /// was none.
    const std::string& device_failure() const { return device_failure_; }

    /// Prints the matrix of variants and devices, the reasons of skipped cases with their numbers, and one line of
    /// counts. Leaves out variants that apply to none of the devices. Lists skipped and not applicable cases by variant
    /// before the matrix if the options ask for it or if nothing ran.
    void print(std::ostream& out) const;
    /// The report as a JSON object.
    std::string json() const;
    /// The report in JUnit's XML format.
    std::string junit() const;

  private:
    struct Tally {
        u64 passed = 0, compiled = 0, failed = 0, skipped = 0;
        u64 threw = 0;  // failures that are exceptions
        double ratio = -1, alarm = -1;
        bool bits = true;
        u64 correct() const { return passed + compiled; }
        bool differs() const { return failed > threw; }
        bool empty() const { return correct() + failed + skipped == 0; }
        void add(const Tally& other);
    };
    // algorithm, variant, device, type
    using Key = std::tuple<std::string, std::string, std::string, Type>;
    // Which placements the command of a failure repeats.
    enum class Repeat { one_placement, all_placements };

    // Whether no case has a result.
    bool nothing_ran() const { return passed() + compiled() + failed() == 0; }
    Tally& tally(const CheckCase& at);
    u64 sum(u64 Tally::*count) const;
    void record(const CheckCase& at, std::string what, const std::vector<std::string>& devices,
                Repeat repeat = Repeat::one_placement);
    std::string command(const CheckCase& at, const std::vector<std::string>& devices, Repeat repeat) const;
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
    std::map<std::string, u64> shown_;  // printed failures by algorithm/variant/device
    struct Note {
        std::string kind, where, reason;
        auto operator<=>(const Note&) const = default;
    };
    std::map<Note, u64> notes_;           // with their numbers of cases
    std::map<std::string, u64> skipped_;  // by reason
    // By algorithm, variant and device.
    std::map<std::tuple<std::string, std::string, std::string>, u64> not_applicable_;
    std::string device_failure_;
    std::vector<std::string> without_cases_;
    struct Loss {
        std::string algorithm, variant, device, what;
    };
    std::vector<Loss> losses_;
    bool interrupted_ = false;
    u64 done_ = 0, planned_ = 0;  // cases of an interrupted check
};

/// Checks each variant of each suite on each device against the reference. Fills outputs with a poison pattern, puts
/// guard bytes around all ranges, and compares the inputs afterwards. For a fixed order of operations, results must
/// also be bitwise identical on all devices. Compile-only devices compile all kernels and run nothing. Blocks. Throws
/// unavailable if a device is not available. Later errors are part of the report.
CheckReport check(const std::vector<Suite>& suites, const CheckOptions& options,
                  std::ostream* live = nullptr);

}  // namespace concord::lab
