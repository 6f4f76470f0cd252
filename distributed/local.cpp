// State shared by the ranks of one process, and run_on_devices().

#include "local.hpp"

#include <algorithm>
#include <exception>

namespace concord {
namespace detail {

LocalRanks::LocalRanks(std::vector<std::shared_ptr<Device>> devices)
    : devices_(std::move(devices)),
      queues_(devices_.size() * devices_.size()),
      ends_(devices_.size() * devices_.size()),
      arriving_(devices_.size()),
      ended_(devices_.size()) {}

void LocalRanks::throw_lost(u32 rank) const {
    throw Error(ErrorCode::device_failed, "Communicator",
                !failed_           ? "rank " + std::to_string(rank) + " has returned; pending messages fail"
                : failure_.empty() ? "rank " + std::to_string(*failed_) + " ran out of memory"
                                   : failure_);
}

void LocalRanks::notify() {
    changes_.fetch_add(1, std::memory_order_release);
    if (sleepers_ > 0) changed_.notify_all();
}

void LocalRanks::post(const std::shared_ptr<PostedSend>& send) {
    const std::lock_guard lock(mutex_);
    if (lost(send->to)) throw_lost(send->to);
    queue(send->from, send->to).push_back(send);
    notify();
}

std::shared_ptr<PostedSend> LocalRanks::match(u32 from, u32 to) {
    std::unique_lock lock(mutex_);
    auto& waiting = queue(from, to);
    wait_until(lock, [&] { return !waiting.empty() || lost(from); });
    if (waiting.empty() || failed_) throw_lost(from);
    std::shared_ptr<PostedSend> send = std::move(waiting.front());
    waiting.pop_front();
    send->state = PostedSend::State::matched;
    return send;
}

void LocalRanks::offer(u32 from, u32 to, std::shared_ptr<LinkEnd> end) {
    const std::lock_guard lock(mutex_);
    if (lost(to)) throw_lost(to);
    ends_[from * size() + to].push_back(std::move(end));
    notify();
}

std::shared_ptr<LinkEnd> LocalRanks::accept(u32 from, u32 to) {
    std::unique_lock lock(mutex_);
    auto& offered = ends_[from * size() + to];
    wait_until(lock, [&] { return !offered.empty() || lost(from); });
    if (offered.empty()) throw_lost(from);
    std::shared_ptr<LinkEnd> end = std::move(offered.front());
    offered.pop_front();
    return end;
}

// A rank that goes to sleep counts itself before it tests the condition, and this call tests the count after the
// condition has changed, so that one of the two sees the other.
void LocalRanks::wake() noexcept {
    if (sleepers_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
}

void LocalRanks::complete(PostedSend& send, std::optional<ErrorCode> failure, std::string error) noexcept {
    const std::lock_guard lock(mutex_);
    send.failure = failure;
    send.error = std::move(error);
    send.state = PostedSend::State::done;
    notify();
}

void LocalRanks::wait(const PostedSend& send) {
    std::unique_lock lock(mutex_);
    wait_until(lock, [&] {
        return send.state == PostedSend::State::done ||
               (send.state == PostedSend::State::waiting && lost(send.to));
    });
    if (send.state != PostedSend::State::done) throw_lost(send.to);
}

void LocalRanks::cancel(const std::shared_ptr<PostedSend>& send) {
    std::unique_lock lock(mutex_);
    if (send->state == PostedSend::State::waiting) {
        auto& waiting = queue(send->from, send->to);
        waiting.erase(std::remove(waiting.begin(), waiting.end(), send), waiting.end());
    } else {
        wait_until(lock, [&] { return send->state == PostedSend::State::done; });
    }
}

std::vector<std::vector<std::byte>> LocalRanks::all_gather(u32 rank, std::span<const std::byte> mine) {
    std::unique_lock lock(mutex_);
    const u64 turn = turn_;
    arriving_[rank].assign(mine.begin(), mine.end());
    if (++arrived_ == size()) {
        gathered_ = std::make_shared<const std::vector<std::vector<std::byte>>>(
            std::exchange(arriving_, std::vector<std::vector<std::byte>>(size())));
        arrived_ = 0;
        ++turn_;
        notify();
    }
    auto gone = [&] { return std::find(ended_.begin(), ended_.end(), true); };
    wait_until(lock, [&] { return turn_ != turn || failed_ || gone() != ended_.end(); });
    if (turn_ == turn) throw_lost(static_cast<u32>(gone() - ended_.begin()));
    const auto all = gathered_;  // cannot be replaced before this rank calls again
    lock.unlock();
    return *all;
}

void LocalRanks::fail(u32 rank, std::string_view why) noexcept {
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    failed_ = rank;
    any_lost_ = true;
    notify();
    try {
        failure_ = "rank " + std::to_string(rank) + " (" + devices_[rank]->info().selector +
                   ") failed: " + std::string(why);
    } catch (const std::bad_alloc&) {  // the other ranks fail without the reason
    }
}

void LocalRanks::leave(u32 rank) noexcept {
    const std::lock_guard lock(mutex_);
    ended_[rank] = true;
    any_lost_ = true;
    notify();
}

namespace {

// Rethrows the exception of a rank. An Error is extended by the rank and its device.
[[noreturn]] void rethrow(const std::exception_ptr& failure, const Device& device, u32 rank) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        std::string_view what = error.what();
        if (!error.native().empty()) what.remove_suffix(error.native().size() + 3);  // " [NATIVE]"
        throw Error(error.code(), "rank " + std::to_string(rank) + " (" + device.info().selector + ")", what,
                    error.native());
    }
}

}  // namespace
}  // namespace detail

void run_on_devices(const std::vector<std::shared_ptr<Device>>& devices,
                    const std::function<void(Communicator& ranks, Stream& stream)>& f) {
    if (devices.empty() || std::find(devices.begin(), devices.end(), nullptr) != devices.end())
        throw Error(ErrorCode::invalid_argument, "run_on_devices",
                    devices.empty() ? "needs at least one device, got none" : "a device is null");
    if (!f) throw Error(ErrorCode::invalid_argument, "run_on_devices", "function must not be empty");
    detail::LocalRanks shared(devices);
    std::vector<std::exception_ptr> thrown(devices.size());
    auto run = [&](u32 rank) {
        auto give_up = [&](std::string_view why) {
            thrown[rank] = std::current_exception();
            shared.fail(rank, why);
        };
        try {
            // The communicator is destroyed before the stream: it may hold memory that the stream still reads.
            const std::shared_ptr<Stream> stream = devices[rank]->create_stream();
            detail::LocalCommunicator ranks(shared, rank);
            f(ranks, *stream);
            stream->synchronize();
        } catch (const std::exception& error) {
            give_up(error.what());
        } catch (...) {
            give_up("exception of unknown type");
        }
        shared.leave(rank);
    };
    std::vector<std::thread> threads;
    threads.reserve(devices.size());
    try {
        for (u32 rank = 0; rank < devices.size(); ++rank)
            threads.emplace_back(run, rank);
    } catch (const std::exception& error) {  // no more threads available
        shared.fail(static_cast<u32>(threads.size()), error.what());
        for (std::thread& thread : threads)
            thread.join();
        throw;
    }
    for (std::thread& thread : threads)
        thread.join();
    // Rethrows the first failure; the others follow from it.
    if (!shared.failed()) return;
    const u32 rank = *shared.failed();
    if (thrown[rank]) detail::rethrow(thrown[rank], *devices[rank], rank);
    throw Error(ErrorCode::device_failed, "run_on_devices", shared.failure());
}

}  // namespace concord
