// Calls of stencil.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

template <class T>
static std::vector<T> stepped(const std::vector<T>& v, const VolumeExtents& s, const std::vector<f64>& star) {
    std::vector<T> next(v.size());
    auto at = [&](u64 z, u64 y, u64 x) {  // coordinates below 0 wrap to huge ones
        return z < s.depth && y < s.rows && x < s.columns ? v[(z * s.rows + y) * s.columns + x] : T{};
    };
    for (u64 z = 0; z < s.depth; ++z) {
        for (u64 y = 0; y < s.rows; ++y) {
            for (u64 x = 0; x < s.columns; ++x) {
                T t = static_cast<T>(star[0]) * at(z, y, x);
                for (u64 r = 1; r < star.size(); ++r) {
                    const T along_x = at(z, y, x - r) + at(z, y, x + r),
                            along_y = at(z, y - r, x) + at(z, y + r, x),
                            along_z = at(z - r, y, x) + at(z + r, y, x);
                    t = std::fma(static_cast<T>(star[r]), (along_x + along_y) + along_z, t);
                }
                next[(z * s.rows + y) * s.columns + x] = t;
            }
        }
    }
    return next;
}

FUZZ_CALLS(stencil) {
    const Type type = any_float();
    fill(type);
    const VolumeExtents s{side(9), side(9), side(14)};
    u128 points = 0;
    if (s.depth != 0 && s.rows != 0 && s.columns != 0) {
        points = u128{s.depth} * s.rows;
        points = points > (u128{1} << 64) ? points : points * s.columns;
    }
    const View in = matrix(type, points), out = matrix(type, points);
    no_overlap(part(in, points), part(out, points));
    const u64 steps = points == 0 ? side(4) : choices_.below(4);
    if (std::max({s.depth, s.rows, s.columns}) > buffer_bytes) may_fail();
    std::vector<f64> star(2 + choices_.below(4));
    for (f64& c : star)
        c = (static_cast<f64>(choices_.below(9)) - 4) / 8;
    const Options asked = options(stencil_algorithm);
    verify(
        type,
        [&] {
            concord::stencil(stream(), VolumeView{in, s.depth, s.rows, s.columns}, StarCoefficients(star),
                             VolumeView{out, s.depth, s.rows, s.columns}, steps, asked);
        },
        [&]<class T>(Bytes& to, T) {
            if (points == 0) return;
            std::vector<T> now(static_cast<u64>(points));
            for (u64 i = 0; i < now.size(); ++i)
                now[i] = load<T>(before(), in, i);
            for (u64 step = 0; step < steps; ++step)
                now = stepped(now, s, star);
            for (u64 i = 0; i < now.size(); ++i)
                store(to, out, i, now[i]);
        });
}

}  // namespace concord::fuzz
