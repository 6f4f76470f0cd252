// The reference of the command line in Markdown, generated from its definition.

#include "command_tree.hpp"

#include <algorithm>
#include <sstream>

namespace concord::app {
namespace {

// Text in a cell of a table.
std::string cell(const std::string& text) {
    std::string result;
    for (const char c : text)
        result += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
    return result;
}

std::string option_cell(const OptionInfo& option) {
    std::string text;
    for (const std::string& name : option.names)
        text += (text.empty() ? "`" : ", `") + name + "`";
    if (option.names.empty()) return "`" + option.value + (option.repeats ? "..." : "") + "`";
    return text + (option.value.empty() ? "" : " `" + cell(option.value) + "`");
}

bool same(const OptionInfo& a, const OptionInfo& b) {
    return a.names == b.names && a.value == b.value && a.description == b.description;
}

bool has(const std::vector<OptionInfo>& options, const OptionInfo& option) {
    return std::any_of(options.begin(), options.end(), [&](const OptionInfo& o) { return same(o, option); });
}

// The options that all commands below have, except those of every level.
std::vector<OptionInfo> shared_options(const CommandInfo& command) {
    std::vector<OptionInfo> shared;
    if (command.commands.size() < 2) return shared;
    for (const OptionInfo& option : command.commands.front().options) {
        if (!option.common &&
            std::all_of(command.commands.begin(), command.commands.end(),
                        [&](const CommandInfo& below) { return has(below.options, option); }))
            shared.push_back(option);
    }
    return shared;
}

void print_table(std::ostream& out, const std::vector<OptionInfo>& options) {
    if (options.empty()) return;
    out << "| option | meaning |\n|---|---|\n";
    for (const OptionInfo& option : options)
        out << "| " << option_cell(option) << " | " << cell(option.description)
            << (option.required ? " (required)" : "") << " |\n";
    out << '\n';
}

void print(std::ostream& out, const CommandInfo& command, const std::vector<OptionInfo>& known, int level) {
    out << std::string(level, '#') << " " << command.path << "\n\n" << command.text.summary << ".\n\n";
    if (!command.text.details.empty()) out << command.text.details << "\n\n";
    out << "```text\n" << command.usage() << "\n```\n\n";
    std::vector<OptionInfo> options = command.arguments;
    for (const OptionInfo& option : command.options) {
        if (!has(known, option) && (level == 2 || !option.common)) options.push_back(option);
    }
    print_table(out, options);
    const std::vector<OptionInfo> shared = shared_options(command);
    if (!shared.empty()) {
        out << "Options of all of its commands:\n\n";
        print_table(out, shared);
    }
    out << (command.text.examples.size() == 1 ? "Example:\n\n```sh\n" : "Examples:\n\n```sh\n");
    for (const std::string& example : command.text.examples)
        out << example << '\n';
    out << "```\n\nExit status:";
    for (std::size_t i = 0; i < command.text.statuses.size(); ++i)
        out << (i == 0 ? " " : "; ") << '`' << command.text.statuses[i] << "` "
            << meaning_of(command.text.statuses[i]);
    out << ".\n\n";
    std::vector<OptionInfo> all = known;
    all.insert(all.end(), shared.begin(), shared.end());
    for (const OptionInfo& option : command.options) {
        if (option.common) all.push_back(option);
    }
    for (const CommandInfo& below : command.commands)
        print(out, below, all, level + 1);
}

}  // namespace

std::string markdown_reference(const CommandInfo& program) {
    std::ostringstream out;
    print(out, program, {}, 2);
    std::string text = out.str();
    while (text.size() > 1 && text[text.size() - 2] == '\n')
        text.pop_back();
    return text;
}

}  // namespace concord::app
