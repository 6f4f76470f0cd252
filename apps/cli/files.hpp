#pragma once
/// Output files that appear whole or not at all.

#include <concord/types.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

/// Throws io, with the reason, if a file could not be made at `path`: so that no work is done for nothing.
void check_writable(const std::filesystem::path& path);

/// A file that an option names; without a path it is none.
struct NamedFile {
    const char* option;
    std::string path;
};
/// Throws invalid_argument, with the names, if two of these are one file. Pipes and devices may be.
void check_apart(const std::vector<NamedFile>& files);

/// A file that is written piece by piece, beside `path` under a name of its own, and gets its name in the end. Pipes and
/// devices (/dev/stdout) are written to directly.
class OutputFile {
  public:
    /// Throws io, as all calls do, with the reason.
    explicit OutputFile(const std::filesystem::path& path);
    /// Removes what was written, unless it was kept.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    /// Whether what is written is gone, so that its beginning cannot be written anew.
    bool is_channel() const { return name_.empty(); }
    void write(std::span<const std::byte> bytes);
    /// Writes the file's beginning anew.
    void rewrite(std::span<const std::byte> bytes);
    /// Where it is being written, for OutputPart; empty for a pipe or a device.
    const std::string& working_name() const { return name_; }
    /// Puts the file in its place. What was there before is gone then.
    void keep();

  private:
    std::filesystem::path path_, target_;
    std::string name_;  // of the file while it is not kept
    int file_ = -1;
    u64 interrupt_ = 0;
};

/// Another way into a file that an OutputFile, maybe of another process, is still writing.
class OutputPart {
  public:
    /// working_name: the OutputFile's; `path`: the output's name, for messages. Throws io, as all calls do, with the reason.
    OutputPart(const std::string& working_name, std::filesystem::path path);
    ~OutputPart();
    OutputPart(const OutputPart&) = delete;
    OutputPart& operator=(const OutputPart&) = delete;

    void write(u64 offset, std::span<const std::byte> bytes);
    /// Nothing more is written; throws what the file system reports only now.
    void close();

  private:
    std::filesystem::path path_;
    int file_ = -1;
    u64 interrupt_ = 0;
};

/// Writes the parts one after another into a new file beside `path` and then gives it that name. Throws io,
/// and then leaves what was there before. Pipes and devices (/dev/stdout) are written to directly.
void write_whole(const std::filesystem::path& path, const std::vector<std::span<const std::byte>>& parts);
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace concord::app
