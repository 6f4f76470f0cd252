// `concord tune`.

#include "files.hpp"
#include "program.hpp"

#include <concord/lab/internal/tune.hpp>

#include <iostream>

namespace concord::app {
namespace {

namespace fs = std::filesystem;

struct TuneArguments {
    TuneOptions options;
    std::vector<std::string> devices, types, sizes;
    std::string out, json;
};

// The file of the table. Creates its directory.
fs::path target_of(const TuneArguments& asked) {
    if (!asked.out.empty()) return asked.out;
    const fs::path folder = tuning_folder();
    if (folder.empty())
        throw Error(ErrorCode::io, "--out",
                    "required, because XDG_CONFIG_HOME and HOME are not set; name a file for the table");
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error(ErrorCode::io, folder.string(), "cannot create the directory: " + error.message());
    return folder / TuningTable::of(*open_device(asked.options.device)).file_name();
}

int tune(TuneArguments asked) {
    check_algorithm_names(asked.options.algorithms);
    asked.options.types = types_of(asked.types, {});
    if (!asked.sizes.empty()) asked.options.sizes = sizes_of(asked.sizes).values;
    asked.options.device = one_device_of(asked.devices, "tune");
    check_runs(*open_device(asked.options.device));
    const fs::path target = target_of(asked);
    if (asked.out.empty()) check_writable(target, "--out", Channels::refused);
    check_files({{"--out", target.string()}, {"--json", asked.json}});
    const TuneReport report = lab::tune(asked.options);
    report.print(std::cout);
    // Writes no table if the device failed.
    if (report.failed) return report.status();
    write_whole(target, report.table.text());
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    std::cout << "table: " << target.string() << '\n';
    if (!report.wrong.empty()) std::cerr << "concord: tune: a result is wrong; its candidate is rejected\n";
    return report.status();
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "tune",
        {.summary = "Search for the fastest variants and tunables of a device, and write its tuning table",
         .details = "Verifies every candidate before it times it. A candidate must be faster beyond noise in "
                    "two measurements. Keeps the rows of the current table for algorithms and types that it "
                    "does not tune. An interrupted run writes nothing.",
         .examples = {"concord tune --device cuda --quick",
                      "concord tune sort scan --types u32,f32 --sizes 2^20,2^24 --out mine.txt",
                      "CONCORD_TUNING=mine.txt concord bench sort"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    auto asked = std::make_shared<TuneArguments>();
    TuneOptions& options = asked->options;
    command->add_option("ALGORITHM", options.algorithms, "Algorithms (default: all)");
    add_device_option(*command, asked->devices, "One device (default: $CONCORD_DEVICE, else auto)");
    add_list(*command, "--types", asked->types, "TYPES", "Element types (default: the most common ones)");
    add_list(*command, "--sizes", asked->sizes, "SIZES",
             "Element counts, e.g. 1000,2^20..2^28 (default: a few)");
    command->add_flag("--quick", options.quick,
                      "Fewer sizes and types and less effort; at most three minutes");
    command
        ->add_option("--budget", options.budget_s,
                     "Time after which no candidate is started (default: 3600; with --quick 180)")
        ->check(CLI::Range(1.0, 1e7))
        ->type_name("SECONDS");
    command
        ->add_option("--least-gain", options.min_gain,
                     "Minimum speed-up of a new row over the current one (default: 1.03)")
        ->check(CLI::Range(1.0, 100.0))
        ->type_name("RATIO");
    command
        ->add_option(
            "--out", asked->out,
            "Table to write (default: a file in $XDG_CONFIG_HOME/concord/tuning, where Concord finds it)")
        ->type_name("FILE");
    command->add_option("--json", asked->json, "Write all measurements to this file")->type_name("FILE");
    command->callback([asked, &action] { action = [asked] { return tune(*asked); }; });
}

}  // namespace concord::app
