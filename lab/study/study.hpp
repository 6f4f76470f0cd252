#pragma once
/// Studies: experiments that are written down as a table, run through the bench, and reported as figures.
///
/// A study asks a question. Its cases say what is measured to answer it, and its figures what is shown of that. The table is
/// studies(), in studies.cpp; adding a study is adding a row there. The steps of an algorithm are in its suite.

#include "chart.hpp"
#include "store.hpp"

#include <functional>
#include <iosfwd>

namespace concord::lab {
struct BenchRow;
}

namespace concord::study {

using lab::Sizes;
using lab::Suite;

/// Work that is measured: the product of all its lists.
struct Case {
    std::string suite;  ///< an algorithm, or a suite of the study's own
    Sizes sizes;
    std::vector<std::string> variants = {"all"};  ///< names, "all", or "auto": what the library takes
    std::vector<std::string> workloads = {};      ///< names; empty: the suite's first
    std::vector<Type> types = {Type::f32};
    bool quarters_of_units =
        false;         ///< a size k is k / 4 groups of 256 elements for each of the device's units
    bool hot = false;  ///< data are left in the caches
    bool each_thread_count = false;  ///< on the CPU's own device, with 1, 2, 4 ... and all threads
};

/// Parts of a result that say what it is of. A number: the last one in the name, "lanes32", which is no part of the name then.
enum class By { variant, workload, algorithm, device, type, threads, n, variant_number, workload_number };

/// What a figure shows of each result.
enum class Measure { time, rate, flops, items, of_ceiling };

struct Figure;
/// The results of a figure's study, in the order of its cases, devices and the algorithms' tables, and all that is known.
struct Data {
    const Records& records;
    std::vector<const Result*> results;
};

/// A figure: charts side by side, one for each value of `panels`, and for each type where there are several.
struct Figure {
    std::string title, caption;
    std::function<std::vector<Chart>(const Figure&, const Data&)> build;
    By x = By::n;
    Measure y = Measure::time;
    std::vector<By> series = {By::variant};
    std::vector<By> panels = {By::device};
    std::string x_name = {};                  ///< of a number in a name
    bool log_x = true, log_y = true;          ///< of lines
    std::vector<std::string> only = {};       ///< algorithms; empty: all of the study's
    std::vector<std::string> workloads = {};  ///< empty: all of the study's
    bool ceilings = true;                     ///< whether the device's ceilings are drawn
};

struct Study {
    std::string name, title, question, text;
    std::vector<Case> cases;
    std::vector<Figure> figures;
    enum class Kind { bench, transfers, ranks, check, tuning } kind = Kind::bench;
};

/// All studies, in the order of the report.
const std::vector<Study>& studies();
/// The suites that the cases name: the algorithms', and the small kernels of effects.cu and effects.cl.
const std::vector<Suite>& study_suites();

// Ways to build a figure.

/// A line for each series over a numeric x.
std::vector<Chart> lines(const Figure& figure, const Data& data);
/// A bar for each variant, from the textbook's to the best, at the largest size that most of them have.
std::vector<Chart> steps(const Figure& figure, const Data& data);
/// Speed-up over threads at one size, with Amdahl's fit; and with the size, with Gustafson's.
std::vector<Chart> amdahl(const Figure& figure, const Data& data);
std::vector<Chart> gustafson(const Figure& figure, const Data& data);
/// Efficiency over ranks, with the fit of computation, latency and bandwidth.
std::vector<Chart> over_ranks(const Figure& figure, const Data& data);
/// Efficiency over ranks, a line for each series.
std::vector<Chart> efficiency_over_ranks(const Figure& figure, const Data& data);
/// Each algorithm's part of the ceiling, per device; and the harmonic mean over devices.
std::vector<Chart> portability(const Figure& figure, const Data& data);
/// How often as fast a device's table of tuning makes what `auto` takes.
std::vector<Chart> gains(const Figure& figure, const Data& data);
/// What was checked: the matrix, and the worst error / bound.
std::vector<Chart> agreement(const Figure& figure, const Data& data);

/// What to run.
struct StudyOptions {
    std::vector<std::string> names;    ///< of studies; "all"
    std::vector<std::string> devices;  ///< selectors; empty, or "all": every device there is
    std::vector<Type> types;           ///< instead of the cases' own; empty: those
    bool quick = false;
    std::filesystem::path out;
    /// Measures cases of the studies that want several thread counts in another process, with that many, and adds
    /// them to the same file; returns its exit status. Empty: this is such a process.
    std::function<int(u32 threads)> with_threads = {};
};

/// Runs what is not known yet and returns the exit status: 0; 1: a result is wrong; 4: a device failed. Progress in
/// words goes to `live`. Throws as the bench does for devices that cannot be had.
int run_studies(const StudyOptions& options, std::ostream& live);

/// The results that a study's cases ask for.
std::vector<const Result*> results_of(const Study& study, const Records& records);

/// Is given what belongs beside the report: a file's name and text for each figure's CSV.
using Save = std::function<void(const std::string& name, const std::string& text)>;
/// The report on what a folder holds, as one page of HTML.
std::string report(const Records& records, const Save& save);
/// The same as Markdown, with the tables alone.
std::string markdown(const Records& records);

/// A file that `concord bench --json` or `concord check --json` wrote, as a line of the results' file. Throws io if it is none,
/// or no section can be made of it.
ordered_json line_of_file(const std::filesystem::path& file);

/// All results as one object of JSON: the run, devices, results (rows of the bench with what was asked), checks.
std::string results_json(const Records& records);

/// Two folders' results side by side: a table for people, and a page. A result has moved if the quartiles of the two,
/// widened by 1.5 times their distance, do not overlap.
struct Comparison {
    std::string text, html;
    u64 common = 0, moved = 0;
};
Comparison compare(const Records& a, const Records& b, const std::string& name_a, const std::string& name_b);

// Used between the files of this folder.
void run_transfers(const std::string& selector, const Case& what, bool quick,
                   const std::function<bool(const Result&)>& wanted,
                   const std::function<void(const Result&, const ordered_json& row)>& done);
void run_tuning(const std::string& selector, const Case& what, const std::vector<Type>& types, bool quick,
                const std::function<bool(const Result&, const lab::BenchRow&)>& wanted,
                const std::function<void(const Result&, const ordered_json& row)>& done);
ordered_json run_check(const std::string& algorithm, const std::vector<std::string>& devices,
                       const std::vector<Type>& types, bool quick, int& status);
std::vector<Suite> effect_suites();
Records records_of_file(const ordered_json& line);
Study study_of_file(const ordered_json& line);
/// All charts of the file's section: throws JSON's exception where the content is of another shape.
void charts_of_file(const ordered_json& line);

}  // namespace concord::study
