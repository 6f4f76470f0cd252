#include <concord/error.hpp>
#include <concord/internal/compile_options.hpp>
#include <concord/internal/language.hpp>

#include <algorithm>
#include <sstream>

namespace concord::detail {
namespace {

[[noreturn]] void refuse_flag(const KernelSource& source, std::string_view flag, const std::string& what,
                              const std::string& why) {
    throw Error(ErrorCode::invalid_argument, "CompileOptions",
                what + " in the flags of " + std::string(source.name()) + ", got '" + std::string(flag) +
                    "'; " + why);
}

const RefusedFlag* find_refused(std::span<const RefusedFlag> list, Flag flag) {
    for (const RefusedFlag& row : list) {
        if (row.name == flag.name && (row.value.empty() || row.value == flag.value)) return &row;
    }
    return nullptr;
}

// Blanks separate arguments where all flags are one string.
std::vector<std::string> split_at_blanks(const std::vector<std::string>& flags) {
    std::vector<std::string> parts;
    for (const std::string& flag : flags) {
        std::istringstream words(flag);
        for (std::string word; words >> word;)
            parts.push_back(word);
    }
    return parts;
}

void check_flags(const KernelSource& source, const Language& language) {
    const CompileOptions& options = source.options(language.dialect);
    const std::vector<std::string> flags =
        language.joins_flags ? split_at_blanks(options.flags) : options.flags;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        const Flag flag = flag_at(flags, i);
        if (flags[i].find_first_of(" \t\n") != std::string::npos && flags[i].starts_with('-'))
            refuse_flag(source, flags[i], "several arguments in one flag", "write one entry for each");
        if (flags[i].starts_with("-I"))
            refuse_flag(source, flags[i], "include folder", std::string(use_folders));
        if (const RefusedFlag* row = find_refused(language.own_flags, flag))
            refuse_flag(source, flags[i], "flag not available", std::string(row->why));
        if (options.allow_inexact) continue;
        if (const RefusedFlag* row = find_refused(language.inexact_flags, flag)) {
            const bool apart = !row->value.empty() && flags[i].find('=') == std::string::npos;
            refuse_flag(source, apart ? flags[i] + " " + std::string(row->value) : flags[i],
                        "flag that makes results differ between devices",
                        std::string(row->why) +
                            "; remove it or set CompileOptions::allow_inexact if you accept this");
        }
    }
    for (const std::string& folder : options.include_folders) {
        if (folder.empty())
            throw Error(ErrorCode::invalid_argument, "CompileOptions",
                        "empty include folder for " + std::string(source.name()) + ", got ''; name a folder");
        if (language.joins_flags && folder.find_first_of(" \t\n\"'\\") != std::string::npos)
            throw Error(ErrorCode::invalid_argument, "CompileOptions",
                        "include folder with a blank or quote, got '" + folder + "'; options in " +
                            std::string(language.name) + " cannot name it, use another path");
    }
}

bool in_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

}  // namespace

void check_options(const KernelSource& source) {
    for (const Language& language : languages) {
        if (language.is_compiled()) check_flags(source, language);
    }
}

Flag flag_at(const std::vector<std::string>& flags, std::size_t at) {
    std::string_view name = flags[at];
    while (name.starts_with('-'))
        name.remove_prefix(1);
    const std::size_t equals = name.find('=');
    if (equals != std::string_view::npos) return {name.substr(0, equals), name.substr(equals + 1)};
    const bool has_next = at + 1 < flags.size() && !flags[at + 1].starts_with('-');
    return {name, has_next ? std::string_view(flags[at + 1]) : std::string_view()};
}

bool names_instance(std::string_view entry) {
    return !std::all_of(entry.begin(), entry.end(), in_identifier);
}

std::string_view plain_entry(std::string_view entry) {
    entry = entry.substr(0, entry.find('<'));
    while (!entry.empty() && !in_identifier(entry.back()))
        entry.remove_suffix(1);
    std::size_t begin = entry.size();
    while (begin > 0 && in_identifier(entry[begin - 1]))
        --begin;
    return entry.substr(begin);
}

void check_entry(std::string_view entry) {
    constexpr std::size_t longest = 200;
    const std::string_view name = plain_entry(entry);
    if (name.size() > longest)
        throw Error(ErrorCode::invalid_argument, "Device::compile",
                    "name of a kernel is too long, got " + std::to_string(name.size()) + " characters, '" +
                        std::string(name.substr(0, 20)) + "...'; the limit is " + std::to_string(longest));
}

}  // namespace concord::detail
