// Checks of calls over one axis of array views.

#include <concord/internal/nd_lines.hpp>

#include <concord/internal/row.hpp>

namespace concord::detail {

bool same_elements_of(const NdView& a, const NdView& b) {
    bool same = a.range().buffer == b.range().buffer && a.range().offset == b.range().offset &&
                a.origin() == b.origin() && a.extents() == b.extents();
    for (u32 k = 0; same && k < a.rank(); ++k)
        same = a.extent(k) == 1 || a.stride(k) == b.stride(k);
    return same;
}

void check_lines(std::string_view call, const NamedNdView& in, const NamedNdView& out) {
    if (!(in.view.extents() == out.view.extents()))
        throw Error(ErrorCode::invalid_argument, call,
                    std::string(out.name) + " must have the extents of " + std::string(in.name) + ", " +
                        shape_name(in.view.extents()) + ", got " + shape_name(out.view.extents()));
    if (!out.view.is_unique())
        throw Error(ErrorCode::invalid_argument, call,
                    "indices of " + std::string(out.name) +
                        " may share elements; pass an array view whose strides keep them apart");
    if (!same_elements_of(in.view, out.view))
        check_overlap(call, {out.name, out.view.range()}, {in.name, in.view.range()});
}

void check_variant_of_axes(const Algorithm& algorithm, const Device& device, const Options& options,
                           std::string_view variant) {
    const auto is_named = [&](const Variant* other) { return other->name == options.variant; };
    if (options.variant != variant &&
        std::any_of(algorithm.variants.begin(), algorithm.variants.end(), is_named))
        throw_unsupported_variant(algorithm.name, options.variant, device,
                                  Support::no("does not support axes"), {std::string_view(variant)});
}

}  // namespace concord::detail
