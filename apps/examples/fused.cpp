// Five calls that compute their input while they read it: no temporary arrays.
//
// Build, with Concord installed in DIR (in the build tree: example-fused):
//     c++ -std=c++20 -O2 -ffp-contract=off fused.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     CONCORD_DEVICE=tbb ./a.out
//     squared distance 333.833, dot product 499.5, 499 kept, 250 in the first bin, last sum 499.5

#include <concord/compact.hpp>
#include <concord/device.hpp>
#include <concord/histogram.hpp>
#include <concord/scan.hpp>
#include <concord/statistics.hpp>
#include <iostream>

using namespace concord;

CONCORD_FUNCTION(f32, squared_distance, (f32 x, f32 y), return (x - y) * (x - y);)
CONCORD_FUNCTION(f32, magnitude, (f32 x), return fabs(x);)

int main() try {
    const u64 n = 1000;
    std::vector<f32> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = (i % 2 == 0 ? 1.0f : -1.0f) * static_cast<f32>(i) / n;
    const auto device = open_device();
    const auto stream = device->create_stream();
    const Array<f32> x(*stream, values), ones(*stream, std::vector<f32>(n, 1.0f)), sums(*stream, n);
    const Array<u64> counters(*stream, 4);

    const f32 distance = sum(*stream, transform(squared_distance, transform(magnitude, x), ones)).get();
    const f32 product = dot(*stream, transform(magnitude, x), ones).get();
    const Array<f32> kept = compact(*stream, transform(magnitude, x), Keep::greater(0.5f));
    histogram(*stream, convert<f64>(transform(magnitude, x)), counters, HistogramBins::even(0, 1));
    scan(*stream, transform(magnitude, x), sums);

    std::cout << "squared distance " << distance << ", dot product " << product << ", " << kept.size()
              << " kept, " << counters.to_host(*stream)[0] << " in the first bin, last sum "
              << sums.to_host(*stream)[n - 1] << '\n';
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
