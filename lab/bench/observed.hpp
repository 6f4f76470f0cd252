#pragma once
// Records which kernels a stream launches.

#include <concord/lab/bench.hpp>

namespace concord::lab {

// Records each kernel that the stream launches during its lifetime, once.
class Observed {
  public:
    Observed(Stream& stream, std::vector<KernelUse>& uses);
    ~Observed() { stream_.observe({}); }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

  private:
    Stream& stream_;
};

}  // namespace concord::lab
