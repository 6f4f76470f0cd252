// Links between processes of one host through CUDA IPC. Each process maps the other's buffers and writes into them. A
// signal is a counter in the other's memory, which its stream waits for, so that the hosts exchange nothing.

#include "mpi_link.hpp"

#include "mpi_communicator.hpp"

#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <array>

namespace concord::mpi {
namespace {

using detail::Link;
using detail::LinkOffer;

constexpr std::size_t max_buffers = 4;

// What a rank tells the other one. Has no padding.
struct Greeting {
    std::array<char, 128> host = {};  // empty: no links
    DeviceId device = {};
    std::array<u64, max_buffers + 1> bytes = {};
    std::array<IpcHandle, max_buffers + 1> handles =
        {};  // of the buffers; the last one is that of the counter
};

class IpcLink final : public Link {
  public:
    IpcLink(Stream& stream, const LinkOffer& offer) : offer_(offer), context_(stream) {
        counter_ = stream.device().allocate(sizeof(u32));
        constexpr u32 zero = 0;
        stream.fill(*counter_, 0, sizeof zero, &zero, sizeof zero);
        stream.synchronize();
    }

    // What the other rank needs to open this rank's memory. Without a host if that is not possible.
    Greeting greeting(Stream& stream) {
        Greeting greeting;
        auto add = [&](std::size_t at, Buffer& buffer) {
            greeting.bytes[at] = buffer.size();
            return context_.share(buffer, greeting.handles[at]);
        };
        bool all = context_.is_there() && offer_.buffers.size() <= max_buffers &&
                   context_.can_signal(stream, *counter_, 0, true) && add(max_buffers, *counter_);
        for (std::size_t i = 0; all && i < offer_.buffers.size(); ++i)
            all = add(i, *offer_.buffers[i]);
        if (all && context_.identify(greeting.device)) greeting.host = host_of_process();
        return greeting;
    }

    // Maps the memory of the other rank. Returns whether that succeeds.
    bool open(Stream& stream, const Greeting& theirs) {
        Device& device = counter_->device();
        auto map = [&](std::size_t at) { return context_.map(device, theirs.handles[at], theirs.bytes[at]); };
        remote_counter_ = map(max_buffers);
        bool all = remote_counter_ != nullptr && context_.can_signal(stream, *remote_counter_, 0, false);
        for (std::size_t i = 0; all && i < max_buffers && theirs.bytes[i] > 0; ++i) {
            remote_.push_back(map(i));
            all = remote_.back() != nullptr;
        }
        return all;
    }

    Buffer& remote(u32 index) override { return *remote_[index]; }
    void signal(Stream& stream) override { context_.signal(stream, *remote_counter_, 0, turn_ + 1); }
    void wait(Stream& stream) override { context_.wait(stream, *counter_, 0, ++turn_); }

  private:
    LinkOffer offer_;
    IpcContext context_;
    std::shared_ptr<Buffer> counter_, remote_counter_;  // the other's turns here, and this rank's turns there
    std::vector<std::shared_ptr<Buffer>> remote_;
    u32 turn_ = 0;  // wraps around, as the comparison does
};

// Processes that share a GPU run in turns of a millisecond or more. A stream that waits for the other process holds up
// its whole turn, while a host that waits for a message gives the GPU to the other. So they link only if asked to.
bool can_link(const Greeting& mine, const Greeting& theirs) {
    return mine.host[0] != 0 && mine.host == theirs.host &&
           (mine.device != theirs.device || detail::environment_variable("CONCORD_LINKS") == "on");
}

bool may_link(Stream& stream) {
    const bool enabled = detail::links_enabled();  // refuses other values on every rank
    return enabled && is_cuda_memory(stream) && IpcContext(stream).is_there();
}

}  // namespace

std::vector<std::shared_ptr<Link>> connect_by_ipc(Correspondence& letters, Stream& stream,
                                                  std::span<const LinkOffer> offers) {
    std::vector<std::shared_ptr<IpcLink>> made(offers.size());
    std::vector<Greeting> mine(offers.size()), theirs(offers.size());
    std::vector<char> opened(offers.size()), both(offers.size());
    std::vector<Correspondence::Letter> greetings, answers;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (may_link(stream)) {
            made[i] = std::make_shared<IpcLink>(stream, offers[i]);
            mine[i] = made[i]->greeting(stream);
        }
        greetings.push_back({offers[i].rank, std::as_bytes(std::span(&mine[i], 1)),
                             std::as_writable_bytes(std::span(&theirs[i], 1))});
        answers.push_back({offers[i].rank, std::as_bytes(std::span(&opened[i], 1)),
                           std::as_writable_bytes(std::span(&both[i], 1))});
    }
    letters.exchange(greetings);
    for (std::size_t i = 0; i < offers.size(); ++i)
        opened[i] = made[i] && can_link(mine[i], theirs[i]) && made[i]->open(stream, theirs[i]) ? 1 : 0;
    letters.exchange(answers);
    std::vector<std::shared_ptr<Link>> links(offers.size());
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (opened[i] != 0 && both[i] != 0) links[i] = std::move(made[i]);
        detail::log_info("halos between ranks: " + std::to_string(offers[i].rank) +
                         (links[i] ? " through CUDA IPC" : " as messages"));
    }
    return links;
}

}  // namespace concord::mpi
