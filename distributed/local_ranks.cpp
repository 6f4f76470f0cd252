// Messages between ranks of one process. The sender posts the address of its bytes and an event. The receiver's
// stream copies them: within the device, between devices, or from host memory. The sender's stream stages the bytes
// to host memory in pieces, so that downloads and uploads overlap.

#include "local.hpp"

#include "local_link.hpp"

#include <concord/peer.hpp>

#include <algorithm>
#include <cstring>

namespace concord::detail {
namespace {

// Bytes per staged piece: long enough to reach the rate of a link, short enough to overlap two links.
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

// The sends of one call. However the call ends, no receiver reads them after it.
class LocalCommunicator::PostedSends {
  public:
    explicit PostedSends(LocalRanks& shared) : shared_(shared) {}
    PostedSends(const PostedSends&) = delete;
    PostedSends& operator=(const PostedSends&) = delete;

    void add(Stream& stream, std::shared_ptr<PostedSend> send) {
        list_.reserve(list_.size() + 1);
        shared_.post(send);
        list_.emplace_back(&stream, std::move(send));
    }

    // Waits until all are complete, and lets their streams wait until they are read.
    void finish() {
        for (const auto& [stream, send] : list_) {
            shared_.wait(*send);
            if (send->failure) throw Error(*send->failure, "Communicator::exchange", send->error);
            if (!send->read || send->staged) continue;
            // Neither the pool nor a stream tracks host memory that is read by its address, so the host waits.
            if (send->host == nullptr && can_reach(stream->device(), send->read->device())) {
                stream->wait(*send->read);
            } else {
                send->read->synchronize();
            }
        }
        list_.clear();
    }

    ~PostedSends() {
        for (const auto& [stream, send] : list_) {
            shared_.cancel(send);
            try {
                if (send->read) send->read->synchronize();
            } catch (...) {  // the receiver reports it
            }
        }
    }

  private:
    LocalRanks& shared_;
    std::vector<std::pair<Stream*, std::shared_ptr<PostedSend>>> list_;  // each with its stream
};

LocalCommunicator::~LocalCommunicator() {
    for (const Held& held : held_) {
        try {
            held.read->synchronize();
        } catch (...) {  // the stream reports it
        }
    }
}

void LocalCommunicator::fail(std::string_view why) noexcept {
    shared_.fail(rank(), why);
}

std::string LocalCommunicator::do_path_to(u32 rank) const {
    Device &mine = shared_.device(this->rank()), &other = shared_.device(rank);
    if (&mine == &other) return "device copies";
    return can_reach(other, mine) ? "peer copies" : "host memory";
}

std::shared_ptr<PostedSend> LocalCommunicator::post_send(Stream& stream, const Message& message) {
    const View& view = message.view;
    auto send = std::make_shared<PostedSend>();
    send->from = rank();
    send->to = message.rank;
    send->view = view;
    const u64 bytes = view.bytes();
    if (bytes == 0) return send;
    Device& device = stream.device();
    const bool is_shared = device.traits().shares_host_memory;
    const bool reached = can_reach(shared_.device(message.rank), device);
    if (on_host(view) || (is_shared && !reached)) {
        send->host = host_address(view);
        send->ready = mark(stream);
        send->pieces.push_back({0, bytes, send->ready});
    } else if (reached) {
        send->ready = mark(stream);
    } else {
        send->staged = device.allocate_host(bytes);
        send->host = static_cast<const std::byte*>(send->staged->host_pointer());
        for (u64 first = 0; first < bytes; first += piece_bytes) {
            const u64 count = std::min(piece_bytes, bytes - first);
            stream.copy(*send->staged, first, *view.buffer, view.offset + first, count);
            send->pieces.push_back({first, count, mark(stream)});
        }
        send->ready = send->pieces.back().arrived;
    }
    return send;
}

void LocalCommunicator::copy_from_host(Stream& stream, const View& to, const PostedSend& send) {
    for (const PostedSend::Piece& piece : send.pieces) {
        piece.arrived->synchronize();
        if (on_host(to)) {
            stream.callback([target = host_address(to) + piece.first, source = send.host + piece.first,
                             count = piece.count] { std::memcpy(target, source, count); });
        } else {
            stream.write(*to.buffer, to.offset + piece.first, send.host + piece.first, piece.count);
        }
    }
}

void LocalCommunicator::copy(Stream& stream, const View& to, PostedSend& send) {
    const View& from = send.view;
    Device& source = shared_.device(send.from);
    if (send.host != nullptr && (on_host(to) || &source != &stream.device())) {
        copy_from_host(stream, to, send);
        send.read = mark(stream);
        if (send.staged) held_.push_back({send.staged, send.read});
        // The host writes to the address of the buffer, which must stay alive until then.
        if (on_host(to)) stream.synchronize();
        return;
    }
    stream.wait(*send.ready);
    if (on_host(to) && &source != &stream.device()) {
        const auto between = stream.scratch(to.bytes());
        stream.copy(*between, 0, *from.buffer, from.offset, to.bytes());
        stream.copy(*to.buffer, to.offset, *between, 0, to.bytes());
    } else {
        stream.copy(*to.buffer, to.offset, *from.buffer, from.offset, to.bytes());
    }
    send.read = mark(stream);
}

void LocalCommunicator::receive(Stream& stream, const Message& message) {
    const std::shared_ptr<PostedSend> send = shared_.match(message.rank, rank());
    const u64 sent = send->view.bytes(), expected = message.view.bytes();
    std::string why;
    try {
        if (sent != expected) {
            why = "rank " + std::to_string(message.rank) + " sends " + std::to_string(sent) +
                  " bytes, rank " + std::to_string(rank()) + " expects " + std::to_string(expected);
            throw Error(ErrorCode::invalid_argument, "Communicator::exchange", why);
        }
        if (sent > 0) copy(stream, message.view, *send);
    } catch (const std::exception& error) {
        if (!why.empty()) {
            shared_.complete(*send, ErrorCode::invalid_argument, std::move(why));
            throw;
        }
        // Enqueued copies may still read: the sender must not continue before.
        try {
            stream.synchronize();
        } catch (...) {  // the same failure
        }
        // Recorded before complete(): the sender fails for this reason only.
        shared_.fail(rank(), error.what());
        try {
            why = "rank " + std::to_string(rank()) + " cannot receive: " + error.what();
        } catch (const std::bad_alloc&) {  // the sender fails without the reason
        }
        shared_.complete(*send, ErrorCode::device_failed, std::move(why));
        throw;
    }
    shared_.complete(*send);
}

void LocalCommunicator::do_exchange(Stream& stream, std::span<const Message> sends,
                                    std::span<const Message> receives) {
    std::erase_if(held_, [](const Held& held) { return held.read->done(); });
    PostedSends posted(shared_);
    for (const Message& message : sends)
        posted.add(stream_of(message, stream), post_send(stream_of(message, stream), message));
    for (const Message& message : receives)
        receive(stream_of(message, stream), message);
    posted.finish();
}

std::vector<std::shared_ptr<Link>> LocalCommunicator::do_connect(Stream& stream,
                                                                 std::span<const LinkOffer> offers) {
    std::vector<std::shared_ptr<Link>> links(offers.size());
    std::vector<std::shared_ptr<LinkEnd>> mine(offers.size());
    const Device& own = shared_.device(rank());
    if (&stream.device() != &own)
        throw Error(ErrorCode::wrong_device, "Communicator",
                    "the stream must be on " + own.info().selector + " like rank " + std::to_string(rank()) +
                        ", got " + stream.device().info().selector);
    if (!links_enabled()) return links;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        // Both ranks get the same answer.
        if (!can_link(stream.device(), shared_.device(offers[i].rank))) continue;
        mine[i] = std::make_shared<LinkEnd>();
        mine[i]->buffers = offers[i].buffers;
        for (auto& mark : mine[i]->marks)
            mark = stream.device().create_event();
        shared_.offer(rank(), offers[i].rank, mine[i]);
    }
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (mine[i])
            links[i] = std::make_shared<LocalLink>(shared_, rank(), offers[i].rank, mine[i],
                                                   shared_.accept(offers[i].rank, rank()));
    }
    return links;
}

std::vector<std::vector<std::byte>> LocalCommunicator::do_all_gather(std::span<const std::byte> mine) {
    return shared_.all_gather(rank(), mine);
}

}  // namespace concord::detail
