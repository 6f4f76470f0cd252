// Where ranks of one process meet, and the threads that they are.

#include "local.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

namespace concord {
namespace detail {

Meeting::Meeting(std::vector<std::shared_ptr<Device>> devices)
    : devices_(std::move(devices)),
      boxes_(devices_.size() * devices_.size()),
      arriving_(devices_.size()),
      ended_(devices_.size()) {}

void Meeting::throw_lost(u32 rank) const {
    throw Error(ErrorCode::device_failed, "Communicator",
                failure_ ? *failure_ : "rank " + std::to_string(rank) + " has returned and answers no more");
}

void Meeting::tell() {
    changes_.fetch_add(1, std::memory_order_release);
    if (sleepers_ > 0) changed_.notify_all();
}

// Ranks whose devices are busy answer within microseconds, and a sleeper takes tens of them to wake: at first a rank asks
// again and again, and leaves its processor to who needs it.
template <class F>
void Meeting::await(std::unique_lock<std::mutex>& lock, F&& is_there) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds patience(50);
    const auto start = Clock::now();
    while (!is_there()) {
        const u64 seen = changes_.load(std::memory_order_relaxed);
        lock.unlock();
        while (changes_.load(std::memory_order_acquire) == seen && Clock::now() - start < patience)
            std::this_thread::yield();
        lock.lock();
        if (changes_.load(std::memory_order_relaxed) != seen) continue;
        ++sleepers_;
        changed_.wait(lock, is_there);
        --sleepers_;
    }
}

void Meeting::offer(const std::shared_ptr<Offer>& offer) {
    const std::lock_guard lock(mutex_);
    if (lost(offer->to)) throw_lost(offer->to);
    box(offer->from, offer->to).push_back(offer);
    tell();
}

std::shared_ptr<Offer> Meeting::take(u32 from, u32 to) {
    std::unique_lock lock(mutex_);
    auto& waiting = box(from, to);
    await(lock, [&] { return !waiting.empty() || lost(from); });
    if (waiting.empty() || failure_) throw_lost(from);
    std::shared_ptr<Offer> offer = std::move(waiting.front());
    waiting.pop_front();
    offer->state = Offer::State::taken;
    return offer;
}

void Meeting::done(Offer& offer, ErrorCode code, std::string refused) {
    const std::lock_guard lock(mutex_);
    offer.code = code;
    offer.refused = std::move(refused);
    offer.state = Offer::State::done;
    tell();
}

void Meeting::wait(const Offer& offer) {
    std::unique_lock lock(mutex_);
    await(lock, [&] {
        return offer.state == Offer::State::done || (offer.state == Offer::State::waiting && lost(offer.to));
    });
    if (offer.state != Offer::State::done) throw_lost(offer.to);
}

void Meeting::withdraw(const std::shared_ptr<Offer>& offer) {
    std::unique_lock lock(mutex_);
    if (offer->state == Offer::State::waiting) {
        auto& waiting = box(offer->from, offer->to);
        waiting.erase(std::remove(waiting.begin(), waiting.end(), offer), waiting.end());
    } else {
        await(lock, [&] { return offer->state == Offer::State::done; });
    }
}

std::vector<std::vector<std::byte>> Meeting::gather(u32 rank, std::span<const std::byte> mine) {
    std::unique_lock lock(mutex_);
    const u64 turn = turn_;
    arriving_[rank].assign(mine.begin(), mine.end());
    if (++arrived_ == size()) {
        gathered_ = std::make_shared<const std::vector<std::vector<std::byte>>>(
            std::exchange(arriving_, std::vector<std::vector<std::byte>>(size())));
        arrived_ = 0;
        ++turn_;
        tell();
    }
    auto gone = [&] { return std::find(ended_.begin(), ended_.end(), true); };
    await(lock, [&] { return turn_ != turn || failure_ || gone() != ended_.end(); });
    if (turn_ == turn) throw_lost(static_cast<u32>(gone() - ended_.begin()));
    const auto all = gathered_;  // the next turn's needs this rank
    lock.unlock();
    return *all;
}

void Meeting::fail(u32 rank, std::string_view why) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = "rank " + std::to_string(rank) + " (" + devices_[rank]->info().selector +
               ") failed: " + std::string(why);
    failed_ = rank;
    tell();
}

void Meeting::end(u32 rank) {
    const std::lock_guard lock(mutex_);
    ended_[rank] = true;
    tell();
}

namespace {

// What a rank threw, with the rank and its device named where it is an Error.
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
                    devices.empty() ? "there is no device" : "a device is null");
    if (!f) throw Error(ErrorCode::invalid_argument, "run_on_devices", "the function is empty");
    detail::Meeting meeting(devices);
    std::vector<std::exception_ptr> thrown(devices.size());
    auto run = [&](u32 rank) {
        auto give_up = [&](std::string_view why) {
            thrown[rank] = std::current_exception();
            meeting.fail(rank, why);
        };
        try {
            // In this order: the communicator may hold what the stream still reads.
            const std::shared_ptr<Stream> stream = devices[rank]->create_stream();
            detail::LocalCommunicator ranks(meeting, rank);
            f(ranks, *stream);
            stream->synchronize();
        } catch (const std::exception& error) {
            give_up(error.what());
        } catch (...) {
            give_up("an exception of no known type");
        }
        meeting.end(rank);
    };
    std::vector<std::thread> threads;
    threads.reserve(devices.size());
    try {
        for (u32 rank = 0; rank < devices.size(); ++rank)
            threads.emplace_back(run, rank);
    } catch (const std::exception& error) {  // the system gives no more threads
        meeting.fail(static_cast<u32>(threads.size()), error.what());
        for (std::thread& thread : threads)
            thread.join();
        throw;
    }
    for (std::thread& thread : threads)
        thread.join();
    // The first one's failure: those of the others are of its making.
    if (!meeting.failed()) return;
    const u32 rank = *meeting.failed();
    if (thrown[rank]) detail::rethrow(thrown[rank], *devices[rank], rank);
    throw Error(ErrorCode::device_failed, "run_on_devices", meeting.failure());
}

}  // namespace concord
