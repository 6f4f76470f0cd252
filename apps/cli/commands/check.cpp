// `concord check`.

#include "check_worker.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "program.hpp"

#include <concord/lab/internal/status_line.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

struct CheckArguments {
    CheckOptions options;
    std::vector<std::string> types, sizes, patterns;
    std::string json, junit, seed = "1";
    u32 jobs = 0;  // 0: not given
};

// The names of variants that the descriptors of algorithms lack, see Suite::more_variants.
std::vector<std::string> more_variants(const std::vector<std::string>& algorithm_names) {
    std::vector<std::string> names;
    for (const Suite& suite : suites()) {
        if (!asked_for(algorithm_names, suite.name)) continue;
        for (const Variant* variant : suite.more_variants)
            names.emplace_back(variant->name);
    }
    return names;
}

int check(CheckArguments asked) {
    const int channel = is_worker() ? open_worker_channel() : -1;
    CheckOptions& options = asked.options;
    check_algorithm_names(options.algorithms);
    const std::vector<std::string> more = more_variants(options.algorithms);
    std::vector<std::string> known = more, in_descriptors = options.variants;
    known.emplace_back("all");
    check_variant_names(options.algorithms, options.variants, known);
    std::erase_if(in_descriptors, [&](const std::string& name) {
        return std::find(more.begin(), more.end(), name) != more.end();
    });
    options.types = types_of(asked.types, {all_types.begin(), all_types.end()});
    AskedSizes sizes = sizes_of(asked.sizes);
    options.sizes = std::move(sizes.values);
    options.size_names = std::move(sizes.names);
    if (!is_worker()) check_files({{"--json", asked.json}, {"--junit", asked.junit}});
    options.patterns = patterns_of_names(asked.patterns);
    options.seed = seed_of(asked.seed);
    if (!is_worker()) check_variants_exist(options.algorithms, in_descriptors, options.devices);
    options.devices = devices_of(options.devices);
    if (is_worker()) {
        run_check_worker(suites(), options, channel);
        return status_ok;
    }
    options.program = "concord check";
    defer_interrupts();
    options.stop = is_interrupted;
    bar_is_shown(StatusLine().visible());
    const std::vector<Suite> all = suites();
    const CheckReport report =
        check_side_by_side(all, options, {.most = asked.jobs, .start = start_worker}, &std::cout);
    report.print(std::cout);
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    if (!asked.junit.empty()) write_whole(asked.junit, report.junit());
    if (report.status() == status_failed) std::cerr << "concord: check: " << report.device_failure() << '\n';
    publish_outputs();
    end_if_interrupted();
    return report.status();
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "check",
        {.summary = "Check every variant on every device against a serial reference",
         .details =
             "Prints the matrix of variants and devices, why cases were skipped, and one line of counts. "
             "Results in a canonical or variant-specific order must be bitwise identical on all devices, "
             "including NaNs. A compile-only device compiles all kernels.\n\n"
             "On a terminal it shows the number of cases done, their total and the time left. After SIGINT "
             "or SIGTERM it ends with the matrix of the results so far, writes the files of --json and "
             "--junit, and ends by that signal.\n\n"
             "The cases run in --jobs processes side by side. The report and its order do not depend on "
             "their "
             "number. If a call ends its process, the case has failed and the others go on. Few cases, and "
             "all with --jobs 1, run in the process of the command; then such a call ends the check.",
         .examples = {"concord check                                # everything on every device",
                      "concord check reduce --devices opencl:0 --variants fixed --types f32,f64"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    auto asked = std::make_shared<CheckArguments>();
    command->add_option("ALGORITHM", asked->options.algorithms, "Algorithms (default: all)");
    add_device_option(*command, asked->options.devices, "Devices (default: all)");
    add_list(*command, "--variants", asked->options.variants, "VARIANTS", "Variants (default: all)");
    add_list(*command, "--types", asked->types, "TYPES", type_names() + " (default: all)");
    add_list(*command, "--sizes", asked->sizes, "SIZES",
             "Element counts, e.g. 1025,2^20+1 (default: those of the suites)");
    add_list(*command, "--patterns", asked->patterns, "PATTERNS",
             "Patterns of the inputs: " + joined(names_of(all_patterns)) + " (default: all)");
    command->add_flag("--full", asked->options.full, "Add sizes up to 2^32 + 1 elements, limited by memory");
    command->add_flag(
        "--every-variant", asked->options.every_variant,
        "Fail if a variant has no passing case, even with --sizes, --patterns, or --types without f32");
    command->add_flag("--verbose", asked->options.verbose,
                      "List skipped and not applicable cases by variant, with their reasons");
    command
        ->add_option("--jobs", asked->jobs,
                     "Processes that run cases side by side (default: one for each host thread, if there is "
                     "memory for them)")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    command->add_option("--seed", asked->seed, "Seed of the generated inputs (default: 1)")->type_name("N");
    command->add_option("--json", asked->json, "Write counts, matrix and failures to this file")
        ->type_name("FILE");
    command->add_option("--junit", asked->junit, "Write a JUnit report to this file")->type_name("FILE");
    command->callback([asked, &action] { action = [asked] { return check(std::move(*asked)); }; });
}

}  // namespace concord::app
