#pragma once
// Inputs in NumPy's .npy files.

#include "input_array.hpp"

#include <concord/internal/input_file.hpp>
#include <concord/internal/npy.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

using detail::npy_header;
using detail::npy_header_size;
using detail::NpyHeader;
using detail::parse_npy;

// An open file. It is read, not mapped, so that a file that is truncated meanwhile gives an error instead of SIGBUS.
class NpyFile final : public InputArray {
  public:
    // Throws io if the file cannot be read, and invalid_argument as parse_npy() does. `option`: the one that names it.
    NpyFile(const std::filesystem::path& path, std::string_view option);

    std::string name() const override { return path_.string(); }
    std::string reading() const override { return "reading " + path_.filename().string(); }
    std::filesystem::path path() const override { return path_; }
    const Shape& shape() const override { return header_.shape; }
    const PipelineSource& source() const override { return *source_; }

  private:
    std::filesystem::path path_;
    detail::InputFile file_;
    NpyHeader header_;
    std::optional<FileSource> source_;
};

// An array from standard input, which may be a pipe. It is read up to its end and kept in memory.
class NpyStream final : public InputArray {
  public:
    // Throws as NpyFile does.
    explicit NpyStream(std::string_view option);

    std::string name() const override { return "standard input"; }
    std::string reading() const override { return "reading standard input"; }
    const Shape& shape() const override { return header_.shape; }
    const PipelineSource& source() const override { return *source_; }

  private:
    NpyHeader header_;
    std::vector<std::byte> elements_;
    std::optional<HostSource> source_;
};

// Opens the file, or standard input if the path is "-".
std::unique_ptr<InputArray> open_npy(const std::string& path, std::string_view option);

}  // namespace concord::app
