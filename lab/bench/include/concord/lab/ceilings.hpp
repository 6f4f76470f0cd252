#pragma once
/// @file
/// Attainable rates of a device (ceilings), measured in the same run and by the same method as the calls that are
/// compared with them: copy and read bandwidth, fused multiply-adds, transfers and launches.

#include <concord/lab/measure.hpp>
#include <concord/lab/rotation.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace concord::lab {

/// Tolerance of attainable rates. A call that exceeds this fraction of its rate makes bench() measure the rate again.
inline constexpr double max_of_ceiling = 1.03;

/// Attainable rates in bytes or operations per second. Each is measured on first use.
class Ceilings {
  public:
    struct Rates;
    /// What a call does if it knows the rate.
    enum class IfKnown : u8 {
        use,       ///< returns it
        remeasure  ///< measures once more, and keeps the higher rate; later calls return it
    };
    /// `hot`: measures on data that may be in the caches. `rates`: earlier measurements of this device, to which new
    /// ones are added; may be null.
    Ceilings(Stream& stream, bool hot, std::shared_ptr<Rates> rates = nullptr,
             const Effort& effort = {.min_ms = 30, .max_ms = 400, .precision = 0.01});

    /// Bytes read and written per second by a copy with this total traffic: the faster one of the driver's copy and of
    /// map with the function copy.
    double copy(u64 traffic, IfKnown known = IfKnown::use);
    /// Bytes per second of a kernel that reads this number of bytes and writes none.
    double read(u64 bytes, IfKnown known = IfKnown::use);
    /// Operations per second of independent fused multiply-adds, two operations each. Empty unless the type is f32, or
    /// f64 on a device that supports it.
    std::optional<double> fma(Type type, IfKnown known = IfKnown::use);
    /// Operations per second of independent f64 matrix products on matrix units (tensor cores), two for each product of
    /// two elements. Empty unless the device has them (DeviceTraits::f64_matrix_units).
    std::optional<double> mma(IfKnown known = IfKnown::use);

    /// Host time in milliseconds of launching an empty kernel and synchronizing.
    double launch_ms();
    /// Bytes per second of 64 MiB transfers between the device and page-locked or pageable host memory.
    struct Transfers {
        double upload_pinned = 0;      ///< from page-locked memory
        double download_pinned = 0;    ///< to page-locked memory
        double upload_pageable = 0;    ///< from pageable memory
        double download_pageable = 0;  ///< to pageable memory
    };
    /// Measures the transfers.
    Transfers transfers();

    /// Measurements of a device.
    struct Rates {
        std::map<u64, double> copy;          ///< by traffic
        std::map<u64, double> read;          ///< by traffic
        std::map<Type, double> fma;          ///< by type
        std::map<Type, double> mma;          ///< by type; only f64
        std::set<std::string> remeasured;    ///< rates that were measured twice
        std::optional<double> launch_ms;     ///< see launch_ms()
        std::optional<Transfers> transfers;  ///< see transfers()
    };

    /// Measures all rates, copy and read with traffic larger than every cache.
    void measure_all();

    /// Rates that were measured so far. Others are empty.
    struct Known {
        std::optional<double> copy;          ///< for the largest traffic
        std::optional<double> read;          ///< for the largest traffic
        std::optional<double> fma_f32;       ///< of f32
        std::optional<double> fma_f64;       ///< of f64
        std::optional<double> mma_f64;       ///< of f64 on matrix units
        std::optional<double> launch_ms;     ///< see launch_ms()
        std::optional<Transfers> transfers;  ///< see transfers()
    };
    /// The rates that were measured so far.
    Known known() const;

  private:
    std::shared_ptr<Kernel> compile(const KernelSource& source, const char* entry, Type type,
                                    u32 vector = 64) const;
    u64 large_traffic() const;

    Stream& stream_;
    bool hot_;
    std::shared_ptr<Rates> rates_;
    Effort effort_;
};

}  // namespace concord::lab
