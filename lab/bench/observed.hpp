#pragma once
/// Which kernels a stream launches.

#include <concord/lab/bench.hpp>

namespace concord::lab {

/// While it lives, notes each kernel that the stream launches, once.
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
