#include <concord/error.hpp>
#include <concord/internal/includes.hpp>
#include <concord/internal/input_file.hpp>
#include <concord/internal/kernel_key.hpp>
#include <concord/internal/language.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

namespace concord::detail {
namespace {

std::string_view after_blanks(std::string_view text) {
    const std::size_t at = text.find_first_not_of(" \t");
    return at == std::string_view::npos ? std::string_view() : text.substr(at);
}

// Walks a source and the files that it includes, each file once.
class IncludeReader {
  public:
    IncludeReader(const std::vector<std::string>& folders, Includes& result)
        : folders_(folders), result_(result) {}

    // `folder`: of the file that holds the text; empty for the source itself, which has none.
    void read(std::string_view text, const std::filesystem::path& folder) {
        if (text.find("__has_include") != std::string_view::npos) result_.known = false;
        while (!text.empty()) {
            const std::string_view line = text.substr(0, text.find('\n'));
            text.remove_prefix(std::min(text.size(), line.size() + 1));
            read_line(after_blanks(line), folder);
        }
    }
    const std::string& contents() const { return contents_; }

  private:
    void read_line(std::string_view line, const std::filesystem::path& folder) {
        while (line.starts_with("/*")) {
            const std::size_t end = line.find("*/");
            if (end == std::string_view::npos) return;
            line = after_blanks(line.substr(end + 2));
        }
        if (!line.starts_with('#')) return;
        line = after_blanks(line.substr(1));
        constexpr std::string_view word = "include";
        if (!line.starts_with(word)) return;
        result_.any = true;
        line = after_blanks(line.substr(word.size()));
        const char quote = line.empty() ? ' ' : line.front();
        const std::size_t end =
            quote == '<' || quote == '"' ? line.find(quote == '<' ? '>' : '"', 1) : std::string_view::npos;
        if (end == std::string_view::npos)
            result_.known = false;  // a macro, or include_next
        else
            follow(std::string(line.substr(1, end - 1)), quote == '"', folder);
    }

    void follow(const std::string& name, bool quoted, const std::filesystem::path& folder) {
        if (quoted && !folder.empty() && open(folder / name)) return;
        for (const std::string& own : folders_) {
            if (open(std::filesystem::path(own) / name)) return;
        }
        if (std::find(result_.names.begin(), result_.names.end(), name) == result_.names.end())
            result_.names.push_back(name);
    }

    // Returns false if there is no such file.
    bool open(const std::filesystem::path& path) {
        std::error_code problem;
        if (!std::filesystem::exists(path, problem) || std::filesystem::is_directory(path, problem))
            return false;
        const std::string at = path.lexically_normal().string();
        if (!seen_.insert(at).second) return true;
        try {
            const std::string text = text_of_file(path, "#include");
            contents_.append(at).append("\n").append(std::to_string(text.size())).append("\n").append(text);
            read(text, path.parent_path());
        } catch (const Error&) {
            result_.known = false;  // the compiler reports a file that cannot be read
        }
        return true;
    }

    const std::vector<std::string>& folders_;
    Includes& result_;
    std::set<std::string> seen_;
    std::string contents_;
};

}  // namespace

Includes includes_of(std::string_view text, const KernelSource& source, Dialect dialect) {
    const std::vector<std::string>& folders = source.options(dialect).include_folders;
    Includes result;
    IncludeReader reader(folders, result);
    reader.read(text, {});
    result.contents = content_hash(reader.contents());
    // Where the compiler has no headers, a file in no folder is one that the driver finds somewhere.
    const bool found_by_driver = !language_of(dialect).has_headers && !result.names.empty();
    result.own = !folders.empty() || found_by_driver;
    // Without files of the user's own, the compiler's version determines what is included.
    result.known = !result.any || !result.own || (result.known && !found_by_driver);
    return result;
}

std::string Includes::line() const {
    if (!any || !own) return {};
    const std::string value =
        known ? std::to_string(contents.low) + "_" + std::to_string(contents.high)
              : "at_" + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    return "#define CONCORD_INCLUDES " + value + "\n";
}

}  // namespace concord::detail
