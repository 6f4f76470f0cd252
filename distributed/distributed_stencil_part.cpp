#include "distributed_stencil_part.hpp"

#include <algorithm>

namespace concord::detail {

// --- Messages -----------------------------------------------------------------------------------------------------

BoxMessage::BoxMessage(Device& device, u32 rank, const BoxRuns& box, Type type)
    : rank_(rank), box_(box), type_(type) {
    if (!box.runs.gapless()) buffer_ = device.allocate(bytes());
}

View BoxMessage::own(const View& volume) const {
    const Runs& runs = box_.runs;
    if (runs.elements() == 0) return volume.part(0, 0);
    return volume.part(box_.first, (runs.count - 1) * runs.stride + runs.length);
}

View BoxMessage::packed() const {
    return {buffer_.get(), 0, box_.runs.elements(), type_};
}

View BoxMessage::pack(Stream& stream, const View& volume) const {
    if (!buffer_) return own(volume);
    const Runs& runs = box_.runs;
    copy_runs(stream, own(volume), runs, packed(), {runs.count, runs.length, runs.length});
    return packed();
}

View BoxMessage::target(const View& volume) const {
    return buffer_ ? packed() : own(volume);
}

void BoxMessage::unpack(Stream& stream, const View& volume) const {
    if (!buffer_) return;
    const Runs& runs = box_.runs;
    copy_runs(stream, packed(), {runs.count, runs.length, runs.length}, own(volume), runs);
}

// --- The part -----------------------------------------------------------------------------------------------------

namespace {

// Planes or rows of a rank's memory along one axis: the part is [begin, end) of `length`, with halos where it has a
// neighbour; the interior is [inner_begin, inner_end).
struct Axis {
    u64 begin, end, length, inner_begin, inner_end;

    // The part is [first, last) of the volume's `all` planes or rows.
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

StencilPart::StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                         const StarCoefficients& star, StepSchedule schedule, const Options& options)
    : ranks_(ranks), stream_(stream), type_(type), star_(star), options_(options), schedule_(schedule) {
    const StencilBox part = cut.part_of(ranks.rank());
    const u64 radius = star.radius();
    const Axis z(part.z_begin, part.z_end, cut.shape.depth, radius),
        y(part.y_begin, part.y_end, cut.shape.rows, radius);
    shape_ = {z.length, y.length, cut.shape.columns};
    own_ = {z.begin, z.end, y.begin, y.end};
    interior_ = {z.inner_begin, z.inner_end, y.inner_begin, y.inner_end};

    Device& device = stream.device();
    const u32 rank = ranks.rank();
    auto add = [&](u32 neighbour, const StencilBox& face, const StencilBox& send, const StencilBox& receive) {
        const bool overlaps = schedule == StepSchedule::overlapped;
        edges_.push_back({.sends_more = send.points(1) > face.points(1),
                          .face = face,
                          .send = BoxMessage(device, neighbour, runs_of(shape_, send), type),
                          .receive = BoxMessage(device, neighbour, runs_of(shape_, receive), type),
                          .stream = overlaps ? device.create_stream(Priority::high) : nullptr,
                          .computed = device.create_event(),
                          .complete = device.create_event()});
    };
    if (z.begin > 0)
        add(rank - cut.along_y, {z.begin, z.inner_begin, y.begin, y.end},
            {z.begin, z.begin + radius, y.begin, y.end}, {0, z.begin, y.begin, y.end});
    if (z.length > z.end)
        add(rank + cut.along_y, {z.inner_end, z.end, y.begin, y.end}, {z.end - radius, z.end, y.begin, y.end},
            {z.end, z.length, y.begin, y.end});
    if (y.begin > 0)
        add(rank - 1, {z.inner_begin, z.inner_end, y.begin, y.inner_begin},
            {z.begin, z.end, y.begin, y.begin + radius}, {z.begin, z.end, 0, y.begin});
    if (y.length > y.end)
        add(rank + 1, {z.inner_begin, z.inner_end, y.inner_end, y.end},
            {z.begin, z.end, y.end - radius, y.end}, {z.begin, z.end, y.end, y.length});

    for (auto& buffer : volumes_)
        buffer = device.allocate(StencilBox{0, z.length, 0, y.length}.points(shape_.columns) * size_of(type),
                                 &stream);
    interior_done_ = device.create_event();
}

u64 StencilPart::message_bytes() const {
    u64 bytes = 0;
    for (const Edge& edge : edges_)
        bytes += edge.send.bytes();
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
    const Runs& runs = box.runs;
    const View to = volume(now_);
    copy_runs(stream_, in, {runs.count, runs.length, runs.length}, to.part(box.first, to.count - box.first),
              runs);
    begin_new();
}

void StencilPart::store(const View& out) {
    const BoxRuns box = runs_of(shape_, own_);
    const Runs& runs = box.runs;
    const View from = volume(now_);
    copy_runs(stream_, from.part(box.first, from.count - box.first), runs, out,
              {runs.count, runs.length, runs.length});
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

void StencilPart::exchange_on_stream() {
    const View all = volume(now_);
    std::vector<Message> sends, receives;
    for (const Edge& edge : edges_) {
        sends.push_back({edge.send.rank(), edge.send.pack(stream_, all)});
        receives.push_back({edge.receive.rank(), edge.receive.target(all)});
    }
    ranks_.exchange(stream_, sends, receives);
    for (const Edge& edge : edges_)
        edge.receive.unpack(stream_, all);
}

void StencilPart::exchange_on_edges() {
    const View all = volume(now_);
    std::vector<Message> sends, receives;
    for (const Edge& edge : edges_) {
        Stream& stream = *edge.stream;
        if (edge.sends_more) {
            for (const Edge& other : edges_)
                if (&other != &edge) stream.wait(*other.computed);
        }
        sends.push_back({edge.send.rank(), edge.send.pack(stream, all), &stream});
        receives.push_back({edge.receive.rank(), edge.receive.target(all), &stream});
    }
    ranks_.exchange(stream_, sends, receives);
    for (const Edge& edge : edges_) {
        edge.receive.unpack(*edge.stream, all);
        edge.stream->record(*edge.complete);
    }
    for (const Edge& edge : edges_) {
        for (const Edge& other : edges_)
            if (&other != &edge) edge.stream->wait(*other.complete);
    }
}

void StencilPart::compute(Stream& stream, const StencilBox& box) {
    if (box.points(shape_.columns) == 0) return;
    variant_ = stencil_box(stream, shaped(now_), star_, shaped(1 - now_), box, options_).variant;
}

void StencilPart::step(u64 left) {
    if (schedule_ == StepSchedule::overlapped) {
        step_overlapped(left);
    } else {
        step_sequential();
    }
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

void StencilPart::step_sequential() {
    exchange_on_stream();
    compute(stream_, own_);
    now_ = 1 - now_;
}

}  // namespace concord::detail
