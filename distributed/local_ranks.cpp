// Messages between ranks of one process. The sender says where its bytes are and when; the receiver's stream fetches them:
// by a copy on the device or between devices, which no host waits for, or from host memory, to which the sender's stream
// brings them in pieces, so that one is on its way up while the next comes down.

#include "local.hpp"

#include <concord/peer.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {
namespace {

// Bytes of a message that is staged; long enough for the rate of a link, short enough for two links to overlap.
constexpr u64 piece_bytes = u64{8} << 20;

std::shared_ptr<Event> mark(Stream& stream) {
    std::shared_ptr<Event> event = stream.device().create_event();
    stream.record(*event);
    return event;
}

std::byte* host_address(const View& view) {
    return static_cast<std::byte*>(view.buffer->host_pointer()) + view.offset;
}

bool on_host(const View& view) {
    return view.buffer->kind() == Buffer::Kind::host;
}

}  // namespace

/// What one call has offered: however it ends, nobody reads it any more.
class LocalCommunicator::Offers {
  public:
    explicit Offers(Meeting& meeting) : meeting_(meeting) {}
    Offers(const Offers&) = delete;
    Offers& operator=(const Offers&) = delete;

    void add(Stream& stream, std::shared_ptr<Offer> offer) {
        list_.reserve(list_.size() + 1);
        meeting_.offer(offer);
        list_.emplace_back(&stream, std::move(offer));
    }

    /// Waits until all are taken, and has their streams wait until they are read.
    void finish() {
        for (const auto& [stream, offer] : list_) {
            meeting_.wait(*offer);
            if (!offer->refused.empty()) throw Error(offer->code, "Communicator::exchange", offer->refused);
            if (!offer->read || offer->staged) continue;
            // Memory that is read by its address is noted by no pool, nor ordered by a stream for a host that writes to it.
            if (offer->host == nullptr && can_reach(stream->device(), offer->read->device())) {
                stream->wait(*offer->read);
            } else {
                offer->read->synchronize();
            }
        }
        list_.clear();
    }

    ~Offers() {
        for (const auto& [stream, offer] : list_) {
            meeting_.withdraw(offer);
            try {
                if (offer->read) offer->read->synchronize();
            } catch (...) {  // the receiver's to tell
            }
        }
    }

  private:
    Meeting& meeting_;
    std::vector<std::pair<Stream*, std::shared_ptr<Offer>>> list_;  // with their senders' streams
};

LocalCommunicator::~LocalCommunicator() {
    for (const Held& held : held_) {
        try {
            held.read->synchronize();
        } catch (...) {  // the stream's to tell
        }
    }
}

void LocalCommunicator::fail(std::string_view why) noexcept {
    try {
        meeting_.fail(rank(), why);
    } catch (...) {  // no memory for the words: the rank ends, which the others see as well
        meeting_.end(rank());
    }
}

std::string LocalCommunicator::path_to(u32 rank) const {
    if (rank >= size())
        throw Error(ErrorCode::invalid_argument, "Communicator::path_to",
                    "rank " + std::to_string(rank) + " of " + std::to_string(size()));
    Device &mine = meeting_.device(this->rank()), &other = meeting_.device(rank);
    if (&mine == &other) return "device copies";
    return can_reach(other, mine) ? "peer copies" : "host memory";
}

std::shared_ptr<Offer> LocalCommunicator::make_offer(Stream& stream, const Message& message) {
    const View& view = message.view;
    auto offer = std::make_shared<Offer>();
    offer->from = rank();
    offer->to = message.rank;
    offer->view = view;
    const u64 bytes = view.bytes();
    if (bytes == 0) return offer;
    Device& device = stream.device();
    const bool is_shared = device.traits().shares_host_memory;
    const bool reached = can_reach(meeting_.device(message.rank), device);
    if (on_host(view) || (is_shared && !reached)) {
        offer->host = host_address(view);
        offer->ready = mark(stream);
        offer->pieces.push_back({0, bytes, offer->ready});
    } else if (reached) {
        offer->ready = mark(stream);
    } else {
        offer->staged = device.allocate_host(bytes);
        offer->host = static_cast<const std::byte*>(offer->staged->host_pointer());
        for (u64 first = 0; first < bytes; first += piece_bytes) {
            const u64 count = std::min(piece_bytes, bytes - first);
            stream.copy(*offer->staged, first, *view.buffer, view.offset + first, count);
            offer->pieces.push_back({first, count, mark(stream)});
        }
        offer->ready = offer->pieces.back().there;
    }
    return offer;
}

void LocalCommunicator::copy_from_host(Stream& stream, const View& to, const Offer& offer) {
    for (const Offer::Piece& piece : offer.pieces) {
        piece.there->synchronize();
        if (on_host(to)) {
            stream.callback([target = host_address(to) + piece.first, source = offer.host + piece.first,
                             count = piece.count] { std::memcpy(target, source, count); });
        } else {
            stream.write(*to.buffer, to.offset + piece.first, offer.host + piece.first, piece.count);
        }
    }
}

void LocalCommunicator::copy(Stream& stream, const View& to, Offer& offer) {
    const View& from = offer.view;
    Device& source = meeting_.device(offer.from);
    if (offer.host != nullptr && (on_host(to) || &source != &stream.device())) {
        copy_from_host(stream, to, offer);
        offer.read = mark(stream);
        if (offer.staged) held_.push_back({offer.staged, offer.read});
        // The host's copies write by the address: the buffer must last as long as they do.
        if (on_host(to)) stream.synchronize();
        return;
    }
    stream.wait(*offer.ready);
    if (on_host(to) && &source != &stream.device()) {
        const auto between = stream.scratch(to.bytes());
        stream.copy(*between, 0, *from.buffer, from.offset, to.bytes());
        stream.copy(*to.buffer, to.offset, *between, 0, to.bytes());
    } else {
        stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, to.bytes());
    }
    offer.read = mark(stream);
}

void LocalCommunicator::receive(Stream& stream, const Message& message) {
    const std::shared_ptr<Offer> offer = meeting_.take(message.rank, rank());
    const u64 sent = offer->view.bytes(), expected = message.view.bytes();
    if (sent != expected) {
        const std::string why = "rank " + std::to_string(message.rank) + " sends " + std::to_string(sent) +
                                " bytes, rank " + std::to_string(rank()) + " expects " +
                                std::to_string(expected);
        meeting_.done(*offer, ErrorCode::invalid_argument, why);
        throw Error(ErrorCode::invalid_argument, "Communicator::exchange", why);
    }
    try {
        if (sent > 0) copy(stream, message.view, *offer);
    } catch (const std::exception& error) {
        // What it has enqueued may read on: the sender must not go before.
        try {
            stream.synchronize();
        } catch (...) {  // the same failure
        }
        // Before the sender hears of it, which fails for this reason alone.
        meeting_.fail(rank(), error.what());
        meeting_.done(*offer, ErrorCode::device_failed,
                      "rank " + std::to_string(rank()) + " cannot receive: " + error.what());
        throw;
    }
    meeting_.done(*offer);
}

void LocalCommunicator::do_exchange(Stream& stream, std::span<const Message> sends,
                                    std::span<const Message> receives) {
    std::erase_if(held_, [](const Held& held) { return held.read->done(); });
    Offers offers(meeting_);
    for (const Message& message : sends)
        offers.add(stream_of(message, stream), make_offer(stream_of(message, stream), message));
    for (const Message& message : receives)
        receive(stream_of(message, stream), message);
    offers.finish();
}

std::vector<std::vector<std::byte>> LocalCommunicator::do_all_gather(std::span<const std::byte> mine) {
    return meeting_.gather(rank(), mine);
}

}  // namespace concord::detail
