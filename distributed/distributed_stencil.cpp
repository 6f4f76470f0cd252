#include "distributed_stencil_part.hpp"
#include "distributed_stencil_variants.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/language.hpp>
#include <concord/internal/shape.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace concord {
namespace detail {
namespace {

constexpr char call[] = "distributed_stencil";

constexpr auto table = std::to_array<DistributedStencilVariant>({
    {.variant = {.name = "overlapped",
                 .summary =
                     "computes the halos of other ranks first and sends them while computing the interior",
                 .dialects = all_languages(),
                 .order = OperationOrder::canonical,
                 .source = "P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009"},
     .schedule = StepSchedule::overlapped},
    {.variant = {.name = "fused",
                 .summary = "kernels write halos into the memory of neighbouring GPUs while they compute",
                 .dialects = {Dialect::cuda},
                 .order = OperationOrder::canonical,
                 .source =
                     "I. Ismayilov et al., Multi-GPU Communication Schemes for Iterative Solvers, 2023"},
     .schedule = StepSchedule::fused},
    {.variant = {.name = "sequential",
                 .summary = "exchanges halos, then computes",
                 .dialects = all_languages(),
                 .order = OperationOrder::canonical,
                 .source = "textbook"},
     .schedule = StepSchedule::sequential},
    {.variant = {.name = "data_server",
                 .summary =
                     "the last rank holds the volume; it distributes the parts and collects the results",
                 .dialects = all_languages(),
                 .order = OperationOrder::canonical,
                 .source = "D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2013"},
     .schedule = StepSchedule::overlapped,
     .has_server = true},
});
constexpr auto variants = variants_of(table);

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

std::string exact(f64 value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string text_of(const VolumeExtents& s) {
    return size_name({s.depth, s.rows, s.columns});
}

std::string terms(Type type, const VolumeExtents& s, const StarCoefficients& star,
                  const DistributedStencilOptions& options) {
    std::string text = std::string(name_of(type)) + ", " + text_of(s) + ", coefficients";
    for (u32 r = 0; r <= star.radius(); ++r)
        text += " " + exact(star[r]);
    text += ", variant " + std::string(options.variant) + ", cut " +
            size_name({options.along_z, options.along_y, options.along_x});
    if (options.steps_per_exchange > 0)
        text += ", " + std::to_string(options.steps_per_exchange) + " steps per exchange";
    return text;
}

// Checks the size of the volume with halos; every part with its halos is smaller.
void check_size(const VolumeExtents& s, u64 radius, Type type) {
    if (s.depth == 0 || s.rows == 0 || s.columns == 0) return;
    using detail::CheckedSize;
    const CheckedSize planes = CheckedSize(s.depth) + 2 * radius, rows = CheckedSize(s.rows) + 2 * radius;
    if (!(planes * rows * s.columns * size_of(type)).fits(detail::max_bytes))
        refuse("the size of the volume, " + text_of(s) + ", exceeds 2^60 bytes");
}

// The steps per exchange that the options ask for, or the model chooses.
u32 steps_per_exchange(const DistributedStencilVariant& row, const StencilCut& cut, u32 radius,
                       u32 element_size, u64 cheap_bytes, const DistributedStencilOptions& options) {
    const bool is_overlapped = row.schedule == StepSchedule::overlapped;
    if (options.steps_per_exchange == 0)
        return is_overlapped ? choose_steps_per_exchange(cut, radius, element_size, cheap_bytes) : 1;
    const u32 most = is_overlapped ? max_steps_per_exchange(cut, radius) : 1;
    if (options.steps_per_exchange > most)
        refuse("steps_per_exchange must not exceed " + std::to_string(most) + " for variant '" +
               std::string(row.variant.name) + "' and cut " + cut.name() + " of " + text_of(cut.shape) +
               ", got " + std::to_string(options.steps_per_exchange));
    return options.steps_per_exchange;
}

// Why kernels cannot exchange the halos of a cut, whatever the links are; nothing if they may. ids: kernel_link_id()
// of all ranks.
Support may_fuse(const StencilCut& cut, std::span<const u64> ids, const DistributedStencilOptions& options) {
    if (cut.along_x > 1)
        return Support::no("requires a cut along z alone, got {} x {} x {}", cut.along_z, cut.along_y,
                           cut.along_x);
    if (cut.along_y > 1)
        return Support::no("requires a cut along z alone, got {} x {}", cut.along_z, cut.along_y);
    if (options.steps_per_exchange > 1)
        return Support::no("exchanges halos in every step, got steps_per_exchange {}",
                           options.steps_per_exchange);
    if (!may_link_kernels(ids.first(std::min<std::size_t>(cut.parts(), ids.size()))))
        return Support::no(
            "requires a CUDA device of its own for each part, and links (CONCORD_LINKS); use auto");
    return {};
}

[[noreturn]] void refuse_fused(const Support& why) {
    throw Error(ErrorCode::unsupported, call, "variant 'fused' " + why.text());
}

// Whether all ranks say yes. Collective.
bool all_say(Communicator& ranks, bool mine) {
    const auto all = ranks.all_gather(std::as_bytes(std::span(&mine, 1)));
    return std::all_of(all.begin(), all.end(), [](const auto& said) { return said[0] != std::byte{0}; });
}

// The range of a view that a box occupies.
View check_held(const char* name, const View& view, Type type, u64 count) {
    if (count == 0) return {};
    if (view.type != type)
        refuse(std::string(name) + " must be " + std::string(name_of(type)) + " like the volume, got " +
               std::string(name_of(view.type)));
    if (view.count < count)
        refuse(std::string(name) + " must hold the " + std::to_string(count) +
               " elements of the rank's box, got " + std::to_string(view.count));
    return view.part(0, count);
}

}  // namespace

const DistributedStencilVariant& distributed_variant(std::string_view name) {
    if (name == "auto") return table[0];
    std::vector<std::string_view> names;
    for (const DistributedStencilVariant& row : table) {
        if (row.variant.name == name) return row;
        names.push_back(row.variant.name);
    }
    throw_unknown_variant(call, name, names);
}

}  // namespace detail

constinit const Algorithm distributed_stencil_algorithm{
    .name = "distributed_stencil",
    .summary = "time steps of a star of radius 1 to 8 on a volume decomposed over ranks",
    .variants = detail::variants};

struct DistributedStencil::State {
    Communicator& ranks;
    Stream& stream;
    Type type;
    const detail::DistributedStencilVariant* row;
    StencilCut cut;
    StencilBox holding;
    u32 steps_per_exchange;
    std::optional<detail::StencilPart> part;  // only of ranks that compute

    bool is_server() const { return row->has_server && ranks.rank() + 1 == ranks.size(); }
    u64 held() const { return holding.points(cut.shape.columns); }

    // The server's side of load() and store(): calls f with a message for every part that has points.
    template <class F>
    void each_part(const View& volume, F f) {
        for (u32 rank = 0; rank < cut.parts(); ++rank) {
            const StencilBox box = cut.part_of(rank);
            if (box.points(cut.shape.columns) == 0) continue;
            const detail::BoxMessage message(stream.device(), rank, detail::runs_of(cut.shape, box), type);
            f(message, volume);
        }
    }
};

DistributedStencil::DistributedStencil(Communicator& ranks, Stream& stream, Type type,
                                       const VolumeExtents& shape, const StarCoefficients& star,
                                       const DistributedStencilOptions& options) {
    const u64 numbers[] = {detail::cheap_halo_bytes(stream.device()),
                           detail::kernel_link_id(stream.device())};
    u64 cheap_bytes = numbers[0];
    std::vector<u64> ids;
    for (const auto& theirs :
         detail::agree(ranks, detail::call, detail::terms(type, shape, star, options), numbers)) {
        cheap_bytes = std::min(cheap_bytes, theirs[0]);
        ids.push_back(theirs[1]);
    }
    if (!is_float(type)) detail::refuse("volume must be f32 or f64, got " + std::string(name_of(type)));
    detail::check_size(shape, star.radius(), type);
    const StencilCut cut = stencil_cut(shape, ranks.size(), star.radius(), options);
    const detail::DistributedStencilVariant* row = &detail::distributed_variant(options.variant);
    const detail::DistributedStencilVariant& fused = detail::distributed_variant("fused");
    const detail::Support may_fuse = detail::may_fuse(cut, ids, options);
    if (row == &fused && !may_fuse) detail::refuse_fused(may_fuse);
    const bool is_auto = options.variant == "auto" && cut.parts() > 1 && may_fuse;
    if (is_auto) row = &fused;
    state_ = std::make_unique<State>(
        State{ranks, stream, type, row, cut, stencil_holding(cut, ranks.rank(), ranks.size(), options),
              detail::steps_per_exchange(*row, cut, star.radius(), size_of(type), cheap_bytes, options),
              std::nullopt});
    if (cut.part_of(ranks.rank()).points(shape.columns) > 0)
        state_->part.emplace(ranks, stream, type, cut, star, state_->steps_per_exchange, options.local);
    const bool all_linked = detail::all_say(ranks, !state_->part || state_->part->is_linked());
    // Halos without links are messages, and so are the parts of a data server.
    ranks.prepare(stream, all_linked && !row->has_server ? 0 : ~u64{0});
    if (row == &fused && !detail::all_say(ranks, !state_->part || state_->part->can_fuse())) {
        if (!is_auto)
            detail::refuse_fused(
                detail::Support::no("requires links between neighbours, and a variant of stencil on each "
                                    "rank whose kernels exchange halos (columns, ring, streaming)"));
        state_->row = &detail::distributed_variant("overlapped");
        const u32 steps =
            detail::steps_per_exchange(*state_->row, cut, star.radius(), size_of(type), cheap_bytes, options);
        if (steps != state_->steps_per_exchange && state_->part)
            state_->part.emplace(ranks, stream, type, cut, star, steps, options.local);
        state_->steps_per_exchange = steps;
    }
    if (state_->part) state_->part->start(state_->row->schedule);
}

DistributedStencil::~DistributedStencil() = default;

const StencilCut& DistributedStencil::cut() const noexcept {
    return state_->cut;
}
StencilBox DistributedStencil::holding() const noexcept {
    return state_->holding;
}
std::string_view DistributedStencil::variant() const noexcept {
    return state_->row->variant.name;
}
std::string_view DistributedStencil::local_variant() const noexcept {
    return state_->part ? state_->part->variant() : std::string_view();
}
u32 DistributedStencil::steps_per_exchange() const noexcept {
    return state_->steps_per_exchange;
}
f64 DistributedStencil::messages_per_step() const noexcept {
    const u64 messages = state_->part ? state_->part->messages() : 0;
    return static_cast<f64>(messages) / state_->steps_per_exchange;
}
u64 DistributedStencil::bytes_per_step() const noexcept {
    return state_->part ? state_->part->message_bytes() / state_->steps_per_exchange : 0;
}

void DistributedStencil::load(const View& in) {
    State& s = *state_;
    detail::check_operand(detail::call, "in", s.stream, in);
    const View from = detail::check_held("in", in, s.type, s.held());
    if (s.is_server()) {
        s.each_part(from, [&](const detail::BoxMessage& box, const View& volume) {
            const Message message{box.rank(), box.pack(s.stream, volume)};
            s.ranks.exchange(s.stream, {&message, 1}, {});
        });
    } else if (s.part && s.row->has_server) {
        s.part->receive(s.ranks.size() - 1);
    } else if (s.part) {
        s.part->load(from);
    }
}

void DistributedStencil::run(u64 steps) {
    State& s = *state_;
    detail::agree(s.ranks, detail::call, std::to_string(steps) + " steps", {});
    if (!s.part) return;
    s.part->run(steps);
}

void DistributedStencil::store(const View& out) {
    State& s = *state_;
    detail::check_output(detail::call, "out", s.stream, out);
    const View to = detail::check_held("out", out, s.type, s.held());
    if (s.is_server()) {
        s.each_part(to, [&](const detail::BoxMessage& box, const View& volume) {
            const Message message{box.rank(), box.target(volume)};
            s.ranks.exchange(s.stream, {}, {&message, 1});
            box.unpack(s.stream, volume);
        });
    } else if (s.part && s.row->has_server) {
        s.part->send(s.ranks.size() - 1);
    } else if (s.part) {
        s.part->store(to);
    }
}

void distributed_stencil(Communicator& ranks, Stream& stream, const View& in, const StarCoefficients& star,
                         const View& out, const VolumeExtents& shape, u64 steps,
                         const DistributedStencilOptions& options) {
    detail::check_operand(detail::call, "in", stream, in);
    detail::check_output(detail::call, "out", stream, out);
    const bool holds = in.buffer != nullptr && out.buffer != nullptr;
    if (holds) {
        detail::check_same_type(detail::call, {{"in", in.type}, {"out", out.type}});
        detail::check_overlap(detail::call, {"out", out}, {"in", in});
    }
    DistributedStencil volume(ranks, stream, in.type, shape, star, options);
    volume.load(in);
    volume.run(steps);
    volume.store(out);
}

}  // namespace concord
