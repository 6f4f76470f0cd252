#pragma once
// Records which kernels a stream launches.

#include <concord/lab/bench.hpp>
#include <concord/trace.hpp>

namespace concord::lab {

// Records each kernel that the stream launches during its lifetime, once.
class Observed {
  public:
    Observed(Stream& stream, std::vector<KernelUse>& uses);
    ~Observed() { observe_launches(stream_, {}); }
    Observed(const Observed&) = delete;
    Observed& operator=(const Observed&) = delete;

  private:
    Stream& stream_;
};

}  // namespace concord::lab
