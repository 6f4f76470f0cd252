#pragma once
/// Ranks that work together: what they say to one another.
///
/// A rank is a device with somebody who drives it: a process under MPI (concord/mpi.hpp), or a thread of this process
/// (run_on_devices). All ranks run the same program, each on its part of the data, and call what is collective in the same
/// order; the algorithms over ranks (concord/distributed.hpp) are written once against this class.
///
///     concord::run_on_devices({gpu0, gpu1}, [&](concord::Communicator& ranks, concord::Stream& stream) {
///         const concord::Part mine = concord::part_of(n, ranks);
///         ...
///         concord::distributed_reduce(ranks, stream, x, sum);
///     });
///
/// Errors reach everybody: a rank that cannot go on calls fail() (run_on_devices does it for a rank that throws, under MPI
/// the job is aborted), and calls of the other ranks that wait for it throw Error(device_failed) with its words, so that
/// nobody waits for ever.

#include <concord/span.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace concord {

/// Bytes for another rank, or from it: a range of a buffer of the stream's device, or of its page-locked host memory. Type
/// and count may differ at the two ends, the bytes may not. Nothing is sent of an empty one, but it meets its counterpart.
struct Message {
    u32 rank = 0;
    View view;
    /// Of the same device: makes or takes the bytes. Null: the one that the call names.
    Stream* stream = nullptr;
};

class Communicator;

namespace detail {

/// For a call that gives other ranks scratch of so many bytes to read: memory comes back to the pool only when those streams
/// are known to be past it, and each host knows its own once it has waited. So all ranks wait when some has gathered.
void settle(Communicator& ranks, Stream& stream, u64 bytes);

}  // namespace detail

/// Used by one thread at a time. Calls marked collective are made by all ranks, in one order.
class Communicator {
  public:
    virtual ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    u32 rank() const noexcept { return rank_; }
    u32 size() const noexcept { return size_; }

    /// Sends and receives all of these. What is sent is as its stream has left it at this point; when the call returns, later
    /// work of a message's stream finds what was received, and may overwrite what was sent. The caller may be kept until all of it has
    /// gone over; work that is to hide it is enqueued before, on another stream. Between two ranks messages of one
    /// call and of consecutive calls arrive in the order in which they are named. A call may wait until what it sends has
    /// been asked for: two ranks that send to one another name both directions in one call. Ranks may not send to
    /// themselves. Throws invalid_argument (no such rank, and where the two ends differ in bytes), wrong_device,
    /// device_failed; after that the ranks cannot go on, and the caller lets the error out or calls fail().
    void exchange(Stream& stream, std::span<const Message> sends, std::span<const Message> receives);

    /// Collective: everybody's bytes, of any length, in the order of the ranks. For what the host has to know.
    std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
    /// Collective: returns when all ranks have called it.
    void barrier();
    /// Ends what the others wait for, see above. Throws nothing; under MPI it does not return.
    virtual void fail(std::string_view why) noexcept = 0;
    /// For a rank that cannot go on: whether all others cannot either, as with bad arguments, and call this within so many
    /// seconds; then nobody waits for anybody, and each can end of its own accord. Default: false.
    virtual bool all_fail(double /*seconds*/) noexcept { return false; }

    /// How messages go to that rank: "device copies", "peer copies", "host memory", "MPI, device memory", "MPI, host memory".
    virtual std::string path_to(u32 rank) const = 0;

  protected:
    Communicator(u32 rank, u32 size) : rank_(rank), size_(size) {}

    // What there is to implement; arguments are valid. Of an empty message the view may have no buffer.
    virtual void do_exchange(Stream& stream, std::span<const Message> sends,
                             std::span<const Message> receives) = 0;
    virtual std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) = 0;

    static Stream& stream_of(const Message& message, Stream& of_call) {
        return message.stream != nullptr ? *message.stream : of_call;
    }

  private:
    friend void detail::settle(Communicator& ranks, Stream& stream, u64 bytes);

    u32 rank_, size_;
    u64 unsettled_ = 0;
};

/// Runs f once for each device, each call on a thread of its own with a stream of that device, as ranks of one communicator in
/// the order of the devices; a device may be named more than once. Messages between devices of one backend that can reach
/// one another's memory are peer copies (concord/peer.hpp), others go through page-locked host memory. Returns when all are
/// done and their streams are empty; of ranks that threw, throws what the first one did, with the rank and its device named.
/// A rank that waits for one that has returned throws device_failed. Throws invalid_argument if there is no device.
void run_on_devices(const std::vector<std::shared_ptr<Device>>& devices,
                    const std::function<void(Communicator& ranks, Stream& stream)>& f);

/// A rank's part of what is cut over ranks: elements [first, first + count).
struct Part {
    u64 first = 0, count = 0;
};

/// n elements cut into parts of like length, in the order of the ranks, each beginning at a multiple of `granule`; parts may
/// be empty. Throws invalid_argument if granule or ranks is 0, or there is no such rank.
Part part_of(u64 n, u32 rank, u32 ranks, u64 granule = 1);
inline Part part_of(u64 n, const Communicator& ranks, u64 granule = 1) {
    return part_of(n, ranks.rank(), ranks.size(), granule);
}

}  // namespace concord
