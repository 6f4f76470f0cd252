#include <concord/internal/shape.hpp>

namespace concord::detail {

std::string size_name(std::initializer_list<u64> sides) {
    std::string text;
    for (const u64 side : sides)
        text.append(text.empty() ? "" : " x ").append(std::to_string(side));
    return text;
}

View matrix_part(const char* algorithm, const char* name, const View& view, u64 rows, u64 columns,
                 u64& pitch) {
    auto refuse = [&](const std::string& why) {
        throw Error(ErrorCode::invalid_argument, algorithm,
                    std::string(name) + " of " + size_name({rows, columns}) + why);
    };
    if (pitch == 0) pitch = columns;
    if (pitch < columns)
        refuse(" needs a pitch of at least " + std::to_string(columns) + ", got " + std::to_string(pitch));
    const auto pitches = [&] { return pitch == columns ? "" : " with a pitch of " + std::to_string(pitch); };
    const CheckedSize count = matrix_extent(rows, columns, pitch);
    if (!count.fits(most_bytes)) refuse(pitches() + " exceeds 2^60 elements");
    if (!count.fits(view.count))
        refuse(pitches() + " needs " + std::to_string(count.value()) + " elements, got a range of " +
               std::to_string(view.count));
    return view.part(0, count.value());
}

Support supports_groups(std::initializer_list<u64> counts) {
    constexpr u64 limit = ~u32{0} >> 1;
    CheckedSize groups = 1;
    for (const u64 count : counts)
        groups = groups * count;
    if (groups.fits(limit)) return {};
    return Support::no("supports at most 2^31 - 1 tiles, got " + size_name(counts));
}

}  // namespace concord::detail
