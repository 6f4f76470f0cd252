// `concord tune`.

#include "files.hpp"
#include "program.hpp"

#include <concord/lab/internal/tune.hpp>

#include <iostream>

namespace concord::app {
namespace {

namespace fs = std::filesystem;

struct Asked {
    TuneOptions options;
    std::vector<std::string> types, sizes;
    std::string out, json;
};

// Where the table goes, whose folder is there afterwards.
fs::path target_of(const Asked& asked) {
    if (!asked.out.empty()) return asked.out;
    const fs::path folder = tuning_folder();
    if (folder.empty())
        throw Error(ErrorCode::io, "--out",
                    "is needed: neither XDG_CONFIG_HOME nor HOME says where the table goes");
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error(ErrorCode::io, folder.string(), "cannot be made: " + error.message());
    return folder / TuningTable::of(*open_device(asked.options.device)).file_name();
}

int tune(Asked asked) {
    check_algorithm_names(asked.options.algorithms);
    asked.options.types = types_of(asked.types, {});
    if (!asked.sizes.empty()) asked.options.sizes = sizes_of(asked.sizes);
    const auto device = open_device(asked.options.device);
    if (!device->traits().runs)
        throw Error(ErrorCode::unsupported, "tune", "'" + device->info().selector + "' only compiles");
    const fs::path target = target_of(asked);
    for (const fs::path& path : {target, fs::path(asked.json)}) {
        if (!path.empty()) check_writable(path);
    }
    check_apart({{"--out", target.string()}, {"--json", asked.json}});
    const TuneReport report = lab::tune(asked.options);
    report.print(std::cout);
    // Nothing is written of a device that failed in the midst.
    if (report.failed) return report.status();
    write_whole(target, report.table.text());
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    std::cout << "table: " << target.string() << '\n';
    if (!report.wrong.empty()) std::cerr << "concord: tune: a result is wrong, it is not taken\n";
    return report.status();
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "tune",
        "Search what is fastest on a device, and write the table that `auto` goes by.\n\n"
        "Every candidate is verified before it is timed, and counts only beyond noise, twice. Rows of "
        "algorithms and\n"
        "types that are not tuned are kept from the table in use. Interrupted, it writes nothing.",
        "concord tune --device cuda --quick\n  concord tune sort scan --types u32,f32 --sizes 2^20,2^24 "
        "--out mine.txt\n  "
        "CONCORD_TUNING=mine.txt concord bench sort");
    auto asked = std::make_shared<Asked>();
    TuneOptions& options = asked->options;
    command->add_option("ALGORITHM", options.algorithms, "Which algorithms (default: all)");
    command->add_option("--device", options.device, "Selector (default: $CONCORD_DEVICE, else auto)");
    add_list(*command, "--types", asked->types, "Element types, or all (default: a few that matter)");
    add_list(*command, "--sizes", asked->sizes, "Sizes: 2^20, 2^20..2^28, 1000 (default: a few)");
    command->add_flag("--quick", options.quick, "Fewer sizes and types, less effort: three minutes at most");
    command
        ->add_option("--budget", options.budget_s,
                     "Seconds after which no more is begun (default: an hour; quick: 180)")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    command
        ->add_option("--least-gain", options.least_gain, "What a row must bring to be taken (default: 1.03)")
        ->check(CLI::Range(1.0, 100.0))
        ->type_name("RATIO");
    command
        ->add_option("--out", asked->out,
                     "The table (default: in $XDG_CONFIG_HOME/concord/tuning, which is read)")
        ->type_name("FILE");
    command->add_option("--json", asked->json, "What was measured, as JSON")->type_name("FILE");
    command->callback([asked, &action] { action = [asked] { return tune(*asked); }; });
}

}  // namespace concord::app
