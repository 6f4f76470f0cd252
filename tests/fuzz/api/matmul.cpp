// Calls of matmul.
#include "../api.hpp"

#include <algorithm>
#include <vector>

namespace concord::fuzz {

FUZZ_CALLS(matmul) {
    const Type type = any_float();
    fill(type);
    const u64 m = side(12), n = side(20), k = side(20), batch = choices_.one_in(2) ? 1 : side(4);
    const MatmulScale scale{static_cast<f64>(choices_.below(4)) - 1, static_cast<f64>(choices_.below(3)) - 1};
    struct Operand {
        Layout layout = Layout::row_major;
        Rows lines;
        u64 stride = 0;
        u128 extent = 0;
        VolumeView view = {};

        Lines elements() const {
            const bool is_row_major = layout == Layout::row_major;
            return {part(view.range, extent), is_row_major ? view.rows : view.columns,
                    is_row_major ? view.columns : view.rows, lines.pitch, view.depth != 1};
        }
        u64 at(u64 plane, u64 row, u64 column) const {
            const bool is_row_major = layout == Layout::row_major;
            return plane * stride + (is_row_major ? row : column) * lines.pitch +
                   (is_row_major ? column : row);
        }
    };
    auto operand = [&](u64 height, u64 columns, bool is_output) {
        Operand o;
        const bool is_row_major = choices_.one_in(2), is_shared = !is_output && choices_.one_in(4);
        o.layout = is_row_major ? Layout::row_major : Layout::column_major;
        o.lines = is_row_major ? rows(height, columns) : rows(columns, height);
        const u64 depth = is_shared ? 1 : batch;
        const u128 dense = u128{is_row_major ? height : columns} * o.lines.pitch;
        u64 stride = 0;  // dense
        if (choices_.one_in(2))
            stride = is_output ? static_cast<u64>(o.lines.extent) + choices_.below(4) : choices_.below(60);
        if (choices_.one_in(64)) stride = choices_.huge();
        const u128 distance = stride == 0 ? dense : u128{stride};
        if (is_output && batch > 1 && distance < o.lines.extent) outcome_ = Outcome::refused;
        o.stride = is_shared ? 0 : static_cast<u64>(distance);
        // Saturated: the product may exceed 128 bits.
        const bool beyond = depth > 1 && distance > (u128{1} << 64) / depth;
        if (o.lines.extent != 0 && depth != 0)
            o.extent = beyond ? ~u128{0} : u128{depth - 1} * distance + o.lines.extent;
        o.view = {matrix(type, o.extent), depth, height, columns, o.lines.given, stride, o.layout};
        return o;
    };
    const Operand a = operand(m, k, false), b = operand(k, n, false), c = operand(m, n, true);
    if (k != 0) {
        no_overlap(a.elements(), c.elements());
        no_overlap(b.elements(), c.elements());
    }
    if (std::max({m, n, k, batch}) > buffer_bytes) may_fail();  // empty matrices of many tiles
    const Options asked = options(matmul_algorithm);
    verify(
        type, [&] { concord::matmul(stream(), a.view, b.view, c.view, scale, asked); },
        [&]<class T>(Bytes& to, T) {
            if (c.extent == 0) return;
            const T alpha = static_cast<T>(scale.alpha), beta = static_cast<T>(scale.beta);
            for (u64 q = 0; q < batch; ++q) {
                for (u64 i = 0; i < m; ++i) {
                    for (u64 j = 0; j < n; ++j) {
                        std::vector<T> parts;
                        const u64 length = canonical_part(m, n, k);
                        for (u64 first = 0; first == 0 || first < k; first += length) {
                            T t = 0;
                            for (u64 l = first; l < k && l - first < length; ++l)
                                t = std::fma(load<T>(before(), a.view.range, a.at(q, i, l)),
                                             load<T>(before(), b.view.range, b.at(q, l, j)), t);
                            parts.push_back(t);
                            if (length == 0) break;
                        }
                        // The sums of neighbours, until one is left.
                        for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2)) {
                            for (std::size_t s = 0; s < parts.size(); s += 2)
                                parts[s / 2] = s + 1 < parts.size() ? parts[s] + parts[s + 1] : parts[s];
                        }
                        T t = parts.front();
                        const u64 at = c.at(q, i, j);
                        t = beta == 0 ? alpha * t
                                      : std::fma(alpha, t, beta * load<T>(before(), c.view.range, at));
                        store(to, c.view.range, at, t);
                    }
                }
            }
        });
}

}  // namespace concord::fuzz
