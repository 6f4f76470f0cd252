#pragma once
// Waiting that detail::Interruptible interrupts.

#include <concord/detail/interruption.hpp>

#include <functional>

namespace concord::detail {

// Calls the check of this thread's Interruptible if it is due.
void poll_interruption();
// Waits until ended() returns true if this thread's calls are interruptible. Otherwise returns at once.
void wait_interruptibly(const std::function<bool()>& ended);

}  // namespace concord::detail
