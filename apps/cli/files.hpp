#pragma once
// Output files that appear whole or not at all.

#include <concord/internal/new_file.hpp>

#include <filesystem>
#include <memory>
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

// Selects standard output.
struct ToStdout {};

// A file that is written piece by piece. After keep(), publish_outputs() puts it at `path`, in place of what is there,
// and it keeps its permissions. Channels are written directly, at their current position. All calls throw io with the
// reason.
class OutputFile {
  public:
    // A temporary file. After keep(), publish_outputs() copies it to standard output.
    explicit OutputFile(ToStdout);
    // `shared_name`: the temporary name for OutputPart. Empty: no other object writes.
    explicit OutputFile(const std::filesystem::path& path, std::string shared_name = {});
    // Removes the file unless keep() was called.
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    // Whether its beginning cannot be written again.
    bool is_channel() const { return channel_ >= 0 && !is_for_stdout_; }
    void write(std::span<const std::byte> bytes);
    // Writes the beginning of the file again.
    void rewrite(std::span<const std::byte> bytes);
    // Ends writing, and keeps the file for publish_outputs().
    void keep();

  private:
    int descriptor() const { return file_ ? file_->descriptor() : channel_; }

    std::filesystem::path path_;
    std::unique_ptr<detail::NewFile> file_;
    int channel_ = -1;
    bool is_for_stdout_ = false;  // channel_ is the temporary file
};

// Keeps data for publish_outputs(), which writes it to standard output.
void keep_for_stdout(std::vector<std::vector<std::byte>> parts);

// Writes what is kept for standard output, then puts all files that are kept at their paths: all or none, if a signal
// ends the program meanwhile. If standard output cannot be written, throws io, and the files are removed. Without this
// call none appears.
void publish_outputs();

// Writes to a file that an OutputFile with a shared name, perhaps of another process, has open. All calls throw io with
// the reason.
class OutputPart {
  public:
    // working_path: the shared name, in the folder of the file. path: the name for messages. Construct it before the
    // OutputFile: if the other process is killed, this one removes the file at SIGTERM.
    OutputPart(const std::filesystem::path& working_path, std::filesystem::path path);
    ~OutputPart();
    OutputPart(const OutputPart&) = delete;
    OutputPart& operator=(const OutputPart&) = delete;

    // Opens the file, which exists.
    void open();
    void write(u64 offset, std::span<const std::byte> bytes);
    // Ends writing. Some file systems report errors only here.
    void close();
    // Until the program ends, it removes the file at SIGTERM: the other process puts it at its path later.
    static void keep(std::unique_ptr<OutputPart> part);

  private:
    [[noreturn]] void fail_to_open() const;  // with errno

    std::filesystem::path working_path_, path_;
    int folder_ = -1, file_ = -1;
    std::optional<detail::TemporaryName> listed_;
};

// Writes the parts one after another to an OutputFile, and keeps it. If it throws io, it leaves the old file unchanged.
void write_whole(const std::filesystem::path& path, const std::vector<std::span<const std::byte>>& parts);
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace concord::app
