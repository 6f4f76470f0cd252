#pragma once
/// @file
/// Runs suites on devices and reports how fast they are: `concord bench`, and the same for user kernels.
///
///     const BenchReport report = bench({suite_of(test)}, {.sizes = {1 << 20}, .baselines = true});
///     report.print(std::cout);
///
/// Method. Every result is verified before it is timed. A wrong result gets no time. The time of a call is device time
/// between two events around a batch of calls. Measuring starts after a warm-up and ends when the median is known to
/// 0.5 %, or after 1.5 s. Calls alternate between copies of their operands. The copies together are larger than the
/// caches (at most 16384 copies), unless `hot` is set. With `calls` the time is host time: that many calls in a row on
/// the same operands and one wait for the last, divided by their number. The result is verified again afterwards. With
/// `recorded` one call of each Concord variant is recorded and then replayed.
///
/// JSON, schema 1: an object with the fields
///   schema       1; changes when a field changes its meaning or is removed
///   version      version of Concord
///   commit       git commit of Concord's sources, "(modified)" behind it if they differed; or "unknown"
///   date         start of the run, UTC
///   machine      {cpu, cores, memory_bytes, os, compiler}: the compiler of Concord's C++ code
///   hot          whether data stayed in the caches
///   calls        number of calls in a row that the host clock timed; 0: device time
///   recorded     whether the calls were replays of a recording
///   interrupted  whether the run was stopped, so that rows are missing
///   devices      list of {selector, name, driver, hardware, libraries, ceilings}: `hardware` is the chip as tuning
///                tables name it, `libraries` are the backend's, and `ceilings` those that were measured:
///                {copy_gb_per_s, read_gb_per_s, fma_f32_gflop_per_s, fma_f64_gflop_per_s, mma_f64_gflop_per_s,
///                upload_pinned_gb_per_s, download_pinned_gb_per_s, upload_pageable_gb_per_s,
///                download_pageable_gb_per_s, launch_ms}
///   results      list of rows
/// A row has the following fields. The CSV file has the same fields in this order.
///   algorithm    "reduce"
///   function     "sum"
///   variant      name of the variant or of the baseline
///   device       selector
///   kind         "variant" or "baseline"
///   library      library of a baseline, with its version
///   call         function of that library
///   type, n      element type and size, as the algorithm counts it
///   bytes        bytes that must move between device and memory, in the algorithm's model
///   operations   arithmetic operations in the same model; 0: they are not the bottleneck
///   median_ms, q1_ms, q3_ms   time of a call: median and quartiles
///   repetitions, calls_each   number of measurements, and number of calls that each one averages
///   copies       number of copies of the operands
///   clock        "device"; "host" for baselines that block, and with `calls`
///   gb_per_s, gflop_per_s     bytes and operations per time
///   ceiling      bottleneck: "copy" (reads and writes), "read" (almost no writes), "fma", or "mma" (f64 tensor cores)
///   ceiling_ms   time at the attainable rate on this device in the same run; copy and read with as many bytes
///   of_ceiling   ceiling_ms / median_ms
///   compile_ms   sum of the compile times of all kernels of the call, without caches; host time
///   upload_ms, download_ms    transfers of inputs from and outputs to page-locked host memory; device time
///   end_to_end_ms             upload, call and download; host time
///   ratio        for a baseline: its median / median of Concord's variant `ratio_to`; above 1 Concord is faster
///   ratio_to     first variant of the same work that has a time
///   kernels      list of {name, group_size, registers, local_bytes, spill_bytes, occupancy, compile_ms}: work-items
///                per group, registers per work-item, group-local bytes with those given at launch, spilled bytes per
///                work-item, and fraction of the resident work-items of a unit; in CSV
///                "name:group_size:registers:...", separated by spaces
///   problem      why the row has no time; otherwise empty
///   note         empty if the result is bitwise identical to the reference or within a worst-case error bound.
///                Otherwise says that it is within a statistical bound, or how many results differ because the peer has
///                another contract
/// A field that does not apply or is unknown is null in JSON and empty in CSV.

#include <concord/lab/ceilings.hpp>
#include <concord/lab/machine.hpp>
#include <concord/lab/measure.hpp>
#include <concord/lab/suite.hpp>
#include <concord/lab/table.hpp>

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace concord::lab {

struct BenchRow;

/// What to measure.
struct BenchOptions {
    std::vector<std::string> algorithms = {};  ///< names of suites; empty: all
    /// Selectors; empty or "all": every device; "cuda:*": every device of a backend.
    std::vector<std::string> devices = {};
    std::vector<std::string> variants = {"auto"};  ///< names, "all", or "auto" for the library's choice
    std::optional<OperationOrder> order = {};      ///< Options::order for "auto"
    std::vector<std::string> workloads = {};       ///< names; empty: the first of each suite; "all"
    std::vector<Type> types = {Type::f32};         ///< element types
    std::vector<u64> sizes = {};                   ///< at most max_elements; empty: the sizes of each suite
    SizeNames size_names = {};                     ///< texts that reports print for these sizes
    bool hot = false;                              ///< keep data in the caches
    u64 calls = 0;           ///< host time of one of this many calls in a row, on cached data; 0: device time
    bool recorded = false;   ///< with `calls`: replay a recorded call
    bool baselines = false;  ///< also time other libraries
    bool ceilings = false;   ///< measure every attainable rate, not only those that rows are compared with
    bool times = false;      ///< print a table of compile, upload, kernel, download and end-to-end times
    bool attributes = false;  ///< print a table of kernels
    u64 seed = 1;             ///< of the generated inputs
    Effort effort = {};       ///< of each time
    /// Effort of each attainable rate.
    Effort ceilings_effort = {.min_ms = 30, .max_ms = 400, .precision = 0.01};
    bool round_trips = true;  ///< time uploads, downloads and end to end
    bool afresh = true;       ///< compile without caches, to measure compile times
    /// Attainable rates by selector. Rates that are in the map are not measured again; new ones are added. Null: none
    /// are known.
    std::shared_ptr<std::map<std::string, std::shared_ptr<Ceilings::Rates>>> rates = {};
    /// Asked before a row is measured, when only its identifying fields are set: whether to measure it. Without any
    /// variant's row, baselines are not measured. Empty: yes.
    std::function<bool(const BenchRow&)> wanted = {};
    /// Called with each finished row.
    std::function<void(const BenchRow&)> done = {};
    /// Polled before each row and each timed call. When it returns true, the run ends with the rows that are finished.
    std::function<bool()> stop = {};
};

/// Kernel that a call launched.
struct KernelUse {
    std::string name;             ///< name of the entry point
    u64 group_size = 0;           ///< work-items per group
    KernelAttributes attributes;  ///< local_bytes includes local memory given at launch
    double occupancy = -1;        ///< fraction of the resident work-items of a unit; -1: unknown
    double compile_ms = -1;       ///< -1: unknown
};

/// One line of the result. The file comment describes the fields.
struct BenchRow {
    std::string algorithm;                ///< name of the suite
    std::string function;                 ///< operator or function
    std::string variant;                  ///< variant or baseline
    std::string device;                   ///< selector
    std::string library;                  ///< of a baseline
    std::string call;                     ///< function of the baseline's library
    bool baseline = false;                ///< whether it is a baseline
    bool host_clock = false;              ///< whether the time is host time
    Type type = Type::u8;                 ///< element type
    u64 n = 0;                            ///< size
    u64 bytes = 0;                        ///< bytes in the algorithm's model
    u64 operations = 0;                   ///< operations in the algorithm's model
    u64 copies = 0;                       ///< copies of the operands
    std::optional<Timing> timing;         ///< none: see `problem`
    std::string ceiling;                  ///< bottleneck
    double ceiling_ms = 0;                ///< time at the attainable rate
    bool has_ceiling = true;              ///< Work::has_ceiling
    std::optional<double> compile_ms;     ///< compile time
    std::optional<double> upload_ms;      ///< time of the inputs' upload
    std::optional<double> download_ms;    ///< time of the outputs' download
    std::optional<double> end_to_end_ms;  ///< upload, call and download
    std::optional<double> ratio;          ///< time / time of `ratio_to`
    std::string ratio_to;                 ///< variant that a baseline is compared with
    std::string problem;                  ///< why there is no time
    std::string note;                     ///< how the result was verified, if not as usual
    std::vector<KernelUse> kernels;       ///< kernels of the call
};

/// Device of a report.
struct BenchDevice {
    DeviceInfo info;                        ///< name and driver
    std::vector<DeviceProperty> libraries;  ///< libraries of the backend
    Ceilings::Known ceilings;               ///< attainable rates that were measured
    /// Baselines that do not support some work, with the reasons: "scan sum f64, cub: supports the types f32".
    std::vector<std::string> missing_baselines = {};
};

/// Rows of a benchmark run.
class BenchReport {
  public:
    /// Creates an empty report of this machine.
    explicit BenchReport(BenchOptions options);

    /// Appends a device.
    void add(BenchDevice device) { devices_.push_back(std::move(device)); }
    /// Appends a row.
    void add(BenchRow row) { rows_.push_back(std::move(row)); }
    /// Notes that a result is wrong.
    void note_wrong() { wrong_ = true; }
    /// Notes that a device failed or ran out of memory, and why.
    void note_failure(const std::string& why) {
        if (failure_.empty()) failure_ = why;
    }
    /// Notes that the run was stopped.
    void note_interrupted() { interrupted_ = true; }

    /// All rows, in the order of measurement.
    const std::vector<BenchRow>& rows() const { return rows_; }
    /// All devices.
    const std::vector<BenchDevice>& devices() const { return devices_; }
    /// The machine that the benchmark ran on.
    const Machine& machine() const { return machine_; }
    /// Whether a result was wrong.
    bool wrong() const { return wrong_; }
    /// Whether the run was stopped by BenchOptions::stop.
    bool interrupted() const { return interrupted_; }
    /// 0: every row has a correct result. 1: a result is wrong. 4: a device failed or ran out of memory.
    int status() const { return wrong_ ? 1 : failure_.empty() ? 0 : 4; }
    /// The first failure of a device or of memory, after the device's selector. Empty if there was none.
    const std::string& failure() const { return failure_; }

    /// Prints the machine and the tables of each device.
    void print(std::ostream& out) const;
    /// The report as a JSON object.
    std::string json() const;
    /// The rows as CSV with a header line.
    std::string csv() const;

  private:
    BenchOptions options_;
    Machine machine_;
    std::string date_;
    std::vector<BenchDevice> devices_;
    std::vector<BenchRow> rows_;
    bool wrong_ = false, interrupted_ = false;
    std::string failure_;
};

/// Attainable rates as names with units, and values.
std::vector<std::pair<std::string, double>> fields_of(const Ceilings::Known& known);
/// A row as a JSON object.
std::string json_of(const BenchRow& row);

/// Measures what the options select. Prints to `live`, unless it is null, what BenchReport::print() prints. Prints each
/// row when its measurement is complete. Blocks. Throws unavailable if a device is not available or only compiles.
/// Later errors are part of the report.
BenchReport bench(const std::vector<Suite>& suites, const BenchOptions& options,
                  std::ostream* live = nullptr);

}  // namespace concord::lab
