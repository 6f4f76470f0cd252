#pragma once
// Communicator of the ranks of one process: threads that share memory.

#include <concord/communicator.hpp>

#include <concord/internal/link.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace concord::detail {

struct LinkEnd;

// A send between two ranks, from its post() until the receiver's stream has enqueued the copy.
struct PostedSend {
    // Bytes that are in host memory when the event is reached.
    struct Piece {
        u64 first, count;
        std::shared_ptr<Event> arrived;
    };

    u32 from = 0, to = 0;
    View view;                        // range on the sender
    std::shared_ptr<Event> ready;     // reached when the sender's stream has produced the bytes
    const std::byte* host = nullptr;  // address of the bytes for the host; null if devices copy
    std::shared_ptr<Buffer> staged;   // staging buffer that `host` points to, if any
    std::vector<Piece> pieces;        // pieces of `host`
    std::shared_ptr<Event> read;      // reached when the receiver's stream has read the bytes
    enum class State { waiting, matched, done } state = State::waiting;
    std::optional<ErrorCode> failure;  // code of the receiver's error, if it failed
    std::string error;                 // that error; empty if memory was short
};

// State shared by the ranks of one process. Thread-safe. Blocking calls throw device_failed as soon as a rank has
// failed or the awaited rank has returned.
class LocalRanks {
  public:
    explicit LocalRanks(std::vector<std::shared_ptr<Device>> devices);

    u32 size() const { return static_cast<u32>(devices_.size()); }
    Device& device(u32 rank) const { return *devices_[rank]; }

    // Posts a send for its receiver.
    void post(const std::shared_ptr<PostedSend>& send);
    // Waits for the next send of a rank and matches it.
    std::shared_ptr<PostedSend> match(u32 from, u32 to);
    // Completes a matched send; with an error if the receiver cannot take it.
    void complete(PostedSend& send) noexcept { complete(send, std::nullopt, {}); }
    void complete(PostedSend& send, std::optional<ErrorCode> failure, std::string error) noexcept;
    // Waits until a send is complete.
    void wait(const PostedSend& send);
    // Removes a send that is not matched; otherwise waits until it is complete.
    void cancel(const std::shared_ptr<PostedSend>& send);

    // Offers an end of a link to a rank, and waits for the next end that it offers to this one.
    void offer(u32 from, u32 to, std::shared_ptr<LinkEnd> end);
    std::shared_ptr<LinkEnd> accept(u32 from, u32 to);
    // Waits until the condition holds, which rank `by` brings about. The condition must be thread-safe.
    template <class F>
    void wait_for(F&& condition, u32 by);
    // Wakes ranks in wait_for() after a change of such a condition.
    void wake() noexcept;

    // Collective. Returns the bytes of all ranks.
    std::vector<std::vector<std::byte>> all_gather(u32 rank, std::span<const std::byte> mine);

    // Records a failure; the first one counts.
    void fail(u32 rank, std::string_view why) noexcept;
    // Records that a rank has returned.
    void leave(u32 rank) noexcept;
    // The rank that failed first; valid once all ranks have left.
    std::optional<u32> failed() const { return failed_; }
    const std::string& failure() const { return failure_; }

  private:
    std::deque<std::shared_ptr<PostedSend>>& queue(u32 from, u32 to) { return queues_[from * size() + to]; }
    bool lost(u32 rank) const { return failed_ || ended_[rank]; }
    [[noreturn]] void throw_lost(u32 rank) const;
    // Wakes all waiting ranks. The caller holds the lock.
    void notify();
    static constexpr std::chrono::microseconds patience{50};
    // Waits until the condition holds. Releases the lock while it waits.
    template <class F>
    void wait_until(std::unique_lock<std::mutex>& lock, F&& condition);

    std::vector<std::shared_ptr<Device>> devices_;
    std::mutex mutex_;
    std::atomic<u64> changes_ = 0;
    std::condition_variable changed_;
    std::atomic<u32> sleepers_ = 0;
    std::atomic<bool> any_lost_ = false;  // a rank has failed or returned
    std::vector<std::deque<std::shared_ptr<PostedSend>>> queues_;
    std::vector<std::deque<std::shared_ptr<LinkEnd>>> ends_;  // offered, by sender and receiver
    std::vector<std::vector<std::byte>> arriving_;
    std::shared_ptr<const std::vector<std::vector<std::byte>>> gathered_;
    u32 arrived_ = 0;
    u64 turn_ = 0;
    std::optional<u32> failed_;
    std::string failure_;  // empty if memory was short
    std::vector<bool> ended_;
};

// Busy ranks answer within microseconds, while a sleeping thread needs tens of microseconds to wake. So a rank first
// polls and yields its processor, and then sleeps.
template <class F>
void LocalRanks::wait_until(std::unique_lock<std::mutex>& lock, F&& condition) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (!condition()) {
        const u64 seen = changes_.load(std::memory_order_relaxed);
        lock.unlock();
        while (changes_.load(std::memory_order_acquire) == seen && Clock::now() - start < patience)
            std::this_thread::yield();
        lock.lock();
        if (changes_.load(std::memory_order_relaxed) != seen) continue;
        ++sleepers_;
        changed_.wait(lock, condition);
        --sleepers_;
    }
}

template <class F>
void LocalRanks::wait_for(F&& condition, u32 by) {
    using Clock = std::chrono::steady_clock;
    if (condition()) return;
    for (const auto start = Clock::now(); Clock::now() - start < patience; std::this_thread::yield()) {
        if (condition()) return;
        if (any_lost_) break;
    }
    std::unique_lock lock(mutex_);
    ++sleepers_;
    changed_.wait(lock, [&] { return condition() || lost(by); });
    --sleepers_;
    if (!condition()) throw_lost(by);
}

class LocalCommunicator final : public Communicator {
  public:
    LocalCommunicator(LocalRanks& shared, u32 rank) : Communicator(rank, shared.size()), shared_(shared) {}
    ~LocalCommunicator() override;

    void fail(std::string_view why) noexcept override;

  protected:
    void do_exchange(Stream& stream, std::span<const Message> sends,
                     std::span<const Message> receives) override;
    std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) override;
    std::string do_path_to(u32 rank) const override;
    std::vector<std::shared_ptr<Link>> do_connect(Stream& stream, std::span<const LinkOffer> offers) override;

  private:
    class PostedSends;
    // Staging memory of another device that a stream still reads.
    struct Held {
        std::shared_ptr<Buffer> buffer;
        std::shared_ptr<Event> read;
    };

    std::shared_ptr<PostedSend> post_send(Stream& stream, const Message& message);
    void receive(Stream& stream, const Message& message);
    void copy(Stream& stream, const View& to, PostedSend& send);
    static void copy_from_host(Stream& stream, const View& to, const PostedSend& send);

    LocalRanks& shared_;
    std::vector<Held> held_;
};

}  // namespace concord::detail
