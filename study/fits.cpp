#include "fits.hpp"

#include <algorithm>

namespace concord::study {
namespace {

// The s that brings y closest to s x.
double slope(const std::vector<std::pair<double, double>>& points) {
    double xy = 0, xx = 0;
    for (const auto& [x, y] : points) {
        xy += x * y;
        xx += x * x;
    }
    return xx > 0 ? std::clamp(xy / xx, 0.0, 1.0) : 0;
}

}  // namespace

double amdahl_serial_fraction(const SpeedUps& points) {
    std::vector<std::pair<double, double>> straight;
    for (const auto& [p, s] : points)
        straight.emplace_back(1 - 1 / p, 1 / s - 1 / p);
    return slope(straight);
}

double amdahl(double serial, double threads) {
    return 1 / (serial + (1 - serial) / threads);
}

double gustafson_serial_fraction(const SpeedUps& points) {
    std::vector<std::pair<double, double>> straight;
    for (const auto& [p, s] : points)
        straight.emplace_back(p - 1, p - s);
    return slope(straight);
}

double gustafson(double serial, double threads) {
    return threads - serial * (threads - 1);
}

double performance_portability(const std::vector<double>& efficiencies) {
    double sum = 0;
    for (const double e : efficiencies) {
        if (!(e > 0)) return 0;
        sum += 1 / e;
    }
    return efficiencies.empty() ? 0 : static_cast<double>(efficiencies.size()) / sum;
}

}  // namespace concord::study
