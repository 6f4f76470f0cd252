#pragma once
/// NumPy's .npy files: format 1.0 to 3.0, little-endian, C order, the ten element types.

#include "input_array.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace concord::app {

/// What the header of a .npy file says.
struct NpyHeader {
    Type type = Type::u8;
    Shape shape;
    u64 count = 0;  ///< elements: the product of the shape
    u64 data = 0;   ///< where the elements begin, in bytes
};

/// How many bytes of a file that begins with these have to be there to read its header: as many as there are, if that is
/// enough. Throws as parse_npy does.
u64 npy_header_size(std::string_view bytes, u64 file_bytes, const std::string& file);

/// Reads the header from the file's first bytes. Throws invalid_argument, naming `file`, for anything else than an
/// array of an element type in C order whose elements are all among the file's bytes.
NpyHeader parse_npy(std::string_view bytes, u64 file_bytes, const std::string& file);

/// The header that NumPy would write, padded so that the elements are aligned to 64 bytes, and that it takes `least` bytes.
std::string npy_header(Type type, const Shape& shape, u64 least = 0);

/// A file, open for as long as this lives. It is read, not mapped: one that becomes shorter meanwhile is an error like any
/// other then, where touching a map would end the program.
class NpyFile final : public InputArray {
  public:
    /// Throws io if the file cannot be read, invalid_argument as parse_npy does.
    explicit NpyFile(const std::filesystem::path& path);
    ~NpyFile() override;

    std::string name() const override { return path_.string(); }
    std::string reading() const override { return "reading " + path_.filename().string(); }
    std::filesystem::path path() const override { return path_; }
    const Shape& shape() const override { return header_.shape; }
    const PipelineSource& source() const override { return *source_; }

  private:
    std::filesystem::path path_;
    int file_ = -1;
    NpyHeader header_;
    std::optional<FileSource> source_;
};

}  // namespace concord::app
