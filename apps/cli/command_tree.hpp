#pragma once
// The command line as data: what shell completion, manual pages and the reference are generated from.

#include "program.hpp"

#include <string>
#include <vector>

namespace concord::app {

// What an option's value is, for completion.
enum class ValueKind { none, text, words, files, folders, selectors };

struct OptionInfo {
    std::vector<std::string> names;  // "--device", "--devices"; empty for a positional argument
    std::string value;               // name of the value in help: "FILE", "u16|u32|u64"; empty for a flag
    std::string description;
    ValueKind kind = ValueKind::none;
    std::vector<std::string> words;  // of ValueKind::words
    int count = 0;                   // values per use: 0 for a flag
    bool list = false;               // a value is a list, separated by commas
    bool repeats = false;            // may be given several times
    bool required = false;
    bool common = false;  // an option of every level
};

struct CommandInfo {
    std::string name, path;  // "map", "concord run map"
    CommandText text;
    std::vector<OptionInfo> arguments, options;
    std::vector<CommandInfo> commands;

    // "concord run map [OPTIONS]".
    std::string usage() const;
};

// The command and all below it, without hidden ones.
CommandInfo command_tree(const CLI::App& command);

// The name of an option's value for people, without the words that validators add: "FILE", "u16|u32|u64".
std::string value_of(const CLI::Option& option);

// Each generates a text from the tree.
std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);
std::string markdown_reference(const CommandInfo& program);
struct ManualPage {
    std::string file;  // "concord-run.1"
    std::string text;
};
std::vector<ManualPage> manual_pages(const CommandInfo& program, const std::string& date);

// Calls f for the command and for all below it.
void each_command(const CommandInfo& command, const std::function<void(const CommandInfo&)>& f);

}  // namespace concord::app
