// app [DEVICE]: an operator of this project's own in map and reduce; prints where the backend was found, and
// the bits of the results, which are the same whatever this file is compiled with.
#include <concord/concord.hpp>

#include <bit>
#include <cstdio>
#include <exception>
#include <vector>

CONCORD_FUNCTION(float, line, (float x, float y, float a), return a * x + y;)
CONCORD_FUNCTION(f64, sum_of_squares, (f64 x, f64 y, f64 a), return a * x * x + y;)

namespace {

concord::u64 digest(const std::vector<float>& values) {
    concord::u64 hash = 0xcbf29ce484222325;
    for (const float value : values)
        hash = (hash ^ std::bit_cast<concord::u32>(value)) * 0x100000001b3;
    return hash;
}

}  // namespace

int main(int count, char** arguments) try {
    const auto device = concord::open_device(count > 1 ? arguments[1] : "tbb");
    const auto stream = device->create_stream();
    for (const concord::BackendStatus& backend : concord::backends()) {
        if (backend.name == device->info().backend) std::printf("backend %s\n", backend.path.c_str());
    }

    // Products that do not fit a float's mantissa, so that a contraction changes them.
    std::vector<float> x(100003), y(x.size());
    concord::u32 state = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24f;
        y[i] = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) * 0x1p-24f;
    }
    const concord::Array<float> a(*stream, x), b(*stream, y), out(*stream, a.size());
    concord::map(*stream, a, b, out, line.bind(1.2345678f));
    std::printf("map %016llx\n", static_cast<unsigned long long>(digest(out.to_host(*stream))));

    const float sum = concord::sum(*stream, out).get();
    std::printf("reduce %08x\n", std::bit_cast<concord::u32>(sum));

    const std::vector<double> z(x.begin(), x.end());
    const concord::Array<double> c(*stream, z), d(*stream, z), squares(*stream, c.size());
    concord::map(*stream, c, d, squares, sum_of_squares.bind(1.2345678));
    const double total = concord::sum(*stream, squares).get();
    std::printf("reduce %016llx\n", static_cast<unsigned long long>(std::bit_cast<concord::u64>(total)));
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "app: %s\n", error.what());
    return 1;
}
