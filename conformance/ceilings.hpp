#pragma once
/// What a device can do at best, measured in the same run and in the same way as what is held against it.

#include <concord/conformance/rotation.hpp>

#include <map>
#include <optional>

namespace concord::conformance {

/// Each is measured when it is first asked for. Bytes, or operations, a second.
class Ceilings {
  public:
    /// `hot`: on data that may be in the caches.
    Ceilings(Stream& stream, bool hot) : stream_(stream), hot_(hot) {}

    /// Bytes read plus bytes written by a copy that moves `traffic` of them in all: the better of the
    /// device's own copy and of map with the function copy.
    double copy(u64 traffic);
    /// Bytes read by a kernel that reads so many and writes none.
    double read(u64 bytes);
    /// Operations of independent fused multiply-adds, each of which is two. Type f32, or f64 where the device
    /// has it; nothing for others.
    std::optional<double> fma(Type type);

    /// A call of an empty kernel and a synchronize, milliseconds by the host's clock.
    double launch_ms();
    /// Rates of transfers of 64 MiB between the device and page-locked or pageable host memory.
    struct Transfers {
        double upload_pinned = 0, download_pinned = 0, upload_pageable = 0, download_pageable = 0;
    };
    Transfers transfers();

    /// Measures all of them, copy and read for traffic that is past every cache.
    void measure_all();

    /// What was measured so far; copy and read for the largest traffic.
    struct Known {
        std::optional<double> copy, read, fma_f32, fma_f64, launch_ms;
        std::optional<Transfers> transfers;
    };
    Known known() const;

  private:
    std::shared_ptr<Kernel> compile(const char* entry, Type type) const;
    u64 large_traffic() const;

    Stream& stream_;
    bool hot_;
    std::map<u64, double> copy_, read_;  // by traffic
    std::map<Type, double> fma_;
    std::optional<double> launch_ms_;
    std::optional<Transfers> transfers_;
};

}  // namespace concord::conformance
