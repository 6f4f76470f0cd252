#include "mpi_communicator.hpp"

#include "ipc_messages.hpp"
#include "mpi_link.hpp"
#include "nccl.hpp"

#include <concord/device.hpp>
#include <concord/event.hpp>
#include <concord/internal/environment.hpp>
#include <concord/log.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <thread>

namespace concord::mpi {
namespace {

// MPI counts in int. The lower limit bounds the number of pieces per message.
constexpr u64 longest_piece = u64{1} << 30, shortest_piece = 64;
// Long enough for the rate of MPI and of copies, short enough for both to overlap.
constexpr u64 default_piece = u64{1} << 22;
// NCCL takes about as long to start as MPI takes to transfer a few GiB.
constexpr u64 worth_a_start = u64{1} << 30;

u64 piece_length() {
    const std::string_view text = detail::environment_variable("CONCORD_MPI_PIECE");
    if (text.empty()) return default_piece;
    u64 value = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || at != end || value < shortest_piece || value > longest_piece)
        throw Error(ErrorCode::invalid_argument, "CONCORD_MPI_PIECE",
                    detail::error_message("invalid byte count", detail::quoted(text),
                                          "expected a number from " + std::to_string(shortest_piece) +
                                              " to " + std::to_string(longest_piece)));
    return value;
}

}  // namespace

void check(const char* function, int result, const char* call) {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw Error(ErrorCode::device_failed, call, std::string(function) + " failed", text);
}

namespace {

// Throws invalid_argument unless all ranks have the same value, which has a name.
template <class F>
void check_same(MPI_Comm comm, const char* variable, unsigned long long value, F&& name_of) {
    unsigned long long least = value, most = value;
    constexpr const char* call = "mpi_communicator";
    check("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm),
          call);
    check("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm),
          call);
    if (least != most)
        throw Error(ErrorCode::invalid_argument, variable,
                    "must be the same on all ranks, got " + std::string(name_of(least)) + " and " +
                        std::string(name_of(most)));
}

}  // namespace

MpiCommunicator::MpiCommunicator(MPI_Comm comm, u32 rank, u32 size)
    : Communicator(rank, size),
      piece_(piece_length()),
      sent_(size),
      received_(size),
      linked_(size),
      choice_(chosen_transport()) {
    constexpr const char* call = "mpi_communicator";
    check("MPI_Comm_dup", MPI_Comm_dup(comm, &comm_), call);
    check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), call);
    check("MPI_Comm_dup", MPI_Comm_dup(comm_, &failures_), call);
    void* bound = nullptr;
    int is_set = 0;
    check("MPI_Comm_get_attr", MPI_Comm_get_attr(comm_, MPI_TAG_UB, &bound, &is_set), call);
    tags_ = is_set != 0 ? *static_cast<int*>(bound) : 32767;  // guaranteed by the MPI standard
    // Both ends of a message must use the same piece length, and the same transport.
    check_same(comm_, "CONCORD_MPI_PIECE", piece_, [](u64 value) { return std::to_string(value); });
    check_same(comm_, "CONCORD_MPI_TRANSPORT", static_cast<u64>(choice_),
               [](u64 value) { return name_of(static_cast<TransportChoice>(value)); });
}

// Never destroys a transport.
static void keep(const std::shared_ptr<Transport>& transport) noexcept {
    try {
        (void)new std::shared_ptr<Transport>(transport);
    } catch (const std::bad_alloc&) {  // then it is destroyed
    }
}

MpiCommunicator::~MpiCommunicator() {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) {
        // The process ends, and parts of CUDA may already be gone.
        keep(nccl_);
        keep(ipc_);
        return;
    }
    nccl_.reset();
    ipc_.reset();
    MPI_Comm_free(&failures_);
    MPI_Comm_free(&comm_);
}

void MpiCommunicator::fail(std::string_view why) noexcept {
    try {
        std::string line = "concord: rank " + std::to_string(rank()) + ": " + std::string(why);
        std::replace(line.begin(), line.end(), '\n', ' ');
        std::cerr << line + "\n" << std::flush;
    } catch (...) {  // no memory for the message
    }
    constexpr int device_failed = 4;  // exit status of the program
    MPI_Abort(comm_, device_failed);
    std::abort();  // in case MPI_Abort() returns
}

bool MpiCommunicator::all_fail(double seconds) noexcept {
    using Clock = std::chrono::steady_clock;
    MPI_Request request = MPI_REQUEST_NULL;
    if (MPI_Ibarrier(failures_, &request) != MPI_SUCCESS) return false;
    const auto start = Clock::now();
    while (true) {
        int done = 0;
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (done != 0) {
            end_together();
            return true;
        }
        if (std::chrono::duration<double>(Clock::now() - start).count() > seconds) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

std::string MpiCommunicator::do_path_to(u32 rank) const {
    if (rank == this->rank()) return "device copies";
    const Transport* const transport = transport_to(rank);
    const std::string name = transport != nullptr ? transport->name()
                             : direct_            ? "MPI, device memory"
                                                  : "MPI, host memory";
    return linked_[rank] && name != "CUDA IPC" ? "CUDA IPC (halos), " + name : name;
}

// Messages of known length between hosts.
class MpiCommunicator::Letters final : public Correspondence {
  public:
    explicit Letters(MpiCommunicator& ranks) : ranks_(ranks) {}

    void exchange(std::span<const Letter> letters) override {
        constexpr const char* call = "Communicator::exchange";
        std::vector<MPI_Request> requests;
        requests.reserve(2 * letters.size());
        for (const Letter& letter : letters) {
            check("MPI_Irecv",
                  MPI_Irecv(letter.theirs.data(), static_cast<int>(letter.theirs.size()), MPI_BYTE,
                            static_cast<int>(letter.rank), ranks_.next_tag(ranks_.received_, letter.rank),
                            ranks_.comm_, &requests.emplace_back(MPI_REQUEST_NULL)),
                  call);
            check("MPI_Isend",
                  MPI_Isend(letter.mine.data(), static_cast<int>(letter.mine.size()), MPI_BYTE,
                            static_cast<int>(letter.rank), ranks_.next_tag(ranks_.sent_, letter.rank),
                            ranks_.comm_, &requests.emplace_back(MPI_REQUEST_NULL)),
                  call);
        }
        check("MPI_Waitall",
              MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), call);
    }

  private:
    MpiCommunicator& ranks_;
};

int MpiCommunicator::next_tag(std::vector<u64>& count, u32 rank) const {
    return static_cast<int>(count[rank]++ % (static_cast<u64>(tags_) + 1));
}

std::vector<std::shared_ptr<detail::Link>> MpiCommunicator::do_connect(
    Stream& stream, std::span<const detail::LinkOffer> offers) {
    Letters letters(*this);
    auto links = connect_by_ipc(letters, stream, offers);
    for (std::size_t i = 0; i < offers.size(); ++i)
        linked_[offers[i].rank] = links[i] != nullptr;
    return links;
}

void MpiCommunicator::refuse_length(u32 from, const std::string& sent, u64 expected) const {
    throw Error(ErrorCode::invalid_argument, "Communicator::exchange",
                "rank " + std::to_string(from) + " sends " + sent + " bytes, rank " + std::to_string(rank()) +
                    " expects " + std::to_string(expected));
}

// The messages of one call. A message consists of pieces of full length and a shorter, possibly empty last one. If
// the lengths at the two ends differ, one end receives a piece of the wrong length, which is an error, instead of
// waiting forever. All pieces of a message have the same tag, and MPI keeps their order. Device memory that MPI cannot
// access is staged: a piece is sent when its copy to the host is done, while the device copies the next ones, and is
// copied to the device when it arrives.
class MpiCommunicator::Exchange {
  public:
    Exchange(MpiCommunicator& ranks, Stream& stream) : ranks_(ranks), stream_(stream) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    void run(std::span<const Message> sends, std::span<const Message> receives) {
        std::vector<Transfer> out, in;
        bool at_rest = true;
        for (const Message& message : sends)
            at_rest = plan(out, message, ranks_.sent_) && at_rest;
        for (const Message& message : receives)
            at_rest = plan(in, message, ranks_.received_) && at_rest;
        // MPI may access views directly only after their streams have reached this point.
        std::map<Stream*, std::shared_ptr<Event>> here;
        if (!at_rest) {
            for (const auto* list : {&out, &in}) {
                for (const Transfer& transfer : *list) {
                    auto& event = here[transfer.stream];
                    if (event) continue;
                    event = transfer.stream->device().create_event();
                    transfer.stream->record(*event);
                }
            }
        }
        for (Transfer& transfer : out) {
            if (transfer.staged) download(transfer);
        }
        for (Transfer& transfer : in) {
            if (transfer.staged) receive(transfer);
        }
        for (const auto& [stream, event] : here)
            event->synchronize();
        const CurrentContext context(stream_);
        for (Transfer& transfer : in) {
            if (!transfer.staged) receive(transfer);
        }
        for (const Transfer& transfer : out) {
            if (!transfer.staged) send(transfer);
        }
        complete();
        for (MPI_Request& request : sending_)
            check("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE), "Communicator::exchange");
        sending_.clear();
    }

    // After a failure: cancels pending receives, and keeps the staging buffers of pending sends. Views that were
    // passed to MPI directly may be read until the job ends.
    ~Exchange() {
        for (MPI_Request& request : receiving_) {
            if (request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        if (sending_.empty()) return;
        for (auto& buffer : staged_)
            ranks_.abandoned_.push_back(std::move(buffer));
    }

  private:
    struct Transfer {
        u32 rank;
        Stream* stream;
        int tag;
        View view;
        std::byte* memory;               // address for MPI
        std::shared_ptr<Buffer> staged;  // staging buffer that `memory` points to, if any
    };
    struct Piece {
        const Transfer* transfer;
        u64 first, bytes;
    };
    struct Download {
        Piece piece;
        std::shared_ptr<Event> done;
    };

    // Plans a message. Returns whether MPI does not access the view directly, so that its stream need not be
    // synchronised.
    bool plan(std::vector<Transfer>& list, const Message& message, std::vector<u64>& count) {
        const View& view = message.view;
        Transfer transfer{
            message.rank, &stream_of(message, stream_), ranks_.next_tag(count, message.rank), view, nullptr,
            nullptr};
        if (view.count > 0) {
            Buffer& buffer = *view.buffer;
            const bool is_cuda = is_cuda_memory(stream_) && buffer.kind() == Buffer::Kind::device;
            if (auto* host = static_cast<std::byte*>(buffer.host_pointer())) {
                transfer.memory = host + view.offset;
            } else if (is_cuda && takes_cuda_memory()) {
                transfer.memory = static_cast<std::byte*>(buffer.native_handle()) + view.offset;
                ranks_.direct_ = true;
            } else {
                transfer.staged = stream_.device().allocate_host(view.bytes());
                transfer.memory = static_cast<std::byte*>(transfer.staged->host_pointer());
                staged_.push_back(transfer.staged);
                ranks_.direct_ = false;
            }
        }
        const bool is_staged = transfer.staged != nullptr || view.count == 0;
        list.push_back(std::move(transfer));
        return is_staged;
    }

    template <class F>
    void each_piece(const Transfer& transfer, F&& f) {
        const u64 bytes = transfer.view.bytes();
        for (u64 first = 0;; first += ranks_.piece_) {
            const Piece piece{&transfer, first, std::min(ranks_.piece_, bytes - first)};
            f(piece);
            if (piece.bytes < ranks_.piece_) return;
        }
    }

    static std::byte* address(const Piece& piece) {
        std::byte* const memory = piece.transfer->memory;
        return memory == nullptr ? nullptr : memory + piece.first;
    }

    void send(const Transfer& transfer) {
        each_piece(transfer, [&](const Piece& piece) { send(piece); });
    }

    void send(const Piece& piece) {
        const Transfer& transfer = *piece.transfer;
        MPI_Request& request = sending_.emplace_back(MPI_REQUEST_NULL);
        check("MPI_Isend",
              MPI_Isend(address(piece), static_cast<int>(piece.bytes), MPI_BYTE,
                        static_cast<int>(transfer.rank), transfer.tag, ranks_.comm_, &request),
              "Communicator::exchange");
    }

    void receive(const Transfer& transfer) {
        each_piece(transfer, [&](const Piece& piece) {
            pieces_.push_back(piece);
            MPI_Request& request = receiving_.emplace_back(MPI_REQUEST_NULL);
            check("MPI_Irecv",
                  MPI_Irecv(address(piece), static_cast<int>(piece.bytes), MPI_BYTE,
                            static_cast<int>(transfer.rank), transfer.tag, ranks_.comm_, &request),
                  "Communicator::exchange");
        });
    }

    // Enqueues the copies of a message to the host. The pieces are sent when they are done.
    void download(const Transfer& transfer) {
        auto& list = downloads_.emplace_back();
        each_piece(transfer, [&](const Piece& piece) {
            if (piece.bytes > 0)
                transfer.stream->copy(*transfer.staged, piece.first, *transfer.view.buffer,
                                      transfer.view.offset + piece.first, piece.bytes);
            list.push_back({piece, transfer.stream->device().create_event()});
            transfer.stream->record(*list.back().done);
        });
    }

    // Sends pieces whose copies are done. Returns whether there were any.
    bool send_downloaded() {
        bool any = false;
        for (auto& list : downloads_) {
            while (!list.empty() && list.front().done->done()) {
                const Piece piece = list.front().piece;
                list.pop_front();
                // Throws if earlier work of the stream has failed, before the message is complete.
                if (list.empty()) piece.transfer->stream->synchronize();
                send(piece);
                any = true;
            }
        }
        std::erase_if(downloads_, [](const auto& list) { return list.empty(); });
        return any;
    }

    // Completes receives in order of arrival, and sends the pieces of staged messages as they are copied.
    void complete() {
        for (std::size_t left = receiving_.size(); left > 0 || !downloads_.empty();) {
            const bool any_sent = send_downloaded();
            int which = MPI_UNDEFINED, any_done = 0;
            if (left == 0) {
                // MPI may transfer data only while it is called.
                check("MPI_Testall",
                      MPI_Testall(static_cast<int>(sending_.size()), sending_.data(), &any_done,
                                  MPI_STATUSES_IGNORE),
                      "Communicator::exchange");
            } else {
                MPI_Status status;
                const int count = static_cast<int>(receiving_.size());
                const int result = downloads_.empty()
                                       ? MPI_Waitany(count, receiving_.data(), &which, &status)
                                       : MPI_Testany(count, receiving_.data(), &which, &any_done, &status);
                if (which == MPI_UNDEFINED) {
                    check("MPI_Testany", result, "Communicator::exchange");
                } else {
                    receiving_[static_cast<std::size_t>(which)] = MPI_REQUEST_NULL;
                    finish(pieces_[static_cast<std::size_t>(which)], result, status);
                    --left;
                    continue;
                }
            }
            if (!any_sent) std::this_thread::yield();
        }
        receiving_.clear();
    }

    // Checks the length of a piece that has arrived. Copies it to the device if it is staged.
    void finish(const Piece& piece, int result, const MPI_Status& status) {
        const Transfer& transfer = *piece.transfer;
        const u64 expected = transfer.view.bytes();
        int error_class = MPI_SUCCESS;
        if (result != MPI_SUCCESS) MPI_Error_class(result, &error_class);
        if (error_class == MPI_ERR_TRUNCATE) ranks_.refuse_length(transfer.rank, "more", expected);
        check("MPI_Waitany", result, "Communicator::exchange");
        int came = 0;
        check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &came), "Communicator::exchange");
        if (static_cast<u64>(came) != piece.bytes)
            ranks_.refuse_length(transfer.rank, expected < ranks_.piece_ ? std::to_string(came) : "fewer",
                                 expected);
        if (transfer.staged && piece.bytes > 0)
            transfer.stream->copy(*transfer.view.buffer, transfer.view.offset + piece.first, *transfer.staged,
                                  piece.first, piece.bytes);
    }

    MpiCommunicator& ranks_;
    Stream& stream_;
    std::vector<std::shared_ptr<Buffer>> staged_;
    std::vector<std::deque<Download>> downloads_;  // by message
    std::vector<Piece> pieces_;                    // indexed like receiving_
    std::vector<MPI_Request> receiving_, sending_;
};

// Each length is a message of its own, since the two ends may divide their messages among calls differently.
void MpiCommunicator::compare_lengths(std::span<const Message> sends, std::span<const Message> receives) {
    constexpr const char* call = "Communicator::exchange";
    std::vector<u64> lengths, theirs(receives.size());
    for (const Message& message : sends)
        lengths.push_back(message.view.bytes());
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < receives.size(); ++i)
        check(
            "MPI_Irecv",
            MPI_Irecv(&theirs[i], sizeof(u64), MPI_BYTE, static_cast<int>(receives[i].rank),
                      next_tag(received_, receives[i].rank), comm_, &requests.emplace_back(MPI_REQUEST_NULL)),
            call);
    for (std::size_t i = 0; i < sends.size(); ++i)
        check("MPI_Isend",
              MPI_Isend(&lengths[i], sizeof(u64), MPI_BYTE, static_cast<int>(sends[i].rank),
                        next_tag(sent_, sends[i].rank), comm_, &requests.emplace_back(MPI_REQUEST_NULL)),
              call);
    check("MPI_Waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          call);
    for (std::size_t i = 0; i < receives.size(); ++i) {
        if (theirs[i] != receives[i].view.bytes())
            refuse_length(receives[i].rank, std::to_string(theirs[i]), receives[i].view.bytes());
    }
}

// Messages of transports are enqueued first, since MPI blocks.
void MpiCommunicator::do_exchange(Stream& stream, std::span<const Message> sends,
                                  std::span<const Message> receives) {
    if (nccl_ == nullptr && ipc_ == nullptr) return Exchange(*this, stream).run(sends, receives);
    struct Messages {
        std::vector<Message> sends, receives;
    };
    Messages through_nccl, through_ipc, through_mpi, compared;
    auto divide = [&](std::span<const Message> messages, std::vector<Message> Messages::*list) {
        for (const Message& message : messages) {
            const Transport* const transport = transport_to(message.rank);
            const Message on_stream{message.rank, message.view, &stream_of(message, stream)};
            if (transport == nullptr) {
                (through_mpi.*list).push_back(on_stream);
                continue;
            }
            (compared.*list).push_back(on_stream);
            if (message.view.count > 0)
                ((transport == nccl_.get() ? through_nccl : through_ipc).*list).push_back(on_stream);
        }
    };
    divide(sends, &Messages::sends);
    divide(receives, &Messages::receives);
    auto any = [](const Messages& of) { return !of.sends.empty() || !of.receives.empty(); };
    if (any(compared)) {
        if (&stream.device() != device_)
            throw Error(ErrorCode::wrong_device, "Communicator::exchange",
                        "the stream must be on " + device_->info().selector +
                            " like that of prepare(), got " + stream.device().info().selector);
        compare_lengths(compared.sends, compared.receives);
    }
    if (any(through_nccl)) nccl_->enqueue(through_nccl.sends, through_nccl.receives);
    if (any(through_ipc)) ipc_->enqueue(through_ipc.sends, through_ipc.receives);
    if (any(through_mpi)) Exchange(*this, stream).run(through_mpi.sends, through_mpi.receives);
}

void MpiCommunicator::refuse_transport(const std::string& why) const {
    throw Error(ErrorCode::unavailable, "CONCORD_MPI_TRANSPORT",
                std::string(name_of(choice_)) + " is not available: " + why + "; use auto");
}

bool MpiCommunicator::do_prepare(Stream& stream, u64 bytes) {
    if (choice_ == TransportChoice::mpi) return true;
    announced_ += std::min(bytes, ~announced_);
    if (choice_ == TransportChoice::automatic && announced_ < worth_a_start) return false;
    Endpoint mine;
    set_text(mine.selector, stream.device().info().selector);
    if (is_cuda_memory(stream)) {
        mine.host = host_of_process();
        mine.is_cuda = IpcContext(stream).identify(mine.device) ? 1 : 0;
    }
    if (mine.is_cuda != 0) {
        std::string why;
        if (choice_ != TransportChoice::ipc) mine.nccl_version = nccl_version(stream, why);
        set_text(mine.no_nccl, why);
        set_text(mine.no_ipc, ipc_problem(stream));
        if (!why.empty()) detail::log_info("messages between ranks: no NCCL: " + why);
    }
    std::vector<Endpoint> ends;
    for (const auto& theirs : all_gather(std::as_bytes(std::span(&mine, 1))))
        std::memcpy(&ends.emplace_back(), theirs.data(), std::min(theirs.size(), sizeof mine));
    if (const std::string why = why_not(choice_, ends); !why.empty()) refuse_transport(why);
    transports_.resize(size());
    device_ = &stream.device();
    if (choice_ != TransportChoice::ipc) start_nccl(stream, ends);
    if (choice_ != TransportChoice::nccl) start_ipc(stream, ends);
    for (u32 other = 0; other < size(); ++other) {
        if (transports_[other] != nullptr)
            detail::log_info("messages to rank " + std::to_string(other) + ": " + transports_[other]->name());
    }
    return true;
}

void MpiCommunicator::start_nccl(Stream& stream, std::span<const Endpoint> ends) {
    const std::vector<u32> members = nccl_ranks(ends);
    if (members.empty()) return;
    std::string why;
    nccl_ = mpi::start_nccl(*this, stream, members, why);
    if (!why.empty()) {
        if (choice_ == TransportChoice::nccl) refuse_transport(why);
        detail::log_info("messages between ranks: no NCCL: " + why);
    }
    for (const u32 member : members) {
        if (member != rank()) transports_[member] = nccl_.get();
    }
}

void MpiCommunicator::start_ipc(Stream& stream, std::span<const Endpoint> ends) {
    std::vector<u32> others;
    for (u32 other = 0; other < size(); ++other) {
        if (other != rank() && transports_[other] == nullptr &&
            may_use_ipc(ends[rank()], ends[other], choice_))
            others.push_back(other);
    }
    std::string problem;
    if (!others.empty()) {
        Letters letters(*this);
        const auto transport = std::make_shared<IpcMessages>(stream);
        transport->connect(letters, stream, others);
        for (const u32 other : others) {
            if (transport->reaches(other)) {
                ipc_ = transport;
                transports_[other] = ipc_.get();
            } else if (problem.empty()) {
                problem = "cannot exchange memory with rank " + std::to_string(other);
            }
        }
        if (!problem.empty()) detail::log_info("messages between ranks: no CUDA IPC: " + problem);
    }
    if (choice_ != TransportChoice::ipc) return;
    if (const std::string why = first_problem(*this, problem); !why.empty()) refuse_transport(why);
}

std::vector<std::vector<std::byte>> MpiCommunicator::do_all_gather(std::span<const std::byte> mine) {
    constexpr const char* call = "Communicator::all_gather";
    unsigned long long length = mine.size();
    std::vector<unsigned long long> lengths(size());
    check("MPI_Allgather",
          MPI_Allgather(&length, 1, MPI_UNSIGNED_LONG_LONG, lengths.data(), 1, MPI_UNSIGNED_LONG_LONG, comm_),
          call);
    std::vector<std::vector<std::byte>> all(size());
    u64 sum = 0;
    for (const auto n : lengths)
        sum += n;
    if (sum <= piece_) {
        std::vector<int> counts, places;
        u64 at = 0;
        for (const auto n : lengths) {
            counts.push_back(static_cast<int>(n));
            places.push_back(static_cast<int>(at));
            at += n;
        }
        std::vector<std::byte> joined(sum);
        check("MPI_Allgatherv",
              MPI_Allgatherv(mine.data(), static_cast<int>(length), MPI_BYTE, joined.data(), counts.data(),
                             places.data(), MPI_BYTE, comm_),
              call);
        for (u32 rank = 0; rank < size(); ++rank) {
            const auto first = joined.begin() + places[rank];
            all[rank].assign(first, first + counts[rank]);
        }
        return all;
    }
    for (u32 rank = 0; rank < size(); ++rank) {
        all[rank].resize(lengths[rank]);
        if (rank == this->rank()) std::copy(mine.begin(), mine.end(), all[rank].begin());
        for (u64 first = 0; first < lengths[rank]; first += piece_)
            check("MPI_Bcast",
                  MPI_Bcast(all[rank].data() + first,
                            static_cast<int>(std::min<u64>(piece_, lengths[rank] - first)), MPI_BYTE,
                            static_cast<int>(rank), comm_),
                  call);
    }
    return all;
}

}  // namespace concord::mpi
