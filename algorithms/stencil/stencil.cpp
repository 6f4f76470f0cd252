#include "stencil_variants.hpp"

#include <concord/internal/shape.hpp>

#include <algorithm>
#include <string>

namespace concord {

StarCoefficients::StarCoefficients(std::span<const f64> values) {
    if (values.size() < 2 || values.size() > max_count)
        throw Error(
            ErrorCode::invalid_argument, "stencil",
            "a star of radius 1 to 8 needs 2 to 9 coefficients, got " + std::to_string(values.size()));
    std::copy(values.begin(), values.end(), values_.begin());
    radius_ = static_cast<u32>(values.size()) - 1;
}

namespace detail {

std::shared_ptr<Kernel> stencil_kernel(Device& device, const StencilProblem& p, const KernelSource& source,
                                       const char* entry, u32 group_size, const Constants& constants) {
    KernelSpec spec{.source = &source,
                    .entry = entry,
                    .constants = {{"T", p.type()}, {"RADIUS", p.radius()}},
                    .max_group_size = group_size};
    spec.constants.append(constants);
    if (p.exchange != nullptr) spec.constants.push_back({"EXCHANGES", 1});
    return device.kernel(spec);
}

namespace {

// --- Variants -----------------------------------------------------------------------------------------------------

constexpr char micikevicius[] = "P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009";

constexpr Implementation<StencilProblem> tiled{.run = run_stencil_tiled, .supports = supports_stencil_planes};
constexpr Implementation<StencilProblem> naive{.run = run_stencil_naive, .supports = supports_stencil_planes};

// For variants whose kernels do not exchange halos.
Support without_exchange(const Variant& /*variant*/, const StencilProblem& p) {
    return p.exchange == nullptr ? Support{} : Support::no("does not exchange halos with other devices");
}

constexpr auto table = table_of<StencilProblem>({
    {.variant =
         {.name = "blocked",
          .summary =
              "tiles whose planes stay in the cache, rows in vectors; on the CPU several steps per pass",
          .order = OperationOrder::canonical,
          .source = "A. Nguyen et al., 3.5-D Blocking Optimization for Stencil Computations, 2010"},
     .single_items = {.run = run_stencil_blocked_items, .supports = supports_problem},
     .host = {.run = run_stencil_blocked_host, .supports = supports_problem},
     .accepts = without_exchange},
    {.variant = {.name = "temporal",
                 .summary = "several steps per launch: tiles advance along z, all steps' planes in registers",
                 .order = OperationOrder::canonical,
                 .source = "L. Zhang et al., Revisiting Temporal Blocking Stencil Optimizations, 2023"},
     .groups = {.run = run_stencil_temporal,
                .supports = supports_stencil_temporal,
                .suits = suits_stencil_temporal},
     .accepts = without_exchange},
    {.variant = {.name = "columns",
                 .summary = "tiles advance along z: a queue of planes in registers, neighbours from L1",
                 .order = OperationOrder::canonical,
                 .source = micikevicius},
     .groups = {.run = run_stencil_columns,
                .supports = supports_stencil_columns,
                .suits = suits_stencil_columns}},
    {.variant =
         {.name = "ring",
          .summary =
              "tiles advance along z: planes and halos in a ring in local memory, copied asynchronously",
          .order = OperationOrder::canonical,
          .source = micikevicius},
     .groups = {.run = run_stencil_ring, .supports = supports_stencil_ring, .suits = suits_stencil_ring}},
    {.variant =
         {.name = "streaming",
          .summary =
              "tiles advance along z: a queue of planes in registers, the current plane in local memory",
          .order = OperationOrder::canonical,
          .source = micikevicius},
     .groups = {.run = run_stencil_streaming, .supports = supports_stencil_streaming}},
    {.variant = {.name = "tiled",
                 .summary = "a tile of a plane and its halo in local memory",
                 .order = OperationOrder::canonical,
                 .source = micikevicius},
     .groups = tiled,
     .single_items = tiled,
     .accepts = without_exchange},
    {.variant = {.name = "naive",
                 .summary = "one point per work-item, all neighbours from global memory",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .groups = naive,
     .single_items = naive,
     .host = {.run = run_stencil_naive_host, .supports = supports_problem},
     .accepts = without_exchange},
    {.variant = {.name = "serial",
                 .summary = "one loop on one thread",
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .host = {.run = run_stencil_serial_host, .supports = supports_problem},
     .accepts = without_exchange},
});

constexpr auto variants = variants_of(table);
constexpr const Tunable* tunables[] = {&stencil_groups_a_unit, &stencil_cache_part, &stencil_steps_together,
                                       &stencil_planes_a_group};

// --- The call -----------------------------------------------------------------------------------------------------

[[noreturn]] void refuse(const char* call, const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

std::string text_of(const VolumeExtents& s) {
    return size_name({s.depth, s.rows, s.columns});
}

// The range of a volume.
View range_of(const char* call, const char* name, const VolumeView& volume) {
    const VolumeView exact = checked_volume(call, name, volume);
    const bool is_dense = (exact.pitch == exact.columns || exact.rows <= 1) &&
                          (exact.plane_pitch == exact.rows * exact.columns || exact.depth <= 1);
    if (exact.range.count > 0 && (exact.layout != Layout::row_major || !is_dense))
        throw Error(ErrorCode::unsupported, call,
                    std::string(name) + " must be in C order without padding, got " +
                        text_of({volume.depth, volume.rows, volume.columns}) +
                        (exact.layout != Layout::row_major
                             ? " in column-major layout"
                             : " with a pitch of " + std::to_string(exact.pitch) + " and a plane pitch of " +
                                   std::to_string(exact.plane_pitch)));
    return exact.range;
}

void check_range(const char* axis, u64 begin, u64 end, u64 length, const VolumeExtents& s) {
    if (begin > end || end > length)
        refuse("stencil_box", std::string(axis) + " of the box must be an interval within 0 to " +
                                  std::to_string(length) + " of the volume of " + text_of(s) + ", got " +
                                  std::to_string(begin) + " to " + std::to_string(end));
}

StencilProblem problem_of(const char* call, Stream& stream, const VolumeView& in,
                          const StarCoefficients& star, const VolumeView& out, u64 steps,
                          const StencilBox& box) {
    check_operand(call, "in", stream, in.range);
    check_output(call, "out", stream, out.range);
    const Type type = in.range.type;
    if (!is_float(type)) refuse(call, "volume must be f32 or f64, got " + std::string(name_of(type)));
    check_same_type(call, {{"in", type}, {"out", out.range.type}});
    const VolumeExtents shape{in.depth, in.rows, in.columns}, result{out.depth, out.rows, out.columns};
    if (shape != result)
        refuse(call, "out must have the shape of in, " + text_of(shape) + ", got " + text_of(result));
    const View from = range_of(call, "in", in), to = range_of(call, "out", out);
    check_overlap(call, {"out", to}, {"in", from});
    return {from, to, shape, star, steps, box};
}

// The problem of a box that lies in the volume.
StencilProblem box_of(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                      const VolumeView& out, const StencilBox& box) {
    const StencilProblem p = problem_of("stencil_box", stream, in, star, out, 1, box);
    check_range("planes", box.z_begin, box.z_end, in.depth, p.shape);
    check_range("rows", box.y_begin, box.y_end, in.rows, p.shape);
    if (box.x_begin != 0 || (box.x_end != in.columns && box.x_end != StencilBox::to_end))
        refuse("stencil_box", "the box must have whole rows of " + std::to_string(in.columns) +
                                  " columns, got columns " + std::to_string(box.x_begin) + " to " +
                                  std::to_string(box.x_end));
    return p;
}

Enqueued run_box(Stream& stream, const StencilProblem& p, const Options& options) {
    const Row<StencilProblem>& row = choose_tuned("stencil", table, stream.device(), p, point_of(p), options);
    if (p.bytes() > 0) row.run(stream, p);
    return enqueued(stream, row, p);
}

}  // namespace
}  // namespace detail

constinit const Algorithm stencil_algorithm{.name = "stencil",
                                            .summary = "time steps of a star of radius 1 to 8 on a volume",
                                            .variants = detail::variants,
                                            .tunables = detail::tunables,
                                            // The radius, plus 10 for several steps.
                                            .tuning_label = "star"};

Enqueued stencil(Stream& stream, const VolumeView& in, const StarCoefficients& star, const VolumeView& out,
                 u64 steps, const Options& options) {
    const detail::StencilProblem p =
        detail::problem_of("stencil", stream, in, star, out, steps, {0, in.depth, 0, in.rows});
    const detail::Row<detail::StencilProblem>& row =
        detail::choose_tuned("stencil", detail::table, stream.device(), p, detail::point_of(p), options);
    if (p.in.count > 0 && steps > 0) row.run(stream, p);
    if (p.in.count > 0 && steps == 0)
        stream.copy(*p.out.buffer, p.out.offset, *p.in.buffer, p.in.offset, p.in.bytes());
    return detail::enqueued(stream, row, p);
}

Enqueued stencil_box(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                     const VolumeView& out, const StencilBox& box, const Options& options) {
    return detail::run_box(stream, detail::box_of(stream, in, star, out, box), options);
}

namespace detail {

bool supports_stencil_exchange(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                               const VolumeView& out, const StencilBox& box, const Options& options) {
    const Device& device = stream.device();
    if (!device.traits().system_atomics) return false;
    StencilProblem p = box_of(stream, in, star, out, box);
    const Row<StencilProblem>& row = choose_tuned("stencil", table, device, p, point_of(p), options);
    static const StencilExchange exchange;
    p.exchange = &exchange;
    return static_cast<bool>(row.supports(device, p));
}

Enqueued stencil_exchange(Stream& stream, const VolumeView& in, const StarCoefficients& star,
                          const VolumeView& out, const StencilBox& box, const StencilExchange& exchange,
                          const Options& options) {
    StencilProblem p = box_of(stream, in, star, out, box);
    p.exchange = &exchange;
    return run_box(stream, p, options);
}

}  // namespace detail

}  // namespace concord
