// `concord bench`.

#include "files.hpp"
#include "interrupt.hpp"
#include "program.hpp"
#include "trace_file.hpp"

#include <concord/lab/baseline.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/internal/status_line.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

struct BenchArguments {
    BenchOptions options;
    std::vector<std::string> types, sizes;
    std::string json, csv, trace, order;
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
    check_names("--workloads", "workload", options.workloads, known);
}

int bench(BenchArguments asked) {
    BenchOptions& options = asked.options;
    check_algorithm_names(options.algorithms);
    check_variant_names(options.algorithms, options.variants, {"all", "auto"});
    check_workload_names(options);
    options.types = types_of(asked.types, options.types);
    options.order = order_of(asked.order);
    AskedSizes sizes = sizes_of(asked.sizes);
    options.sizes = std::move(sizes.values);
    options.size_names = std::move(sizes.names);
    std::vector<Suite> all = suites();
    if (options.algorithms.empty()) {
        for (Suite& suite : all)
            suite.bench_sizes = {suite.bench_sizes.back()};
    }
    check_files({{"--json", asked.json}, {"--csv", asked.csv}, {"--trace", asked.trace}});
    check_variants_exist(options.algorithms, options.variants, options.devices);
    options.devices = devices_of(options.devices);
    for (const std::string& device : options.devices)
        check_runs(*open_device(device));
    defer_interrupts();
    options.stop = is_interrupted;
    bar_is_shown(StatusLine().visible());
    TraceFile trace(asked.trace);
    const BenchReport report = lab::bench(all, options, &std::cout);
    trace.write();
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    if (!asked.csv.empty()) write_whole(asked.csv, report.csv());
    const auto& measured = report.rows();
    const auto has_time = [](const BenchRow& row) { return row.timing.has_value(); };
    const auto is_baseline = [](const BenchRow& row) { return row.baseline; };
    if (options.baselines && std::any_of(measured.begin(), measured.end(), has_time) &&
        std::none_of(measured.begin(), measured.end(), is_baseline) && !report.interrupted())
        std::cerr << "concord: --baselines: "
                  << (lab::baselines().empty() ? "no module of other libraries is installed"
                                               : "no installed module measures this work on these devices")
                  << "; build them with './setup baselines' in Concord's sources\n";
    if (report.wrong())
        std::cerr << "concord: bench: a result is wrong; its row has no time\n";
    else if (!report.failure().empty())
        std::cerr << "concord: bench: " << report.failure() << '\n';
    publish_outputs();
    end_if_interrupted();
    return report.status();
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "bench",
        {.summary = "Benchmark algorithms; results are verified before they are timed",
         .details = "Prints each row when it is measured. After SIGINT or SIGTERM it ends the table, writes "
                    "the files of --json and --csv with the rows that are complete, and ends by that signal.",
         .examples = {"concord bench reduce --devices all --variants all --sizes 2^20..2^26",
                      "concord bench --devices 'cuda:*' --baselines --csv results.csv"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    auto asked = std::make_shared<BenchArguments>();
    BenchOptions& options = asked->options;
    command->add_option("ALGORITHM", options.algorithms, "Algorithms (default: all)");
    add_device_option(*command, options.devices, "Devices (default: all)");
    add_list(*command, "--variants", options.variants, "VARIANTS",
             "Variants, all, or auto for the library's choice (default: auto)");
    add_order_option(*command, asked->order);
    add_list(*command, "--workloads", options.workloads, "WORKLOADS",
             "Operators, functions and input data, or all; `concord algorithms NAME` lists them (default: "
             "the first of each algorithm)");
    add_list(*command, "--types", asked->types, "TYPES", type_names() + " (default: f32)");
    add_list(
        *command, "--sizes", asked->sizes, "SIZES",
        "Element counts, e.g. 1000,2^10..2^20 (default: 2^10 to 2^26; without ALGORITHM the largest only)");
    command->add_flag("--hot", options.hot, "Keep data in the caches: every call uses the same operands");
    auto* calls =
        command
            ->add_option("--calls", options.calls,
                         "Measure host time per call over N calls in a row on the same data, with one "
                         "wait at the end, instead of device time")
            ->check(CLI::Range(u64{1}, u64{1} << 40))
            ->type_name("N");
    command->add_flag("--recorded", options.recorded, "With --calls: replay a recorded call")->needs(calls);
    command->add_flag(
        "--baselines", options.baselines,
        "Also time other libraries on the same work, and print the ratio; ./setup baselines builds them");
    command->add_flag("--ceilings", options.ceilings,
                      "Measure all ceilings, which are attainable rates: copy, read, fma, mma, transfers, "
                      "launch (default: those that "
                      "rows are compared with)");
    command->add_flag("--times", options.times,
                      "Print compile, upload, kernel, download and end-to-end times");
    command->add_flag("--attributes", options.attributes,
                      "Print registers, local memory, spills and occupancy of each kernel");
    command->add_option("--json", asked->json, "Write the complete results to this file")->type_name("FILE");
    command->add_option("--csv", asked->csv, "Write the rows to this file")->type_name("FILE");
    TraceFile::add_option(*command, asked->trace);
    command->callback([asked, &action] { action = [asked] { return bench(*asked); }; });
}

}  // namespace concord::app
