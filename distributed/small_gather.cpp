#include "small_gather.hpp"

#include "halo.hpp"

#include <concord/distributed.hpp>

#include <algorithm>

namespace concord::detail {

namespace {

constexpr u32 max_ranks = 8;  // more ranks would send many small messages

}  // namespace

bool SmallGather::is_usable(const Communicator& ranks, const Stream& stream) {
    if (ranks.size() == 1 || ranks.size() > max_ranks) return false;
    if (stream.is_recording()) return false;  // messages refuse it
    if (!ranks.gather_is_decided_) return true;
    return ranks.gather_ != nullptr && &ranks.gather_->memory_[0]->device() == &stream.device();
}

bool SmallGather::all_usable(Communicator& ranks, const Stream& stream, const char* call,
                             const std::string& what) {
    const u64 numbers[] = {is_usable(ranks, stream) ? u64{1} : u64{0}};
    const auto said = agree(ranks, call, what, numbers);
    return std::all_of(said.begin(), said.end(), [](const auto& theirs) { return theirs[0] != 0; });
}

void SmallGather::decide(Communicator& ranks, Stream& stream) {
    auto made = std::make_shared<SmallGather>();
    std::vector<LinkOffer> offers;
    for (auto& buffer : made->memory_)
        buffer = stream.device().allocate(max_bytes);
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank != ranks.rank()) offers.push_back({rank, {made->memory_[0], made->memory_[1]}});
    }
    made->links_ = connect(ranks, stream, offers);
    made->ended_ = stream.device().create_event();
    const bool mine = std::find(made->links_.begin(), made->links_.end(), nullptr) == made->links_.end();
    const auto all = ranks.all_gather(std::as_bytes(std::span(&mine, 1)));
    if (std::all_of(all.begin(), all.end(), [](const auto& has) { return has[0] != std::byte{0}; }))
        ranks.gather_ = std::move(made);
    ranks.gather_is_decided_ = true;
}

SmallGather* SmallGather::of(Communicator& ranks, Stream& stream, u64 bytes) {
    if (bytes > max_bytes) return nullptr;
    if (!ranks.gather_is_decided_) decide(ranks, stream);
    return ranks.gather_.get();
}

View SmallGather::begin(Stream& stream, u64 count, Type type) {
    if (last_ != nullptr && last_ != &stream) stream.wait(*ended_);
    return {memory_[turn_ % 2].get(), 0, count, type};
}

void SmallGather::exchange(Stream& stream, const View& mine, u64 first) {
    for (const auto& link : links_) {
        store_across(stream, mine,
                     {&link->remote(turn_ % 2), first * size_of(mine.type), mine.count, mine.type});
        link->signal(stream);
    }
    for (const auto& link : links_)
        link->wait(stream);
}

void SmallGather::end(Stream& stream) {
    stream.record(*ended_);
    last_ = &stream;
    ++turn_;
}

}  // namespace concord::detail
