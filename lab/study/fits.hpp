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

/// What a step over ranks does, and how long it takes: points computed by one device, messages that the busiest rank sends,
/// and their bytes.
struct RanksStep {
    double points = 0, messages = 0, bytes = 0, ms = 0;
};
/// t = points * point + messages * message + bytes * byte, all in milliseconds and none of them negative.
struct RanksModel {
    double point = 0, message = 0, byte = 0;
    double error = 0;  ///< the root of the mean square of the relative errors

    double computing(const RanksStep& s) const { return s.points * point; }
    double communicating(const RanksStep& s) const { return s.messages * message + s.bytes * byte; }
};
/// The model that comes closest, by least squares in the relative error; where two of its terms cannot be told apart, as with
/// messages of one length, one of them is 0. Nothing without steps.
RanksModel ranks_model(const std::vector<RanksStep>& steps);

}  // namespace concord::study
