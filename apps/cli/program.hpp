#pragma once
/// What the subcommands share: exit statuses, how a command is added, and the options that every level takes.

#include <CLI/CLI.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/table.hpp>

#include <functional>
#include <string>
#include <vector>

namespace concord::app {

using namespace lab;

/// Exit statuses; scripts depend on them.
enum Status : int {
    status_ok = 0,
    status_wrong = 1,        ///< a result is wrong or differs
    status_bad_input = 2,    ///< bad arguments or bad input; nothing is written
    status_unavailable = 3,  ///< the device or backend asked for cannot be had
    status_failed = 4        ///< the device failed or ran out of memory
};

/// What the command line asked for; returns the exit status.
using Action = std::function<int()>;

// Each adds one subcommand, which sets `action` when it is the one on the command line.
void add_devices(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_algorithms(CLI::App& program, Action& action);
void add_run(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_study(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
void add_cache(CLI::App& program, Action& action);

/// A command below `parent`, with an example in its help and the options of every level.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example);

/// An option that takes a list, "a,b" or given again; what follows the list is not part of it.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                      const std::string& description);

/// The element types that `--types` names. Throws invalid_argument for a name that is none.
std::vector<Type> types_of(const std::vector<std::string>& asked, const std::vector<Type>& otherwise);

/// Throws invalid_argument unless every name is of an algorithm.
void check_algorithm_names(const std::vector<std::string>& algorithms);
/// Throws invalid_argument unless every name is of a variant of one of the algorithms, or among `others`.
void check_variant_names(const std::vector<std::string>& algorithms, const std::vector<std::string>& variants,
                         std::vector<std::string> others);

/// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

/// Element counts as people write them: "1000", "2^20", "2^26+12345", "2^20..2^28" (the powers of two
/// between).
std::vector<u64> sizes_of(const std::vector<std::string>& asked);
/// The patterns that `--patterns` names. Throws invalid_argument for a name that is none.
std::vector<Pattern> patterns_of_names(const std::vector<std::string>& asked);

}  // namespace concord::app
