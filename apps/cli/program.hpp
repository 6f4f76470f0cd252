#pragma once
// What the subcommands share: exit statuses, how a command is added, and common options.

#include <CLI/CLI.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/table.hpp>

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

using namespace lab;

// Exit statuses. Scripts depend on them.
enum Status : int {
    status_ok = 0,
    status_wrong = 1,        // a result is wrong or differs
    status_bad_input = 2,    // invalid arguments or input; nothing is written
    status_unavailable = 3,  // the device or backend is not available
    status_failed = 4        // the device failed or ran out of memory
};
// What a status means, for people.
std::string_view meaning_of(Status status);

// What std::bad_alloc means, for people.
constexpr std::string_view out_of_memory = "out of host memory";

// In a handler: prints the message of the exception and returns its status.
int complain_of_exception();

// Runs the command that the command line selects and returns the exit status.
using Action = std::function<int()>;

// Each adds one subcommand, which sets `action` if the command line selects it.
void add_devices(CLI::App& program, Action& action);
void add_doctor(CLI::App& program, Action& action);
void add_algorithms(CLI::App& program, Action& action);
void add_run(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_bench(CLI::App& program, Action& action);
void add_study(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
void add_cache(CLI::App& program, Action& action);
// Hidden subcommands that print the program's own documentation.
void add_documentation(CLI::App& program, Action& action);

// What documentation and --help say of a command.
struct CommandText {
    std::string summary;                     // one line
    std::string details = {};                // paragraphs, separated by empty lines
    std::vector<std::string> examples = {};  // command lines
    std::vector<Status> statuses = {status_ok, status_bad_input};
};

// Parses a number. Returns false unless the whole text is a number of that type.
template <class N>
bool is_whole(std::string_view text, N& number) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end;
}

// The text of a command that was added by add_command().
const CommandText& text_of(const CLI::App& command);

// The heading of the options of every level.
inline constexpr const char* common_group = "Common options";

// Adds a command below `parent`, with help and the options of every level.
CLI::App* add_command(CLI::App& parent, const std::string& name, CommandText text);

// Adds an option that takes a list: "a,b" or the option given again. `value`: the name of the list in help.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& list,
                      const std::string& value, const std::string& description);

// The names of enumerators, for options that take one.
template <class E, std::size_t N>
std::vector<std::string> names_of(const E (&values)[N]) {
    std::vector<std::string> names;
    for (const E value : values)
        names.emplace_back(name_of(value));
    return names;
}

// Adds --device and --devices, which are one option. Each takes a list of selectors.
CLI::Option* add_device_option(CLI::App& command, std::vector<std::string>& devices,
                               const std::string& description);
// Call it with the arguments of main() before device_option().
void note_device_option(int argc, const char* const* argv);
// What names the devices: --device or --devices, as the user wrote it, or CONCORD_DEVICE if it is set and no option is
// given. Without both: --device.
const std::string& device_option();
CLI::Option* add_order_option(CLI::App& command, std::string& order);
// Options::order for the option's value. Empty without a value.
std::optional<OperationOrder> order_of(const std::string& order);
// The selectors in the list, with patterns such as "cuda:*" expanded. Throws unavailable if a pattern names no device.
std::vector<std::string> devices_of(const std::vector<std::string>& list);
// The same, or if the list is empty the devices that a pattern in CONCORD_DEVICE names.
std::vector<std::string> devices_or_default(const std::vector<std::string>& list);
// The only selector in the list, or of a pattern in CONCORD_DEVICE. Empty if there is none. Throws invalid_argument if
// there are several. `command` names what needs a single device.
std::string one_device_of(const std::vector<std::string>& list, const std::string& command);
// Throws unavailable for a compile-only device.
void check_runs(const Device& device);

// The error's message without its call, to name the option instead.
std::string message_of(const Error& error);

// "Element types: i8, i16, ...", for help.
std::string type_names();
// The element types that `--types` names. Throws invalid_argument for an unknown name.
std::vector<Type> types_of(const std::vector<std::string>& names, const std::vector<Type>& otherwise);

// Throws invalid_argument unless every name is an algorithm.
void check_algorithm_names(const std::vector<std::string>& algorithms);
// Throws invalid_argument unless every name is a variant of one of the algorithms or one of `others`.
void check_variant_names(const std::vector<std::string>& algorithms, const std::vector<std::string>& variants,
                         std::vector<std::string> others);
// Throws unsupported if a variant, other than "all" and "auto", is in none of the algorithms implemented for a device
// that `devices` names. "all" and patterns such as "cuda:*" need one device among theirs that has it.
void check_variants_exist(const std::vector<std::string>& algorithms,
                          const std::vector<std::string>& variants, std::vector<std::string> devices);
// Throws invalid_argument unless all names are known: "CALL: unknown WHAT 'NAME'; available: ...".
void check_names(const char* call, const char* what, const std::vector<std::string>& names,
                 const std::vector<std::string>& known);

// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");
// The text's lines, without line breaks.
std::vector<std::string> lines_of(const std::string& text);
// The text with line breaks so that lines have at most `width` characters, if their words allow.
std::string wrapped(const std::string& text, std::size_t width);

// Element counts, and how the user wrote them.
struct AskedSizes {
    std::vector<u64> values;
    SizeNames names;
};
// Reads sizes such as "1000", "2^20", "2^26+12345" and "2^20..2^28", the powers of two in that range.
AskedSizes sizes_of(const std::vector<std::string>& texts);
// The value of `--seed`. Throws invalid_argument unless it is an integer of 64 bits without sign.
u64 seed_of(const std::string& text);
// The patterns that `--patterns` names. Throws invalid_argument for an unknown name.
std::vector<Pattern> patterns_of_names(const std::vector<std::string>& names);

}  // namespace concord::app
