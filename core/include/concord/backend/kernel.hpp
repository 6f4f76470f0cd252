#pragma once
/// @file
/// The backend's part of a Kernel.

#include <concord/kernel.hpp>

namespace concord::backend {

/// A compiled kernel, made by Device::compile and launched by Queue::launch. Any thread may use it.
class Kernel {
  public:
    Kernel() = default;
    virtual ~Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// What the compiler reports about the kernel; core asks once. Default: all fields unknown.
    virtual KernelAttributes attributes() const { return {}; }
    /// The parameters in the order of a launch's arguments; core asks once. Default: none are known.
    virtual std::vector<KernelParameter> parameters() const { return {}; }
};

}  // namespace concord::backend
