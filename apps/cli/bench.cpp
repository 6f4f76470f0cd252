// `concord bench`.

#include "files.hpp"
#include "program.hpp"
#include "trace_file.hpp"

#include <concord/lab/bench.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

struct Asked {
    BenchOptions options;
    std::vector<std::string> types, sizes;
    std::string json, csv, trace;
};

void check_workload_names(const BenchOptions& options) {
    std::vector<std::string> known = {"all"};
    for (const Suite& suite : suites()) {
        if (!asked_for(options.algorithms, suite.name)) continue;
        for (const Workload& workload : suite.workloads) {
            if (std::find(known.begin(), known.end(), workload.name) == known.end())
                known.push_back(workload.name);
        }
    }
    for (const std::string& name : options.workloads) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorCode::invalid_argument, "--workloads",
                        "there is no workload '" + name + "'; there are " + joined(known));
    }
}

int bench(Asked asked) {
    BenchOptions& options = asked.options;
    check_algorithm_names(options.algorithms);
    check_variant_names(options.algorithms, options.variants, {"all", "auto"});
    check_workload_names(options);
    options.types = types_of(asked.types, options.types);
    options.sizes = sizes_of(asked.sizes);
    std::vector<Suite> all = suites();
    if (options.algorithms.empty()) {
        for (Suite& suite : all)
            suite.bench_sizes = {suite.bench_sizes.back()};
    }
    for (const std::string& path : {asked.json, asked.csv}) {
        if (!path.empty()) check_writable(path);
    }
    check_apart({{"--json", asked.json}, {"--csv", asked.csv}, {"--trace", asked.trace}});
    TraceFile trace(asked.trace);
    const BenchReport report = lab::bench(all, options, &std::cout);
    trace.write();
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    if (!asked.csv.empty()) write_whole(asked.csv, report.csv());
    if (report.wrong()) std::cerr << "concord: bench: a result is wrong, it has no time\n";
    return report.status();
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "bench", "Time verified work on every device, beside what the device can do at best",
        "concord bench reduce --devices all --variants all --sizes 2^20..2^26\n  "
        "concord bench --devices cuda --baselines --csv results.csv");
    auto asked = std::make_shared<Asked>();
    BenchOptions& options = asked->options;
    command->add_option("ALGORITHM", options.algorithms, "Which algorithms (default: all)");
    add_list(*command, "--devices", options.devices, "Selectors, or all (default)");
    add_list(*command, "--variants", options.variants, "Names, all, or auto (default)");
    add_list(*command, "--workloads", options.workloads,
             "Operators, functions and data, or all (default: each algorithm's first)");
    add_list(*command, "--types", asked->types, "Element types, or all (default: f32)");
    add_list(
        *command, "--sizes", asked->sizes,
        "Element counts (default: each algorithm's own, 2^10 to 2^26; without ALGORITHM only the largest "
        "of them)");
    command->add_flag("--hot", options.hot, "Leave data in the caches: every call on the same operands");
    auto* calls =
        command
            ->add_option("--calls", options.calls,
                         "Host time of a call among so many in a row on the same data, which are waited for "
                         "once, instead of device time")
            ->check(CLI::Range(u64{1}, u64{1} << 40))
            ->type_name("N");
    command->add_flag("--recorded", options.recorded, "Record a call once, and replay it instead")
        ->needs(calls);
    command->add_flag("--baselines", options.baselines,
                      "Time what other libraries do of the same work too, and print the ratio");
    command->add_flag(
        "--ceilings", options.ceilings,
        "Measure all ceilings: copy, read, fma, transfers, launch (default: those that are needed)");
    command->add_flag("--times", options.times,
                      "Print compile, upload, kernel, download and end to end apart");
    command->add_flag("--attributes", options.attributes,
                      "Print each kernel's registers, local memory, spills and occupancy");
    command->add_option("--json", asked->json, "Write everything to this file");
    command->add_option("--csv", asked->csv, "Write the results to this file");
    TraceFile::add_option(*command, asked->trace);
    command->callback([asked, &action] { action = [asked] { return bench(*asked); }; });
}

}  // namespace concord::app
