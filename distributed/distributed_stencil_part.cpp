#include "distributed_stencil_part.hpp"

#include <algorithm>

namespace concord::detail {

// --- Parcels --------------------------------------------------------------------------------------------------------

Parcel::Parcel(Device& device, u32 rank, const BoxRuns& box, Type type)
    : rank_(rank), box_(box), type_(type) {
    if (!box.runs.gapless()) buffer_ = device.allocate(bytes());
}

View Parcel::own(const View& volume) const {
    const Runs& runs = box_.runs;
    if (runs.elements() == 0) return volume.part(0, 0);
    return volume.part(box_.first, (runs.count - 1) * runs.stride + runs.length);
}

View Parcel::packed() const {
    return {buffer_.get(), 0, box_.runs.elements(), type_};
}

View Parcel::outgoing(Stream& stream, const View& volume) const {
    if (!buffer_) return own(volume);
    const Runs& runs = box_.runs;
    copy_runs(stream, own(volume), runs, packed(), {runs.count, runs.length, runs.length});
    return packed();
}

View Parcel::incoming(const View& volume) const {
    return buffer_ ? packed() : own(volume);
}

void Parcel::arrived(Stream& stream, const View& volume) const {
    if (!buffer_) return;
    const Runs& runs = box_.runs;
    copy_runs(stream, packed(), {runs.count, runs.length, runs.length}, own(volume), runs);
}

// --- The part -------------------------------------------------------------------------------------------------------

namespace {

// Planes or rows of a part along one axis: its own from `begin` to `end` of a volume that has halos where there is a
// neighbour; what is computed before and after the interior.
struct Axis {
    u64 begin, end, length, inner_begin, inner_end;

    Axis(u64 count, u64 radius, bool before, bool after)
        : begin(before ? radius : 0),
          end(begin + count),
          length(end + (after ? radius : 0)),
          inner_begin(before ? std::min(end, begin + radius) : begin),
          inner_end(after ? std::max(inner_begin, end - std::min(count, radius)) : end) {}
};

}  // namespace

StencilPart::StencilPart(Communicator& ranks, Stream& stream, Type type, const StencilCut& cut,
                         const StarCoefficients& star, const Options& options)
    : ranks_(ranks), stream_(stream), type_(type), star_(star), options_(options) {
    const StencilBox part = cut.part_of(ranks.rank());
    const u64 radius = star.radius();
    const Axis z(part.z_end - part.z_begin, radius, part.z_begin > 0, part.z_end < cut.shape.depth),
        y(part.y_end - part.y_begin, radius, part.y_begin > 0, part.y_end < cut.shape.rows);
    shape_ = {z.length, y.length, cut.shape.columns};
    own_ = {z.begin, z.end, y.begin, y.end};
    interior_ = {z.inner_begin, z.inner_end, y.inner_begin, y.inner_end};
    faces_ = {StencilBox{z.begin, z.inner_begin, y.begin, y.end},
              StencilBox{z.inner_end, z.end, y.begin, y.end},
              StencilBox{z.inner_begin, z.inner_end, y.begin, y.inner_begin},
              StencilBox{z.inner_begin, z.inner_end, y.inner_end, y.end}};

    Device& device = stream.device();
    const u32 rank = ranks.rank();
    auto add = [&](bool there, u32 neighbour, const StencilBox& send, const StencilBox& receive) {
        if (!there) return;
        sends_.emplace_back(device, neighbour, runs_of(shape_, send), type);
        receives_.emplace_back(device, neighbour, runs_of(shape_, receive), type);
    };
    add(z.begin > 0, rank - cut.along_y, {z.begin, z.begin + radius, y.begin, y.end},
        {0, z.begin, y.begin, y.end});
    add(z.length > z.end, rank + cut.along_y, {z.end - radius, z.end, y.begin, y.end},
        {z.end, z.length, y.begin, y.end});
    add(y.begin > 0, rank - 1, {z.begin, z.end, y.begin, y.begin + radius}, {z.begin, z.end, 0, y.begin});
    add(y.length > y.end, rank + 1, {z.begin, z.end, y.end - radius, y.end},
        {z.begin, z.end, y.end, y.length});

    for (auto& buffer : volumes_)
        buffer =
            device.allocate(points_of({0, z.length, 0, y.length}, shape_.columns) * size_of(type), &stream);
    edge_ = device.create_stream();
    faces_done_ = device.create_event();
    interior_done_ = device.create_event();
}

u64 StencilPart::message_bytes() const {
    u64 bytes = 0;
    for (const Parcel& parcel : sends_)
        bytes += parcel.bytes();
    return bytes;
}

View StencilPart::volume(u32 which) const {
    return {volumes_[which].get(), 0, shape_.depth * shape_.rows * shape_.columns, type_};
}

void StencilPart::begin_new() {
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
    const Parcel parcel(stream_.device(), rank, runs_of(shape_, own_), type_);
    const Message message{rank, parcel.incoming(volume(now_))};
    ranks_.exchange(stream_, {}, {&message, 1});
    parcel.arrived(stream_, volume(now_));
    begin_new();
}

void StencilPart::send(u32 rank) {
    const Parcel parcel(stream_.device(), rank, runs_of(shape_, own_), type_);
    const Message message{rank, parcel.outgoing(stream_, volume(now_))};
    ranks_.exchange(stream_, {&message, 1}, {});
}

// --- Steps ----------------------------------------------------------------------------------------------------------

void StencilPart::exchange(Stream& stream, u32 which) {
    const View all = volume(which);
    std::vector<Message> sends, receives;
    for (const Parcel& parcel : sends_)
        sends.push_back({parcel.rank(), parcel.outgoing(stream, all)});
    for (const Parcel& parcel : receives_)
        receives.push_back({parcel.rank(), parcel.incoming(all)});
    ranks_.exchange(stream, sends, receives);
    for (const Parcel& parcel : receives_)
        parcel.arrived(stream, all);
}

void StencilPart::compute(Stream& stream, const StencilBox& box) {
    if (points_of(box, shape_.columns) == 0) return;
    variant_ = stencil_box(stream, volume(now_), volume(1 - now_), shape_, star_, box, options_).variant;
}

void StencilPart::step_overlapped(bool last) {
    edge_->wait(*interior_done_);
    stream_.wait(*faces_done_);
    auto interior = [&] {
        compute(stream_, interior_);
        stream_.record(*interior_done_);
    };
    // The first step has no faces before there are halos, and hides that these are on their way.
    const bool is_first = !has_halos_;
    if (is_first) {
        interior();
        exchange(*edge_, now_);
    }
    for (const StencilBox& face : faces_)
        compute(*edge_, face);
    edge_->record(*faces_done_);
    if (!is_first) interior();
    now_ = 1 - now_;
    if (!last) exchange(*edge_, now_);
    has_halos_ = !last;
    if (last) stream_.wait(*faces_done_);
}

void StencilPart::step_sequential() {
    exchange(stream_, now_);
    compute(stream_, own_);
    now_ = 1 - now_;
}

}  // namespace concord::detail
