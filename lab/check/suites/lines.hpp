#pragma once
// Shapes of the test cases of calls over one axis of array views: ranks 1 to 5, strides, offsets and empty axes.

#include <concord/lab/compare.hpp>
#include <concord/lab/work.hpp>

#include <concord/nd_span.hpp>

#include <vector>

namespace concord::lab {

// How the elements of an array view lie in a range.
enum class Layout {
    dense,
    transposed,  // the first axis fastest
    reversed,    // the first and the last axis from their ends
    part         // with elements between lines of the last axis, before and after
};

// A shape of about n elements, an axis, and the layouts of input and output.
struct LinesCase {
    const char* title;
    std::vector<u64> extents;  // 0: what is left of n
    i64 axis;
    Layout in = Layout::dense, out = Layout::dense;
};

// Short and long lines of adjacent elements, lines that are adjacent to each other, and other strides. One element makes
// views without lines, and views of lines without elements.
inline const std::vector<LinesCase>& lines_cases() {
    static const std::vector<LinesCase> all{
        {"one line", {0}, 0},
        {"rows of 17", {0, 17}, -1},
        {"three rows", {3, 0}, 1, Layout::reversed, Layout::reversed},
        {"columns of 40", {40, 0}, 0},
        {"axis 1 of 3", {0, 150, 8}, 1},
        {"axis 1 of 3 of a part", {3, 0, 7}, -2, Layout::part},
        {"axis 2 of 4, transposed", {2, 5, 0, 3}, 2, Layout::transposed, Layout::dense},
        {"axis 0 of 5, reversed", {0, 3, 2, 4, 2}, 0, Layout::reversed, Layout::transposed},
    };
    return all;
}

// The elements of a case for n elements.
class LinesShape {
  public:
    LinesShape(const LinesCase& of, u64 n) : of_(of) {
        u64 known = 1;
        for (const u64 extent : of.extents)
            known *= std::max<u64>(extent, 1);
        for (const u64 extent : of.extents)
            extents_.add(extent == 0 ? n / known : extent);
        axis_ = static_cast<u32>(of.axis < 0 ? of.axis + extents_.size() : of.axis);
    }
    const NdExtents& extents() const { return extents_; }
    i64 axis() const { return of_.axis; }
    // Elements of the view, and of its lines.
    u64 size() const { return product_of(extents_); }
    u64 length() const { return extents_[axis_]; }
    u64 lines() const { return length() == 0 ? 0 : size() / length(); }
    // Elements of the range of the input.
    u64 memory() const { return product_of(memory_of(of_.in)); }
    // Whether the output may be the input.
    bool in_place() const { return of_.in == of_.out && of_.in != Layout::part; }

    NdView in(const View& range) const { return view(of_.in, range); }
    NdView out(const View& range) const { return view(of_.out, range); }
    // The number in its range of element i of a line of the input, or of the output.
    u64 in_place_of(u64 line, u64 i) const { return place(of_.in, line, i); }
    u64 out_place_of(u64 line, u64 i) const { return place(of_.out, line, i); }

  private:
    static u64 product_of(const NdExtents& extents) {
        u64 size = 1;
        for (const u64 extent : extents)
            size *= extent;
        return size;
    }
    NdExtents memory_of(Layout layout) const {
        NdExtents memory;
        for (u32 k = 0; k < extents_.size(); ++k)
            memory.add(extents_[layout == Layout::transposed ? extents_.size() - 1 - k : k] +
                       (layout == Layout::part && k + 1 == extents_.size() ? 5 : 0));
        return memory;
    }
    NdView view(Layout layout, const View& range) const {
        const NdView all(range, memory_of(layout));
        switch (layout) {
            case Layout::transposed:
                return all.transposed();
            case Layout::reversed:
                return extents_.size() == 1 ? all.reversed(0) : all.reversed(0).reversed(-1);
            case Layout::part:
                return all.part(-1, 2, extents_[extents_.size() - 1]);
            case Layout::dense:
                break;
        }
        return all;
    }
    // Not by the view, whose strides it verifies.
    u64 place(Layout layout, u64 line, u64 i) const {
        const u32 rank = extents_.size();
        std::vector<u64> index(rank);
        for (u32 k = rank; k-- > 0;) {
            if (k == axis_) continue;
            index[k] = line % extents_[k];
            line /= extents_[k];
        }
        index[axis_] = i;
        u64 at = 0;
        for (u32 j = 0; j < rank; ++j) {
            const u32 k = layout == Layout::transposed ? rank - 1 - j : j;
            u64 here = index[k];
            if (layout == Layout::reversed && (k == 0 || k == rank - 1)) here = extents_[k] - 1 - here;
            at = at * (extents_[k] + (layout == Layout::part && k == rank - 1 ? 5 : 0)) + here;
        }
        return at + (layout == Layout::part ? 2 : 0);
    }

    LinesCase of_;
    NdExtents extents_;
    u32 axis_ = 0;
};

// The variant of calls over an axis, which is not in the descriptors of their algorithms.
inline constexpr Variant lines_variant{.name = "lines",
                                       .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                                       .order = OperationOrder::canonical,
                                       .stable = true};

}  // namespace concord::lab
