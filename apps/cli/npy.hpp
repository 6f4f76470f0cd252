#pragma once
// NumPy's .npy files: format 1.0 to 3.0, little-endian, C order, the ten element types.

#include "input_array.hpp"

#include <concord/internal/input_file.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

// Header of a .npy file.
struct NpyHeader {
    Type type = Type::u8;
    Shape shape;
    u64 count = 0;  // elements: the product of the shape
    u64 data = 0;   // offset of the first element in bytes
};

// Number of leading bytes that parse_npy() needs. `bytes`: the first bytes of the file. Throws as parse_npy() does.
u64 npy_header_size(std::string_view bytes, u64 file_bytes, const std::string& file);

// Reads the header from the first bytes of the file. Throws invalid_argument, naming `file`, unless the file holds a
// complete array of an element type in C order.
NpyHeader parse_npy(std::string_view bytes, u64 file_bytes, const std::string& file);

// The header that NumPy writes. It is padded to a multiple of 64 bytes and to at least `least` bytes.
std::string npy_header(Type type, const Shape& shape, u64 least = 0);

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
