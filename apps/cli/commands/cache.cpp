// `concord cache`: the compiled kernels on disk.

#include "program.hpp"

#include <concord/internal/program_cache.hpp>

#include <algorithm>
#include <iostream>

namespace concord::app {
namespace {

std::vector<detail::program_cache::Entry> entries() {
    std::vector<detail::program_cache::Entry> list = detail::program_cache::list();
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::tie(a.title, a.path) < std::tie(b.title, b.path);
    });
    return list;
}

std::string folder_name() {
    const auto folder = detail::program_cache::folder();
    return folder.empty() ? "no directory (the cache is off)" : folder.string();
}

int list_entries() {
    u64 bytes = 0;
    Table table({"kernel", ">bytes", "file"});
    const auto list = entries();
    for (const auto& entry : list) {
        bytes += entry.bytes;
        table.add({entry.valid ? Cell(entry.title) : Cell("damaged", Tone::bad), std::to_string(entry.bytes),
                   entry.path.filename().string()});
    }
    if (!table.empty()) table.print(std::cout);
    std::cout << list.size() << " entries, " << bytes_name(bytes) << ", in " << folder_name() << '\n';
    return status_ok;
}

int verify_entries() {
    u64 damaged = 0;
    const auto list = entries();
    for (const auto& entry : list) {
        if (entry.valid) continue;
        ++damaged;
        const std::string what = entry.problem.empty()
                                     ? entry.path.string() + " (" + std::to_string(entry.bytes) + " bytes)"
                                     : entry.problem;
        std::cout << painted("damaged", Tone::bad) << "  " << what << '\n';
    }
    std::cout << list.size() - damaged << " entries are valid, " << damaged << " damaged, in "
              << folder_name() << '\n';
    return damaged == 0 ? status_ok : status_wrong;
}

int clear_entries() {
    const std::string where = folder_name();
    std::cout << detail::program_cache::clear() << " files removed from " << where << '\n';
    return status_ok;
}

}  // namespace

void add_cache(CLI::App& program, Action& action) {
    CLI::App* command =
        add_command(program, "cache",
                    {.summary = "List, verify or clear the compiled kernels on disk",
                     .details = "The cache is in $XDG_CACHE_HOME/concord, or in ~/.cache/concord.",
                     .examples = {"concord cache ls"},
                     .statuses = {status_ok, status_wrong, status_bad_input}});
    command->require_subcommand(1);
    auto add = [&](CommandText text, const char* name, int (*f)()) {
        text.examples = {std::string("concord cache ") + name};
        add_command(*command, name, std::move(text))->callback([f, &action] { action = f; });
    };
    add({.summary = "List the entries: kernel, size, file"}, "ls", list_entries);
    add({.summary = "Verify the checksum of every entry",
         .details = "Ends with status 1 if an entry is damaged, belongs to another user, or everyone can "
                    "write it. Concord compiles the kernel of such an entry again.",
         .statuses = {status_ok, status_wrong, status_bad_input}},
        "verify", verify_entries);
    add({.summary = "Remove all entries"}, "clear", clear_entries);
}

}  // namespace concord::app
