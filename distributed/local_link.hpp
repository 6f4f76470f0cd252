#pragma once
// Links between ranks of one process.

#include <concord/internal/link.hpp>
#include "local.hpp"

#include <array>
#include <atomic>

namespace concord::detail {

// What one rank contributes to a link. An event is recorded again two turns later. By then the other end has enqueued
// its wait: it has begun the turn in between.
struct LinkEnd {
    std::vector<std::shared_ptr<Buffer>> buffers;
    std::array<std::shared_ptr<Event>, 2> marks;
    std::atomic<u64> signalled = 0;  // calls of signal()
    std::atomic<u64> announced = 0;  // turns of kernels
};

class LocalLink final : public Link {
  public:
    // The end of `rank`, with the end of rank `other`.
    LocalLink(LocalRanks& shared, u32 rank, u32 other, std::shared_ptr<LinkEnd> mine,
              const std::shared_ptr<LinkEnd>& theirs);

    Buffer& remote(u32 index) override { return *remote_[index]; }
    void signal(Stream& stream) override;
    void wait(Stream& stream) override;
    void announce(u64 turn) override;
    void await_announced(u64 turn) override;

  private:
    LocalRanks& shared_;
    u32 other_;
    u64 turn_ = 0;
    std::shared_ptr<LinkEnd> mine_, theirs_;
    std::vector<std::shared_ptr<Buffer>> remote_;
};

// Whether ranks on these devices can write into each other's memory.
bool can_link(const Device& a, const Device& b);

}  // namespace concord::detail
