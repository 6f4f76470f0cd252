#pragma once
// Ranks of one process: threads that meet in shared memory, and how their messages lie there.

#include <concord/communicator.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace concord::detail {

/// A message between two ranks, from when its sender names it to when the receiver's stream is to copy it.
struct Offer {
    /// Bytes that have come to host memory when the event is reached.
    struct Piece {
        u64 first, count;
        std::shared_ptr<Event> there;
    };

    u32 from = 0, to = 0;
    View view;                        // the sender's
    std::shared_ptr<Event> ready;     // the sender's stream has left the bytes there
    const std::byte* host = nullptr;  // where the host finds them; null: devices copy
    std::shared_ptr<Buffer> staged;   // what `host` is in, if it is not the view's own memory
    std::vector<Piece> pieces;        // of `host`
    std::shared_ptr<Event> read;      // the receiver's stream has read them
    enum class State { waiting, taken, done } state = State::waiting;
    std::string refused;                           // why the receiver did not take them
    ErrorCode code = ErrorCode::invalid_argument;  // then: what kind of reason that is
};

/// Where ranks of one process meet. All calls may come from any of their threads. What waits throws device_failed as soon as
/// a rank has failed, or the awaited one has returned.
class Meeting {
  public:
    explicit Meeting(std::vector<std::shared_ptr<Device>> devices);

    u32 size() const { return static_cast<u32>(devices_.size()); }
    Device& device(u32 rank) const { return *devices_[rank]; }

    /// Puts it where the receiver looks.
    void offer(const std::shared_ptr<Offer>& offer);
    /// Waits for the next one.
    std::shared_ptr<Offer> take(u32 from, u32 to);
    /// Ends what take() began; with a reason, if the receiver does not take it.
    void done(Offer& offer) { done(offer, {}, {}); }
    void done(Offer& offer, ErrorCode code, std::string refused);
    /// Waits until it is done.
    void wait(const Offer& offer);
    /// Takes it back if nobody has taken it, else waits until it is done.
    void withdraw(const std::shared_ptr<Offer>& offer);

    std::vector<std::vector<std::byte>> gather(u32 rank, std::span<const std::byte> mine);

    /// Of several failures the first one counts.
    void fail(u32 rank, std::string_view why);
    void end(u32 rank);
    /// The rank that failed first, once all have ended.
    std::optional<u32> failed() const { return failed_; }
    const std::string& failure() const { return *failure_; }

  private:
    std::deque<std::shared_ptr<Offer>>& box(u32 from, u32 to) { return boxes_[from * size() + to]; }
    bool lost(u32 rank) const { return failure_ || ended_[rank]; }
    [[noreturn]] void throw_lost(u32 rank) const;
    /// Tells everybody that something has changed, under the lock.
    void tell();
    /// Until then; the lock is given up meanwhile.
    template <class F>
    void await(std::unique_lock<std::mutex>& lock, F&& is_there);

    std::vector<std::shared_ptr<Device>> devices_;
    std::mutex mutex_;
    std::atomic<u64> changes_ = 0;
    std::condition_variable changed_;
    u32 sleepers_ = 0;
    std::vector<std::deque<std::shared_ptr<Offer>>> boxes_;
    std::vector<std::vector<std::byte>> arriving_;
    std::shared_ptr<const std::vector<std::vector<std::byte>>> gathered_;
    u32 arrived_ = 0;
    u64 turn_ = 0;
    std::optional<u32> failed_;
    std::optional<std::string> failure_;
    std::vector<bool> ended_;
};

class LocalCommunicator final : public Communicator {
  public:
    LocalCommunicator(Meeting& meeting, u32 rank) : Communicator(rank, meeting.size()), meeting_(meeting) {}
    ~LocalCommunicator() override;

    void fail(std::string_view why) noexcept override;
    std::string path_to(u32 rank) const override;

  protected:
    void do_exchange(Stream& stream, std::span<const Message> sends,
                     std::span<const Message> receives) override;
    std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) override;

  private:
    class Offers;
    // Memory of another device that a stream still reads.
    struct Held {
        std::shared_ptr<Buffer> buffer;
        std::shared_ptr<Event> read;
    };

    std::shared_ptr<Offer> make_offer(Stream& stream, const Message& message);
    void receive(Stream& stream, const Message& message);
    void copy(Stream& stream, const View& to, Offer& offer);
    static void copy_from_host(Stream& stream, const View& to, const Offer& offer);

    Meeting& meeting_;
    std::vector<Held> held_;
};

}  // namespace concord::detail
