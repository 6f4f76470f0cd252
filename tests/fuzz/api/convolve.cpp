// Calls of convolve.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

struct ImageShape {
    u64 rows = 0, columns = 0, in_pitch = 0, out_pitch = 0;
    ConvolveBorder border = ConvolveBorder::zero;
};
// The cell (y - up, x - left) of an image.
template <class T>
static T cell(const Bytes& before, const View& in, u64 pitch, const ImageShape& s, u64 y, u64 up, u64 x,
              u64 left) {
    const bool outside = y < up || y - up >= s.rows || x < left || x - left >= s.columns;
    if (outside && s.border == ConvolveBorder::zero) return 0;
    const u64 row = y < up ? 0 : std::min(y - up, s.rows - 1),
              column = x < left ? 0 : std::min(x - left, s.columns - 1);
    return load<T>(before, in, row * pitch + column);
}

FUZZ_CALLS(convolve) {
    const Type type = any_float();
    fill(type);
    ImageShape s;
    s.rows = side(20);
    s.columns = side(40);
    s.border = choices_.one_in(2) ? ConvolveBorder::clamp : ConvolveBorder::zero;
    const Rows from = rows(s.rows, s.columns), to_rows = rows(s.rows, s.columns);
    s.in_pitch = from.given;
    s.out_pitch = to_rows.given;
    const View in = matrix(type, from.extent), out = matrix(type, to_rows.extent);
    no_overlap(Lines{part(in, from.extent), s.rows, s.columns, from.pitch},
               Lines{part(out, to_rows.extent), s.rows, s.columns, to_rows.pitch});
    const u64 even = choices_.one_in(32) ? 1 : 0;
    const u64 mask_rows = 2 * choices_.below(4) + 1, mask_columns = 2 * choices_.below(4) + 1 + even;
    if (mask_rows % 2 == 0 || mask_columns % 2 == 0) outcome_ = Outcome::refused;
    if (std::max(s.rows, s.columns) > buffer_bytes) may_fail();
    Options asked = options(convolve_algorithm);
    if (asked.variant == "separable") asked.variant = "auto";  // rounds differently
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_floating_point_v<T>) {
            std::vector<T> mask(mask_rows * mask_columns);
            for (T& tap : mask)
                tap = static_cast<T>(choices_.below(5)) - 2;
            machine_.run(
                outcome_,
                [&] {
                    concord::convolve(stream(), MatrixView{in, s.rows, s.columns, s.in_pitch},
                                      {mask, mask_rows, mask_columns},
                                      MatrixView{out, s.rows, s.columns, s.out_pitch}, s.border, asked);
                },
                [&](Bytes& to) {
                    if (from.extent == 0) return;
                    for (u64 y = 0; y < s.rows; ++y) {
                        for (u64 x = 0; x < s.columns; ++x) {
                            T t = 0;
                            for (u64 j = 0; j < mask_rows; ++j) {
                                for (u64 i = 0; i < mask_columns; ++i)
                                    t = std::fma(mask[j * mask_columns + i],
                                                 cell<T>(before(), in, from.pitch, s, y + j, mask_rows / 2,
                                                         x + i, mask_columns / 2),
                                                 t);
                            }
                            store(to, out, y * to_rows.pitch + x, t);
                        }
                    }
                });
        }
    });
}

}  // namespace concord::fuzz
