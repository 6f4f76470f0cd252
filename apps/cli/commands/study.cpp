// `concord study`.

#include "files.hpp"
#include "program.hpp"
#include "rank_job.hpp"
#include "run_ranks.hpp"

#include <concord/internal/mpi_launch.hpp>
#include <concord/lab/table.hpp>
#include <concord/study/internal/rank_studies.hpp>
#include <concord/study/internal/study.hpp>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>
#include <set>
#include <span>

namespace concord::app {
namespace {

namespace fs = std::filesystem;

struct StudyArguments {
    study::StudyOptions options;
    std::vector<std::string> types, sizes, compare, files;
    std::vector<std::string> page;
    std::string out, stored = "docs/results", regressions;
    bool list = false, markdown = false, part = false;
};

int list_studies(bool as_markdown) {
    if (as_markdown) {
        std::cout << "| study | question |\n|---|---|\n";
        for (const study::Study& study : study::studies())
            std::cout << "| `" << study.name << "` | " << study.question << " |\n";
        return status_ok;
    }
    lab::Table table({"study", "question"});
    for (const study::Study& study : study::studies())
        table.add({study.name, study.question});
    table.print(std::cout);
    return status_ok;
}

void check_study_names(const std::vector<std::string>& names) {
    std::vector<std::string> known = {"all"};
    for (const study::Study& study : study::studies())
        known.push_back(study.name);
    if (names.empty())
        throw Error(ErrorCode::invalid_argument, "STUDY", "no study named; available: " + joined(known));
    check_names("STUDY", "study", names, known);
}

// Throws invalid_argument for an algorithm or size that no named study measures.
void check_restrictions(const study::StudyOptions& options) {
    if (options.algorithms.empty() && options.sizes.empty()) return;
    std::vector<std::string> algorithms = {"all"};
    std::set<u64> sizes;
    for (const study::Study& study : study::studies()) {
        if (!study::is_named(study, options.names)) continue;
        for (const study::Case& what : study.cases) {
            bool is_asked = false;
            for (const std::string& suite : study::suites_of(study, what)) {
                if (std::find(algorithms.begin(), algorithms.end(), suite) == algorithms.end())
                    algorithms.push_back(suite);
                is_asked = is_asked || lab::asked_for(options.algorithms, suite);
            }
            if (!is_asked) continue;
            for (const lab::Sizes& list : {what.sizes, what.cpu_sizes.value_or(lab::Sizes{})})
                sizes.insert(list.of(options.quick).begin(), list.of(options.quick).end());
        }
    }
    check_names("--algorithms", "algorithm", options.algorithms, algorithms);
    for (const u64 n : options.sizes) {
        if (sizes.count(n) != 0) continue;
        std::vector<std::string> names;
        names.reserve(sizes.size());
        for (const u64 size : sizes)
            names.push_back(lab::size_name(size));
        throw Error(
            ErrorCode::invalid_argument, "--sizes",
            "these studies do not measure it, got '" + lab::size_name(n) + "'; available: " + joined(names));
    }
}

// Runs this program again with another number of threads, which belongs to the process, to measure its part of the
// studies.
int run_with_threads(const StudyArguments& asked, u32 threads) {
    std::vector<std::string> words = {"/proc/self/exe", "study"};
    words.insert(words.end(), asked.options.names.begin(), asked.options.names.end());
    words.insert(words.end(),
                 {"--part", "--out", asked.out, "--devices", "tbb", "--threads", std::to_string(threads)});
    if (asked.options.quick) words.emplace_back("--quick");
    if (!asked.types.empty()) words.insert(words.end(), {"--types", joined(asked.types, ",")});
    if (!asked.sizes.empty()) words.insert(words.end(), {"--sizes", joined(asked.sizes, ",")});
    if (!asked.options.algorithms.empty())
        words.insert(words.end(), {"--algorithms", joined(asked.options.algorithms, ",")});
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (const int error = posix_spawn(&child, words[0].c_str(), nullptr, nullptr, arguments.data(), environ);
        error != 0)
        throw Error(
            ErrorCode::io, "study",
            std::string("cannot start a process for another number of threads: ") + std::strerror(error));
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return status_failed;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : status_failed;
}

// Adds lines to the results in the directory.
void take_files(const StudyArguments& asked, const std::vector<nlohmann::ordered_json>& lines) {
    if (lines.empty()) return;
    const fs::path out = asked.out;
    std::error_code error;
    study::Store store(out, fs::exists(out / "results.jsonl", error) ? study::read_records(out).run
                                                                     : study::run_line(asked.options.quick));
    for (const auto& line : lines)
        store.add(line);
}

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw Error(ErrorCode::io, "study", folder.string() + ": " + error.message());
}

// Throws io if the report cannot be written, before anything is measured.
void check_report(const fs::path& out) {
    std::error_code error;
    if (!fs::exists(out, error)) return;
    for (const char* name : {"report.html", "report.md", "results.json"})
        check_writable(out / name, "--out", Channels::refused);
    if (fs::exists(out / "csv", error)) check_writable(out / "csv" / "*.csv", "--out", Channels::refused);
}

void write_report(const fs::path& out) {
    const study::Records records = study::read_records(out);
    make_folder(out / "csv");
    const std::string page = study::report(records, [&](const std::string& name, const std::string& text) {
        detail::write_file(out / "csv" / name, {text});
    });
    detail::write_file(out / "report.html", {page});
    detail::write_file(out / "report.md", {study::markdown(records)});
    detail::write_file(out / "results.json", {study::results_json(records)});
}

int compare(const StudyArguments& asked) {
    const study::Records a = study::read_records(asked.compare[0]), b = study::read_records(asked.compare[1]);
    const study::Comparison result = study::compare(a, b, asked.compare[0], asked.compare[1]);
    std::cout << result.text;
    if (asked.out.empty()) return status_ok;
    make_folder(asked.out);
    write_whole(fs::path(asked.out) / "compare.html", result.html);
    return status_ok;
}

int print_regressions(const StudyArguments& asked) {
    const study::Regressions found = study::regressions(study::read_records(asked.regressions), asked.stored);
    std::cout << found.text;
    return found.compared == 0 ? status_unavailable : found.slower > 0 ? status_wrong : status_ok;
}

int print_page(const StudyArguments& asked) {
    if (asked.page.front() != "figures" || asked.page.size() != 2) {
        std::cout << study::stored_page(asked.stored, asked.page);
        return status_ok;
    }
    make_folder(asked.page.back());
    study::stored_figures(asked.stored, [&](const std::string& name, const std::string& text) {
        write_whole(fs::path(asked.page.back()) / name, text);
    });
    return status_ok;
}

// Under mpirun: each rank's device, and whether it is the device of all of them. A rank on the CPU has threads of its
// own. Throws if only some of the ranks share a device, and for devices of several backends.
study::RankProcesses processes_of(const std::vector<std::string>& devices) {
    Communicator& ranks = RankJob::ranks();
    RankJob::on_this_machine();
    std::shared_ptr<Device> device;
    RankJob::together([&] {
        device = device_of_rank(devices);
        check_runs(*device);
    });
    const std::string& backend = device->info().backend;
    for (const auto& theirs : ranks.all_gather(std::as_bytes(std::span(backend)))) {
        const std::string other(reinterpret_cast<const char*>(theirs.data()), theirs.size());
        if (other != backend)
            throw Error(ErrorCode::unsupported, "study",
                        "the ranks must have devices of one backend, got " +
                            joined({std::min(other, backend), std::max(other, backend)}));
    }
    char host[HOST_NAME_MAX + 1] = {};
    ::gethostname(host, HOST_NAME_MAX);
    // Processes may see different devices by the same number.
    std::string name = std::string(host) + " " + device->info().selector + " " + device->info().uuid;
    if (device->traits().launch == LaunchModel::host) name += " " + std::to_string(ranks.rank());
    const auto all = ranks.all_gather(std::as_bytes(std::span(name)));
    const std::set<std::vector<std::byte>> different(all.begin(), all.end());
    if (different.size() != 1 && different.size() != all.size())
        throw Error(ErrorCode::unsupported, "study",
                    "the ranks must have a device each, or share one, got " + std::to_string(all.size()) +
                        " ranks on " + std::to_string(different.size()) + " devices");
    return {ranks, device, different.size() == 1, detail::first_launched_ranks};
}

// Under mpirun only studies over ranks make sense.
void check_names_of_ranks(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const study::Study& study : study::studies())
        if (study.kind == study::Study::Kind::ranks) known.push_back(study.name);
    if (names.empty())
        throw Error(ErrorCode::unsupported, "STUDY",
                    "name a study under mpirun; available: " + joined(known));
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorCode::unsupported, "STUDY",
                        "'" + name + "' does not run under mpirun; available: " + joined(known));
    }
}

int run(StudyArguments asked) {
    const bool has_ranks = RankJob::has_ranks();
    if (has_ranks && !asked.list && asked.page.empty() && asked.regressions.empty())
        check_names_of_ranks(asked.options.names);
    if (asked.list) return list_studies(asked.markdown);
    if (!asked.page.empty()) return print_page(asked);
    if (!asked.compare.empty()) return compare(asked);
    if (!asked.regressions.empty()) return print_regressions(asked);
    std::error_code error;
    // Without names the report is written again from earlier results.
    const fs::path results = fs::path(asked.out) / "results.jsonl";
    const bool only_out = asked.options.names.empty() && asked.files.empty() && !asked.options.quick &&
                          asked.options.devices.empty() && asked.types.empty() && asked.sizes.empty() &&
                          asked.options.algorithms.empty() && !asked.out.empty();
    const bool again = only_out && fs::exists(results, error);
    if (only_out && !again)
        throw Error(ErrorCode::invalid_argument, "STUDY",
                    "no study named, and no earlier results in '" + results.string() +
                        "'; name a study (see `concord study --list`)");
    if (!again && (asked.files.empty() || !asked.options.names.empty()))
        check_study_names(asked.options.names);
    if (asked.out.empty())
        throw Error(ErrorCode::invalid_argument, "--out", "required; name a directory for the report");
    std::optional<study::RankProcesses> processes;
    if (has_ranks) {
        processes.emplace(processes_of(asked.options.devices));
        asked.options.devices = {processes->device->info().selector};
        asked.options.processes = &*processes;
    } else {
        asked.options.devices = devices_of(asked.options.devices);
    }
    for (const std::string& device : asked.options.devices)
        check_runs(*open_device(device));
    asked.options.types = types_of(asked.types, {});
    asked.options.sizes = sizes_of(asked.sizes).values;
    check_restrictions(asked.options);
    asked.options.out = asked.out;
    if (asked.part) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        return study::run_studies(asked.options, std::cerr);
    }
    std::vector<nlohmann::ordered_json> files;
    for (const std::string& file : asked.files)
        files.push_back(study::line_of_file(file));
    check_report(asked.out);
    if (has_ranks && !RankJob::speaks()) {
        study::serve_ranks(*processes);
        return status_ok;
    }
    asked.options.with_threads = [&asked](u32 threads) { return run_with_threads(asked, threads); };
    int status = status_ok;
    if (again) std::cout << "no study named: writing the report from earlier results\n";
    if (!asked.options.names.empty()) status = study::run_studies(asked.options, std::cout);
    if (processes) study::release_ranks(*processes);
    take_files(asked, files);
    write_report(asked.out);
    std::cout << "report: " << (fs::path(asked.out) / "report.html").string() << '\n';
    if (status == status_wrong) std::cerr << "concord: study: a result is wrong; it has no time\n";
    return status;
}

}  // namespace

void add_study(CLI::App& program, Action& action) {
    CLI::App* command = add_command(
        program, "study",
        {.summary = "Measure the speed-up of each optimisation step, and report it with figures",
         .details =
             "Writes report.html, report.md, results.json and csv/ to a directory. A run that was "
             "interrupted continues where it stopped. Without STUDY it writes the report again from earlier "
             "results. Under mpirun, the ranks of the studies over ranks are those of the job.",
         .examples = {"concord study reduce-steps transfers --quick --out report",
                      "concord study all --out report          # continues an interrupted run",
                      "concord study headline --devices cuda --out report  # compared with peer libraries",
                      "concord study --compare before after"},
         .statuses = {status_ok, status_wrong, status_bad_input, status_unavailable, status_failed}});
    auto asked = std::make_shared<StudyArguments>();
    command->add_option("STUDY", asked->options.names, "Studies, or all");
    CLI::Option* list = command->add_flag("--list", asked->list, "List the studies with their questions");
    command->add_flag("--markdown", asked->markdown, "With --list: print a Markdown table")->needs(list);
    command->add_option("--out", asked->out, "Directory of the report")->type_name("DIR");
    CLI::Option* quick = command->add_flag(
        "--quick", asked->options.quick,
        "Small sizes and few repetitions: about four minutes instead of half an hour or more");
    CLI::Option* devices = add_device_option(*command, asked->options.devices, "Devices (default: all)");
    CLI::Option* types =
        add_list(*command, "--types", asked->types, "TYPES", "Element types (default: those of each study)");
    CLI::Option* algorithms = add_list(*command, "--algorithms", asked->options.algorithms, "ALGORITHMS",
                                       "Only these algorithms of the studies");
    CLI::Option* sizes = add_list(*command, "--sizes", asked->sizes, "SIZES",
                                  "Only these of the studies' sizes, for example 2^10,2^16");
    CLI::Option* from = add_list(*command, "--from", asked->files, "FILE",
                                 "Add the files of `bench --json` or `check --json` as sections");
    command
        ->add_option("--compare", asked->compare,
                     "Compare the results in two directories, with the ratios of their times")
        ->expected(2)
        ->type_name("DIR")
        ->excludes(list)
        ->excludes(quick)
        ->excludes(devices)
        ->excludes(types)
        ->excludes(algorithms)
        ->excludes(sizes)
        ->excludes(from);
    command->add_flag("--part", asked->part, "Measure for another process")->group("");
    command->add_option("--page", asked->page, "Print a block of the documentation from stored results")
        ->expected(1, 100)
        ->group("");
    command
        ->add_option("--regressions", asked->regressions,
                     "Compare the results in a directory with stored ones")
        ->group("");
    command->add_option("--stored", asked->stored, "Directory of the stored results")->group("");
    command->callback([asked, &action] { action = [asked] { return run(*asked); }; });
}

}  // namespace concord::app
