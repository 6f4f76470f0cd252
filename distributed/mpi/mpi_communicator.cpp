#include "mpi_communicator.hpp"

#include "mpi_link.hpp"

#include <concord/device.hpp>
#include <concord/internal/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

namespace concord::mpi {
namespace {

// MPI counts in int. The lower limit bounds the number of pieces per message.
constexpr u64 longest_piece = u64{1} << 30, shortest_piece = 64;

u64 piece_length() {
    const std::string_view text = detail::environment_variable("CONCORD_MPI_PIECE");
    if (text.empty()) return longest_piece;
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

MpiCommunicator::MpiCommunicator(MPI_Comm comm, u32 rank, u32 size)
    : Communicator(rank, size), piece_(piece_length()), sent_(size), received_(size), linked_(size) {
    constexpr const char* call = "mpi_communicator";
    check("MPI_Comm_dup", MPI_Comm_dup(comm, &comm_), call);
    check("MPI_Comm_set_errhandler", MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), call);
    check("MPI_Comm_dup", MPI_Comm_dup(comm_, &failures_), call);
    void* bound = nullptr;
    int is_set = 0;
    check("MPI_Comm_get_attr", MPI_Comm_get_attr(comm_, MPI_TAG_UB, &bound, &is_set), call);
    tags_ = is_set != 0 ? *static_cast<int*>(bound) : 32767;  // guaranteed by the MPI standard
    // Both ends of a message must use the same piece length.
    unsigned long long least = piece_, most = piece_;
    check("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, comm_),
          call);
    check("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, comm_),
          call);
    if (least != most)
        throw Error(
            ErrorCode::invalid_argument, "CONCORD_MPI_PIECE",
            "must be the same on all ranks, got " + std::to_string(least) + " and " + std::to_string(most));
}

MpiCommunicator::~MpiCommunicator() {
    int is_finalized = 0;
    MPI_Finalized(&is_finalized);
    if (is_finalized != 0) return;
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
    return std::string(linked_[rank] ? "CUDA IPC (halos), " : "") +
           (direct_ ? "MPI, device memory" : "MPI, host memory");
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

// The messages of one call. A message consists of pieces of full length and a shorter, possibly empty last one. If
// the lengths at the two ends differ, one end receives a piece of the wrong length, which is an error, instead of
// waiting forever. All pieces of a message have the same tag, and MPI keeps their order.
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
        for (const Transfer& transfer : out) {
            if (transfer.staged)
                transfer.stream->copy(*transfer.staged, 0, *transfer.view.buffer, transfer.view.offset,
                                      transfer.view.bytes());
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
        for (const Transfer& transfer : out) {
            if (!transfer.staged) continue;
            transfer.stream->synchronize();
            send(transfer);
        }
        finish_receives();
        for (MPI_Request& request : sending_)
            check("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE), "Communicator::exchange");
        sending_.clear();
    }

    // After a failure: cancels pending receives, and keeps the staging buffers of pending sends. Views that were
    // passed to MPI directly may be read until the job ends.
    ~Exchange() {
        for (Piece& piece : receiving_) {
            if (piece.request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&piece.request);
            MPI_Wait(&piece.request, MPI_STATUS_IGNORE);
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
        u64 left;                        // pieces not yet received
    };
    struct Piece {
        MPI_Request request;
        std::size_t transfer;  // index in owners_
        u64 bytes;
    };

    // Plans a message. Returns whether MPI does not access the view directly, so that its stream need not be
    // synchronised.
    bool plan(std::vector<Transfer>& list, const Message& message, std::vector<u64>& count) {
        const View& view = message.view;
        Transfer transfer{message.rank,
                          &stream_of(message, stream_),
                          ranks_.next_tag(count, message.rank),
                          view,
                          nullptr,
                          nullptr,
                          0};
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
            const u64 count = std::min(ranks_.piece_, bytes - first);
            f(transfer.memory == nullptr ? nullptr : transfer.memory + first, static_cast<int>(count));
            if (count < ranks_.piece_) return;
        }
    }

    void send(const Transfer& transfer) {
        each_piece(transfer, [&](std::byte* from, int bytes) {
            MPI_Request& request = sending_.emplace_back(MPI_REQUEST_NULL);
            check("MPI_Isend",
                  MPI_Isend(from, bytes, MPI_BYTE, static_cast<int>(transfer.rank), transfer.tag,
                            ranks_.comm_, &request),
                  "Communicator::exchange");
        });
    }

    void receive(Transfer& transfer) {
        const std::size_t number = owners_.size();
        owners_.push_back(&transfer);
        each_piece(transfer, [&](std::byte* to, int bytes) {
            ++transfer.left;
            Piece& piece = receiving_.emplace_back(Piece{MPI_REQUEST_NULL, number, static_cast<u64>(bytes)});
            check("MPI_Irecv",
                  MPI_Irecv(to, bytes, MPI_BYTE, static_cast<int>(transfer.rank), transfer.tag, ranks_.comm_,
                            &piece.request),
                  "Communicator::exchange");
        });
    }

    [[noreturn]] void differ(const Transfer& transfer, const std::string& sent) {
        throw Error(ErrorCode::invalid_argument, "Communicator::exchange",
                    "rank " + std::to_string(transfer.rank) + " sends " + sent + " bytes, rank " +
                        std::to_string(ranks_.rank()) + " expects " + std::to_string(transfer.view.bytes()));
    }

    // Completes receives in order of arrival; uploads of staged messages overlap with the others.
    void finish_receives() {
        std::vector<MPI_Request> requests;
        requests.reserve(receiving_.size());
        for (const Piece& piece : receiving_)
            requests.push_back(piece.request);
        for (std::size_t i = 0; i < receiving_.size(); ++i) {
            int which = 0;
            MPI_Status status;
            const int result =
                MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &which, &status);
            if (which == MPI_UNDEFINED) check("MPI_Waitany", result, "Communicator::exchange");
            Piece& piece = receiving_[static_cast<std::size_t>(which)];
            piece.request = MPI_REQUEST_NULL;
            Transfer& transfer = *owners_[piece.transfer];
            int error_class = MPI_SUCCESS;
            if (result != MPI_SUCCESS) MPI_Error_class(result, &error_class);
            if (error_class == MPI_ERR_TRUNCATE) differ(transfer, "more");
            check("MPI_Waitany", result, "Communicator::exchange");
            int came = 0;
            check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &came), "Communicator::exchange");
            if (static_cast<u64>(came) != piece.bytes)
                differ(transfer, transfer.view.bytes() < ranks_.piece_ ? std::to_string(came) : "fewer");
            if (--transfer.left == 0 && transfer.staged)
                transfer.stream->copy(*transfer.view.buffer, transfer.view.offset, *transfer.staged, 0,
                                      transfer.view.bytes());
        }
        receiving_.clear();
    }

    MpiCommunicator& ranks_;
    Stream& stream_;
    std::vector<std::shared_ptr<Buffer>> staged_;
    std::vector<Transfer*> owners_;  // indexed by Piece::transfer
    std::vector<Piece> receiving_;
    std::vector<MPI_Request> sending_;
};

void MpiCommunicator::do_exchange(Stream& stream, std::span<const Message> sends,
                                  std::span<const Message> receives) {
    Exchange(*this, stream).run(sends, receives);
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
