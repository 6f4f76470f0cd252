#pragma once
// Results file of studies: DIR/results.jsonl, one JSON object per line. A run appends each result when it is
// measured, so an interrupted run loses only the current measurement.
//
//   {"kind": "run", "schema": 1, "version", "commit", "date", "quick", "machine": {...}}
//       the first line
//   {"kind": "device", "selector", "threads", "name", "driver", "hardware", "libraries", "many_items", "units",
//    "sub_group_width", "ceilings"}
//       hardware, libraries: as in `concord bench --json`
//   {"kind": "result", "key", "asked", "workload", "threads", "compared", "row"}
//       compared: whether the row was measured together with the baselines' rows. Of these rows Concord's is the last.
//       row: as in `concord bench --json` (lab/bench/include/concord/lab/bench.hpp)
//   {"kind": "study", "key", "types", "unfinished"}
//       a study that ran, with its types (none: the cases' own); "unfinished" when it starts
//   {"kind": "check", "key", "device", "types", "report"}
//       report: as in `concord check --json`, for that device
//   {"kind": "file", "key", "name", "content"}
//       an imported file of `concord bench --json` or `concord check --json`
//
// A later line replaces an earlier one with the same key. The key of a device is its selector and number of threads.

#include <concord/study/internal/result.hpp>

#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <set>
#include <vector>

namespace concord::study {

using nlohmann::ordered_json;

// Contents of a results file.
struct Records {
    ordered_json run;
    std::vector<ordered_json> devices;
    std::vector<Result> results;
    std::vector<ordered_json> lines;                          // of the results, in the same order
    std::vector<ordered_json> checks;                         // reports
    std::vector<ordered_json> files;                          // imported files
    std::map<std::string, std::vector<std::string>> studies;  // studies that ran, and their types
    std::set<std::string> unfinished;                         // studies that were interrupted or still run

    // The device with that selector, or null. Of several thread counts it returns the largest.
    const ordered_json* device(const std::string& selector) const;
};

// Reads DIR/results.jsonl. Ignores an incomplete last line. Throws io if the file does not exist or is not a results
// file.
Records read_records(const std::filesystem::path& folder);
// The same for the content of a results file. `file` names it in messages.
Records records_of(std::istream& content, const std::filesystem::path& file);

// First line of a run on this machine, with the current date.
ordered_json run_line(bool quick);

// A results file that is open for writing.
class Store {
  public:
    // Who locks the folder: the store itself, or the parent process, which waits meanwhile.
    enum class LockedBy { store, parent };

    // Creates the folder if necessary. Existing results of another version, commit, machine or kind of run are moved to
    // results-DATE.jsonl, with the date of that run. Imported files stay. Throws io, also if another process has
    // locked the folder.
    Store(std::filesystem::path folder, const ordered_json& run, LockedBy locked_by = LockedBy::store);

    // Why existing results were moved to another file. Empty: they were not.
    const std::string& set_aside() const { return set_aside_; }
    // Reads the lines that another process has added.
    void reload();
    // Appends a line and flushes. Throws io.
    void add(const ordered_json& line) { add_all({line}); }
    // Appends several lines with one write.
    void add_all(const std::vector<ordered_json>& lines);
    // Appends the line of a device if it is new. If its name or driver has changed, copies the file to
    // results-DATE.jsonl and drops the device's results.
    void add_device(const ordered_json& line);

  private:
    std::filesystem::path file() const { return folder_ / "results.jsonl"; }
    void rewrite(const std::vector<ordered_json>& lines);
    std::string kept_name(const ordered_json& run) const;

    // Keeps other processes from writing the file. The system releases it when the process ends.
    class Lock {
      public:
        Lock() = default;
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        void take(const std::filesystem::path& folder);

      private:
        int file_ = -1;
    };

    std::filesystem::path folder_;
    Lock lock_;
    std::ofstream out_;
    std::vector<ordered_json> devices_;
    std::string set_aside_;
};

}  // namespace concord::study
