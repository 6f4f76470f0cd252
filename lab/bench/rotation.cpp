#include <concord/lab/rotation.hpp>

#include <concord/lab/input.hpp>
#include <concord/lab/machine.hpp>

#include <algorithm>

namespace concord::lab {
namespace {

constexpr u64 distance_multiple = 512;  // what buffers are aligned to, and OpenCL's sub-buffers at most

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
    copies_ = std::clamp<u64>((bytes + once - 1) / once, 1, most);
    if (copies_ == 1) return;
    try {
        for (const View& view : now_.in)
            in_.push_back(replicate(stream, view, true));
        for (const View& view : now_.out)
            out_.push_back(replicate(stream, view, false));
        stream.synchronize();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        in_.clear();
        out_.clear();
        copies_ = 1;
    }
}

Rotation::Slab Rotation::replicate(Stream& stream, const View& view, bool contents) const {
    Slab slab;
    slab.stride = (view.bytes() + distance_multiple - 1) / distance_multiple * distance_multiple;
    slab.stride = std::max(slab.stride, distance_multiple);
    slab.buffer = stream.device().allocate(slab.stride * copies_, &stream);
    if (!contents) {
        const u64 zero = 0;
        stream.fill(*slab.buffer, 0, slab.buffer->size(), &zero, sizeof zero);
        return slab;
    }
    stream.copy(*slab.buffer, 0, *view.buffer, view.offset, view.bytes());
    for (u64 done = 1; done < copies_; done *= 2)
        stream.copy(*slab.buffer, done * slab.stride, *slab.buffer, 0,
                    std::min(done, copies_ - done) * slab.stride);
    return slab;
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
    // Past the last-level caches that a CPU's cores share, which traits leave out. Of caches of more than half of the most
    // here, part stays warm.
    const u64 shared = traits.many_items ? 0 : last_cache_bytes();
    const u64 least = std::clamp(2 * shared, u64{256} << 20, u64{1} << 30);
    const u64 room = std::min({traits.global_memory / 8, traits.max_allocation / 2,
                               traits.many_items ? ~u64{0} : available_host_memory() / 8});
    return std::min(std::max(least, 4 * traits.cache), room);
}

}  // namespace concord::lab
