#pragma once
// Threads of the process that help to copy host memory.

#include <concord/types.hpp>

#include <functional>

namespace concord::detail {

// During its lifetime up to `most` threads, and fewer than host_threads(), run `work` in addition to the caller.
// Helpers may start late or never, so that the caller must be able to do all the work alone.
class Helpers {
  public:
    Helpers(u32 most, const std::function<void()>& work);
    // Waits for helpers that have started. The others never start. `work` must return soon.
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

  private:
    friend class HelperThreads;

    const std::function<void()>& work_;
    u32 wanted_;       // helpers that may still start
    u32 running_ = 0;  // helpers that have started and not returned
    Helpers* next_ = nullptr;
};

}  // namespace concord::detail
