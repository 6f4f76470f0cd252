#include <concord/lab/rotation.hpp>

#include <concord/lab/input.hpp>
#include <concord/lab/machine.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

constexpr u64 distance_multiple = 512;  // alignment of buffers, and the largest one of OpenCL's sub-buffers

u64 bytes_of(const Operands& operands) {
    u64 sum = 0;
    for (const auto* views : {&operands.in, &operands.out}) {
        for (const View& view : *views)
            sum += std::max<u64>(1, view.bytes());
    }
    return std::max<u64>(1, sum);
}

}  // namespace

Rotation::Rotation(Stream& stream, Operands operands, u64 bytes) : now_(std::move(operands)) {
    const u64 once = bytes_of(now_);
    copies_ = std::clamp<u64>((bytes + once - 1) / once, 1, max_copies);
    if (copies_ == 1) return;
    try {
        for (const View& view : now_.in)
            replicate(stream, view, in_.emplace_back(make_slab(stream, view)));
        for (const View& view : now_.out) {
            Buffer& buffer = *out_.emplace_back(make_slab(stream, view)).buffer;
            const u64 zero = 0;
            stream.fill(buffer, 0, buffer.size(), &zero, sizeof zero);
        }
        stream.synchronize();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        in_.clear();
        out_.clear();
        copies_ = 1;
    }
}

Rotation::Slab Rotation::make_slab(Stream& stream, const View& view) const {
    Slab slab;
    slab.stride = (view.bytes() + distance_multiple - 1) / distance_multiple * distance_multiple;
    slab.stride = std::max(slab.stride, distance_multiple);
    slab.buffer = stream.device().allocate(slab.stride * copies_, &stream);
    return slab;
}

void Rotation::replicate(Stream& stream, const View& view, const Slab& slab) const {
    stream.copy(*slab.buffer, 0, *view.buffer, view.offset, view.bytes());
    for (u64 done = 1; done < copies_; done *= 2)
        stream.copy(*slab.buffer, done * slab.stride, *slab.buffer, 0,
                    std::min(done, copies_ - done) * slab.stride);
}

const Operands& Rotation::at(u64 k) {
    auto move = [k](std::vector<View>& views, const std::vector<Slab>& slabs) {
        for (std::size_t i = 0; i < slabs.size(); ++i) {
            views[i].buffer = slabs[i].buffer.get();
            views[i].offset = k * slabs[i].stride;
        }
    };
    move(now_.in, in_);
    move(now_.out, out_);
    return now_;
}

u64 cold_bytes(const Device& device) {
    const DeviceTraits& traits = device.traits();
    // Traits do not include the last-level caches that the cores of a CPU share. Part of a cache larger than half of
    // the upper limit stays warm.
    const u64 shared = traits.launch == LaunchModel::groups ? 0 : last_cache_bytes();
    const u64 least = std::clamp(2 * shared, u64{256} << 20, u64{1} << 30);
    const u64 room = std::min({traits.global_memory / 8, traits.max_allocation / 2,
                               traits.launch == LaunchModel::groups ? ~u64{0} : available_host_memory() / 8});
    return std::min(std::max(least, 4 * traits.cache), room);
}

}  // namespace concord::lab
