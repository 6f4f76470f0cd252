#pragma once
/// Runs suites on devices and reports how fast they are: `concord bench`, and the same for kernels of one's
/// own.
///
///     const BenchReport report = bench({suite_of(test)}, {.sizes = {1 << 20}, .baselines = true});
///     report.print(std::cout);
///
/// What is measured. A result is verified first; one that is wrong gets no time. The time of a call is device
/// time, between two events around a batch of calls, after a warm-up and for as long as it takes until the
/// median is known to 0.5 %, 1.5 s at most. Calls take turns on copies of their operands that are larger
/// together than the caches (16384 copies at most), unless `hot`. With `calls` it is host time instead: so many calls one after
/// another on the same operands, and one wait for the last, divided by their number; the result is verified again after them.
/// `recorded`: of Concord's variants one call is recorded, and the calls are replays.
///
/// JSON, schema 1: an object with
///   schema       1; it changes when fields change their meaning or go
///   version      of Concord
///   date         when it began, UTC
///   machine      {cpu, cores, memory_bytes, os, compiler}: the compiler is that of Concord's C++ code
///   hot          whether data was left in the caches
///   calls        how many calls in a row were timed by the host's clock; 0: device time
///   recorded     whether they were replays of a recording
///   devices      a list of {selector, name, driver, libraries, ceilings}: what the backend stands on, and of
///                the ceilings those that were measured: {copy_gb_per_s, read_gb_per_s, fma_f32_gflop_per_s,
///                fma_f64_gflop_per_s, upload_pinned_gb_per_s, download_pinned_gb_per_s,
///                upload_pageable_gb_per_s, download_pageable_gb_per_s, launch_ms}
///   results      a list of rows
/// A row has these fields, which are also those of the CSV file, in its order:
///   algorithm    "reduce"
///   function     "sum"
///   variant      of Concord's; of a baseline, its name
///   device       selector
///   kind         "variant" or "baseline"
///   library      of a baseline, with its version
///   type, n      element type and size, as the algorithm counts it
///   bytes        that must move between device and memory, by the algorithm's own model
///   operations   by the same; 0: they are not what bounds it
///   median_ms, q1_ms, q3_ms   the time of a call: median and quartiles
///   repetitions, calls_each   how many measurements, and how many calls each is the mean of
///   copies       of the operands that took turns
///   clock        "device"; "host" for baselines that return when they are done, and with `calls`
///   gb_per_s, gflop_per_s     bytes and operations over the median
///   ceiling      what bounds it: "copy" (reads and writes), "read" (hardly writes) or "fma"
///   ceiling_ms   the time at that ceiling: copy and read as measured with as many bytes, on this device, in
///                this run
///   of_ceiling   ceiling_ms / median_ms
///   compile_ms   compiling the kernels that it launches, past all caches, summed; host time
///   upload_ms, download_ms    inputs from page-locked host memory, and outputs to it; device time
///   end_to_end_ms             upload, call and download; host time
///   ratio        of a baseline: its median / that of Concord's variant `ratio_to`; above 1 Concord is faster
///   ratio_to     the first variant of the same work that has a time
///   kernels      a list of {name, group_size, registers, local_bytes, spill_bytes, occupancy, compile_ms} (in CSV:
///                "name:group_size:registers:...", separated by blanks): the work-items of a group, registers per work-item,
///                group-local bytes with those given at launch, private bytes per work-item, and the part of the work-items
///                that a unit can hold
///   problem      why there is no time; else empty
/// A field that does not apply or that nobody can tell is null in JSON and empty in CSV.

#include <concord/lab/ceilings.hpp>
#include <concord/lab/machine.hpp>
#include <concord/lab/measure.hpp>
#include <concord/lab/suite.hpp>

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace concord::lab {

struct BenchRow;

struct BenchOptions {
    std::vector<std::string> algorithms = {};      ///< names of suites; empty: all
    std::vector<std::string> devices = {};         ///< selectors; empty, or "all": every device there is
    std::vector<std::string> variants = {"auto"};  ///< names, "all", or "auto": what the library takes
    std::vector<std::string> workloads = {};       ///< names; empty: the first of each suite; "all"
    std::vector<Type> types = {Type::f32};
    std::vector<u64> sizes = {};  ///< empty: each suite's own
    bool hot = false;             ///< leave data in the caches
    u64 calls = 0;            ///< host time of a call among so many in a row, which is hot; 0: device time
    bool recorded = false;    ///< with `calls`: replays of a recorded call
    bool baselines = false;   ///< time the libraries' own ways beside ours
    bool ceilings = false;    ///< measure every ceiling, not only those that rows are held against
    bool times = false;       ///< print a table of compile, upload, kernel, download and end to end
    bool attributes = false;  ///< print a table of kernels
    u64 seed = 1;
    Effort effort = {};  ///< how long to go on measuring a call
    /// The same for each ceiling.
    Effort ceilings_effort = {.least_ms = 30, .most_ms = 400, .precision = 0.01};
    bool round_trips = true;  ///< time uploads, downloads and end to end
    bool afresh = true;       ///< compile past all caches, to tell what that takes
    /// The ceilings of devices, by selector, that were measured before; those measured now are added. Null: none were.
    std::shared_ptr<std::map<std::string, std::shared_ptr<Ceilings::Rates>>> rates = {};
    /// Asked before a variant's row is measured, when it tells what it is of: whether to. Empty: yes.
    std::function<bool(const BenchRow&)> wanted = {};
    /// Called with each row when it is done. Empty: nothing is.
    std::function<void(const BenchRow&)> done = {};
};

/// A kernel that a call launched.
struct KernelUse {
    std::string name;
    u64 group_size = 0;
    KernelAttributes attributes;  ///< local_bytes with those given at launch
    double occupancy = -1;        ///< the part of the work-items that a unit can hold; -1: cannot tell
    double compile_ms = -1;
};

/// One line of the result; the fields are described above.
struct BenchRow {
    std::string algorithm, function, variant, device, library;
    bool baseline = false, host_clock = false;
    Type type = Type::u8;
    u64 n = 0, bytes = 0, operations = 0, copies = 0;
    std::optional<Timing> timing;  ///< none: see `problem`
    std::string ceiling;
    double ceiling_ms = 0;
    std::optional<double> compile_ms, upload_ms, download_ms, end_to_end_ms, ratio;
    std::string ratio_to, problem;
    std::vector<KernelUse> kernels;
};

struct BenchDevice {
    DeviceInfo info;
    std::vector<DeviceProperty> libraries;
    Ceilings::Known ceilings;
};

class BenchReport {
  public:
    explicit BenchReport(BenchOptions options);

    void add(BenchDevice device) { devices_.push_back(std::move(device)); }
    void add(BenchRow row) { rows_.push_back(std::move(row)); }
    void note_wrong() { wrong_ = true; }
    void note_failure() { failed_ = true; }

    const std::vector<BenchRow>& rows() const { return rows_; }
    /// Whether a result was wrong.
    bool wrong() const { return wrong_; }
    /// 0: all well; 1: a result is wrong; 4: a device failed or ran out of memory.
    int status() const { return wrong_ ? 1 : failed_ ? 4 : 0; }

    /// The machine, then tables, a device after the other.
    void print(std::ostream& out) const;
    void print_machine(std::ostream& out) const;
    void print_device(std::ostream& out, const BenchDevice& device) const;
    const std::vector<BenchDevice>& devices() const { return devices_; }
    std::string json() const;
    std::string csv() const;

  private:
    BenchOptions options_;
    Machine machine_;
    std::string date_;
    std::vector<BenchDevice> devices_;
    std::vector<BenchRow> rows_;
    bool wrong_ = false, failed_ = false;
};

/// Ceilings as JSON tells them: names with their units, and values.
std::vector<std::pair<std::string, double>> fields_of(const Ceilings::Known& known);
/// A row as an object of JSON, with the fields described above.
std::string json_of(const BenchRow& row);

/// Measures everything that the options ask for, and prints to `live`, unless it is null, what print() would,
/// each device when it is done. Throws unavailable for a device that cannot be had, unsupported for one that
/// only compiles; what goes wrong later is in the report. Blocks.
BenchReport bench(const std::vector<Suite>& suites, const BenchOptions& options,
                  std::ostream* live = nullptr);

}  // namespace concord::lab
