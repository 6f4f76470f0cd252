// The program `concord`: devices, algorithms, checks and measurements from the command line.

#include "interrupt.hpp"
#include "program.hpp"
#include "rank_job.hpp"

#include <concord/algorithm.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace concord::app {
namespace {

// The options of every level.
struct Common {
    std::string log_level;
    u32 threads = 0;
};
Common common;

void add_common_options(CLI::App& command) {
    command
        .add_option("--log-level", common.log_level,
                    "What is logged on stderr (default: $CONCORD_LOG, else warn)")
        ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
        ->group("Everywhere");
    command
        .add_option(
            "--threads", common.threads,
            "Threads on the host, of the tbb device and for copies (default: $CONCORD_THREADS, else all)")
        ->check(CLI::Range(1, 4096))
        ->group("Everywhere");
}

// What was wrong with the arguments, with a hint at the help of the deepest command that they chose.
std::string complaint(const CLI::App& program, const CLI::ParseError& error) {
    const CLI::App* at = &program;
    std::string path = program.get_name();
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    std::string what = error.what();
    // A word that nothing takes comes first: CLI11 would rather name an option that is missing.
    if (const std::vector<std::string> rest = program.remaining(true); !rest.empty()) {
        std::vector<std::string> commands;
        for (const CLI::App* command : at->get_subcommands(nullptr))
            commands.push_back(command->get_name());
        what = "unknown argument '" + rest.front() + "'";
        if (!commands.empty() && rest.front().rfind('-', 0) != 0) what += "; there are " + joined(commands);
    }
    return what + " (see " + path + " --help)";
}

std::string one_line(std::string text) {
    if (text.rfind(": ", 0) == 0) text.erase(0, 2);  // from an option without a name
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    return text;
}

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::io:
            return status_bad_input;
        case ErrorCode::unavailable:
            return status_unavailable;
        default:
            return status_failed;
    }
}

// A variable that nobody understands is as wrong as an option.
void check_environment() {
    auto value_of = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    auto one_of = [&](const char* name, const std::vector<std::string>& words) {
        const std::string value = value_of(name);
        if (!value.empty() && std::find(words.begin(), words.end(), value) == words.end())
            throw Error(ErrorCode::invalid_argument, name, "'" + value + "' is none of " + joined(words));
    };
    one_of("CONCORD_HOST_ISA", {"baseline", "avx2", "avx512"});
    one_of("CONCORD_LOG", {"debug", "info", "warn", "error", "off"});
    one_of("CONCORD_CACHE", {"on", "off"});
    one_of("CONCORD_OPENCL_ITEMS", {"many", "one"});
    one_of("CONCORD_MPI_CUDA", {"on", "off"});
    if (const std::string tuning = value_of("CONCORD_TUNING");
        !tuning.empty() && tuning != "off" && !std::filesystem::exists(tuning))
        throw Error(ErrorCode::invalid_argument, "CONCORD_TUNING",
                    "'" + tuning + "' is neither 'off' nor there");
    if (const std::string folder = value_of("CONCORD_KERNELS");
        !folder.empty() && !std::filesystem::is_directory(folder))
        throw Error(ErrorCode::invalid_argument, "CONCORD_KERNELS", "'" + folder + "' is no folder");
    if (const std::string threads = value_of("CONCORD_THREADS"); !threads.empty()) {
        u32 count = 0;
        const auto [end, error] = std::from_chars(threads.data(), threads.data() + threads.size(), count);
        if (error != std::errc() || end != threads.data() + threads.size() || count < 1 || count > 4096)
            throw Error(ErrorCode::invalid_argument, "CONCORD_THREADS",
                        "'" + threads + "' is no number of threads, 1 to 4096");
    }
}

namespace {

constexpr const char* list_type = "LIST";

// A list of nothing, from a variable that is not set, say, is not the default.
void refuse_empty_lists(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
        const auto& values = option->results();
        if (option->count() > 0 && option->get_type_name() == list_type &&
            std::all_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); }))
            throw CLI::ValidationError(option->get_name(), "is empty");
    }
    for (const CLI::App* chosen : command.get_subcommands())
        refuse_empty_lists(*chosen);
}

}  // namespace

int run_program(int argc, char** argv) {
    CLI::App program{"Data-parallel computing on CUDA, OpenCL and the CPU, with results that agree",
                     "concord"};
    program.set_version_flag("--version", "concord " CONCORD_VERSION);
    program.footer(
        "Example:\n  concord check reduce --devices all\n\nExit status: 0 all well, 1 a result is wrong, "
        "2 bad arguments or input,\n3 the device cannot be had, 4 the device failed or ran out of memory.");
    program.require_subcommand(1);
    add_common_options(program);
    Action action;
    for (const auto add : {add_devices, add_doctor, add_algorithms, add_run, add_check, add_bench, add_study,
                           add_tune, add_cache})
        add(program, action);
    try {
        program.parse(argc, argv);
        refuse_empty_lists(program);
    } catch (const CLI::Success& success) {  // --help, --version
        return program.exit(success);
    } catch (const CLI::ParseError& error) {
        return RankJob::complain(one_line(complaint(program, error)), status_bad_input);
    }
    check_environment();
    if (common.threads != 0) setenv("CONCORD_THREADS", std::to_string(common.threads).c_str(), 1);
    if (!common.log_level.empty()) set_log_level(common.log_level);
    const int status = action();
    if (!std::cout.flush()) return RankJob::complain("standard output cannot be written", status_bad_input);
    return status;
}

}  // namespace

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example) {
    CLI::App* command = parent.add_subcommand(name, description);
    command->footer("Example:\n  " + example);
    add_common_options(*command);
    return command;
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                      const std::string& description) {
    return command.add_option(name, list, description)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->take_all()
        ->type_name(list_type);
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words)
        text.append(text.empty() ? "" : separator).append(word);
    return text;
}

std::vector<Type> types_of(const std::vector<std::string>& asked, const std::vector<Type>& otherwise) {
    if (asked.empty()) return otherwise;
    if (asked == std::vector<std::string>{"all"}) return {all_types.begin(), all_types.end()};
    std::vector<Type> types;
    for (const std::string& name : asked) {
        const auto type = type_named(name);
        if (!type) {
            std::string known;
            for (const Type t : all_types)
                known.append(known.empty() ? "" : ", ").append(name_of(t));
            throw Error(
                ErrorCode::invalid_argument, "--types",
                std::string("'").append(name).append("' is no element type; there are ").append(known));
        }
        types.push_back(*type);
    }
    return types;
}

std::vector<Pattern> patterns_of_names(const std::vector<std::string>& asked) {
    std::vector<Pattern> patterns;
    if (asked == std::vector<std::string>{"all"}) return patterns;
    for (const std::string& name : asked) {
        const auto pattern = pattern_named(name);
        if (!pattern) {
            std::vector<std::string> known;
            for (const Pattern p : all_patterns)
                known.emplace_back(name_of(p));
            throw Error(ErrorCode::invalid_argument, "--patterns",
                        "'" + name + "' is no pattern; there are " + joined(known));
        }
        patterns.push_back(*pattern);
    }
    return patterns;
}

void check_algorithm_names(const std::vector<std::string>& names) {
    std::vector<std::string> known;
    for (const Algorithm* algorithm : algorithms())
        known.emplace_back(algorithm->name);
    for (const std::string& name : names) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorCode::invalid_argument, "ALGORITHM",
                        "unknown algorithm '" + name + "'; available: " + joined(known));
    }
}

void check_variant_names(const std::vector<std::string>& algorithm_names,
                         const std::vector<std::string>& variants, std::vector<std::string> known) {
    for (const Algorithm* algorithm : algorithms()) {
        if (!asked_for(algorithm_names, algorithm->name)) continue;
        for (const Variant* variant : algorithm->variants) {
            if (std::find(known.begin(), known.end(), variant->name) == known.end())
                known.emplace_back(variant->name);
        }
    }
    for (const std::string& name : variants) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error(ErrorCode::invalid_argument, "--variants",
                        "unknown variant '" + name + "'; available: " + joined(known));
    }
}

namespace {

[[noreturn]] void bad_size(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, "--sizes",
                "'" + text + "' is no size; examples: 1000, 2^20, 2^26+12345, 2^10..2^28");
}

u64 number(std::string_view digits, const std::string& whole) {
    u64 value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) bad_size(whole);
    return value;
}

u64 power(std::string_view text, const std::string& whole) {
    if (text.rfind("2^", 0) != 0) return number(text, whole);
    const u64 exponent = number(text.substr(2), whole);
    if (exponent > 62) bad_size(whole);
    return u64{1} << exponent;
}

}  // namespace

std::vector<u64> sizes_of(const std::vector<std::string>& asked) {
    std::vector<u64> sizes;
    for (const std::string& text : asked) {
        const std::string_view view = text;
        if (const std::size_t dots = view.find(".."); dots != std::string_view::npos) {
            const u64 first = power(view.substr(0, dots), text), last = power(view.substr(dots + 2), text);
            if (!std::has_single_bit(first) || !std::has_single_bit(last) || first > last) bad_size(text);
            for (u64 n = first; n <= last; n *= 2)
                sizes.push_back(n);
        } else if (const std::size_t sign = view.find_first_of("+-"); sign != std::string_view::npos) {
            const u64 base = power(view.substr(0, sign), text), more = number(view.substr(sign + 1), text);
            if (view[sign] == '-' ? more > base : more >= u64{1} << 62) bad_size(text);
            sizes.push_back(view[sign] == '-' ? base - more : base + more);
        } else {
            sizes.push_back(power(view, text));
        }
    }
    return sizes;
}

}  // namespace concord::app

int main(int argc, char** argv) {
    using namespace concord;
    app::catch_interrupts();
    try {
        return app::run_program(argc, argv);
    } catch (const Error& error) {
        return app::RankJob::complain(error.what(), app::status_of(error.code()));
    } catch (const std::bad_alloc&) {
        return app::RankJob::complain("the host is out of memory", app::status_failed);
    } catch (const std::exception& error) {
        return app::RankJob::complain(error.what(), app::status_failed);
    }
}
