#pragma once
// The lines of array views along an axis, for tests that compare calls over an axis with calls on each line.

#include "devices.hpp"

#include <cstring>

namespace concord::test {

// The positions of an array view's elements in its range, line by line.
inline std::vector<u64> line_positions(const NdView& t, i64 axis) {
    const auto along = static_cast<u32>(axis < 0 ? axis + t.rank() : axis);
    std::vector<u32> order;
    for (u32 k = 0; k < t.rank(); ++k) {
        if (k != along) order.push_back(k);
    }
    order.push_back(along);
    std::vector<u64> list;
    list.reserve(t.size());
    for (u64 i = 0; i < t.size(); ++i) {
        u64 at = t.origin(), rest = i;
        for (auto k = order.rbegin(); k != order.rend(); rest /= t.extent(*k), ++k)
            at += rest % t.extent(*k) * static_cast<u64>(t.stride(*k));
        list.push_back(at);
    }
    return list;
}

template <class T>
std::vector<T> read_range(Stream& stream, const View& view) {
    std::vector<T> values(view.count);
    if (view.count > 0) stream.read(values.data(), *view.buffer, view.offset, view.bytes());
    stream.synchronize();
    return values;
}

// The elements of an array view, line by line.
template <class T>
std::vector<T> read_lines(Stream& stream, const NdView& t, i64 axis) {
    const std::vector<T> memory = read_range<T>(stream, t.range());
    std::vector<T> lines;
    lines.reserve(t.size());
    for (const u64 at : line_positions(t, axis))
        lines.push_back(memory.at(at));
    return lines;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

inline std::string name_of_case(const NdView& t, i64 axis) {
    std::string text = detail::shape_name(t.extents()) + " strides";
    for (const i64 stride : t.strides())
        text += " " + std::to_string(stride);
    return text + " axis " + std::to_string(axis);
}

// The number of elements of a range that an array view does not reach.
inline u64 gaps(const NdView& t) {
    return t.range().count - t.size();
}

}  // namespace concord::test
