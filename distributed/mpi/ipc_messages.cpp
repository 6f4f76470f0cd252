// A mailbox has two slots. The sender copies a chunk of a message into a free slot, through its mapping of the
// receiver's memory, and raises the counter `arrived` there. The receiver copies the chunk out and raises the counter
// `freed` in the sender's memory. Streams wait for the counters, so the hosts exchange nothing.
//
// Each rank has two streams of its own for each other rank, one per direction. Messages of one direction use them in
// the order in which they are listed, on both ranks. They start when the message's stream has reached the call, and
// that stream waits until they are done.
//
// Streams do not wait for each other in a circle: a send waits for the receive of an earlier chunk, and a receive waits
// for the send of the same chunk. This holds even if the driver executes the streams of a rank one operation at a time,
// in the order of enqueue(), as it may with more streams than hardware queues. enqueue() works in rounds: round i
// enqueues the i-th chunks that are sent to all ranks, then the i-th chunks that are received. Once all ranks have
// executed round i - 1, the sends of round i wait for nothing, and its receives wait for these sends only.

#include "ipc_messages.hpp"

#include <concord/event.hpp>
#include <concord/stream.hpp>

#include <algorithm>

namespace concord::mpi {
namespace {

constexpr u32 slots = 2;
constexpr u64 slot_bytes = u64{1} << 23;
constexpr u64 arrived = 0, freed = 64;  // offsets of the counters, in different sectors
constexpr u64 counter_bytes = 128;

std::shared_ptr<Buffer> make_counters(Stream& stream) {
    auto counters = stream.device().allocate(counter_bytes);
    constexpr u32 zero = 0;
    stream.fill(*counters, 0, counter_bytes, &zero, sizeof zero);
    stream.synchronize();
    return counters;
}

// What a rank tells another one to map its memory.
struct Handles {
    IpcHandle inbox = {}, counters = {};
    std::array<char, 8> valid = {};  // "yes", or empty
};

}  // namespace

// One direction between two ranks.
struct IpcMessages::Pipe {
    struct Chunk {
        const Message* message;
        u64 first, bytes;
    };

    std::shared_ptr<Stream> stream;
    std::shared_ptr<Event> event;
    u32 count = 0;              // chunks so far; wraps around, as the comparison of counters does
    std::vector<Chunk> chunks;  // of the current call

    void open(Device& device) {
        // Copies start before work that waits for the device.
        stream = device.create_stream(Priority::high);
        event = device.create_event();
    }
    void add(const Message& message) {
        message.stream->record(*event);
        stream->wait(*event);
        const u64 bytes = message.view.bytes();
        for (u64 first = 0; first < bytes; first += slot_bytes)
            chunks.push_back({&message, first, std::min(slot_bytes, bytes - first)});
    }
};

struct IpcMessages::Peer {
    u32 rank = 0;
    std::shared_ptr<Buffer> inbox, counters;                // of this rank
    std::shared_ptr<Buffer> remote_inbox, remote_counters;  // of the other rank
    Pipe sending, receiving;
};

std::string ipc_problem(Stream& stream) {
    const IpcContext context(stream);
    if (!context.is_there()) return "the CUDA driver has no functions of IPC";
    const auto counters = make_counters(stream);
    IpcHandle handle;
    if (!context.can_signal(stream, *counters, arrived, true))
        return "the CUDA driver does not support cuStreamWaitValue32";
    if (!context.share(*counters, handle)) return "cuIpcGetMemHandle fails on its device";
    return {};
}

IpcMessages::IpcMessages(Stream& stream) : context_(stream) {}

// Memory that is never reused.
static std::vector<std::shared_ptr<Buffer>>& abandoned() {
    static auto& buffers = *new std::vector<std::shared_ptr<Buffer>>;
    return buffers;
}

// The other rank may still raise `freed` for the last chunks.
IpcMessages::~IpcMessages() {
    for (const auto& peer : peers_) {
        try {
            u32 seen = 0;
            peer->sending.stream->read(&seen, *peer->counters, freed, sizeof seen);
            peer->sending.stream->synchronize();
            if (seen == peer->sending.count) continue;
            abandoned().push_back(std::move(peer->counters));
        } catch (...) {  // the device has failed, and its memory with it
        }
    }
}

IpcMessages::Peer* IpcMessages::find(u32 rank) const {
    for (const auto& peer : peers_) {
        if (peer->rank == rank) return peer.get();
    }
    return nullptr;
}

void IpcMessages::connect(Correspondence& letters, Stream& stream, std::span<const u32> others) {
    Device& device = stream.device();
    std::vector<Handles> mine(others.size()), theirs(others.size());
    std::vector<char> opened(others.size()), both(others.size());
    std::vector<Correspondence::Letter> handles, answers;
    std::vector<std::unique_ptr<Peer>> made;
    for (std::size_t i = 0; i < others.size(); ++i) {
        auto& peer = made.emplace_back(std::make_unique<Peer>());
        peer->rank = others[i];
        try {
            peer->inbox = device.allocate(slots * slot_bytes);
            peer->counters = make_counters(stream);
            if (context_.share(*peer->inbox, mine[i].inbox) &&
                context_.share(*peer->counters, mine[i].counters))
                set_text(mine[i].valid, "yes");
        } catch (const Error& error) {
            if (error.code() != ErrorCode::out_of_memory) throw;  // else there is no mailbox
        }
        handles.push_back({others[i], std::as_bytes(std::span(&mine[i], 1)),
                           std::as_writable_bytes(std::span(&theirs[i], 1))});
        answers.push_back({others[i], std::as_bytes(std::span(&opened[i], 1)),
                           std::as_writable_bytes(std::span(&both[i], 1))});
    }
    letters.exchange(handles);
    for (std::size_t i = 0; i < others.size(); ++i) {
        Peer& peer = *made[i];
        if (mine[i].valid[0] == 0 || theirs[i].valid[0] == 0) continue;
        peer.remote_inbox = context_.map(device, theirs[i].inbox, slots * slot_bytes);
        peer.remote_counters = context_.map(device, theirs[i].counters, counter_bytes);
        opened[i] = peer.remote_inbox && peer.remote_counters &&
                            context_.can_signal(stream, *peer.remote_counters, arrived, false)
                        ? 1
                        : 0;
    }
    letters.exchange(answers);
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (opened[i] == 0 || both[i] == 0) continue;
        made[i]->sending.open(device);
        made[i]->receiving.open(device);
        peers_.push_back(std::move(made[i]));
    }
}

void IpcMessages::enqueue(std::span<const Message> sends, std::span<const Message> receives) {
    for (const Message& message : sends)
        find(message.rank)->sending.add(message);
    for (const Message& message : receives)
        find(message.rank)->receiving.add(message);
    bool more = true;
    for (std::size_t round = 0; more; ++round) {
        more = false;
        for (const auto& peer : peers_) {
            Pipe& pipe = peer->sending;
            if (round >= pipe.chunks.size()) continue;
            more = true;
            const auto& [message, first, bytes] = pipe.chunks[round];
            context_.wait(*pipe.stream, *peer->counters, freed, pipe.count + 1 - slots);
            pipe.stream->copy(*peer->remote_inbox, pipe.count % slots * slot_bytes, *message->view.buffer,
                              message->view.offset + first, bytes);
            context_.signal(*pipe.stream, *peer->remote_counters, arrived, ++pipe.count);
        }
        for (const auto& peer : peers_) {
            Pipe& pipe = peer->receiving;
            if (round >= pipe.chunks.size()) continue;
            more = true;
            const auto& [message, first, bytes] = pipe.chunks[round];
            context_.wait(*pipe.stream, *peer->counters, arrived, pipe.count + 1);
            pipe.stream->copy(*message->view.buffer, message->view.offset + first, *peer->inbox,
                              pipe.count % slots * slot_bytes, bytes);
            context_.signal(*pipe.stream, *peer->remote_counters, freed, ++pipe.count);
        }
    }
    for (const auto& peer : peers_) {
        for (Pipe* pipe : {&peer->sending, &peer->receiving}) {
            if (pipe->chunks.empty()) continue;
            pipe->stream->record(*pipe->event);
            pipe->chunks.clear();
        }
    }
    for (const Message& message : sends)
        message.stream->wait(*find(message.rank)->sending.event);
    for (const Message& message : receives)
        message.stream->wait(*find(message.rank)->receiving.event);
}

}  // namespace concord::mpi
