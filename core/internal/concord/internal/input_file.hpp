#pragma once
// Opens and reads files that may be something else than they seem.

#include <concord/types.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace concord::detail {

// Which files InputFile accepts.
struct InputFileRules {
    // Only files of this user or of root that not everyone can write.
    bool trusted = false;
    // Whether the path may be a symbolic link.
    bool follow_link = true;
};

// A regular file that is open for reading. Opening never blocks, not even for a FIFO.
class InputFile {
  public:
    // Throws io: "CALL: cannot be read, got 'PATH': REASON". `call`: the call or option that needs the file.
    InputFile(const std::filesystem::path& path, std::string_view call, InputFileRules rules = {});
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    int descriptor() const { return file_; }
    // In bytes, at the time of opening.
    u64 size() const { return size_; }
    // The content, which may be empty. Throws io if it exceeds largest_text or cannot be read.
    std::string text() const;

    // In bytes. A sparse file of any size takes no room on the disk, but its content takes memory.
    static constexpr u64 largest_text = u64{256} << 20;

  private:
    [[noreturn]] void fail(const std::string& why) const;

    std::filesystem::path path_;
    std::string call_;
    int file_ = -1;
    u64 size_ = 0;
};

// The content of a file, as InputFile::text().
std::string text_of_file(const std::filesystem::path& path, std::string_view call, InputFileRules rules = {});

}  // namespace concord::detail
