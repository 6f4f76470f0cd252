#pragma once
// Files that appear whole or not at all.

#include <concord/types.hpp>

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/stat.h>

namespace concord::detail {

// The path of the file behind symbolic links, which may not exist. Throws io.
std::filesystem::path link_target(std::filesystem::path path);

// Writes all bytes at the descriptor's position. Throws io, naming `path`.
void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path);

// Throws io: "PATH: cannot be written: REASON".
[[noreturn]] void fail_to_write(const std::filesystem::path& path, const std::string& why);

// The beginning of all temporary names.
inline constexpr std::string_view temporary_prefix = ".concord-";

// A random name that begins with temporary_prefix.
std::string temporary_name();

// Keeps a file on the list of remove_temporary_files().
class TemporaryName {
  public:
    // `folder`: a descriptor that stays open. The file may be created later, perhaps by another process.
    TemporaryName(int folder, std::string_view name) noexcept;
    // Creates the file. Returns its descriptor in `file`, or -1 with errno.
    TemporaryName(int folder, const char* name, mode_t mode, int& file) noexcept;
    ~TemporaryName();
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;

  private:
    std::size_t place_;
};

// Removes the files of this process that have temporary names, and lets it create no more. For signal handlers that end
// the process.
void remove_temporary_files() noexcept;

// How NewFile creates a file.
struct NewFileOptions {
    // Permissions. Without a value: those of the file that is replaced, or 0666 less the umask.
    std::optional<mode_t> mode = {};
    // Whether to write the target if the path is a symbolic link. Otherwise the link is replaced.
    bool follow_link = true;
    // Whether others open the file by temporary_path() while it is written.
    bool shared = false;
    // The temporary name of a shared file. Empty: temporary_name().
    std::string shared_name = {};
    // Whether the content is on the disk before the file appears, so that no failure of the machine leaves a part of
    // it.
    bool durable = true;
};

// A new file in the folder of `path`. It has no name until publish(), so nothing is left of it however the process
// ends. On file systems without O_TMPFILE, and if it is shared, it has a temporary name. All calls throw io.
class NewFile {
  public:
    explicit NewFile(const std::filesystem::path& path, NewFileOptions options = {});
    // Removes the file unless it was published.
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    int descriptor() const { return file_; }
    void write(std::span<const std::byte> bytes) { write_all(file_, bytes, path_); }
    // Empty if the file has no name.
    std::filesystem::path temporary_path() const;
    // Brings the content to the disk, if the file is durable.
    void synchronize();
    // Synchronizes and closes the file and puts it at the path, in place of what is there.
    void publish();
    // The same for several files that are synchronized. Signals that end the process wait meanwhile, so that it leaves
    // all of them or none. If one cannot be published, it throws and those after it are not.
    static void publish_together(std::span<const std::unique_ptr<NewFile>> files);

  private:
    void create();
    void take_over(const struct ::stat& replaced);
    void place();  // with the list of temporary files locked
    void give_name();
    void close_all() noexcept;
    [[noreturn]] void fail() const;  // with errno

    std::filesystem::path path_;  // for messages
    NewFileOptions options_;
    std::filesystem::path folder_path_;
    std::string name_, temporary_;  // in the folder
    int folder_ = -1, file_ = -1;
    std::optional<TemporaryName> listed_;
};

// Writes the parts one after another to a NewFile.
void write_file(const std::filesystem::path& path, std::initializer_list<std::string_view> parts,
                NewFileOptions options = {});

}  // namespace concord::detail
