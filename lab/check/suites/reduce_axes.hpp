#pragma once
// Test cases of reduce over axes: each line is bitwise identical to the reference on its elements.

#include <concord/lab/internal/reduce_reference.hpp>

#include <concord/lab/compare.hpp>
#include <concord/lab/suite.hpp>

#include <concord/internal/once.hpp>
#include <concord/reduce_axes.hpp>

namespace concord::lab {

// A shape of n elements at most, and the axes to reduce.
struct AxesCase {
    const char* title;
    std::array<u64, 3> extents;  // 0: what is left of n
    Axes axes;
    bool reversed = false;  // both outer axes
    bool squares = false;   // sums of squares, which the kernel computes
};

// Short and long lines of adjacent elements, lines that are adjacent to each other, and several axes.
inline const std::vector<AxesCase>& axes_cases() {
    static const std::vector<AxesCase> all{
        {"rows of 17", {1, 0, 17}, {2}},
        {"rows of 130", {1, 0, 130}, {-1}},
        {"three rows", {1, 3, 0}, {2}, true},
        {"columns of 40", {1, 40, 0}, {1}},
        {"columns of many elements", {1, 0, 36}, {1}},
        {"axis 1 of 3", {0, 150, 8}, {1}, true},
        {"axes 0 and 2", {0, 5, 12}, {0, 2}},
        {"squares of rows of 24", {1, 0, 24}, {2}, false, true},
        {"squares of columns", {1, 0, 64}, {1}, false, true},
    };
    return all;
}

template <class T>
class AxesReference {
  public:
    AxesReference(const AxesCase& of, ReduceOp op, const Input& input) : of_(of), op_(op), input_(input) {
        u64 known = 1;
        for (const u64 extent : of.extents)
            known *= std::max<u64>(extent, 1);
        for (const u64 extent : of.extents)
            extents_.add(extent == 0 ? input.count / known : extent);
        for (u32 k = 0; k < 3; ++k) {
            const bool is_reduced =
                std::any_of(of.axes.begin(), of.axes.end(), [&](i64 axis) { return (axis + 3) % 3 == k; });
            if (!is_reduced) lines_ *= extents_[k];
        }
    }
    u64 lines() const { return lines_; }
    NdView view(const View& range) const {
        const NdView all(range.part(0, extents_[0] * extents_[1] * extents_[2]), extents_);
        return of_.reversed ? all.reversed(0).reversed(1) : all;
    }
    // The results, in plain loops.
    const std::vector<T>& results() {
        once_.call([&] {
            std::vector<std::byte> scratch;
            const auto bytes = input_.piece(0, input_.count, scratch);
            std::vector<std::vector<T>> lines(lines_);
            for (u64 i = 0; i < extents_[0]; ++i) {
                for (u64 j = 0; j < extents_[1]; ++j) {
                    for (u64 k = 0; k < extents_[2]; ++k)
                        lines[line_of({i, j, k})].push_back(element_at(bytes, i, j, k));
                }
            }
            for (const std::vector<T>& line : lines)
                results_.push_back(with_reference<T>(op_, [&](auto f) {
                    return as_computed(reference_reduce<T>(line, identity_of<T>(op_), f));
                }));
        });
        return results_;
    }
    Enqueued call(Stream& stream, const View& in, const View& out, const Options& options) const {
        const NdSpan<const T> from(view(in));
        const Span<T> to(out);
        return of_.squares ? reduce(stream, transform(MapFunction::square, from), to, op_, of_.axes, options)
                           : reduce(stream, from, to, op_, of_.axes, options);
    }

  private:
    T element_at(std::span<const std::byte> bytes, u64 i, u64 j, u64 k) const {
        if (of_.reversed) {
            i = extents_[0] - 1 - i;
            j = extents_[1] - 1 - j;
        }
        const T x = element<T>(bytes, (i * extents_[1] + j) * extents_[2] + k);
        return of_.squares ? as_computed(reference(ReduceOp::product, x, x)) : x;
    }
    u64 line_of(const std::array<u64, 3>& index) const {
        u64 line = 0;
        for (u32 k = 0; k < 3; ++k) {
            const bool is_reduced =
                std::any_of(of_.axes.begin(), of_.axes.end(), [&](i64 axis) { return (axis + 3) % 3 == k; });
            if (!is_reduced) line = line * extents_[k] + index[k];
        }
        return line;
    }

    const AxesCase& of_;
    ReduceOp op_;
    Input input_;
    NdExtents extents_;
    u64 lines_ = 1;
    detail::Once once_;
    std::vector<T> results_;
};

template <class T>
Work axes_work(const AxesCase& of, ReduceOp op, const Input& input) {
    const auto reference = std::make_shared<AxesReference<T>>(of, op, input);
    Work work;
    work.algorithm = "reduce";
    work.title = std::string(name_of(op)) + " of " + of.title;
    work.inputs = {input};
    work.n = input.count;
    work.outputs = {{type_of<T>(), reference->lines()}};
    work.traffic = input.bytes();
    work.in_place = false;
    work.minor = true;
    work.verify = [reference](const Variant& /*variant*/, std::size_t, u64 first,
                              std::span<const std::byte> got, Verdict& verdict) {
        const std::vector<T>& expected = reference->results();
        for (u64 i = 0; i < got.size() / sizeof(T); ++i) {
            const T value = element<T>(got, i);
            if (!same(expected[first + i], value))
                verdict.differ(difference_of(first + i, expected[first + i], value));
        }
    };
    work.call = [reference](Stream& stream, std::span<const View> in, std::span<const View> out,
                            const Options& options) {
        return reference->call(stream, in[0], out[0], options);
    };
    return work;
}

}  // namespace concord::lab
