#pragma once
/// The results' file of a study: DIR/results.jsonl, a line of JSON for each thing that is known. It is added to line by
/// line, so that a run that ends early has lost nothing but the measurement that it was at.
///
///   {"kind": "run", "schema": 1, "version", "date", "quick", "machine": {...}}   the first line
///   {"kind": "device", "selector", "threads", "name", "driver", "many_items", "units", "sub_group_width", "ceilings"}
///   {"kind": "result", "key", "asked", "workload", "threads", "row"}   row: as in the bench's JSON (lab/bench/bench.hpp)
///   {"kind": "study", "key", "types", "unfinished"}   its cases are run, with these types; none: its own. "unfinished" at its beginning
///   {"kind": "check", "key", "device", "types", "report"}              report: as `concord check --json`, of that device
///   {"kind": "file", "key", "name", "content"}                         of `concord bench` or `concord check`, taken in
///
/// Of lines with the same key (of devices: the same selector and threads) the last one counts.

#include "result.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <vector>

namespace concord::study {

using nlohmann::ordered_json;

/// All that a results' file holds.
struct Records {
    ordered_json run;
    std::vector<ordered_json> devices;
    std::vector<Result> results;
    std::vector<ordered_json> lines;                          ///< of results, in the same order
    std::vector<ordered_json> checks;                         ///< reports
    std::vector<ordered_json> files;                          ///< taken in
    std::map<std::string, std::vector<std::string>> studies;  ///< those that were run, with which types
    std::set<std::string> unfinished;  ///< those that were interrupted, or are being run

    /// The device of that selector; null if there is none. One of several thread counts: the most.
    const ordered_json* device(const std::string& selector) const;
};

/// Reads DIR/results.jsonl; a last line that is incomplete is passed over. Throws io if there is none, or it is no such file.
Records read_records(const std::filesystem::path& folder);

/// The first line of a run on this machine now.
ordered_json run_line(bool quick);

/// A results' file that is added to.
class Store {
  public:
    /// Makes the folder if need be. What is in it of another version, machine or kind of run is set aside as
    /// results-DATE.jsonl, DATE when that run began; files that were taken in stay. Throws io; so too if another
    /// store has the folder, unless this one is a part: of a process that has it, and waits.
    Store(std::filesystem::path folder, const ordered_json& run, bool part = false);

    /// Why what was there was set aside, in words; empty: nothing was.
    const std::string& set_aside() const { return set_aside_; }
    /// Takes in what another process has added meanwhile.
    void reload();
    /// Adds a line, at once. Throws io.
    void add(const ordered_json& line);
    /// Adds the line of a device unless it is there. One that is there but differs in name or driver: the file is kept as
    /// results-DATE.jsonl, and all that was measured on the device is dropped.
    void add_device(const ordered_json& line);

  private:
    std::filesystem::path file() const { return folder_ / "results.jsonl"; }
    void rewrite(const std::vector<ordered_json>& lines);
    std::string kept_name(const ordered_json& run) const;

    // That no other process writes the file meanwhile; the system ends it with the process.
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
