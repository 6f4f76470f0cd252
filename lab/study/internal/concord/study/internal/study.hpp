#pragma once
// Studies: experiments that the benchmark runs and a report shows as figures.
//
// A study answers a question. Its cases describe the measurements, and its figures what the report shows of them. The
// table of studies is studies() in studies.cpp. Suites describe the studies of single algorithms.

#include <concord/study/internal/chart.hpp>
#include <concord/study/internal/store.hpp>

#include <functional>
#include <iosfwd>

namespace concord::lab {
struct BenchRow;
}

namespace concord::study {

using lab::Sizes;
using lab::Suite;

// Measurements: all combinations of the lists.
struct Case {
    std::string suite;  // an algorithm, or a suite of the studies
    Sizes sizes = {};
    std::vector<std::string> variants = {"all"};  // names, "all", or "auto" for the library's choice
    std::vector<std::string> workloads = {};      // names; empty: the suite's first workload
    std::vector<Type> types = {Type::f32};
    bool quarters_of_units = false;  // a size k means k / 4 groups of 256 elements per unit of the device
    bool hot = false;                // data stay in the caches
    bool each_thread_count = false;  // on the tbb device, with 1, 2, 4, ... and all threads
    std::optional<Sizes> cpu_sizes = {};  // replace `sizes` on CPUs
    bool compared = false;                // with the baselines, which are measured in the same run
};

// Attributes of a result. A number is the last one in a name: for By::variant_number "group32" has the name "group"
// and the number 32.
enum class By { variant, workload, algorithm, device, type, threads, n, variant_number, workload_number };

// The quantity that a figure shows.
enum class Measure { time, rate, flops, items, of_ceiling };

struct Figure;
// All records, and the results of a figure's study, in the order of its cases, the devices and the algorithms'
// variants.
struct Data {
    const Records& records;
    std::vector<const Result*> results;
};

// A figure: one chart for each value of `panels`, and for each type if there are several.
struct Figure {
    std::string title, caption = {};
    std::function<std::vector<Chart>(const Figure&, const Data&)> build;
    By x = By::n;
    Measure y = Measure::time;
    std::vector<By> series = {By::variant};
    std::vector<By> panels = {By::device};
    std::string x_name = {};                  // axis label for a number in a name
    bool log_x = true, log_y = true;          // for line charts
    std::vector<std::string> only = {};       // algorithms; empty: all of the study
    std::vector<std::string> workloads = {};  // empty: all of the study
    bool ceilings = true;                     // whether the chart draws the device's ceiling
};

struct Study {
    enum class Kind { bench, transfers, ranks, check, tuning, regret };

    std::string name, title, question, text;
    std::vector<Case> cases = {};
    std::vector<Figure> figures = {};
    Kind kind = Kind::bench;
    bool in_all = true;  // whether "all" includes it

    // Whether it compares two calls of each algorithm. Its cases name no suite.
    bool is_pairs() const { return kind == Kind::tuning || kind == Kind::regret; }
};
// The suites that a case of the study measures.
std::vector<std::string> suites_of(const Study& study, const Case& what);

// All studies, in the order of the report.
const std::vector<Study>& studies();
// Whether the names select the study. "all" selects most studies.
bool is_named(const Study& study, const std::vector<std::string>& names);
// Suites that cases name: those of the algorithms, and the microbenchmarks in effects.cu and effects.cl.
const std::vector<Suite>& study_suites();

// Functions that build the charts of a figure.

// Line chart over a numeric x, one line per series.
std::vector<Chart> lines(const Figure& figure, const Data& data);
// Bar chart of the variants, from the textbook kernel to the best, at the largest size that most variants have.
std::vector<Chart> steps(const Figure& figure, const Data& data);
// Speed-up over threads at a fixed size with the fit of Amdahl's law, and at scaled sizes with Gustafson's.
std::vector<Chart> amdahl(const Figure& figure, const Data& data);
std::vector<Chart> gustafson(const Figure& figure, const Data& data);
// Parallel efficiency over ranks, with a fitted model of computation, latency and bandwidth.
std::vector<Chart> over_ranks(const Figure& figure, const Data& data);
// Parallel efficiency over ranks, one line per series.
std::vector<Chart> efficiency_over_ranks(const Figure& figure, const Data& data);
// Fraction of the ceiling per algorithm and device, and the harmonic mean over the devices.
std::vector<Chart> portability(const Figure& figure, const Data& data);
// Speed-up of `auto` by the device's tuning table.
std::vector<Chart> gains(const Figure& figure, const Data& data);
// The largest regrets of `auto`, and all of them over sizes.
std::vector<Chart> regrets(const Figure& figure, const Data& data);
std::vector<Chart> regret_over_sizes(const Figure& figure, const Data& data);
// The agreement matrix, and the largest ratios of error to bound.
std::vector<Chart> agreement(const Figure& figure, const Data& data);

// Speed-up over each baseline over the number of elements.
std::vector<Chart> speed_ups(const Figure& figure, const Data& data);
// Tables of the comparisons with baselines: those in which the baseline is faster, and all.
std::vector<Chart> faster_baselines(const Figure& figure, const Data& data);
std::vector<Chart> all_baselines(const Figure& figure, const Data& data);

struct RankProcesses;

// What to run.
struct StudyOptions {
    std::vector<std::string> names;            // of studies; "all"
    std::vector<std::string> algorithms = {};  // only the cases of these suites; empty: all
    std::vector<u64> sizes = {};               // only these of the cases' sizes; empty: all
    std::vector<std::string> devices;          // selectors; empty or "all": every device
    std::vector<Type> types;                   // replace the cases' types unless empty
    bool quick = false;
    std::filesystem::path out;
    // Runs the cases that need several thread counts in a child process with that many threads. The child adds to the
    // same results file. Returns its exit status. Empty: this is the child process.
    std::function<int(u32 threads)> with_threads = {};
    // The ranks of the studies over ranks, if they are processes. This one is rank 0.
    const RankProcesses* processes = nullptr;
};

// Runs the measurements that the results file lacks. Returns the exit status: 0: success; 1: a result is wrong; 4: a
// device failed. Prints progress to `live`. Throws unavailable if a device is not available, unsupported if it only
// compiles.
int run_studies(const StudyOptions& options, std::ostream& live);

// Results of a study's cases.
std::vector<const Result*> results_of(const Study& study, const Records& records);

// Saves a file next to the report: the CSV of a chart.
using Save = std::function<void(const std::string& name, const std::string& text)>;
// The report of a folder's results as one HTML page.
std::string report(const Records& records, const Save& save);
// The report's tables as Markdown.
std::string markdown(const Records& records);

// Blocks of the documentation's pages as Markdown, from a folder of stored results (docs/store_results.py). Words:
//   machines              the measured machines, with links to their pages
//   machine NAME          NAME.bench.json: a row for each workload at its largest size; folded, all sizes and peers
//   algorithm NAME        an algorithm's first workload at its largest size: a row for each device
//   headline [NAME...]    a row for each algorithm: rate, fastest peer library
//   ranks NAME            efficiency over ranks, from NAME.ranks.json
//   python                Concord from Python next to NumPy, PyTorch and CuPy
//   agreement             what `concord check` found, a row for each algorithm, and variants that it lacks
std::string stored_page(const std::filesystem::path& folder, const std::vector<std::string>& words);
// agreement.svg and speedups.svg.
void stored_figures(const std::filesystem::path& folder, const Save& save);

// A file from `concord bench --json` or `concord check --json` as a line of the results file. Throws io if the file
// is not one of these, or the report cannot show it.
ordered_json line_of_file(const std::filesystem::path& file);
// The same for the content of such a file.
ordered_json line_of_content(std::istream& content, const std::filesystem::path& file);

// All records as one JSON object: run, devices, results (rows of the benchmark and what the study requested), checks.
std::string results_json(const Records& records);

// Two folders' results side by side, as text and as an HTML page. A result has changed if the intervals between the
// quartiles, widened by 1.5 times the interquartile range, do not overlap.
struct Comparison {
    std::string text, html;
    u64 common = 0, changed = 0;
};
Comparison compare(const Records& a, const Records& b, const std::string& name_a, const std::string& name_b);

// Results of a run of `headline` that are slower than those that are stored of the same devices: a table and a line of
// counts. Of several stored runs the last one counts. Throws io if a stored file cannot be read.
struct Regressions {
    std::string text;
    u64 compared = 0, slower = 0;
};
Regressions regressions(const Records& run, const std::filesystem::path& stored);

// Used by several files of this folder.

// Number of threads that kernels run on if they run in this process (a device with serial groups), otherwise 0.
u32 threads_of(const Device& device);
void run_transfers(const std::string& selector, const Case& what, bool quick,
                   const std::function<bool(const Result&)>& wanted,
                   const std::function<void(const Result&, const ordered_json& row)>& done);
// The element counts of a case on a device.
std::vector<u64> sizes_on(const Device& device, const Case& what, bool quick);
// Where two calls of the same work are compared: whether a measurement is wanted, and where its row goes.
struct PairSinks {
    std::function<bool(const Result&, const lab::BenchRow&)> wanted;
    std::function<void(const Result&, const ordered_json& row)> done;
};
void run_tuning(const std::string& selector, const Case& what, const StudyOptions& options,
                const PairSinks& sinks);
void run_regret(const std::string& selector, const Case& what, const StudyOptions& options,
                const PairSinks& sinks);
ordered_json run_check(const std::string& algorithm, const std::vector<std::string>& devices,
                       const std::vector<Type>& types, bool quick, int& status);
std::vector<Suite> effect_suites();
Records records_of_file(const ordered_json& line);
Study study_of_file(const ordered_json& line);
// Builds all charts of the file's section. Throws a JSON exception if the content has another structure.
void charts_of_file(const ordered_json& line);

}  // namespace concord::study
