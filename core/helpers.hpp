#pragma once
// A few threads of the process that lend a hand with copying host memory.

#include <concord/types.hpp>

#include <functional>

namespace concord::detail {

/// For as long as it lives, up to `most` threads run `work` in addition to the caller, and fewer than host_threads(). Nobody
/// waits for them to begin: what they do the caller can do alone.
class Helpers {
  public:
    Helpers(u32 most, const std::function<void()>& work);
    /// Waits for those that have begun; the others never will. `work` must be about to return by then.
    ~Helpers();
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

  private:
    const std::function<void()>& work_;
};

}  // namespace concord::detail
