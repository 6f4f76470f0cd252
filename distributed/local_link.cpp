// Links between ranks of one process. An end writes into the other rank's memory and records an event; the other end's
// stream waits for it. The hosts exchange one counter per turn and never wait for a device.

#include "local_link.hpp"

#include <concord/peer.hpp>

namespace concord::detail {
namespace {

// A buffer of another device as memory of `device`, whose kernels can access it by its address.
std::shared_ptr<Buffer> seen_from(Device& device, const std::shared_ptr<Buffer>& buffer) {
    if (&buffer->device() == &device) return buffer;
    return device.adopt({.handle = buffer->native_handle(),
                         .bytes = buffer->size(),
                         .verify = false,
                         .release = [owner = std::shared_ptr<Buffer>(buffer)]() mutable { owner.reset(); }});
}

}  // namespace

LocalLink::LocalLink(LocalRanks& shared, u32 rank, u32 other, std::shared_ptr<LinkEnd> mine,
                     const std::shared_ptr<LinkEnd>& theirs)
    : shared_(shared), other_(other), mine_(std::move(mine)), theirs_(theirs) {
    for (const std::shared_ptr<Buffer>& buffer : theirs->buffers)
        remote_.push_back(seen_from(shared.device(rank), buffer));
}

void LocalLink::signal(Stream& stream) {
    stream.record(*mine_->marks[turn_ % 2]);
    mine_->signalled.store(turn_ + 1);
    shared_.wake();
}

void LocalLink::wait(Stream& stream) {
    const u64 turn = turn_++;
    shared_.wait_for([&] { return theirs_->signalled.load() > turn; }, other_);
    stream.wait(*theirs_->marks[turn % 2]);
}

void LocalLink::announce(u64 turn) {
    mine_->announced.store(turn);
    shared_.wake();
}

void LocalLink::await_announced(u64 turn) {
    shared_.wait_for([&] { return theirs_->announced.load() >= turn; }, other_);
}

bool can_link(const Device& a, const Device& b) {
    return can_reach(a, b) && can_reach(b, a);
}

}  // namespace concord::detail
