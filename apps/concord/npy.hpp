#pragma once
/// NumPy's .npy files: format 1.0 to 3.0, little-endian, C order, the ten element types.

#include <concord/types.hpp>

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

/// Reads the header from the file's bytes. Throws invalid_argument, naming `file`, for anything else than an
/// array of an element type in C order whose `bytes` are all there.
NpyHeader parse_npy(std::string_view bytes, const std::string& file);

/// The header that NumPy would write, padded so that the elements are aligned to 64 bytes.
std::string npy_header(Type type, const Shape& shape);

/// "(3, 4)", as Python writes a shape.
std::string shape_name(const Shape& shape);

/// A file, mapped into memory for as long as this lives.
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
    /// The elements; aligned to no more than a byte.
    const std::byte* data() const { return map_ + header_.data; }

  private:
    std::filesystem::path path_;
    std::byte* map_ = nullptr;
    u64 size_ = 0;
    NpyHeader header_;
};

}  // namespace concord::app
