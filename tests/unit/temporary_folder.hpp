#pragma once
// A temporary folder for a test case, removed at the end.

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace concord::test {

class TemporaryFolder {
  public:
    // `name`: distinguishes the folders of test programs that run at once, together with the process.
    explicit TemporaryFolder(const std::string& name)
        : path_(std::filesystem::canonical(std::filesystem::temp_directory_path()) /
                ("concord-" + name + "-" + std::to_string(getpid()))) {
        std::filesystem::remove_all(path_);
        std::filesystem::create_directories(path_);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    // Writes a file, and the folders above it.
    void write(const std::string& name, const std::string& content) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << content;
    }

  private:
    std::filesystem::path path_;
};

}  // namespace concord::test
