#pragma once
// Output files that appear whole or not at all.

#include <concord/types.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

// Throws io, with the reason, if no file can be written at `path`. Call it before any work. `option`: the one that
// names the file, for the message; empty if none does.
void check_writable(const std::filesystem::path& path, std::string_view option = {});

// A file that an option names. The path is empty if the option is not given.
struct NamedFile {
    const char* option;
    std::string path;
};
// Throws invalid_argument if two of these are the same file. Pipes and devices may be named twice.
void check_apart(const std::vector<NamedFile>& files);

// check_writable() of the files that are given, and check_apart().
void check_files(const std::vector<NamedFile>& files);

// A file that is written piece by piece under a temporary name in the directory of `path`, and renamed at the end.
// Pipes and devices (/dev/stdout) are written directly. All calls throw io with the reason.
class OutputFile {
  public:
    explicit OutputFile(const std::filesystem::path& path);
    // Removes the file unless keep() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Whether it is a pipe or a device, whose beginning cannot be written again.
    bool is_channel() const { return name_.empty(); }
    void write(std::span<const std::byte> bytes);
    // Writes the beginning of the file again.
    void rewrite(std::span<const std::byte> bytes);
    // The temporary name, for OutputPart. Empty for a pipe or a device.
    const std::string& working_name() const { return name_; }
    // Renames the file to its path and replaces what was there.
    void keep();

  private:
    std::filesystem::path path_, target_;
    std::string name_;  // temporary name until keep()
    int file_ = -1;
    u64 interrupt_ = 0;
};

// Writes to a file that an OutputFile, perhaps of another process, has open. All calls throw io with the reason.
class OutputPart {
  public:
    // working_name: that of the OutputFile. path: the name for messages.
    OutputPart(const std::string& working_name, std::filesystem::path path);
    ~OutputPart();
    OutputPart(const OutputPart&) = delete;
    OutputPart& operator=(const OutputPart&) = delete;

    void write(u64 offset, std::span<const std::byte> bytes);
    // Ends writing. Some file systems report errors only here.
    void close();

  private:
    std::filesystem::path path_;
    int file_ = -1;
    u64 interrupt_ = 0;
};

// Writes the parts one after another to an OutputFile. If it throws io, it leaves the old file unchanged.
void write_whole(const std::filesystem::path& path, const std::vector<std::span<const std::byte>>& parts);
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace concord::app
