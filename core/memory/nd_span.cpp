#include <concord/nd_span.hpp>

#include <algorithm>

namespace concord {
namespace {

[[noreturn]] void refuse_nd(std::string_view call, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

// The distance that a stride spans, as an unsigned number. Also of the smallest i64.
u64 distance_of(i64 stride) {
    return stride < 0 ? u64{0} - static_cast<u64>(stride) : static_cast<u64>(stride);
}

NdStrides dense_strides(const NdExtents& extents) {
    NdStrides strides;
    for (u32 k = 0; k < extents.size(); ++k)
        strides.add(0);
    u64 stride = 1;
    for (u32 k = extents.size(); k-- > 0;) {
        strides[k] = static_cast<i64>(stride);
        // Of sizes that the constructor refuses the product may wrap.
        stride *= std::max<u64>(1, extents[k]);
    }
    return strides;
}

std::string strides_name(const NdStrides& strides) {
    std::string text;
    for (const i64 stride : strides)
        text.append(text.empty() ? "" : ", ").append(std::to_string(stride));
    return "(" + text + ")";
}

NdStrides matrix_strides(Layout layout, u64 pitch) {
    const auto line = static_cast<i64>(pitch);
    return layout == Layout::row_major ? NdStrides{line, 1} : NdStrides{1, line};
}

NdView tensor_of(const MatrixView& matrix) {
    const MatrixView m = detail::checked_matrix("NdView", "matrix", matrix);
    return {m.range, {m.rows, m.columns}, matrix_strides(m.layout, m.pitch)};
}

NdView tensor_of(const VolumeView& volume) {
    const VolumeView v = detail::checked_volume("NdView", "volume", volume);
    const NdStrides plane = matrix_strides(v.layout, v.pitch);
    return {v.range, {v.depth, v.rows, v.columns}, {static_cast<i64>(v.plane_pitch), plane[0], plane[1]}};
}

}  // namespace

void detail::refuse_rank(u64 count) {
    refuse_nd("NdSpan", "too many axes, got " + std::to_string(count) + "; at most " +
                            std::to_string(max_rank) + " are supported");
}

void detail::refuse_extent(i64 extent) {
    refuse_nd("NdSpan", "negative extent, got " + std::to_string(extent));
}

std::string detail::shape_name(const NdExtents& extents) {
    if (extents.size() == 0) return "()";
    std::string text;
    for (const u64 extent : extents)
        text.append(text.empty() ? "" : " x ").append(std::to_string(extent));
    return text;
}

u32 detail::axis_of(std::string_view call, i64 axis, u32 rank) {
    const i64 all = rank, from_front = axis < 0 ? axis + all : axis;
    if (from_front >= 0 && from_front < all) return static_cast<u32>(from_front);
    std::string what = "axis out of range, got " + std::to_string(axis) + "; the array view has rank " +
                       std::to_string(rank);
    if (rank > 0) what += ", axes " + std::to_string(-all) + " to " + std::to_string(all - 1);
    refuse_nd(call, what);
}

Axes detail::sorted_axes(std::string_view call, const Axes& axes, u32 rank) {
    std::array<bool, max_rank> is_named{};
    for (const i64 axis : axes) {
        const u32 k = axis_of(call, axis, rank);
        if (is_named[k])
            refuse_nd(call, "repeated axis, got " + std::to_string(axis) +
                                (axis < 0 ? " (axis " + std::to_string(k) + ")" : "") +
                                "; name each axis once");
        is_named[k] = true;
    }
    Axes sorted;
    for (u32 k = 0; k < rank; ++k) {
        if (is_named[k]) sorted.add(k);
    }
    return sorted;
}

NdView::NdView(const View& range, const NdExtents& extents)
    : NdView(range, extents, dense_strides(extents)) {}

NdView::NdView(const View& range, const NdExtents& extents, const NdStrides& strides, u64 origin)
    : range_(range), extents_(extents), strides_(strides) {
    using detail::CheckedSize;
    const u32 axes = extents.size();
    if (strides.size() != axes)
        refuse_nd("NdSpan", "extents and strides differ in number, got " + std::to_string(axes) +
                                " extents and " + std::to_string(strides.size()) + " strides");
    auto what = [&] { return "array of " + detail::shape_name(extents); };
    CheckedSize size = 1;
    for (const u64 extent : extents)
        size = size * extent;
    if (std::any_of(extents.begin(), extents.end(), [](u64 extent) { return extent == 0; })) size = 0;
    if (!size.fits(detail::max_bytes)) refuse_nd("NdSpan", what() + " exceeds 2^60 elements");
    size_ = size.value();
    if (size_ == 0) {
        range_ = range.part(0, 0);
        return;
    }
    // How far elements lie before and behind element (0, ..., 0).
    CheckedSize before = 0, behind = 0;
    for (u32 k = 0; k < axes; ++k) {
        CheckedSize& side = strides[k] < 0 ? before : behind;
        side = side + CheckedSize(extents[k] - 1) * distance_of(strides[k]);
    }
    auto with = [&] {
        const bool is_dense = strides == dense_strides(extents);
        std::string text = what();
        if (!is_dense) text += " with strides " + strides_name(strides);
        if (origin != 0) text += (is_dense ? " with origin " : " and origin ") + std::to_string(origin);
        return text;
    };
    if (!before.fits(detail::max_bytes) || !behind.fits(detail::max_bytes))
        refuse_nd("NdSpan", with() + " exceeds 2^60 elements");
    if (before.value() > origin)
        refuse_nd("NdSpan", with() + " begins before its range; needs an origin of at least " +
                                std::to_string(before.value()) + ", got " + std::to_string(origin));
    const CheckedSize end = CheckedSize(origin) + behind + 1;
    if (!end.fits(range.count))
        refuse_nd("NdSpan", with() + " needs " +
                                (end.fits() ? std::to_string(end.value()) : "more than 2^64") +
                                " elements, got a range of " + std::to_string(range.count));
    range_ = range.part(origin - before.value(), before.value() + behind.value() + 1);
    origin_ = before.value();
}

NdView::NdView(const MatrixView& matrix) : NdView(tensor_of(matrix)) {}

NdView::NdView(const VolumeView& volume) : NdView(tensor_of(volume)) {}

bool NdView::is_contiguous() const {
    if (size_ == 0) return true;
    u64 dense = 1;
    for (u32 k = rank(); k-- > 0;) {
        if (extents_[k] == 1) continue;
        if (strides_[k] != static_cast<i64>(dense)) return false;
        dense *= extents_[k];
    }
    return true;
}

bool NdView::is_unique() const {
    if (size_ <= 1) return true;
    // Each stride must exceed what all axes with smaller strides span together.
    struct Axis {
        u64 distance, extent;
    };
    std::array<Axis, max_rank> axes{};
    u32 count = 0;
    for (u32 k = 0; k < rank(); ++k) {
        if (extents_[k] == 1) continue;
        const Axis axis{distance_of(strides_[k]), extents_[k]};
        u32 place = count++;
        for (; place > 0 && axis.distance < axes[place - 1].distance; --place)
            axes[place] = axes[place - 1];
        axes[place] = axis;
    }
    u64 span = 0;
    for (u32 k = 0; k < count; ++k) {
        if (axes[k].distance <= span) return false;
        span += axes[k].distance * (axes[k].extent - 1);
    }
    return true;
}

NdView NdView::permuted(const Axes& axes) const {
    if (axes.size() != rank())
        refuse_nd("NdSpan::permuted", "expected each axis once, got " + std::to_string(axes.size()) +
                                          " axes; the array view has rank " + std::to_string(rank()));
    (void)detail::sorted_axes("NdSpan::permuted", axes, rank());
    NdView result = *this;
    for (u32 k = 0; k < rank(); ++k) {
        const u32 from = detail::axis_of("NdSpan::permuted", axes[k], rank());
        result.extents_[k] = extents_[from];
        result.strides_[k] = strides_[from];
    }
    return result;
}

NdView NdView::transposed() const {
    Axes axes;
    for (u32 k = rank(); k-- > 0;)
        axes.add(k);
    return permuted(axes);
}

NdView NdView::reversed(i64 axis) const {
    const u32 k = detail::axis_of("NdSpan::reversed", axis, rank());
    NdView result = *this;
    // The distance between the first and the last index lies within the range.
    if (size_ > 0) result.origin_ += (extents_[k] - 1) * static_cast<u64>(strides_[k]);
    // Of extent 1 the stride has no meaning, and may be the smallest i64, which has no negative.
    result.strides_[k] = static_cast<i64>(u64{0} - static_cast<u64>(strides_[k]));
    return result;
}

NdView NdView::part(i64 axis, u64 first, u64 count) const {
    const u32 k = detail::axis_of("NdSpan::part", axis, rank());
    if (first > extents_[k] || count > extents_[k] - first)
        refuse_nd("NdSpan::part", "indices out of range, got [" + std::to_string(first) + ", " +
                                      std::to_string(first) + " + " + std::to_string(count) + "); axis " +
                                      std::to_string(k) + " has " + std::to_string(extents_[k]));
    NdExtents extents = extents_;
    extents[k] = count;
    const u64 begin = count == 0 || size_ == 0 ? 0 : origin_ + first * static_cast<u64>(strides_[k]);
    return {range_, extents, strides_, begin};
}

NdView NdView::broadcast(const NdExtents& extents) const {
    const u32 missing = extents.size() - std::min(rank(), extents.size());
    const auto refuse = [&] {
        refuse_nd("NdSpan::broadcast", "array of " + detail::shape_name(extents_) +
                                           " does not broadcast to the extents, got " +
                                           detail::shape_name(extents) +
                                           "; axes aligned at the last one must be equal, 1 or missing");
    };
    if (rank() > extents.size()) refuse();
    NdStrides strides;
    for (u32 k = 0; k < extents.size(); ++k) {
        const bool is_given = k >= missing;
        if (is_given && extents_[k - missing] == extents[k]) {
            strides.add(strides_[k - missing]);
            continue;
        }
        if (is_given && extents_[k - missing] != 1) refuse();
        strides.add(0);
    }
    return {range_, extents, strides, origin_};
}

}  // namespace concord
