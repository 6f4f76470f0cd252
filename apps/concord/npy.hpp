#pragma once
/// NumPy's .npy files: format 1.0 to 3.0, little-endian, C order, the ten element types.

#include <concord/source.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace concord::app {

using Shape = std::vector<u64>;

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

/// "(3, 4)", as Python writes a shape.
std::string shape_name(const Shape& shape);

/// A file, open for as long as this lives. It is read, not mapped: one that becomes shorter meanwhile is an error like any
/// other then, where touching a map would end the program.
class NpyFile {
  public:
    /// Throws io if the file cannot be read, invalid_argument as parse_npy does.
    explicit NpyFile(const std::filesystem::path& path);
    ~NpyFile();
    NpyFile(const NpyFile&) = delete;
    NpyFile& operator=(const NpyFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    Type type() const { return header_.type; }
    const Shape& shape() const { return header_.shape; }
    u64 count() const { return header_.count; }
    u64 bytes() const { return header_.count * size_of(header_.type); }
    const Source& source() const { return *source_; }
    /// All elements, of a small file.
    std::vector<std::byte> elements() const;

  private:
    std::filesystem::path path_;
    int file_ = -1;
    NpyHeader header_;
    std::optional<FileSource> source_;
};

}  // namespace concord::app
