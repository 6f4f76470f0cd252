// Sizes and shapes on the command line: --sizes, --shape, --seed and byte counts.

#include "fuzz.hpp"

#include <generate.hpp>
#include <run_work.hpp>

#include <algorithm>
#include <bit>

using namespace concord;
using namespace concord::app;
using namespace concord::fuzz;

namespace {

std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

void check_sizes(const std::vector<std::string>& words) {
    AskedSizes sizes;
    if (!accepts(ErrorCode::invalid_argument, [&] { sizes = sizes_of(words); })) return;
    require(sizes.values.size() >= words.size(), "every word names a size");
    for (const auto& [size, name] : sizes.names) {
        if (const std::size_t plus = name.find('+'); plus != std::string::npos)
            require(size >= std::stoull(name.substr(plus + 1)), "a sum is at least its second term");
        require(std::find(words.begin(), words.end(), name) != words.end(), "a size keeps its name");
        require(std::find(sizes.values.begin(), sizes.values.end(), size) != sizes.values.end(),
                "a name has its size");
    }
    // Sizes without a name are those of ranges.
    for (const u64 size : sizes.values)
        require(sizes.names.count(size) != 0 || std::has_single_bit(size), "a range has powers of two");
}

void check_shape(const std::string& text) {
    Shape shape;
    if (!accepts(ErrorCode::invalid_argument, [&] { shape = volume_shape_of(text); })) return;
    require(shape.size() == 3, "a volume has three axes");
    for (const Type type : {Type::f32, Type::f64}) {
        u64 points = 0;
        if (!accepts(ErrorCode::invalid_argument, [&] { points = points_of(shape, type, text); })) continue;
        long double product = 1;
        for (const u64 n : shape)
            product *= static_cast<long double>(n);
        require(product <= 0x1p60L && points == static_cast<u64>(product),
                "the points are the product of the axes");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(text_of(data, size));
    check_sizes(words_of(text));
    check_shape(text);
    accepts(ErrorCode::invalid_argument, [&] { seed_of(text); });
    if (!text.empty())
        accepts(ErrorCode::invalid_argument,
                [&] { require(bytes_of("--memory", text) > 0, "a byte count is positive"); });
    return 0;
}
