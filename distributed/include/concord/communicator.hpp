#pragma once
/// @file
/// Ranks and the messages between them.
///
/// A rank is a device and the host thread or process that drives it: a thread of this process (run_on_devices()) or a
/// process under MPI (concord/mpi.hpp). All ranks run the same program, each on its part of the data. They make
/// collective calls in the same order. The algorithms over ranks (concord/distributed.hpp) are written once against
/// class Communicator.
///
///     run_on_devices({gpu0, gpu1}, [&](Communicator& ranks, Stream& stream) {
///         const Part mine = part_of(n, ranks);
///         ...
///         distributed_reduce(ranks, stream, x, sum);
///     });
///
/// Errors: a rank that cannot continue calls Communicator::fail(). run_on_devices() does this for a rank that throws;
/// under MPI fail() aborts the job. Pending and later calls of the other ranks that depend on it throw
/// Error(device_failed) with the same message, so no rank waits forever.

#include <concord/span.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace concord {

/// Point-to-point message: the bytes of a view, to or from another rank. The view is in a buffer of the stream's
/// device or in its pinned host memory. Type and count may differ between the two ends; the number of bytes must
/// agree. An empty message transfers nothing, but is matched like any other.
struct Message {
    u32 rank = 0;  ///< the other rank
    View view;     ///< what is sent, or where it is received
    /// Stream that produces or consumes the bytes, on the same device. Null: the stream of the call.
    Stream* stream = nullptr;
};

class Communicator;

namespace detail {

// Bounds the scratch that other ranks' streams may still read: the pool reuses such memory only after its own host
// has waited for the stream. Every 64 MiB, or 32 calls, all ranks wait for their streams.
void bound_outstanding_scratch(Communicator& ranks, Stream& stream, u64 bytes);

// Throws invalid_argument unless rank is less than the number of ranks. `name` is the call's name for it.
void check_rank(std::string_view call, std::string_view name, u32 rank, u32 ranks);

class Link;
struct LinkOffer;
class SmallGather;
// Orders kernels that wait for those of other ranks and may fill a device: those on another stream than before wait for
// the earlier ones. begin_waiting_kernels() comes before they are enqueued, end_waiting_kernels() after.
void begin_waiting_kernels(Communicator& ranks, Stream& stream);
void end_waiting_kernels(Communicator& ranks, Stream& stream);
// Connects this rank with others. Each of them makes the same call for this rank. Returns a link for each offer, or
// null where one of the two ranks cannot write the memory of the other.
std::vector<std::shared_ptr<Link>> connect(Communicator& ranks, Stream& stream,
                                           std::span<const LinkOffer> offers);

}  // namespace detail

/// Connection between ranks. Used by one thread at a time. Collective calls are made by all ranks in the same order.
class Communicator {
  public:
    virtual ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// This rank, from 0 to size() - 1.
    u32 rank() const noexcept { return rank_; }
    /// Number of ranks.
    u32 size() const noexcept { return size_; }

    /// Collective. Declares the device of this rank, that of the stream, and about how many bytes all ranks together
    /// will send; the number must be the same on all ranks. Under MPI, messages take faster paths than the host's as
    /// soon as all calls together have announced 1 GiB (path_to()); starting such a path may take a second. Later
    /// calls cost nothing. The algorithms over ranks call it. Messages of later calls must be on the same device. May
    /// block until the stream is empty. Throws unavailable on all ranks if CONCORD_MPI_TRANSPORT requires a transport
    /// that a rank does not have.
    void prepare(Stream& stream, u64 bytes = ~u64{0}) {
        if (!is_prepared_ && size_ > 1) is_prepared_ = do_prepare(stream, bytes);
    }

    /// Sends and receives messages. A message is sent as its stream leaves it at this point. After the call, later
    /// work on a message's stream sees what was received and may overwrite what was sent. The call may block until
    /// all messages are transferred; to hide their latency, enqueue work on another stream before. Between two ranks
    /// the messages of one call and of consecutive calls are matched in the order in which they are listed. The call
    /// may block until its sends are received, so two ranks that send to each other list both directions in one call.
    /// The messages of one call may wait for each other, so none of them may depend on another one.
    /// A rank cannot send to itself. Throws invalid_argument (no such rank; byte counts differ), wrong_device,
    /// unsupported (a stream that is recording), device_failed. After an error the ranks cannot continue: propagate
    /// the error, or call fail().
    void exchange(Stream& stream, std::span<const Message> sends, std::span<const Message> receives);

    /// Collective. Returns the bytes of all ranks in rank order; lengths may differ. Blocks until all ranks have
    /// called it. For host data such as counts.
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
    /// Collective. Blocks until all ranks have called it.
    void barrier();
    /// Reports that this rank cannot continue: pending calls on the other ranks throw with this message. Under MPI it
    /// aborts the job and does not return.
    virtual void fail(std::string_view why) noexcept = 0;
    /// Called by a rank that cannot continue. Returns whether all ranks call it within `seconds`, as after invalid
    /// arguments; each rank can then end on its own, without fail(). Default: false.
    virtual bool all_fail(double /*seconds*/) noexcept { return false; }

    /// Path of messages to a rank: "device copies", "peer copies", "host memory", "NCCL", "CUDA IPC", "MPI, device
    /// memory" or "MPI, host memory". Under MPI, "CUDA IPC (halos), " comes first if halos are exchanged over such a
    /// link and messages take another path. prepare() may change the path. Throws invalid_argument for an unknown rank.
    std::string path_to(u32 rank) const;

  protected:
    /// Creates rank `rank` of `size`.
    Communicator(u32 rank, u32 size) : rank_(rank), size_(size) {}

    /// Implements prepare(). Returns whether later calls are not needed. Default: nothing to prepare.
    virtual bool do_prepare(Stream& /*stream*/, u64 /*bytes*/) { return true; }
    /// Implements exchange(); the arguments are valid. The view of an empty message may have no buffer.
    virtual void do_exchange(Stream& stream, std::span<const Message> sends,
                             std::span<const Message> receives) = 0;
    /// Implements all_gather() and barrier().
    virtual std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) = 0;
    /// Implements path_to(); the rank exists.
    virtual std::string do_path_to(u32 rank) const = 0;
    /// Implements detail::connect(). Default: no links.
    virtual std::vector<std::shared_ptr<detail::Link>> do_connect(Stream& stream,
                                                                  std::span<const detail::LinkOffer> offers);

    /// Stream of a message: its own, or that of the call.
    static Stream& stream_of(const Message& message, Stream& of_call) {
        return message.stream != nullptr ? *message.stream : of_call;
    }

  private:
    friend void detail::bound_outstanding_scratch(Communicator& ranks, Stream& stream, u64 bytes);
    friend std::vector<std::shared_ptr<detail::Link>> detail::connect(
        Communicator& ranks, Stream& stream, std::span<const detail::LinkOffer> offers);

    friend class detail::SmallGather;
    friend void detail::begin_waiting_kernels(Communicator& ranks, Stream& stream);
    friend void detail::end_waiting_kernels(Communicator& ranks, Stream& stream);

    u32 rank_, size_;
    bool is_prepared_ = false;  // do_prepare() has returned true
    u64 unsettled_ = 0;
    bool gather_is_decided_ = false;  // whether gather_ has been made, or cannot be
    std::shared_ptr<detail::SmallGather> gather_;
    std::shared_ptr<Event> waiting_ended_;  // the last waiting kernels, of stream waiting_on_
    const Stream* waiting_on_ = nullptr;
};

/// Runs f as ranks of one communicator, one per device, in the order of the devices. Every rank has its own thread
/// and a stream of its device. A device may be listed more than once. Messages between devices of one backend that
/// can access each other's memory are peer copies (concord/peer.hpp); others are staged through pinned host memory.
/// Returns when all ranks have returned and their streams are empty. If ranks throw, rethrows the error of the first
/// one, with its rank and device in the message. A rank that waits for a rank that has returned throws device_failed.
/// Streams of the algorithms over ranks must be on the rank's device; otherwise they throw wrong_device. Throws
/// invalid_argument if the list of devices is empty.
void run_on_devices(const std::vector<std::shared_ptr<Device>>& devices,
                    const std::function<void(Communicator& ranks, Stream& stream)>& f);

/// A rank's part of distributed elements: [first, first + count).
struct Part {
    u64 first = 0;  ///< first element
    u64 count = 0;  ///< number of elements
};

/// Returns the part of a rank if n elements are distributed evenly, in rank order. Every part begins at a multiple of
/// `granule`; parts may be empty. Throws invalid_argument if granule or ranks is 0, or rank is not less than ranks.
Part part_of(u64 n, u32 rank, u32 ranks, u64 granule = 1);
/// Returns this rank's part of n elements.
inline Part part_of(u64 n, const Communicator& ranks, u64 granule = 1) {
    return part_of(n, ranks.rank(), ranks.size(), granule);
}

}  // namespace concord
