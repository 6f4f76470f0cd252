#pragma once
// What the blocks of stored results share.

#include "parse_json.hpp"
#include "sections.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace concord::study {

constexpr const char* no_break_space = "\u00a0";

// Calls `visit` with the name and content of each file of a kind. Throws io for a file with unexpected content.
void for_each_file(const std::filesystem::path& folder, const std::string& kind,
                   const std::function<void(const std::string& name, const ordered_json& content)>& visit);
std::string text_of(const ordered_json& object, const char* name);
// "CUDA" of "cuda:0".
std::string backend_of(const std::string& selector);
// ", commit 0123456789ab", and what it does not tell.
std::string commit_of(const ordered_json& run);

// The agreement of variants in stored checks, as Markdown and as a figure.
std::string agreement_page(const std::filesystem::path& folder);
std::string agreement_figure(const std::filesystem::path& folder);

}  // namespace concord::study
