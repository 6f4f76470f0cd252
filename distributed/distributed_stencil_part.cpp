#include "distributed_stencil_part.hpp"

#include <algorithm>

namespace concord::detail {

// --- Messages -----------------------------------------------------------------------------------------------------

BoxMessage::BoxMessage(Device& device, u32 rank, const BoxRuns& box, Type type)
    : rank_(rank), box_(box), type_(type) {
    if (!box.gapless()) buffer_ = device.allocate(bytes());
}

View BoxMessage::own(const View& volume) const {
    return volume.part(box_.elements() == 0 ? 0 : box_.first, box_.extent());
}

View BoxMessage::packed() const {
    return {buffer_.get(), 0, box_.elements(), type_};
}

View BoxMessage::pack(Stream& stream, const View& volume) const {
    if (!buffer_) return own(volume);
    copy_box(stream, volume, box_, packed(), box_.dense());
    return packed();
}

View BoxMessage::target(const View& volume) const {
    return buffer_ ? packed() : own(volume);
}

void BoxMessage::unpack(Stream& stream, const View& volume) const {
    if (!buffer_) return;
    copy_box(stream, packed(), box_.dense(), volume, box_);
}

// --- The part -----------------------------------------------------------------------------------------------------

namespace {

// Planes, rows or columns of a rank's memory along one axis: the part is [begin, end) of `length`, with halos where it
// has a neighbour; the interior is [inner_begin, inner_end).
struct Axis {
    u64 begin, end, length, inner_begin, inner_end;

    // The part is [first, last) of the volume's `all` planes, rows or columns.
    Axis(u64 first, u64 last, u64 all, u64 radius) {
        const bool before = first > 0, after = last < all;
        const u64 count = last - first;
        begin = before ? radius : 0;
        end = begin + count;
        length = end + (after ? radius : 0);
        inner_begin = before ? std::min(end, begin + radius) : begin;
        inner_end = after ? std::max(inner_begin, end - std::min(count, radius)) : end;
    }
};

}  // namespace

PartLayout::PartLayout(const StencilCut& cut, u32 rank, u64 halo, bool by_axis) {
    const StencilBox part = cut.part_of(rank);
    const Axis z(part.z_begin, part.z_end, cut.shape.depth, halo),
        y(part.y_begin, part.y_end, cut.shape.rows, halo),
        x(part.x_begin, part.x_begin + part.width(cut.shape.columns), cut.shape.columns,
          whole_granules(halo, cut.shape.columns));
    const u32 next_y = cut.along_x, next_z = cut.along_y * cut.along_x;
    shape = {z.length, y.length, x.length};
    own = {z.begin, z.end, y.begin, y.end, x.begin, x.end};
    interior = {z.inner_begin, z.inner_end, y.inner_begin, y.inner_end};
    if (z.begin > 0)
        edges.push_back({rank - next_z,
                         {z.begin, z.inner_begin, y.begin, y.end},
                         {z.begin, z.begin + halo, y.begin, y.end},
                         {0, z.begin, y.begin, y.end}});
    if (z.length > z.end)
        edges.push_back({rank + next_z,
                         {z.inner_end, z.end, y.begin, y.end},
                         {z.end - halo, z.end, y.begin, y.end},
                         {z.end, z.length, y.begin, y.end}});
    first_edge[1] = edges.size();
    const u64 first = by_axis ? 0 : z.begin, last = by_axis ? z.length : z.end;
    if (y.begin > 0)
        edges.push_back({rank - next_y,
                         {z.inner_begin, z.inner_end, y.begin, y.inner_begin},
                         {first, last, y.begin, y.begin + halo},
                         {first, last, 0, y.begin}});
    if (y.length > y.end)
        edges.push_back({rank + next_y,
                         {z.inner_begin, z.inner_end, y.inner_end, y.end},
                         {first, last, y.end - halo, y.end},
                         {first, last, y.end, y.length}});
    first_edge[2] = edges.size();
    const auto columns = [&](u64 begin, u64 end) { return StencilBox{0, z.length, 0, y.length, begin, end}; };
    if (x.begin > 0) edges.push_back({rank - 1, {}, columns(x.begin, 2 * x.begin), columns(0, x.begin)});
    if (const u64 after = x.length - x.end; after > 0)
        edges.push_back({rank + 1, {}, columns(x.end - after, x.end), columns(x.end, x.length)});
    first_edge[3] = edges.size();
}

StencilPart::StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                         const StarCoefficients& star, u32 per_exchange, const Options& options)
    : ranks_(ranks),
      stream_(stream),
      type_(type),
      star_(star),
      options_(options),
      per_exchange_(per_exchange),
      by_axis_(per_exchange > 1 || cut.along_x > 1) {
    const u32 rank = ranks.rank();
    const u64 halo = u64{per_exchange} * star.radius();
    const PartLayout layout(cut, rank, halo, by_axis_);
    first_edge_ = layout.first_edge;
    shape_ = layout.shape;
    own_ = layout.own;
    interior_ = layout.interior;

    // Neighbours may write into the volumes at once, so no earlier work of the stream may still use their memory.
    Device& device = stream.device();
    for (auto& buffer : volumes_)
        buffer = device.allocate(shape_.depth * shape_.rows * shape_.columns * size_of(type));
    // The first exchange along z sends the whole rows of a face, which contain halos along x.
    if (cut.along_x > 1) {
        constexpr u32 zero = 0;
        for (const auto& buffer : volumes_)
            stream.fill(*buffer, 0, buffer->size(), &zero, sizeof zero);
        stream.synchronize();
    }
    std::vector<LinkOffer> offers;
    for (const PartLayout::Edge& edge : layout.edges) {
        const auto flags = device.allocate(3 * sizeof(u32));
        constexpr u32 zero = 0;
        stream.fill(*flags, 0, flags->size(), &zero, sizeof zero);
        offers.push_back({edge.rank, {volumes_[0], volumes_[1], flags}});
    }
    stream.synchronize();
    const std::vector<std::shared_ptr<Link>> links = connect(ranks, stream, offers);
    for (std::size_t i = 0; i < layout.edges.size(); ++i) {
        const PartLayout::Edge& at = layout.edges[i];
        Edge& edge = edges_.emplace_back();
        edge.sends_more = at.send.points(1) > at.face.points(1);
        edge.rank = at.rank;
        edge.face = at.face;
        edge.from = runs_of(shape_, at.send);
        edge.bytes = edge.from.elements() * size_of(type);
        edge.link = links[i];
        edge.flags = offers[i].buffers[2];
        if (edge.link) {
            const PartLayout there(cut, at.rank, halo, by_axis_);
            const auto back = std::find_if(there.edges.begin(), there.edges.end(),
                                           [&](const PartLayout::Edge& other) { return other.rank == rank; });
            edge.to = runs_of(there.shape, back->receive);
            edge.remote_points = there.shape.depth * there.shape.rows * there.shape.columns;
        } else {
            edge.send.emplace(device, at.rank, edge.from, type);
            edge.receive.emplace(device, at.rank, runs_of(shape_, at.receive), type);
        }
        edge.computed = device.create_event();
        edge.complete = device.create_event();
    }
    interior_done_ = device.create_event();
}

bool StencilPart::is_linked() const {
    return std::all_of(edges_.begin(), edges_.end(), [](const Edge& edge) { return edge.link != nullptr; });
}

bool StencilPart::can_fuse() {
    return is_linked() && supports_stencil_exchange(stream_, shaped(0), star_, shaped(1), grown(0), options_);
}

void StencilPart::start(StepSchedule schedule) {
    schedule_ = schedule;
    if (schedule != StepSchedule::overlapped) return;
    for (Edge& edge : edges_)
        edge.stream = stream_.device().create_stream(Priority::high);
}

u64 StencilPart::message_bytes() const {
    u64 bytes = 0;
    for (const Edge& edge : edges_)
        bytes += edge.bytes;
    return bytes;
}

View StencilPart::volume(u32 which) const {
    return {volumes_[which].get(), 0, shape_.depth * shape_.rows * shape_.columns, type_};
}

VolumeView StencilPart::shaped(u32 which) const {
    return {volume(which), shape_.depth, shape_.rows, shape_.columns};
}

void StencilPart::begin_new() {
    // Streams of edges skip work after a failure, which stream_ has received through their events.
    for (const Edge& edge : edges_) {
        try {
            if (edge.stream) edge.stream->synchronize();
        } catch (...) {  // NOLINT(bugprone-empty-catch): reported by stream_
        }
    }
    stream_.record(*interior_done_);
    has_halos_ = false;
}

void StencilPart::load(const View& in) {
    const BoxRuns box = runs_of(shape_, own_);
    copy_box(stream_, in, box.dense(), volume(now_), box);
    begin_new();
}

void StencilPart::store(const View& out) {
    const BoxRuns box = runs_of(shape_, own_);
    copy_box(stream_, volume(now_), box, out, box.dense());
}

void StencilPart::receive(u32 rank) {
    const BoxMessage box(stream_.device(), rank, runs_of(shape_, own_), type_);
    const Message message{rank, box.target(volume(now_))};
    ranks_.exchange(stream_, {}, {&message, 1});
    box.unpack(stream_, volume(now_));
    begin_new();
}

void StencilPart::send(u32 rank) {
    const BoxMessage box(stream_.device(), rank, runs_of(shape_, own_), type_);
    const Message message{rank, box.pack(stream_, volume(now_))};
    ranks_.exchange(stream_, {&message, 1}, {});
}

// --- Steps ----------------------------------------------------------------------------------------------------------

// Writes what a neighbour needs into its volume, and tells it. By its last signal the neighbour has told that nothing
// uses the former contents any more.
void StencilPart::write_halo(Stream& stream, const Edge& edge) {
    const View from = volume(now_), to{&edge.link->remote(now_), 0, edge.remote_points, type_};
    copy_box(stream, from, edge.from, to, edge.to);
    edge.link->signal(stream);
}

std::span<const StencilPart::Edge> StencilPart::edges_along(u32 axis) const {
    return std::span(edges_).subspan(first_edge_[axis], first_edge_[axis + 1] - first_edge_[axis]);
}

// Sends the halos of the neighbours on these edges, and receives theirs, each on the stream of its edge if it has one.
void StencilPart::exchange_halos(std::span<const Edge> edges) {
    const View all = volume(now_);
    const auto stream_of = [&](const Edge& edge) -> Stream& { return edge.stream ? *edge.stream : stream_; };
    std::vector<Message> sends, receives;
    for (const Edge& edge : edges) {
        Stream& stream = stream_of(edge);
        if (edge.link) {
            if (by_axis_) edge.link->wait(stream);
            write_halo(stream, edge);
        } else {
            sends.push_back({edge.send->rank(), edge.send->pack(stream, all), &stream});
            receives.push_back({edge.receive->rank(), edge.receive->target(all), &stream});
        }
    }
    ranks_.exchange(stream_, sends, receives);
    for (const Edge& edge : edges) {
        Stream& stream = stream_of(edge);
        if (edge.link) {
            edge.link->wait(stream);
        } else {
            edge.receive->unpack(stream, all);
        }
        if (edge.stream && (edges_.size() > 1 || by_axis_)) stream.record(*edge.complete);
    }
}

void StencilPart::exchange_on_stream() {
    if (!by_axis_) return exchange_halos(edges_);
    for (u32 axis = 0; axis < 3; ++axis) {
        for (const Edge& edge : edges_along(axis))
            if (edge.link) edge.link->signal(stream_);  // the halos are free
        exchange_halos(edges_along(axis));
    }
}

// The streams of the edges wait for stream_. If halos are exchanged axis by axis, neighbours along z and y are told
// that the halos are free; otherwise the signal of the last exchange has told that.
void StencilPart::start_edges() {
    stream_.record(*interior_done_);
    for (u32 axis = 0; axis < 3; ++axis) {
        for (const Edge& edge : edges_along(axis)) {
            edge.stream->wait(*interior_done_);
            if (edge.link && axis < 2) edge.link->signal(*edge.stream);
        }
    }
}

void StencilPart::exchange_on_edges() {
    const std::span<const Edge> all = edges_;
    if (by_axis_) {
        for (u32 axis = 0; axis < 3; ++axis) {
            const std::span<const Edge> edges = edges_along(axis);
            for (const Edge& edge : edges) {
                for (const Edge& before : all.first(first_edge_[axis]))
                    edge.stream->wait(*before.complete);
            }
            // Until now the interior and the halos along z and y have written into the halos along x.
            if (axis == 2 && !edges.empty()) {
                stream_.record(*interior_done_);
                for (const Edge& edge : edges) {
                    edge.stream->wait(*interior_done_);
                    if (edge.link) edge.link->signal(*edge.stream);
                }
            }
            exchange_halos(edges);
        }
        for (const Edge& edge : all)
            stream_.wait(*edge.complete);
        return;
    }
    for (const Edge& edge : all) {
        if (!edge.sends_more) continue;
        for (const Edge& other : all)
            if (&other != &edge) edge.stream->wait(*other.computed);
    }
    exchange_halos(all);
    for (const Edge& edge : all) {
        for (const Edge& other : all)
            if (&other != &edge) edge.stream->wait(*other.complete);
    }
}

void StencilPart::compute(Stream& stream, const StencilBox& box) {
    if (box.points(shape_.columns) == 0) return;
    variant_ = stencil_box(stream, shaped(now_), star_, shaped(1 - now_), box, options_).variant;
}

void StencilPart::run(u64 steps) {
    const bool is_fused = schedule_ == StepSchedule::fused && !edges_.empty() && steps > 0;
    if (is_fused) begin_waiting_kernels(ranks_, stream_);
    for (u64 left = steps; left > 0;) {
        if (schedule_ == StepSchedule::fused) {
            step_fused(left--);
        } else if (schedule_ == StepSchedule::sequential) {
            step_sequential();
            --left;
        } else if (!by_axis_) {
            step_overlapped(left--);
        } else {
            left -= steps_to_exchange(left);
        }
    }
    if (is_fused) end_waiting_kernels(ranks_, stream_);
}

// Whole rows of the part and of that many planes or rows of its halos.
StencilBox StencilPart::grown(u64 by) const {
    return {own_.z_begin - std::min(by, own_.z_begin), std::min(own_.z_end + by, shape_.depth),
            own_.y_begin - std::min(by, own_.y_begin), std::min(own_.y_end + by, shape_.rows)};
}

// Runs the steps up to the next exchange, and starts the exchange unless they are the last ones. Returns their number.
u64 StencilPart::steps_to_exchange(u64 left) {
    if (!has_halos_) {
        start_edges();
        exchange_on_edges();
    }
    const u64 steps = std::min<u64>(per_exchange_, left);
    has_halos_ = steps < left;
    for (u64 after = steps; after-- > 1;) {
        compute(stream_, grown(after * star_.radius()));
        now_ = 1 - now_;
    }
    if (!has_halos_) {
        compute(stream_, grown(0));
        now_ = 1 - now_;
        return steps;
    }
    // Faces come first on the same stream. A kernel of another stream would find the device full of the interior's
    // groups, and the exchange would begin at their end.
    start_edges();
    for (const Edge& edge : edges_)
        compute(stream_, edge.face);
    stream_.record(*interior_done_);
    for (const Edge& edge : edges_)
        edge.stream->wait(*interior_done_);
    compute(stream_, interior_);
    now_ = 1 - now_;
    exchange_on_edges();
    return steps;
}

void StencilPart::step_overlapped(u64 left) {
    for (const Edge& edge : edges_) {
        edge.stream->wait(*interior_done_);
        stream_.wait(*edge.computed);
    }
    auto interior = [&] {
        compute(stream_, interior_);
        stream_.record(*interior_done_);
    };
    // The first step's faces need halos, so its interior is computed first and hides their exchange.
    const bool is_first = !has_halos_, is_last = left == 1;
    if (is_first) {
        interior();
        exchange_on_edges();
    }
    for (const Edge& edge : edges_) {
        compute(*edge.stream, edge.face);
        edge.stream->record(*edge.computed);
    }
    if (!is_first) interior();
    now_ = 1 - now_;
    if (!is_last) exchange_on_edges();
    has_halos_ = !is_last;
    if (!is_last) return;
    for (const Edge& edge : edges_)
        stream_.wait(*edge.computed);
}

void StencilPart::step_fused(u64 left) {
    if (edges_.empty()) return step_sequential();
    if (!has_halos_) exchange_on_stream();
    StencilExchange exchange;
    exchange.turn = turn_;
    exchange.sends = left > 1;
    for (const Edge& edge : edges_) {
        edge.link->await_announced(turn_);
        StencilNeighbour& neighbour = edge.rank < ranks_.rank() ? exchange.below : exchange.above;
        neighbour.volume = {&edge.link->remote(1 - now_), 0, edge.remote_points, type_};
        neighbour.shift = static_cast<i64>(edge.to.first) - static_cast<i64>(edge.from.first);
        neighbour.flags = {edge.flags.get(), 0, 3, Type::u32};
        neighbour.raised = {&edge.link->remote(2), 0, 1, Type::u32};
    }
    variant_ = stencil_exchange(stream_, shaped(now_), star_, shaped(1 - now_), grown(0), exchange, options_)
                   .variant;
    now_ = 1 - now_;
    has_halos_ = exchange.sends;
    if (!exchange.sends) return;
    ++turn_;
    for (const Edge& edge : edges_)
        edge.link->announce(turn_);
}

void StencilPart::step_sequential() {
    exchange_on_stream();
    compute(stream_, grown(0));
    now_ = 1 - now_;
}

}  // namespace concord::detail
