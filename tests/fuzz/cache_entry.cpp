// Files of the cache of compiled kernels.

#include "fuzz.hpp"

#include <concord/internal/program_cache.hpp>

using namespace concord;
using namespace concord::detail;
using namespace concord::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = text_of(data, size);
    if (const auto parts = program_cache::parts_of(bytes)) {
        const std::string header = program_cache::header_of(parts->key, parts->program);
        require(header + std::string(parts->key) + std::string(parts->program) == bytes,
                "a valid file is what the cache writes");
    }
    if (size < 2) return 0;

    // A file of the cache, whole and damaged. The first two bytes place the end of the key and the damage.
    const std::string_view content = bytes.substr(2);
    const std::string_view key = content.substr(0, content.size() * data[0] / 255),
                           program = content.substr(key.size());
    std::string file = program_cache::header_of(key, program).append(content);
    const auto parts = program_cache::parts_of(file);
    require(parts && parts->key == key && parts->program == program, "the cache reads what it writes");
    require(!program_cache::parts_of(std::string_view(file).substr(0, file.size() - 1)),
            "a truncated file is damaged");
    require(!program_cache::parts_of(file + '\0'), "a file with an appendix is damaged");
    const std::size_t place = (file.size() - 1) * data[1] / 255;
    file[place] = static_cast<char>(file[place] ^ 1);
    require(!program_cache::parts_of(file), "a file with a wrong bit is damaged");
    return 0;
}
