#include "convolve_table.hpp"

#include <concord/internal/shape.hpp>

#include <string>

namespace concord {
namespace detail {
namespace {

struct ConvolveRow : Variant {
    Required<Support(const Device&, const ConvolveProblem&)> supports;
    Required<void(Stream&, const ConvolveProblem&)> run;
};

constexpr char kirk[] = "D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2010, ch. 8";

constexpr ConvolveRow table[] = {
    {{"sliding",
      "several results a lane in registers, which slide down the image; a lane's taps are unrolled for the "
      "mask's shape "
      "(CPU: rows of vectors)",
      true, true, true, OperationOrder::canonical,
      "V. Volkov, Better performance at lower occupancy, GTC 2010"},
     supports_convolve_sliding,
     run_convolve_sliding},
    {{"tiled_halo", "tiles in local memory, with the cells around them that the mask reaches", true, true,
      false, OperationOrder::canonical, kirk},
     supports_convolve_tiled_halo,
     run_convolve_tiled_halo},
    {{"constant_mask", "one element a work-item, the mask in constant memory", true, true, false,
      OperationOrder::canonical, kirk},
     supports_convolve_constant_mask,
     run_convolve_constant_mask},
    {{"naive", "one element a work-item, image and mask in global memory", true, true, true,
      OperationOrder::canonical, "textbook"},
     supports_convolve_naive,
     run_convolve_naive},
    {{"serial", "one loop on one thread", false, false, true, OperationOrder::canonical, "textbook"},
     supports_convolve_serial,
     run_convolve_serial},
    {{"separable", "masks of rank one: a row of factors, then a column of factors; never chosen unasked",
      true, true, true, OperationOrder::variant_specific, "textbook"},
     supports_convolve_separable,
     run_convolve_separable},
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, "convolve", what);
}

std::string words(u64 rows, u64 columns) {
    return std::to_string(rows) + " x " + std::to_string(columns);
}

ConvolveProblem problem_of(Stream& stream, const View& in, const ConvolveMask& mask, const View& out,
                           const ConvolveShape& shape) {
    check_operand("convolve", "in", stream, in);
    check_operand("convolve", "out", stream, out);
    auto named = [](Type type) { return std::string(name_of(type)); };
    if (in.type != Type::u8 && !is_float(in.type))
        refuse("in is " + named(in.type) + "; images are u8, f32 or f64");
    const Type arithmetic = in.type == Type::f64 ? Type::f64 : Type::f32;
    if (mask.type != arithmetic)
        refuse("in is " + named(in.type) + ", the mask " + named(mask.type) + ", not " + named(arithmetic));
    if (out.type != arithmetic)
        refuse("in is " + named(in.type) + ", out " + named(out.type) + ", not " + named(arithmetic));
    auto is_side = [](u64 side) { return side % 2 != 0 && side <= convolve_longest_side; };
    if (!is_side(mask.rows) || !is_side(mask.columns))
        refuse("a mask of " + words(mask.rows, mask.columns) + ": its sides are odd numbers up to " +
               std::to_string(convolve_longest_side));
    if (mask.values == nullptr) refuse("the mask has no values");
    ConvolveProblem p{in, out, mask, shape};
    p.in = matrix_part("convolve", "in", in, shape.rows, shape.columns, p.shape.in_pitch);
    p.out = matrix_part("convolve", "out", out, shape.rows, shape.columns, p.shape.out_pitch);
    if (overlap(p.in, p.out))
        refuse("out, at byte " + std::to_string(out.offset) + ", overlaps in, at byte " +
               std::to_string(in.offset) + " of the same buffer");
    return p;
}

}  // namespace
}  // namespace detail

std::vector<const Variant*> convolve_variants() {
    std::vector<const Variant*> list;
    for (const detail::ConvolveRow& row : detail::table)
        list.push_back(&row);
    return list;
}

Enqueued convolve(Stream& stream, const View& in, const ConvolveMask& mask, const View& out,
                  const ConvolveShape& shape, const Options& options) {
    const detail::ConvolveProblem p = detail::problem_of(stream, in, mask, out, shape);
    const detail::ConvolveRow& row =
        detail::choose_tuned("convolve", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0) row.run(stream, p);
    return {row.name, &stream.device()};
}

}  // namespace concord
