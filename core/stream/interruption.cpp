#include "stream/interruption.hpp"

#include "stream/stream_state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace concord::detail {
namespace {

using Clock = std::chrono::steady_clock;

struct Checks {
    void (*check)() = nullptr;
    Clock::time_point next = {};  // the first poll sets it: short calls do not read the clock twice
};
thread_local Checks checks;

}  // namespace

Interruptible::Interruptible(void (*check)()) noexcept : outer_(std::exchange(checks.check, check)) {
    checks.next = {};
}

Interruptible::~Interruptible() {
    checks.check = outer_;
}

void poll_interruption() {
    if (checks.check == nullptr) return;
    const Clock::time_point now = Clock::now();
    if (now < checks.next) return;
    const bool is_first = checks.next == Clock::time_point{};
    checks.next = now + std::chrono::milliseconds(50);
    if (!is_first) checks.check();
}

// Yields for the time in which a thread wakes. Then sleeps, at most for a sixteenth of the time that has passed.
void wait_interruptibly(const std::function<bool()>& ended) {
    if (checks.check == nullptr) return;
    poll_interruption();
    if (ended()) return;
    constexpr std::chrono::nanoseconds brief = std::chrono::microseconds(100),
                                       most = std::chrono::milliseconds(5);
    const Clock::time_point start = Clock::now();
    while (!ended()) {
        const std::chrono::nanoseconds waited = Clock::now() - start;
        if (waited < brief) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::min(waited / 16, most));
            poll_interruption();
        }
    }
}

void cancel(Stream& stream) {
    Access::state(stream).queue->cancel();
}

}  // namespace concord::detail
