#pragma once
// Models that are fitted to measurements.

#include <concord/types.hpp>

#include <utility>
#include <vector>

namespace concord::study {

// Numbers of threads and their speed-ups over one thread.
using SpeedUps = std::vector<std::pair<double, double>>;

// Serial fraction s of Amdahl's law, 1 / S(p) = s + (1 - s) / p, in [0, 1]. Least-squares fit in 1 / S.
double amdahl_serial_fraction(const SpeedUps& points);
double amdahl(double serial, double threads);

// Serial fraction s of Gustafson's law for work that grows with p, S(p) = p - s (p - 1), in [0, 1]. Least-squares fit.
double gustafson_serial_fraction(const SpeedUps& points);
double gustafson(double serial, double threads);

// Performance portability over a set of devices: the harmonic mean of the efficiencies. 0 if an efficiency is 0 or
// the set is empty. S. Pennycook, J. Sewall, V. Lee, A Metric for Performance Portability, 2016.
double performance_portability(const std::vector<double>& efficiencies);

// Work and time of a step over ranks: points that one device computes, and messages and bytes that the busiest rank
// sends.
struct RanksStep {
    double points = 0, messages = 0, bytes = 0, ms = 0;
};
// t = points * point + messages * message + bytes * byte, with nonnegative coefficients in milliseconds.
struct RanksModel {
    double point = 0, message = 0, byte = 0;
    double error = 0;  // root mean square of the relative errors

    double computing(const RanksStep& s) const { return s.points * point; }
    double communicating(const RanksStep& s) const { return s.messages * message + s.bytes * byte; }
};
// Least-squares fit of the relative error. If two terms are linearly dependent, such as messages of one length, one
// of their coefficients is 0. All coefficients are 0 without steps.
RanksModel ranks_model(const std::vector<RanksStep>& steps);

}  // namespace concord::study
