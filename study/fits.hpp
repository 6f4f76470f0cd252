#pragma once
/// Laws that measurements are held against.

#include <concord/types.hpp>

#include <utility>
#include <vector>

namespace concord::study {

/// Threads, and how many times as fast as one of them.
using SpeedUps = std::vector<std::pair<double, double>>;

/// The serial fraction s of Amdahl's law, 1 / S(p) = s + (1 - s) / p, by least squares in 1 / S; in [0, 1].
double amdahl_serial_fraction(const SpeedUps& points);
double amdahl(double serial, double threads);

/// The serial fraction s of Gustafson's law for work that grows with p, S(p) = p - s (p - 1), by least squares; in [0, 1].
double gustafson_serial_fraction(const SpeedUps& points);
double gustafson(double serial, double threads);

/// Performance portability over a set of devices: the harmonic mean of the efficiencies; 0 if one is 0 or there is none.
/// S. Pennycook, J. Sewall, V. Lee, A Metric for Performance Portability, 2016.
double performance_portability(const std::vector<double>& efficiencies);

}  // namespace concord::study
