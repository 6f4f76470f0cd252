#include <concord/communicator.hpp>

#include <concord/internal/link.hpp>

#include <concord/internal/environment.hpp>
#include <concord/internal/operands.hpp>

#include <algorithm>

namespace concord {
namespace {

// "to rank 1": the other end of a message, for errors.
std::string named(const char* direction, const Message& message) {
    return std::string(direction) + " rank " + std::to_string(message.rank);
}

[[noreturn]] void refuse_recording(const std::string& whose) {
    throw Error(ErrorCode::unsupported, "Communicator::exchange",
                whose + " is recording, which does not support messages; end the recording first");
}

enum class Direction { to, from };

void check_messages(const Communicator& ranks, Stream& of_call, Direction direction,
                    std::span<const Message> messages) {
    constexpr const char* call = "Communicator::exchange";
    const char* const what = direction == Direction::to ? "to" : "from";
    for (const Message& message : messages) {
        if (message.rank >= ranks.size() || message.rank == ranks.rank())
            throw Error(ErrorCode::invalid_argument, call,
                        "message " + named(what, message) +
                            (message.rank == ranks.rank()
                                 ? ": a rank cannot exchange messages with itself"
                                 : ": no such rank; there are " + std::to_string(ranks.size())));
        Stream& stream = message.stream != nullptr ? *message.stream : of_call;
        if (stream.is_recording()) refuse_recording("the stream of the message " + named(what, message));
        if (&stream.device() != &of_call.device())
            throw Error(ErrorCode::wrong_device, call,
                        "the stream of the message " + named(what, message) + " must be on " +
                            of_call.device().info().selector + " like the stream of the call, got " +
                            stream.device().info().selector);
        const std::string name = "the message " + named(what, message);
        detail::check_range(call, name, stream, message.view);
        if (direction == Direction::from) detail::check_writable(call, name, message.view);
    }
}

// Throws invalid_argument if a message is received where another one of the call is.
void check_apart(const std::string& name, const View& view, const char* what,
                 std::span<const Message> messages) {
    for (const Message& message : messages) {
        if (!overlap(view, message.view)) continue;
        const std::string other = named(what, message);
        detail::check_overlap("Communicator::exchange", {name.c_str(), view}, {other.c_str(), message.view});
    }
}

}  // namespace

Communicator::~Communicator() = default;

void Communicator::exchange(Stream& stream, std::span<const Message> sends,
                            std::span<const Message> receives) {
    if (stream.is_recording()) refuse_recording("the stream");
    check_messages(*this, stream, Direction::to, sends);
    check_messages(*this, stream, Direction::from, receives);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        check_apart(named("from", receives[i]), receives[i].view, "to", sends);
        check_apart(named("from", receives[i]), receives[i].view, "from", receives.first(i));
    }
    if (!sends.empty() || !receives.empty()) do_exchange(stream, sends, receives);
}

std::vector<std::vector<std::byte>> Communicator::all_gather(std::span<const std::byte> mine) {
    return do_all_gather(mine);
}

void Communicator::barrier() {
    do_all_gather({});
}

std::string Communicator::path_to(u32 rank) const {
    detail::check_rank("Communicator::path_to", "rank", rank, size());
    return do_path_to(rank);
}

std::vector<std::shared_ptr<detail::Link>> Communicator::do_connect(
    Stream& /*stream*/, std::span<const detail::LinkOffer> offers) {
    return std::vector<std::shared_ptr<detail::Link>>(offers.size());
}

bool detail::links_enabled() {
    const std::string_view asked = environment_variable("CONCORD_LINKS");
    if (!asked.empty() && asked != "on" && asked != "off")
        throw Error(ErrorCode::invalid_argument, "CONCORD_LINKS",
                    error_message("invalid value", quoted(asked), "expected on or off"));
    return asked != "off";
}

void detail::begin_waiting_kernels(Communicator& ranks, Stream& stream) {
    if (ranks.waiting_on_ != nullptr && ranks.waiting_on_ != &stream) stream.wait(*ranks.waiting_ended_);
}

void detail::end_waiting_kernels(Communicator& ranks, Stream& stream) {
    if (!ranks.waiting_ended_) ranks.waiting_ended_ = stream.device().create_event();
    stream.record(*ranks.waiting_ended_);
    ranks.waiting_on_ = &stream;
}

u64 detail::kernel_link_id(const Device& device) {
    const std::string& uuid = device.info().uuid;
    if (!device.traits().system_atomics || uuid.empty() || !links_enabled()) return 0;
    return std::hash<std::string>()(uuid) | 1;
}

bool detail::may_link_kernels(std::span<const u64> ids) {
    std::vector<u64> sorted(ids.begin(), ids.end());
    std::sort(sorted.begin(), sorted.end());
    return !sorted.empty() && sorted.front() != 0 &&
           std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

std::vector<std::shared_ptr<detail::Link>> detail::connect(Communicator& ranks, Stream& stream,
                                                           std::span<const LinkOffer> offers) {
    return ranks.do_connect(stream, offers);
}

void detail::check_rank(std::string_view call, std::string_view name, u32 rank, u32 ranks) {
    if (rank < ranks) return;
    throw Error(
        ErrorCode::invalid_argument, call,
        error_message(std::string(name) + " must be less than the number of ranks, " + std::to_string(ranks),
                      std::to_string(rank)));
}

void detail::bound_outstanding_scratch(Communicator& ranks, Stream& stream, u64 bytes) {
    constexpr u64 most = u64{1} << 26, min_counted = u64{1} << 21;
    ranks.unsettled_ += std::max(bytes, min_counted);
    if (ranks.unsettled_ < most) return;
    stream.synchronize();
    ranks.unsettled_ = 0;
}

Part part_of(u64 n, u32 rank, u32 ranks, u64 granule) {
    if (granule == 0)
        throw Error(ErrorCode::invalid_argument, "part_of", "granule must be at least 1, got 0");
    detail::check_rank("part_of", "rank", rank, ranks);
    const u64 granules = n / granule + (n % granule != 0 ? 1 : 0);
    const u64 each = granules / ranks,
              more = granules % ranks;  // the first `more` ranks get one granule more
    // The last granule may be partial; n avoids an overflow at its end.
    auto at = [&](u64 i) { return i >= granules ? n : i * granule; };
    const u64 first = at(each * rank + std::min<u64>(rank, more));
    return {first, at(each * (rank + 1) + std::min<u64>(rank + u64{1}, more)) - first};
}

}  // namespace concord
