#include "distributed_stencil.hpp"

#include "distributed_stencil_part.hpp"
#include "distributed_stencil_table.hpp"

#include <concord/distributed.hpp>

#include <charconv>
#include <optional>
#include <string>

namespace concord {
namespace detail {
namespace {

constexpr char call[] = "distributed_stencil";

constexpr DistributedStencilVariant table[] = {
    {.variant = {.name = "overlapped",
                 .summary = "what other ranks need is computed first, and sent while the rest is computed",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "P. Micikevicius, 3D Finite Difference Computation on GPUs using CUDA, 2009"},
     .overlaps = true},
    {.variant = {.name = "sequential",
                 .summary = "halos are exchanged, then all is computed",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "textbook"}},
    {.variant = {.name = "data_server",
                 .summary =
                     "the last rank holds the data, the others compute: parts at the start and at the end",
                 .dialects = {Dialect::cuda, Dialect::opencl, Dialect::host},
                 .order = OperationOrder::canonical,
                 .source = "D. Kirk, W. Hwu, Programming Massively Parallel Processors, 2013"},
     .overlaps = true,
     .serves = true},
};

[[noreturn]] void refuse(const std::string& what) {
    throw Error(ErrorCode::invalid_argument, call, what);
}

std::string exact(f64 value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string text_of(const StencilShape& s) {
    return std::to_string(s.depth) + " x " + std::to_string(s.rows) + " x " + std::to_string(s.columns);
}

std::string terms(Type type, const StencilShape& s, const StarCoefficients& star,
                  const DistributedStencilOptions& options) {
    std::string text = std::string(name_of(type)) + ", " + text_of(s) + ", coefficients";
    for (u32 r = 0; r <= star.radius(); ++r)
        text += " " + exact(star[r]);
    return text + ", variant " + std::string(options.variant) + ", cut " + std::to_string(options.along_z) +
           " x " + std::to_string(options.along_y);
}

// That no product of lengths and bytes overflows: those of a part with its halos are smaller.
void check_size(const StencilShape& s, u64 radius, Type type) {
    if (s.depth == 0 || s.rows == 0 || s.columns == 0) return;
    u64 planes = 0, rows = 0, bytes = 0;
    if (__builtin_add_overflow(s.depth, 2 * radius, &planes) ||
        __builtin_add_overflow(s.rows, 2 * radius, &rows) || __builtin_mul_overflow(planes, rows, &bytes) ||
        __builtin_mul_overflow(bytes, s.columns, &bytes) ||
        __builtin_mul_overflow(bytes, u64{size_of(type)}, &bytes))
        refuse("the volume, " + text_of(s) + ": its bytes overflow 64-bit sizes");
}

// The part of a view that a box fills. A rank that has nothing may give a view of no buffer.
View check_held(const char* name, const Stream& stream, const View& view, Type type, u64 count) {
    if (count == 0) return {};
    check_operand(call, name, stream, view);
    if (view.type != type)
        refuse(std::string(name) + " is " + std::string(name_of(view.type)) + ", the volume " +
               std::string(name_of(type)));
    if (view.count < count)
        refuse(std::string(name) + " has " + std::to_string(view.count) + " elements, the rank's part " +
               std::to_string(count));
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

std::span<const Variant* const> distributed_stencil_variants() {
    static constexpr auto variants = detail::variants_of(detail::table);
    return variants;
}

struct DistributedStencil::State {
    Communicator& ranks;
    Stream& stream;
    Type type;
    const detail::DistributedStencilVariant& row;
    StencilCut cut;
    StencilBox holding;
    std::optional<detail::StencilPart> part;  // of a rank that computes

    bool is_server() const { return row.serves && ranks.rank() + 1 == ranks.size(); }
    u64 held() const { return holding.points(cut.shape.columns); }

    // The server's side of load() and store(): one part after another, each through memory of its own if it has gaps. A rank
    // without points, as all are where the volume has none, takes no part in it.
    template <class F>
    void each_part(const View& volume, F f) {
        for (u32 rank = 0; rank < cut.parts(); ++rank) {
            const StencilBox box = cut.part_of(rank);
            if (box.points(cut.shape.columns) == 0) continue;
            detail::Parcel parcel(stream.device(), rank, detail::runs_of(cut.shape, box), type);
            f(parcel, volume);
        }
    }
};

DistributedStencil::DistributedStencil(Communicator& ranks, Stream& stream, Type type,
                                       const StencilShape& shape, const StarCoefficients& star,
                                       const DistributedStencilOptions& options) {
    detail::agree(ranks, detail::call, detail::terms(type, shape, star, options), {});
    if (!is_float(type))
        detail::refuse("the volume is " + std::string(name_of(type)) + "; f32 and f64 have stencils");
    detail::check_size(shape, star.radius(), type);
    const StencilCut cut = stencil_cut(shape, ranks.size(), star.radius(), options);
    state_ = std::make_unique<State>(State{ranks, stream, type, detail::distributed_variant(options.variant),
                                           cut, stencil_holding(cut, ranks.rank(), ranks.size(), options),
                                           std::nullopt});
    if (cut.part_of(ranks.rank()).points(shape.columns) > 0)
        state_->part.emplace(ranks, stream, type, cut, star, state_->row.overlaps, options.local);
}

DistributedStencil::~DistributedStencil() = default;

const StencilCut& DistributedStencil::cut() const noexcept {
    return state_->cut;
}
StencilBox DistributedStencil::holding() const noexcept {
    return state_->holding;
}
std::string_view DistributedStencil::variant() const noexcept {
    return state_->row.variant.name;
}
std::string_view DistributedStencil::local_variant() const noexcept {
    return state_->part ? state_->part->variant() : std::string_view();
}
u64 DistributedStencil::messages_per_step() const noexcept {
    return state_->part ? state_->part->messages() : 0;
}
u64 DistributedStencil::bytes_per_step() const noexcept {
    return state_->part ? state_->part->message_bytes() : 0;
}

void DistributedStencil::load(const View& in) {
    State& s = *state_;
    const View from = detail::check_held("in", s.stream, in, s.type, s.held());
    if (s.is_server()) {
        s.each_part(from, [&](detail::Parcel& parcel, const View& volume) {
            const Message message{parcel.rank(), parcel.outgoing(s.stream, volume)};
            s.ranks.exchange(s.stream, {&message, 1}, {});
        });
    } else if (s.part && s.row.serves) {
        s.part->receive(s.ranks.size() - 1);
    } else if (s.part) {
        s.part->load(from);
    }
}

void DistributedStencil::run(u64 steps) {
    State& s = *state_;
    detail::agree(s.ranks, detail::call, std::to_string(steps) + " steps", {});
    if (!s.part) return;
    for (u64 left = steps; left > 0; --left)
        s.row.overlaps ? s.part->step_overlapped(left == 1) : s.part->step_sequential();
}

void DistributedStencil::store(const View& out) {
    State& s = *state_;
    const View to = detail::check_held("out", s.stream, out, s.type, s.held());
    if (s.is_server()) {
        s.each_part(to, [&](detail::Parcel& parcel, const View& volume) {
            const Message message{parcel.rank(), parcel.incoming(volume)};
            s.ranks.exchange(s.stream, {}, {&message, 1});
            parcel.arrived(s.stream, volume);
        });
    } else if (s.part && s.row.serves) {
        s.part->send(s.ranks.size() - 1);
    } else if (s.part) {
        s.part->store(to);
    }
}

void distributed_stencil(Communicator& ranks, Stream& stream, const View& in, const View& out,
                         const StencilShape& shape, const StarCoefficients& star, u64 steps,
                         const DistributedStencilOptions& options) {
    const bool holds = in.buffer != nullptr && out.buffer != nullptr;
    if (holds && in.type != out.type)
        detail::refuse("in is " + std::string(name_of(in.type)) + ", out " + std::string(name_of(out.type)));
    if (holds && overlap(in, out))
        detail::refuse("out, at byte " + std::to_string(out.offset) + ", overlaps in, at byte " +
                       std::to_string(in.offset) + " of the same buffer");
    DistributedStencil volume(ranks, stream, in.type, shape, star, options);
    volume.load(in);
    volume.run(steps);
    volume.store(out);
}

}  // namespace concord
