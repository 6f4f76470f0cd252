// Headers of .npy files.

#include "fuzz.hpp"

#include <npy.hpp>

using namespace concord;
using namespace concord::app;
using namespace concord::fuzz;

namespace {

// Reads a file as NpyFile does. The file may be longer than the given bytes.
void check(std::string_view bytes, u64 file_bytes) {
    static const std::string name = "x.npy";
    NpyHeader header;
    if (!accepts(ErrorCode::invalid_argument, [&] {
            require(npy_header_size(bytes, file_bytes, name) <= file_bytes, "the header is within the file");
            header = parse_npy(bytes, file_bytes, name);
        }))
        return;
    require(header.data <= file_bytes, "the elements begin within the file");
    const u64 size = size_of(header.type);
    require(header.count <= (file_bytes - header.data) / size, "the elements are within the file");

    const std::string written = npy_header(header.type, header.shape);
    const NpyHeader again = parse_npy(written, written.size() + header.count * size, name);
    require(again.type == header.type && again.shape == header.shape && again.count == header.count,
            "a written header has the same type and shape");
    require(again.data == written.size(), "the elements follow a written header");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // Every other length stands for a sparse file, whose header may claim to be long.
    check(text_of(data, size), size % 2 == 0 ? size : size + (u64{1} << 40));
    return 0;
}
