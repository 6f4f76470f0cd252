
#include "files.hpp"
#include "program.hpp"

#include <iostream>

namespace concord::app {
namespace {

struct Asked {
    CheckOptions options;
    std::vector<std::string> types, sizes, patterns;
    std::string json, junit;
};

int check(Asked asked) {
    CheckOptions& options = asked.options;
    check_algorithm_names(options.algorithms);
    check_variant_names(options.algorithms, options.variants, {"all"});
    options.types = types_of(asked.types, {all_types.begin(), all_types.end()});
    options.sizes = sizes_of(asked.sizes);
    for (const std::string& path : {asked.json, asked.junit}) {
        if (!path.empty()) check_writable(path);
    }
    check_apart({{"--json", asked.json}, {"--junit", asked.junit}});
    options.patterns = patterns_of_names(asked.patterns);
    options.program = "concord check";
    const CheckReport report = lab::check(suites(), options, &std::cout);
    report.print(std::cout);
    if (!asked.json.empty()) write_whole(asked.json, report.json());
    if (!asked.junit.empty()) write_whole(asked.junit, report.junit());
    return report.status();
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    CLI::App* command =
        add_command(program, "check", "Hold every variant on every device against a serial reference",
                    "concord check                                # everything, everywhere\n  "
                    "concord check reduce --devices opencl:0 --variants fixed --types f32,f64");
    auto asked = std::make_shared<Asked>();
    command->add_option("ALGORITHM", asked->options.algorithms, "Which algorithms (default: all)");
    add_list(*command, "--devices", asked->options.devices, "Selectors, or all (default)");
    add_list(*command, "--variants", asked->options.variants, "Names, or all (default)");
    add_list(*command, "--types", asked->types, "Element types, or all (default)");
    add_list(*command, "--sizes", asked->sizes, "Element counts instead of the usual ones: 1025,2^20+1");
    add_list(*command, "--patterns", asked->patterns, "What the inputs look like, or all (default)");
    command->add_flag("--full", asked->options.full,
                      "Sizes up to 2^32 + 1 elements too, as far as memory goes");
    command->add_flag("--verbose", asked->options.verbose,
                      "List what was skipped or is not applicable, with the reasons");
    command->add_option("--seed", asked->options.seed, "Of the generated inputs (1)");
    command->add_option("--json", asked->json, "Write counts, matrix and failures to this file");
    command->add_option("--junit", asked->junit, "Write a JUnit report to this file");
    command->callback([asked, &action] { action = [asked] { return check(std::move(*asked)); }; });
}

}  // namespace concord::app
