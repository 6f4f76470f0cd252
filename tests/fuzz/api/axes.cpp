// Calls over axes of array views: reduce, argmin, scan and sort.
#include "../api.hpp"

namespace concord::fuzz {

FUZZ_CALLS(axes) {
    const Type type = any_type();
    fill(type);
    // Axes in the order of memory, some of them with gaps, reversed or repeated.
    NdExtents extents;
    NdStrides strides;
    const u64 rank = 1 + choices_.below(4), most = rank > 2 ? 5 : 12;
    for (u64 k = 0; k < rank; ++k) {
        extents.add(choices_.below(most));
        strides.add(0);
    }
    u64 step = 1, count = 1, origin = 0, size = 1;
    for (u64 k = 0, axis = choices_.below(rank); k < rank; ++k, axis = (axis + 1) % rank) {
        const auto a = static_cast<u32>(axis);
        if (choices_.one_in(6)) step *= 2;
        const u64 last = extents[a] == 0 ? 0 : extents[a] - 1;
        size *= extents[a];
        if (choices_.one_in(8)) continue;  // repeated
        const bool reversed = choices_.one_in(4);
        strides[a] = reversed ? -static_cast<i64>(step) : static_cast<i64>(step);
        origin += reversed ? last * step : 0;
        count += last * step;
        step *= last + 1;
    }
    const auto along = static_cast<u32>(choices_.below(rank));
    const i64 axis = choices_.one_in(2) ? along : static_cast<i64>(along) - static_cast<i64>(rank);
    const u64 n = extents[along], kind = choices_.below(4);
    u64 inner = 1, lines = 1;
    for (u32 k = 0; k < rank; ++k) {
        if (k != along) lines *= extents[k];
        if (k > along) inner *= extents[k];
    }
    const bool finds = kind == 1, combines = kind < 2;
    const Type to_type = finds ? Type::u64 : type;
    const View in = range(type, count), out = range(to_type, combines ? lines : size);
    // Views use the part of a range that they reach, which is empty if they have no elements.
    if (outcome_ == Outcome::refused || in.count != count || out.count != (combines ? lines : size))
        outcome_ = Outcome::either;
    if (finds && n == 0) outcome_ = Outcome::refused;
    View reached = in, written = out;
    reached.count = size == 0 ? 0 : count;
    written.count = combines ? lines : size;
    // Scan and sort may replace their input, which must be the very same array view then.
    if (combines) {
        no_overlap(reached, written);
    } else if (in_place(reached, written)) {
        outcome_ = Outcome::either;
    }
    NdExtents kept;
    for (u32 k = 0; k < rank; ++k) {
        if (k != along) kept.add(extents[k]);
    }
    const ReduceOp op = any_op(type);
    verify(
        type,
        [&] {
            const NdView from(in, extents, strides, origin), to(out, combines ? kept : extents);
            if (kind == 0) concord::reduce(stream(), from, to, op, axis);
            if (kind == 1) detail::arg_extremum(stream(), {{from}, to, axis}, nullptr, ReduceOp::min, {});
            if (kind == 2) concord::scan(stream(), from, to, op, axis);
            if (kind == 3) concord::sort(stream(), from, to, axis);
        },
        [&]<class T>(Bytes& to, T) {
            for (u64 line = 0; line < lines; ++line) {
                std::vector<T> x;
                for (u64 i = 0; i < n; ++i) {
                    u64 at = origin, rest = (line / inner * n + i) * inner + line % inner;
                    for (auto k = static_cast<u32>(rank); k-- > 0; rest /= extents[k])
                        at += rest % extents[k] * static_cast<u64>(strides[k]);
                    x.push_back(load<T>(before(), in, at));
                }
                if (finds) {
                    store<u64>(to, out, line,
                               static_cast<u64>(std::min_element(x.begin(), x.end()) - x.begin()));
                    continue;
                }
                if (kind == 3) std::sort(x.begin(), x.end());
                T result = identity_of<T>(op);
                for (u64 i = 0; i < n; ++i) {
                    result = wrapped(op, result, x[i]);
                    if (combines) continue;
                    store(to, out, (line / inner * n + i) * inner + line % inner, kind == 2 ? result : x[i]);
                }
                if (combines) store(to, out, line, result);
            }
        });
}

}  // namespace concord::fuzz
