#pragma once
// Headers of NumPy's .npy files: format 1.0 to 3.0, little-endian, C order, the element types that NumPy has.

#include <concord/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace concord::detail {

// Header of a .npy file.
struct NpyHeader {
    Type type = Type::u8;
    std::vector<u64> shape;
    u64 count = 0;  // elements: the product of the shape
    u64 data = 0;   // offset of the first element in bytes
};

// "(3, 4)", as Python prints a shape.
std::string shape_name(const std::vector<u64>& shape);

// Number of leading bytes that parse_npy() needs. `bytes`: the first bytes of the file. Throws as parse_npy() does.
u64 npy_header_size(std::string_view bytes, u64 file_bytes, const std::string& file);

// Reads the header from the first bytes of the file. Throws invalid_argument, naming `file`, unless the file holds a
// complete array of an element type in C order.
NpyHeader parse_npy(std::string_view bytes, u64 file_bytes, const std::string& file);

// The same without the check that the array is complete. `size`: npy_header_size().
NpyHeader parse_npy_header(std::string_view bytes, u64 size, const std::string& file);

// Throws invalid_argument: the file ends after `there` bytes of elements.
[[noreturn]] void fail_truncated_npy(const NpyHeader& header, u64 there, const std::string& file);

// The header that NumPy writes. It is padded to a multiple of 64 bytes and to at least `least` bytes.
std::string npy_header(Type type, const std::vector<u64>& shape, u64 least = 0);

class InputFile;
// Reads the header at the beginning of an open file. `name`: for messages.
NpyHeader read_npy_header(const InputFile& file, const std::string& name);

}  // namespace concord::detail
