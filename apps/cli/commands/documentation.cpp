// Hidden subcommands: shell completion, manual pages, and the reference of the command line.

#include "command_tree.hpp"
#include "files.hpp"

#include <concord/device.hpp>

#include <iostream>

namespace concord::app {
namespace {

// What a list of devices may contain.
int print_selectors() {
    std::cout << "auto\nall\n";
    for (const BackendStatus& backend : backends()) {
        if (!backend.available) continue;
        std::cout << backend.name << '\n';
        for (const DeviceInfo& info : backend.devices)
            std::cout << info.selector << '\n';
        std::cout << backend.name << ":*\n";
    }
    return status_ok;
}

int print_completion(const CLI::App& program, const std::string& what, const std::string& file) {
    if (what == "selectors") return print_selectors();
    const CommandInfo tree = command_tree(program);
    const std::string text = what == "bash"  ? bash_completion(tree)
                             : what == "zsh" ? zsh_completion(tree)
                                             : fish_completion(tree);
    if (file.empty())
        std::cout << text;
    else
        write_whole(file, text);
    return status_ok;
}

int write_manual(const CLI::App& program, const std::string& folder, const std::string& date) {
    for (const ManualPage& page : manual_pages(command_tree(program), date)) {
        if (folder.empty())
            std::cout << page.text;
        else
            write_whole(std::filesystem::path(folder) / page.file, page.text);
        publish_outputs();
    }
    return status_ok;
}

}  // namespace

void add_documentation(CLI::App& program, Action& action) {
    CLI::App* completion = add_command(
        program, "completion",
        {.summary = "Print the completion script of a shell, or the selectors that it offers",
         .examples = {"concord completion bash >~/.local/share/bash-completion/completions/concord"}});
    completion->group("");
    auto shell = std::make_shared<std::string>(), file = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "bash, zsh, fish, or selectors")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish", "selectors"}));
    completion->add_option("--out", *file, "Write to this file")->type_name("FILE");
    completion->callback([&program, shell, file, &action] {
        action = [&program, shell, file] { return print_completion(program, *shell, *file); };
    });

    CLI::App* manual = add_command(program, "man",
                                   {.summary = "Print the manual pages, or write them to a directory",
                                    .examples = {"concord man | man -l -"}});
    manual->group("");
    auto folder = std::make_shared<std::string>(), date = std::make_shared<std::string>();
    manual->add_option("--out", *folder, "Directory of the pages")->type_name("DIR");
    manual->add_option("--date", *date, "Date of the pages, e.g. 2026-11-23")->type_name("DATE");
    manual->callback([&program, folder, date, &action] {
        action = [&program, folder, date] { return write_manual(program, *folder, *date); };
    });

    CLI::App* reference = add_command(
        program, "reference",
        {.summary = "Print the reference of the command line", .examples = {"concord reference --markdown"}});
    reference->group("");
    reference->add_flag("--markdown")->description("Print Markdown")->required();
    reference->callback([&program, &action] {
        action = [&program] {
            std::cout << markdown_reference(command_tree(program));
            return int{status_ok};
        };
    });
}

}  // namespace concord::app
