#include "help.hpp"

#include "command_tree.hpp"

#include <map>
#include <regex>

namespace concord::app {
namespace {

constexpr std::size_t text_width = 100, option_column = 34;

std::map<const CLI::App*, CommandText>& texts() {
    static std::map<const CLI::App*, CommandText> texts;
    return texts;
}

// Shows details below the summary, and values without the words of validators. Wraps descriptions.
class HelpFormatter final : public CLI::Formatter {
  public:
    HelpFormatter() {
        column_width(option_column);
        label("Positionals", "Arguments");
    }

  private:
    std::string make_help(const CLI::App* command, std::string name, CLI::AppFormatMode mode) const override {
        return std::regex_replace(CLI::Formatter::make_help(command, std::move(name), mode),
                                  std::regex("\n\n\n+"), "\n\n");
    }
    std::string make_description(const CLI::App* command) const override {
        const CommandText& text = text_of(*command);
        std::string all = text.summary + "\n";
        if (!text.details.empty()) all += "\n" + wrapped(text.details, text_width) + "\n";
        return all + "\n";
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (option->get_items_expected_max() == 0 || option->get_positional()) return {};
        std::string text = " " + value_of(*option);
        if (option->get_required()) text += " (required)";
        return text;
    }
    std::string make_option_desc(const CLI::Option* option) const override {
        return wrapped(option->get_description(), text_width - option_column);
    }
    std::string make_footer(const CLI::App* command) const override {
        const CommandText& text = text_of(*command);
        std::string all = "Example:\n";
        for (const std::string& example : text.examples)
            all += "  " + example + "\n";
        all += "\nExit status:\n";
        for (const Status status : text.statuses)
            all += "  " + std::to_string(status) + "  " + std::string(meaning_of(status)) + "\n";
        return all;
    }
};

std::string one_line(std::string text) {
    if (text.rfind(": ", 0) == 0) text.erase(0, 2);  // from an option without a name
    for (char& c : text) {
        if (c == '\n') c = ' ';
    }
    return text;
}

// CLI11's messages in the program's words.
std::string reworded(const std::string& message) {
    static const std::pair<std::regex, const char*> words[] = {
        {std::regex(R"(Could not convert: (.*) = (.*))"), "$1: invalid number '$2'"},
        {std::regex(R"((.*): (\d+) required (.*) missing)"), "$1: missing value; expected $2"},
        {std::regex(R"((.*): At least (\d+) required but received (\d+))"), "$1: expected $2 values, got $3"},
        {std::regex(R"((.*): At Most (\d+) required but received (\d+))"),
         "$1: expected at most $2 values, got $3"},
        {std::regex(R"((.*): Expected (.*), got (\d+))"), "$1: expected $2, got $3"},
        {std::regex(R"((.*) is required)"), "$1: required but not given"},
        {std::regex(R"((.*) requires (.*))"), "$1: requires $2"},
        {std::regex(R"((.*) excludes (.*))"), "$1: excludes $2; give one of them"},
    };
    std::smatch match;
    static const std::regex not_a_member(R"((.*): (.*) not in \{(.*)\})");
    // CLI11 prints the limits of real numbers with six decimals.
    static const std::regex out_of_range(R"((.*): Value (.*) not in range (.*) to (.*))"),
        zeros(R"(\.0+(?= |$)|(\.\d*[1-9])0+(?= |$))");
    if (std::regex_match(message, match, out_of_range))
        return match.format("$1: value out of range, got '$2'; expected ") +
               std::regex_replace(match.str(3) + " to " + match.str(4), zeros, "$1");
    if (std::regex_match(message, match, not_a_member))
        return match.format("$1: invalid value '$2'; expected one of ") +
               std::regex_replace(match.str(3), std::regex(","), ", ");
    for (const auto& [pattern, replacement] : words) {
        if (std::regex_match(message, match, pattern)) return match.format(replacement);
    }
    return message;
}

// The names of the commands below that help lists.
std::vector<std::string> visible_commands(const CLI::App& at) {
    std::vector<std::string> names;
    for (const CLI::App* command : at.get_subcommands(nullptr)) {
        if (!command->get_group().empty()) names.push_back(command->get_name());
    }
    return names;
}

}  // namespace

CommonOptions& common_options() {
    static CommonOptions options;
    return options;
}

std::string_view meaning_of(Status status) {
    switch (status) {
        case status_ok:
            return "success";
        case status_wrong:
            return "a result is wrong or differs";
        case status_bad_input:
            return "invalid arguments or input; nothing is written";
        case status_unavailable:
            return "the device or backend is not available";
        case status_failed:
            return "the device failed or ran out of memory";
    }
    return "";
}

const CommandText& text_of(const CLI::App& command) {
    return texts()[&command];
}

void set_up_program(CLI::App& program, CommandText text) {
    program.formatter(std::make_shared<HelpFormatter>());
    program.description(text.summary);
    texts()[&program] = std::move(text);
}

void add_common_options(CLI::App& command) {
    // Again, so that help lists the common options last.
    command.set_help_flag("-h,--help", "Print this help and exit")->group(common_group);
    command
        .add_option("--log-level", common_options().log_level,
                    "Log to stderr from this level on (default: $CONCORD_LOG, else warn)")
        ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
        ->group(common_group);
    command
        .add_option(
            "--threads", common_options().threads,
            "Host threads of the tbb device and of copies (default: $CONCORD_THREADS, else all cores)")
        ->check(CLI::Range(1, 4096))
        ->type_name("N")
        ->group(common_group);
    for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
        add_common_options(*below);
}

CLI::App* add_command(CLI::App& parent, const std::string& name, CommandText text) {
    CLI::App* command = parent.add_subcommand(name, text.summary);
    texts()[command] = std::move(text);
    return command;
}

std::string complaint(const CLI::App& program, const CLI::ParseError& error) {
    const CLI::App* at = &program;
    std::string path = program.get_name();
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    std::string what = reworded(one_line(error.what()));
    // An unknown word comes first: CLI11 prefers to name a missing option.
    if (const std::vector<std::string> rest = program.remaining(true); !rest.empty()) {
        const std::vector<std::string> commands = visible_commands(*at);
        const bool is_option = rest.front().rfind('-', 0) == 0;
        what = std::string("unknown ") +
               (is_option          ? "option"
                : commands.empty() ? "argument"
                                   : "command") +
               " '" + rest.front() + "'";
        if (!commands.empty() && !is_option) what += "; available: " + joined(commands);
    } else if (error.get_name() == "RequiredError" && what.find("subcommand") != std::string::npos) {
        what = "a command is required; available: " + joined(visible_commands(*at));
    }
    return what + " (see '" + path + " --help')";
}

}  // namespace concord::app
