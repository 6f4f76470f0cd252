#include <concord/study/internal/fits.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace concord::study {
namespace {

// Least-squares fit of y = s x, with s in [0, 1].
double slope(const std::vector<std::pair<double, double>>& points) {
    double xy = 0, xx = 0;
    for (const auto& [x, y] : points) {
        xy += x * y;
        xx += x * x;
    }
    return xx > 0 ? std::clamp(xy / xx, 0.0, 1.0) : 0;
}

// Solves three linear equations by Gauss-Jordan elimination. False if they are singular.
bool solve(double (&a)[3][4]) {
    for (int column = 0; column < 3; ++column) {
        int pivot = column;
        for (int row = column; row < 3; ++row) {
            if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
        }
        if (std::abs(a[pivot][column]) < 1e-9) return false;
        std::swap(a[pivot], a[column]);
        for (int row = 0; row < 3; ++row) {
            if (row == column) continue;
            const double factor = a[row][column] / a[column][column];
            for (int k = column; k < 4; ++k)
                a[row][k] -= factor * a[column][k];
        }
    }
    return true;
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

RanksModel ranks_model(const std::vector<RanksStep>& steps) {
    RanksModel best;
    if (steps.empty()) return best;
    // Scales each term by its largest value, which conditions the equations.
    double largest[3] = {};
    for (const RanksStep& s : steps) {
        const double terms[] = {s.points, s.messages, s.bytes};
        for (int i = 0; i < 3; ++i)
            largest[i] = std::max(largest[i], terms[i]);
    }
    double least = -1;
    for (unsigned used = 1; used < 8; ++used) {  // bit mask of the nonzero terms
        double a[3][4] = {};
        bool sound = true;
        for (int i = 0; i < 3; ++i) {
            if ((used >> i & 1) == 0)
                a[i][i] = 1;
            else
                sound = sound && largest[i] > 0;
        }
        if (!sound) continue;
        for (const RanksStep& s : steps) {
            const double terms[] = {s.points, s.messages, s.bytes};
            for (int i = 0; i < 3; ++i) {
                if ((used >> i & 1) == 0) continue;
                for (int j = 0; j < 3; ++j) {
                    if ((used >> j & 1) != 0)
                        a[i][j] += terms[i] / largest[i] / s.ms * terms[j] / largest[j] / s.ms;
                }
                a[i][3] += terms[i] / largest[i] / s.ms;
            }
        }
        if (!solve(a)) continue;
        double x[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = (used >> i & 1) != 0 ? a[i][3] / a[i][i] / largest[i] : 0;
            sound = sound && x[i] >= 0;
        }
        if (!sound) continue;
        RanksModel model{x[0], x[1], x[2], 0};
        for (const RanksStep& s : steps) {
            const double relative = (model.computing(s) + model.communicating(s)) / s.ms - 1;
            model.error += relative * relative / static_cast<double>(steps.size());
        }
        model.error = std::sqrt(model.error);
        // Another term must improve the fit noticeably.
        if (least >= 0 && model.error > 0.999 * least) continue;
        least = model.error;
        best = model;
    }
    return best;
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
