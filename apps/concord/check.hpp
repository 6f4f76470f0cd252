#pragma once
/// `concord check`: what it was asked, what it found.

#include "suite.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace concord::app {

class Rig;

struct CheckOptions {
    std::vector<std::string> algorithms, devices, variants;
    std::vector<Type> types;
    std::vector<u64> sizes;  ///< empty: those of the plan
    bool full = false;
    u64 seed = 1;
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

/// A case that failed, in words.
struct CheckFailure {
    std::string algorithm, variant, device, description, what, command;
    Type type = Type::u8;
};

/// Counts, failures and reasons; prints the matrix.
class CheckReport {
  public:
    CheckReport(CheckOptions options, std::vector<std::string> devices);

    /// `ran` is false on devices that only compile.
    void pass(const CheckCase& at, const Verdict& verdict, bool ran);
    void fail(const CheckCase& at, const Difference& difference);
    /// The call threw. `device_failed`: the device's fault.
    void fail(const CheckCase& at, const std::string& message, bool device_failed);
    /// `other`: a device whose bits were different.
    void disagree(const CheckCase& at, const std::string& other);
    void skip(const CheckCase& at, const std::string& reason);
    void unsupported(const CheckCase& at, const std::string& reason);
    void no_cases(const std::string& algorithm);

    u64 passed() const;
    u64 failed() const;
    u64 skipped() const;
    /// The program's exit status.
    int status() const;

    void print(std::ostream& out) const;
    std::string json() const;
    std::string junit() const;

  private:
    struct Tally {
        u64 passed = 0, failed = 0, skipped = 0;
        double ratio = -1;
        bool bits = true, ran = true, threw = false;
        void add(const Tally& other);
    };
    // algorithm, variant, device, type
    using Key = std::tuple<std::string, std::string, std::string, Type>;

    Tally& tally(const CheckCase& at);
    void record(const CheckCase& at, std::string what, const std::string& devices);
    void note(const CheckCase& at, const std::string& kind, const std::string& reason);
    Tally total(const std::string& algorithm, std::string_view variant, const std::string& device) const;
    std::string verdict(const Tally& tally) const;

    CheckOptions options_;
    std::vector<std::string> devices_;
    std::map<Key, Tally> tallies_;
    std::vector<CheckFailure> failures_;
    std::map<std::string, u64> shown_;  // failures printed, by algorithm/variant/device
    struct Note {
        std::string kind, where, reason;
        auto operator<=>(const Note&) const = default;
    };
    std::map<Note, u64> notes_;  // how often
    bool device_failed_ = false;
    std::vector<std::string> without_cases_;
};

/// Runs everything that the options ask for on the rigs.
void run_checks(const CheckOptions& options, std::vector<Rig>& rigs, CheckReport& report);

}  // namespace concord::app
