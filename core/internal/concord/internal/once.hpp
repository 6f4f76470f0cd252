#pragma once

#include <atomic>
#include <mutex>

namespace concord::detail {

// Calls one function once, and again if it threw. Unlike std::call_once, it does not abort when memory has run out: the
// C library allocates to let an exception pass.
class Once {
  public:
    // Waits while another thread calls a function.
    template <class F>
    void call(const F& function) {
        if (done_.load(std::memory_order_acquire)) return;
        const std::lock_guard lock(calling_);
        if (done_.load(std::memory_order_relaxed)) return;
        function();
        done_.store(true, std::memory_order_release);
    }

  private:
    std::atomic<bool> done_{false};
    std::mutex calling_;
};

}  // namespace concord::detail
