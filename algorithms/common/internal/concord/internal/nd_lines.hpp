#pragma once
// The host side of calls over one axis of array views.

#include <concord/algorithm.hpp>
#include <concord/detail/nd_lines.hpp>
#include <concord/variant.hpp>

#include <algorithm>
#include <array>

namespace concord::detail {

// The lines along an axis of array views of equal extents. Operands that are null have strides of 0. The order of
// lines is free, so that neighbouring lines of operand 0 are near each other in memory.
template <u32 operands>
NdLines<operands> lines_along(u32 axis, const std::array<const NdView*, operands>& views) {
    struct Axis {
        u64 extent;
        std::array<i64, operands> stride;
    };
    const NdView& first = *views[0];
    NdLines<operands> s;
    s.lines = 1;
    s.n = first.extent(axis);
    std::array<Axis, max_rank> axes{};
    u32 count = 0;
    for (u32 o = 0; o < operands; ++o) {
        if (views[o] == nullptr) continue;
        s.at[o] = views[o]->origin();
        s.step[o] = views[o]->stride(axis);
    }
    for (u32 k = 0; k < first.rank(); ++k) {
        if (k == axis) continue;
        s.lines *= first.extent(k);
        if (first.extent(k) == 1) continue;
        Axis a{first.extent(k), {}};
        for (u32 o = 0; o < operands; ++o)
            a.stride[o] = views[o] == nullptr ? 0 : views[o]->stride(k);
        // Lines ascend in memory.
        if (a.stride[0] < 0 && a.extent > 0) {
            for (u32 o = 0; o < operands; ++o) {
                s.at[o] += (a.extent - 1) * static_cast<u64>(a.stride[o]);
                a.stride[o] = static_cast<i64>(u64{0} - static_cast<u64>(a.stride[o]));
            }
        }
        axes[count++] = a;
    }
    // Repeated lines are outermost.
    std::stable_sort(axes.begin(), axes.begin() + count, [](const Axis& a, const Axis& b) {
        return static_cast<u64>(a.stride[0]) - 1 > static_cast<u64>(b.stride[0]) - 1;
    });
    // Joins neighbouring axes that are one axis in memory.
    for (u32 k = 0; k < count; ++k) {
        const Axis& a = axes[k];
        bool joins = s.kept > 0;
        for (u32 o = 0; joins && o < operands; ++o)
            joins = static_cast<u64>(s.stride[o][s.kept - 1]) == static_cast<u64>(a.stride[o]) * a.extent;
        const u64 at = joins ? s.kept - 1 : s.kept++;
        s.extent[at] = joins ? s.extent[at] * a.extent : a.extent;
        for (u32 o = 0; o < operands; ++o)
            s.stride[o][at] = a.stride[o];
    }
    if (s.kept == 0) s.extent[s.kept++] = 1;
    return s;
}

template <u32 operands>
ValueBytes bytes_of(const NdLines<operands>& lines) {
    return {std::as_bytes(std::span(&lines, 1))};
}

// A view of an operand, with its name in messages.
struct NamedNdView {
    const char* name;
    const NdView& view;
};

// Throws invalid_argument unless the output has the extents of the input, no two of its indices share an element, and
// its range does not overlap that of the input, except in the very same array view.
void check_lines(std::string_view call, const NamedNdView& in, const NamedNdView& out);
// Whether two array views have the same elements at the same indices.
bool same_elements_of(const NdView& a, const NdView& b);

// Throws unsupported if the options name a variant of the algorithm that supports ranges only.
void check_variant_of_axes(const Algorithm& algorithm, const Device& device, const Options& options,
                           std::string_view variant);

}  // namespace concord::detail
