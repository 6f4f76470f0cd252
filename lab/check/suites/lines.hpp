#pragma once
// Array views of test cases: ranks 1 to 5, strides, offsets and empty axes; and the shapes of calls over one axis.

#include <concord/internal/language.hpp>
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

// The extents of an array view, where 0 is what is left of n elements.
inline NdExtents extents_for(const std::vector<u64>& extents, u64 n) {
    u64 known = 1;
    for (const u64 extent : extents)
        known *= std::max<u64>(extent, 1);
    NdExtents all;
    for (const u64 extent : extents)
        all.add(extent == 0 ? n / known : extent);
    return all;
}

// Extents in a layout.
class LaidOut {
  public:
    LaidOut(const NdExtents& extents, Layout layout) : extents_(extents), layout_(layout) {}
    const NdExtents& extents() const { return extents_; }
    Layout layout() const { return layout_; }
    u32 rank() const { return extents_.size(); }
    // Elements of the view, and of its range.
    u64 size() const { return product_of(extents_); }
    u64 memory() const { return product_of(in_memory()); }
    NdView view(const View& range) const {
        const NdView all(range, in_memory());
        switch (layout_) {
            case Layout::transposed:
                return all.transposed();
            case Layout::reversed:
                return rank() == 1 ? all.reversed(0) : all.reversed(0).reversed(-1);
            case Layout::part:
                return all.part(-1, before, extents_[rank() - 1]);
            case Layout::dense:
                break;
        }
        return all;
    }
    // The number in its range of the element at an index. Not by the view, whose strides it verifies.
    u64 place(const std::vector<u64>& index) const {
        u64 at = 0;
        for (u32 j = 0; j < rank(); ++j) {
            const u32 k = layout_ == Layout::transposed ? rank() - 1 - j : j;
            const bool turns = layout_ == Layout::reversed && (k == 0 || k + 1 == rank());
            at = at * in_memory()[j] + (turns ? extents_[k] - 1 - index[k] : index[k]);
        }
        return at + (layout_ == Layout::part ? before : 0);
    }

  private:
    static constexpr u64 before = 2, gap = 5;  // of a part
    static u64 product_of(const NdExtents& extents) {
        u64 product = 1;
        for (const u64 extent : extents)
            product *= extent;
        return product;
    }
    NdExtents in_memory() const {
        NdExtents memory;
        for (u32 k = 0; k < rank(); ++k)
            memory.add(layout_ == Layout::transposed                ? extents_[rank() - 1 - k]
                       : layout_ == Layout::part && k + 1 == rank() ? extents_[k] + gap
                                                                    : extents_[k]);
        return memory;
    }

    NdExtents extents_;
    Layout layout_;
};

// The index of element i of an array in row-major order.
inline std::vector<u64> index_at(const NdExtents& extents, u64 i) {
    std::vector<u64> index(extents.size());
    for (u32 k = extents.size(); k-- > 0; i /= extents[k])
        index[k] = i % extents[k];
    return index;
}

// A shape of about n elements, an axis, and the layouts of input and output.
struct LinesCase {
    const char* title;
    std::vector<u64> extents;  // see extents_for()
    i64 axis;
    Layout in = Layout::dense, out = Layout::dense;
};

// Short and long lines of adjacent elements, lines that are adjacent to each other, and other strides. One element
// makes views without lines, and views of lines without elements.
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
    LinesShape(const LinesCase& of, u64 n)
        : in_(extents_for(of.extents, n), of.in), out_(in_.extents(), of.out), axis_(of.axis) {}
    const LaidOut& in() const { return in_; }
    const LaidOut& out() const { return out_; }
    i64 axis() const { return axis_; }
    u64 length() const { return in_.extents()[along()]; }
    u64 lines() const { return length() == 0 ? 0 : in_.size() / length(); }
    // Whether the output may be the input.
    bool in_place() const { return in_.layout() == out_.layout() && in_.layout() != Layout::part; }
    // The index of element i of a line.
    std::vector<u64> index(u64 line, u64 i) const {
        NdExtents kept = in_.extents();
        kept[along()] = 1;
        std::vector<u64> index = index_at(kept, line);
        index[along()] = i;
        return index;
    }

  private:
    u32 along() const { return static_cast<u32>(axis_ < 0 ? axis_ + in_.rank() : axis_); }

    LaidOut in_, out_;
    i64 axis_;
};

// Throws unless the call is refused because its output overlaps its input.
template <class F>
void check_refused(const char* call, const F& f) {
    try {
        f();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument) return;
        throw;
    }
    throw Error(ErrorCode::device_failed, call, "accepts an output that overlaps its input");
}

// The variant of calls over an axis, which is not in the descriptors of their algorithms.
inline constexpr Variant lines_variant{
    .name = "lines", .dialects = detail::all_languages(), .order = OperationOrder::canonical, .stable = true};

}  // namespace concord::lab
