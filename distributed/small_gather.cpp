#include "small_gather.hpp"

#include "distributed_sources.hpp"
#include "halo.hpp"

#include <concord/distributed.hpp>
#include <concord/internal/shape.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {

namespace {

constexpr u32 max_ranks = 8;  // more ranks would send many small messages
constexpr u32 group = 256;

}  // namespace

std::shared_ptr<Kernel> small_gather_kernel(Device& device) {
    return device.kernel({.source = &kernel_sources::small_gather(),
                          .entry = "small_gather",
                          .constants = {{"GROUP", group}},
                          .max_group_size = group});
}

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
    Device& device = stream.device();
    std::vector<LinkOffer> offers;
    for (auto& buffer : made->memory_)
        buffer = device.allocate(max_bytes);
    constexpr u32 zero = 0;
    made->flags_ = device.allocate((u64{ranks.size()} + 1) * sizeof(u32));
    stream.fill(*made->flags_, 0, made->flags_->size(), &zero, sizeof zero);
    stream.synchronize();
    for (u32 rank = 0; rank < ranks.size(); ++rank) {
        if (rank != ranks.rank())
            offers.push_back({rank, {made->memory_[0], made->memory_[1], made->flags_}});
    }
    made->links_ = connect(ranks, stream, offers);
    made->ended_ = device.create_event();
    made->rank_ = ranks.rank();
    const bool is_linked = std::find(made->links_.begin(), made->links_.end(), nullptr) == made->links_.end();
    const u64 mine[] = {is_linked ? u64{1} : u64{0}, kernel_link_id(device)};
    bool all_linked = true;
    std::vector<u64> ids;
    for (const auto& theirs : ranks.all_gather(std::as_bytes(std::span(mine)))) {
        u64 said[2];
        std::memcpy(said, theirs.data(), sizeof said);
        all_linked = all_linked && said[0] != 0;
        ids.push_back(said[1]);
    }
    made->in_kernels_ = may_link_kernels(ids);
    if (all_linked) ranks.gather_ = std::move(made);
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

// The launch for the last of the other ranks waits for all of them.
void SmallGather::exchange_in_kernels(Stream& stream, const View& mine, u64 first) {
    constexpr u32 max_groups = 64;
    const auto kernel = small_gather_kernel(stream.device());
    const u32 ranks = static_cast<u32>(links_.size()) + 1, turn = static_cast<u32>(turn_ + 1);
    const View flags{flags_.get(), 0, u64{ranks} + 1, Type::u32};
    const auto words = [](Buffer& buffer, u64 offset, u64 bytes) {
        return View{&buffer, offset, bytes / sizeof(u32), Type::u32};
    };
    const View from = words(*mine.buffer, mine.offset, mine.bytes());
    const u64 groups = std::clamp<u64>(divide_up(from.count, group), 1, max_groups);
    for (const auto& link : links_)
        link->announce(turn);
    for (const auto& link : links_)
        link->await_announced(turn);
    try {
        for (const auto& link : links_) {
            const View to = words(link->remote(turn_ % 2), first * size_of(mine.type), mine.bytes()),
                       raised{&link->remote(2), rank_ * sizeof(u32), 1, Type::u32};
            launch(stream, *kernel, LaunchShape::linear(groups, group), from, to, flags, raised, from.count,
                   ranks, turn, link == links_.back() ? ranks : 0U, rank_);
        }
    } catch (...) {
        // The others wait for this rank's flags, and then throw what it throws.
        for (const auto& link : links_) {
            try {
                stream.fill(link->remote(2), rank_ * sizeof(u32), sizeof turn, &turn, sizeof turn);
            } catch (...) {  // NOLINT(bugprone-empty-catch): the first error is reported
            }
        }
        throw;
    }
}

void SmallGather::exchange(Stream& stream, const View& mine, u64 first) {
    if (in_kernels_ && size_of(mine.type) % sizeof(u32) == 0) return exchange_in_kernels(stream, mine, first);
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
