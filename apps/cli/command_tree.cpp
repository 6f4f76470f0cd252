#include "command_tree.hpp"

#include <concord/algorithm.hpp>
#include <concord/study/internal/study.hpp>

#include <algorithm>

namespace concord::app {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

// The words in "TEXT:{sum,product}".
std::vector<std::string> members_of(const std::string& type_name) {
    const std::size_t begin = type_name.find('{'), end = type_name.rfind('}');
    if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
    return split(type_name.substr(begin + 1, end - begin - 1), ',');
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const Algorithm* algorithm : algorithms())
        names.emplace_back(algorithm->name);
    return names;
}

// The variants of an algorithm; of all algorithms if it is empty.
std::vector<std::string> variant_names(std::string_view of) {
    std::vector<std::string> names;
    for (const Algorithm* algorithm : algorithms()) {
        if (!of.empty() && algorithm->name != of) continue;
        for (const Variant* variant : algorithm->variants) {
            if (std::find(names.begin(), names.end(), variant->name) == names.end())
                names.emplace_back(variant->name);
        }
    }
    return names;
}

std::vector<std::string> workload_names() {
    std::vector<std::string> names;
    for (const Suite& suite : suites()) {
        for (const Workload& workload : suite.workloads) {
            if (std::find(names.begin(), names.end(), workload.name) == names.end())
                names.push_back(workload.name);
        }
    }
    return names;
}

std::vector<std::string> study_names() {
    std::vector<std::string> names;
    for (const study::Study& study : study::studies())
        names.push_back(study.name);
    return names;
}

template <class List>
std::vector<std::string> names_of_all(const List& values) {
    std::vector<std::string> names;
    names.reserve(std::size(values));
    for (const auto value : values)
        names.emplace_back(name_of(value));
    return names;
}

// The values that completion offers for an option, by the name of its value.
void describe_value(OptionInfo& option, const std::string& value, const std::string& algorithm) {
    auto offer = [&](std::vector<std::string> words, std::initializer_list<const char*> more = {}) {
        option.kind = ValueKind::words;
        option.words = std::move(words);
        option.words.insert(option.words.end(), more.begin(), more.end());
    };
    option.kind = ValueKind::text;
    if (value == "FILE") option.kind = ValueKind::files;
    if (value == "DIR") option.kind = ValueKind::folders;
    if (value == "SELECTORS") option.kind = ValueKind::selectors;
    if (value == "ALGORITHM") offer(algorithm_names());
    if (value == "VARIANT") offer(variant_names(algorithm), {"auto"});
    if (value == "VARIANTS") offer(variant_names({}), {"all", "auto"});
    if (value == "TYPES") offer(names_of_all(all_types), {"all"});
    if (value == "PATTERNS") offer(names_of_all(all_patterns), {"all"});
    if (value == "WORKLOADS") offer(workload_names(), {"all"});
    if (value == "STUDY") offer(study_names(), {"all"});
    if (value.find('|') != std::string::npos) offer(split(value, '|'));
}

OptionInfo info_of(const CLI::Option& option, const std::string& algorithm) {
    OptionInfo info;
    for (const std::string& name : option.get_snames())
        info.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames())
        info.names.push_back("--" + name);
    info.description = option.get_description();
    info.required = option.get_required();
    info.common = option.get_group() == common_group;
    if (option.get_positional()) {
        info.value = option.get_name(true, false);
        info.repeats = option.get_expected_max() > 1;
        info.count = 1;
        describe_value(info, info.value, algorithm);
        return info;
    }
    if (option.get_items_expected_max() == 0) return info;
    info.value = value_of(option);
    info.list = option.get_delimiter() == ',';
    info.repeats =
        option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll && option.get_expected_max() > 2;
    info.count = std::max(1, std::min(option.get_items_expected_min(), 8));
    describe_value(info, info.value, algorithm);
    return info;
}

CommandInfo info_of(const CLI::App& command, const std::string& parent) {
    CommandInfo info;
    info.name = command.get_name();
    info.path = parent.empty() ? info.name : parent + " " + info.name;
    info.text = text_of(command);
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        OptionInfo one = info_of(*option, info.name);
        (one.names.empty() ? info.arguments : info.options).push_back(std::move(one));
    }
    std::stable_partition(info.options.begin(), info.options.end(),
                          [](const OptionInfo& option) { return !option.common; });
    for (const CLI::App* below : command.get_subcommands(nullptr)) {
        if (!below->get_group().empty()) info.commands.push_back(info_of(*below, info.path));
    }
    return info;
}

}  // namespace

std::string value_of(const CLI::Option& option) {
    const std::string type_name = option.get_type_name();
    if (const auto members = members_of(type_name); !members.empty()) return joined(members, "|");
    std::string name = type_name.substr(0, type_name.find(':'));
    if (name == "TEXT") return "VALUE";
    if (name == "UINT" || name == "INT" || name == "FLOAT") return "N";
    return name;
}

std::string CommandInfo::usage() const {
    std::string text = path + " [OPTIONS]";
    for (const OptionInfo& argument : arguments) {
        const std::string name = argument.value + (argument.repeats ? "..." : "");
        text += argument.required ? " " + name : " [" + name + "]";
    }
    if (!commands.empty()) text += " COMMAND";
    return text;
}

CommandInfo command_tree(const CLI::App& command) {
    return info_of(command, "");
}

void each_command(const CommandInfo& command, const std::function<void(const CommandInfo&)>& f) {
    f(command);
    for (const CommandInfo& below : command.commands)
        each_command(below, f);
}

}  // namespace concord::app
