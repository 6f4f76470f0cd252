#include "helpers.hpp"

#include <concord/error.hpp>
#include <concord/internal/host_threads.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace concord::detail {
namespace {

// In addition to the caller. None if CONCORD_THREADS is invalid, which the oneTBB device reports.
u32 most_helpers() {
    try {
        return host_threads() - 1;
    } catch (const Error&) {
        return 0;
    }
}

// Threads that start at the first use and stay until the process ends.
class HelperThreads {
  public:
    void begin(const std::function<void()>& work, u32 most) {
        most = std::min(most, most_);
        const std::lock_guard lock(mutex_);
        for (; threads_ < most; ++threads_) {
            try {
                std::thread([this] { run(); }).detach();
            } catch (const std::system_error&) {
                break;  // continues with the threads started so far
            }
        }
        for (u32 i = 0; i < most; ++i)
            waiting_.push_back(&work);
        wake_.notify_all();
    }
    void end(const std::function<void()>& work) {
        std::unique_lock lock(mutex_);
        std::erase(waiting_, &work);
        returned_.wait(lock,
                       [&] { return std::find(running_.begin(), running_.end(), &work) == running_.end(); });
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return !waiting_.empty(); });
            const std::function<void()>* const work = waiting_.front();
            waiting_.pop_front();
            running_.push_back(work);
            lock.unlock();
            (*work)();
            lock.lock();
            running_.erase(std::find(running_.begin(), running_.end(), work));
            returned_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, returned_;
    std::deque<const std::function<void()>*> waiting_;
    std::vector<const std::function<void()>*> running_;
    u32 threads_ = 0;
    const u32 most_ = most_helpers();
};

// Never destroyed, because its threads are never joined.
HelperThreads& helper_threads() {
    static HelperThreads& instance = *new HelperThreads;
    return instance;
}

}  // namespace

Helpers::Helpers(u32 most, const std::function<void()>& work) : work_(work) {
    helper_threads().begin(work_, most);
}

Helpers::~Helpers() {
    helper_threads().end(work_);
}

}  // namespace concord::detail
