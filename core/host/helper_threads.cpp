#include "host/helper_threads.hpp"

#include <concord/error.hpp>
#include <concord/internal/host_threads.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace concord::detail {
namespace {

// In addition to the caller. None if CONCORD_THREADS is invalid, which the oneTBB device reports.
u32 max_helpers() {
    try {
        return host_threads() - 1;
    } catch (const Error&) {
        return 0;
    }
}

}  // namespace

// Threads that start at the first use and stay until the process ends. Offers of work form a list whose entries are the
// Helpers objects themselves, so that nothing here can run out of memory.
class HelperThreads {
  public:
    void begin(Helpers& offer) {
        offer.wanted_ = std::min(offer.wanted_, max_);
        const std::lock_guard lock(mutex_);
        start_threads(offer.wanted_);
        offer.next_ = std::exchange(offers_, &offer);
        wake_.notify_all();
    }
    void end(Helpers& offer) {
        std::unique_lock lock(mutex_);
        Helpers** place = &offers_;
        while (*place != &offer)
            place = &(*place)->next_;
        *place = offer.next_;
        returned_.wait(lock, [&] { return offer.running_ == 0; });
    }

  private:
    // Continues with fewer threads if the system refuses one.
    void start_threads(u32 most) noexcept {
        try {
            for (; threads_ < most; ++threads_)
                std::thread([this] { run(); }).detach();
        } catch (const std::exception&) {
            return;
        }
    }
    Helpers* next_offer() const {
        Helpers* offer = offers_;
        while (offer != nullptr && offer->wanted_ == 0)
            offer = offer->next_;
        return offer;
    }
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            Helpers* offer = nullptr;
            wake_.wait(lock, [&] { return (offer = next_offer()) != nullptr; });
            --offer->wanted_;
            ++offer->running_;
            lock.unlock();
            offer->work_();
            lock.lock();
            --offer->running_;
            returned_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, returned_;
    Helpers* offers_ = nullptr;
    u32 threads_ = 0;
    const u32 max_ = max_helpers();
};

namespace {

// Never destroyed, because its threads are never joined.
HelperThreads& helper_threads() {
    static HelperThreads& instance = *new HelperThreads;
    return instance;
}

}  // namespace

Helpers::Helpers(u32 most, const std::function<void()>& work) : work_(work), wanted_(most) {
    helper_threads().begin(*this);
}

Helpers::~Helpers() {
    helper_threads().end(*this);
}

}  // namespace concord::detail
