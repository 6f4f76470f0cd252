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
    if (rows == 0 || columns == 0) return view.part(0, 0);
    u64 count = 0;
    if (__builtin_mul_overflow(rows - 1, pitch, &count) || __builtin_add_overflow(count, columns, &count))
        refuse(" with a pitch of " + std::to_string(pitch) + " overflows 64-bit sizes");
    if (count > view.count)
        refuse((pitch == columns ? "" : " with a pitch of " + std::to_string(pitch)) + " needs " +
               std::to_string(count) + " elements, got a range of " + std::to_string(view.count));
    return view.part(0, count);
}

Support supports_groups(std::initializer_list<u64> counts) {
    constexpr u64 limit = ~u32{0} >> 1;
    u64 groups = 1;
    bool fits = true;
    for (const u64 count : counts) {
        if (count == 0) return {};
        fits = fits && !__builtin_mul_overflow(groups, count, &groups) && groups <= limit;
    }
    if (fits) return {};
    return Support::no("supports at most 2^31 - 1 tiles, got " + size_name(counts));
}

}  // namespace concord::detail
