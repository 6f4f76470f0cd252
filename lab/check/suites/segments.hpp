#pragma once
// Generated segments of an input.

#include <concord/lab/input.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace concord::lab {

// Offsets that ascend from 0 or more to n or less. Each depends on its index alone.
class Segments {
  public:
    enum class Kind {
        equal,   // of `length` elements
        around,  // of 1 to 2 `length` elements
        empty,   // two of three have none
        giant,   // one among many short ones
        power,   // longer and longer, the first ones without elements
        inner    // elements before the first segment and behind the last one
    };
    struct Shape {
        Kind kind;
        u64 length;  // mean number of elements
        Type offset_type;
        bool is_first = false;
    };

    Segments(const Shape& shape, u64 n) : shape_(shape), n_(n) {
        // Also without elements there are segments.
        count_ = shape.kind == Kind::inner ? n / (2 * shape.length) : (n + shape.length - 1) / shape.length;
        if (n == 0) count_ = shape.length % 3;
    }

    u64 count() const { return count_; }
    std::string name() const {
        constexpr const char* names[] = {"segments of ",
                                         "segments around ",
                                         "mostly empty segments of ",
                                         "one long segment among ",
                                         "power-law segments around ",
                                         "inner segments of "};
        return names[static_cast<std::size_t>(shape_.kind)] + std::to_string(shape_.length);
    }
    u64 offset(u64 s) const {
        const u64 length = shape_.length;
        switch (shape_.kind) {
            case Kind::equal:
                return std::min(s * length, n_);
            case Kind::around:
                return s == 0 ? 0 : s == count_ ? n_ : std::min(s * length + random_bits(7, s) % length, n_);
            case Kind::empty:
                return s == count_ ? n_ : std::min(s / 3 * 3 * length, n_);
            case Kind::giant: {
                // Half of the segments have 5 elements or less and come first, the others last.
                const u64 few = std::min<u64>(5, n_ / (2 * count_ + 1));
                return s <= count_ / 2 ? s * few : n_ - (count_ - s) * few;
            }
            case Kind::power: {
                const double x = static_cast<double>(s) / static_cast<double>(count_);
                return s == count_ ? n_ : static_cast<u64>(x * x * x * x * static_cast<double>(n_));
            }
            default:
                return std::min(n_ / 4 + s * length, n_);
        }
    }
    Input offsets() const {
        Input input{shape_.offset_type, count_ + 1, Pattern::sorted, n_};
        input.custom = [self = *this](u64 s, u64 /*bits*/) { return self.offset(s); };
        return input;
    }

  private:
    Shape shape_;
    u64 n_, count_ = 0;
};

// Shapes that together use every path of the kernels.
inline const std::vector<Segments::Shape>& segment_shapes() {
    using Kind = Segments::Kind;
    static const std::vector<Segments::Shape> all{
        {Kind::around, 40, Type::u32, true}, {Kind::equal, 17, Type::i64},   {Kind::equal, 1, Type::u32},
        {Kind::empty, 3, Type::u64},         {Kind::around, 700, Type::i32}, {Kind::equal, 5000, Type::u64},
        {Kind::giant, 300, Type::u32},       {Kind::power, 60, Type::u64},   {Kind::inner, 130, Type::i32},
    };
    return all;
}

}  // namespace concord::lab
