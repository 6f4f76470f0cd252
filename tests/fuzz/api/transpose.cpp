// Calls of transpose.
#include "../api.hpp"

#include <algorithm>

namespace concord::fuzz {

FUZZ_CALLS(transpose) {
    const Type type = any_type();
    fill();
    struct Shape {
        u64 rows, columns, in_pitch, out_pitch;
    } shape{};
    shape.rows = side(40);
    shape.columns = choices_.one_in(4) ? shape.rows : side(40);
    const Rows from = rows(shape.rows, shape.columns), to_rows = rows(shape.columns, shape.rows);
    shape.in_pitch = from.given;
    shape.out_pitch = to_rows.given;
    const View in = matrix(type, from.extent);
    View out = choices_.one_in(6) ? in : matrix(type, to_rows.extent);
    if (to_rows.extent > out.count) outcome_ = Outcome::refused;
    if (in_place({part(in, from.extent), shape.rows, shape.columns, from.pitch},
                 {part(out, to_rows.extent), shape.columns, shape.rows, to_rows.pitch})) {
        const bool square = shape.rows == shape.columns && from.pitch == to_rows.pitch;
        square ? may_fail() : void(outcome_ = Outcome::refused);
    }
    if (std::max(shape.rows, shape.columns) > buffer_bytes) may_fail();  // an empty matrix of many tiles
    const Options asked = options(transpose_algorithm);
    machine_.run(
        outcome_,
        [&] {
            concord::transpose(stream(), MatrixView{in, shape.rows, shape.columns, shape.in_pitch},
                               MatrixView{out, shape.columns, shape.rows, shape.out_pitch}, asked);
        },
        [&](Bytes& to) {
            if (from.extent == 0) return;
            const u64 size = size_of(type);
            for (u64 r = 0; r < shape.rows; ++r) {
                for (u64 c = 0; c < shape.columns; ++c)
                    std::memcpy(to.data() + out.offset + (c * to_rows.pitch + r) * size,
                                before().data() + in.offset + (r * from.pitch + c) * size, size);
            }
        });
}

}  // namespace concord::fuzz
