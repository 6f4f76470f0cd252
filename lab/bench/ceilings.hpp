#pragma once
/// What a device can do at best, measured in the same run and in the same way as what is held against it.

#include <concord/lab/measure.hpp>
#include <concord/lab/rotation.hpp>

#include <map>
#include <memory>
#include <optional>

namespace concord::lab {

/// Each is measured when it is first asked for. Bytes, or operations, a second.
class Ceilings {
  public:
    struct Rates;
    /// `hot`: on data that may be in the caches. `rates`: what was measured of this device before, to which what is
    /// measured now is added; null: nothing was.
    Ceilings(Stream& stream, bool hot, std::shared_ptr<Rates> rates = nullptr,
             const Effort& effort = {.least_ms = 30, .most_ms = 400, .precision = 0.01});

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

    /// What was measured; copy and read by traffic.
    struct Rates {
        std::map<u64, double> copy, read;
        std::map<Type, double> fma;
        std::optional<double> launch_ms;
        std::optional<Transfers> transfers;
    };

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
    std::shared_ptr<Rates> rates_;
    Effort effort_;
};

}  // namespace concord::lab
