#pragma once
// Output files that appear whole or not at all.

#include <concord/internal/new_file.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

// Opens /dev/null for standard files that are closed, so that no other file takes their numbers. Call it first.
void occupy_standard_files();

// Whether a file may be a channel: a pipe, a device, or an open file such as /dev/stdout.
enum class Channels { allowed, refused };

// Throws io, with the reason, if no file can be written at `path`. Call it before any work. `option`: the one that
// names the file, for the message; empty if none does.
void check_writable(const std::filesystem::path& path, std::string_view option = {},
                    Channels channels = Channels::allowed);

// A file that an option names. The path is empty if the option is not given.
struct NamedFile {
    const char* option;
    std::string path;
};
// Throws invalid_argument if two of these are the same file. Pipes and devices may be named twice.
void check_apart(const std::vector<NamedFile>& files);

// check_writable() of the files that are given, and check_apart().
void check_files(const std::vector<NamedFile>& files);

// A file that is written piece by piece. It appears at `path` at the end, in place of what is there, and keeps its
// permissions. Channels are written directly, at their current position. All calls throw io with the reason.
class OutputFile {
  public:
    // Who writes: only this object, or also OutputPart.
    enum class Writers { one, several };

    explicit OutputFile(const std::filesystem::path& path, Writers writers = Writers::one);
    // Removes the file unless keep() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Whether its beginning cannot be written again.
    bool is_channel() const { return !file_; }
    void write(std::span<const std::byte> bytes);
    // Writes the beginning of the file again.
    void rewrite(std::span<const std::byte> bytes);
    // For OutputPart. Empty for channels and with one writer.
    std::filesystem::path working_path() const { return file_ ? file_->temporary_path() : ""; }
    // Puts the file at its path.
    void keep();

  private:
    int descriptor() const { return file_ ? file_->descriptor() : channel_; }

    std::filesystem::path path_;
    std::optional<detail::NewFile> file_;
    int channel_ = -1;
};

// Writes to a file that an OutputFile with several writers, perhaps of another process, has open. All calls throw io
// with the reason.
class OutputPart {
  public:
    // working_path: that of the OutputFile. path: the name for messages.
    OutputPart(const std::filesystem::path& working_path, std::filesystem::path path);
    ~OutputPart();
    OutputPart(const OutputPart&) = delete;
    OutputPart& operator=(const OutputPart&) = delete;

    void write(u64 offset, std::span<const std::byte> bytes);
    // Ends writing. Some file systems report errors only here.
    void close();

  private:
    std::filesystem::path path_;
    int folder_ = -1, file_ = -1;
    std::optional<detail::TemporaryName> name_;
};

// Writes the parts one after another to an OutputFile. If it throws io, it leaves the old file unchanged.
void write_whole(const std::filesystem::path& path, const std::vector<std::span<const std::byte>>& parts);
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace concord::app
