#pragma once
// Stored results, from which the documentation's pages are generated: docs/results/*.json, written by
// docs/store_results.py.
//
// NAME.bench.json: {"schema": 1, "title", "runs": [RUN, ...]}. A run is one measurement session. A machine may have
// several, for example with other versions of peer libraries:
//   command, date, version    what measured, on which day, and Concord's version
//   commit                    git commit of that build, with " (modified)" if the sources differed from it
//   note                      what a reader must know about the figures
//   calls, hot                as in `concord bench --json`
//   machine                   {cpu, cores, os, compiler}
//   devices                   [{selector, name, driver, hardware, libraries, ceilings}, ...]
//   results                   rows of `concord bench --json` with the members in stored.cpp
// NAME.check.json: {"schema": 1, "title", "version", "date", "command", "covers", "devices": [{selector, name}, ...],
//   "matrix": [CELL, ...]}. covers: types, sizes and inputs of the cases, for captions.
// NAME.python.json: written by python/benchmarks/compare.py.

#include "peers.hpp"

namespace concord::study {

// The measurements of a device: of all runs, groups in their order.
struct StoredDevice {
    std::string machine;  // name of the file
    std::string title;    // "NVIDIA H200, CUDA"
    std::string backend;  // "CUDA"
    ordered_json info;
    struct Group : PeerGroup {
        const ordered_json* run;
    };
    std::vector<Group> groups;

    bool has_peers() const;
    std::vector<std::string> algorithms() const;
    // The groups of an algorithm. Empty name: all.
    std::vector<PeerGroup> groups_of(const std::string& algorithm = {}) const;
};

struct StoredMachine {
    std::string name;
    ordered_json stored;
    std::vector<std::vector<Result>> results;  // by run
    std::vector<StoredDevice> devices;         // with at least one group
};

// These functions throw io, with the file's name, for a file that lacks a member or has an unexpected one.
std::vector<StoredMachine> stored_machines(const std::filesystem::path& folder);
// The files of a kind: "check" or "python".
std::vector<ordered_json> stored_files(const std::filesystem::path& folder, const std::string& kind);

// "CUDA" for "cuda:0".
std::string backend_title(const std::string& selector);

}  // namespace concord::study
