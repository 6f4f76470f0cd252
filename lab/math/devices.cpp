// concord-math-devices: time of the functions of vocabulary.hpp on every device, next to the backend's own (native::).
//
//     concord-math-devices [SELECTOR ...]
//
// One line per device, type and function: picoseconds per element of y[i] = f(x[i]) with 2^24 elements that stay on the
// device, best of 10 calls, for Concord's function and for the backend's own: libm on the CPU, CUDA's, the driver's.

#include <concord/device.hpp>
#include <concord/event.hpp>
#include <concord/index_kernel.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace concord;

namespace {

#define KERNELS(NAME)                                                                               \
    CONCORD_KERNEL(own_##NAME##_f32, (u64 i, f32 * y, const f32* x), y[i] = NAME(x[i]);)            \
    CONCORD_KERNEL(own_##NAME##_f64, (u64 i, f64 * y, const f64* x), y[i] = NAME(x[i]);)            \
    CONCORD_KERNEL(native_##NAME##_f32, (u64 i, f32 * y, const f32* x), y[i] = native::NAME(x[i]);) \
    CONCORD_KERNEL(native_##NAME##_f64, (u64 i, f64 * y, const f64* x), y[i] = native::NAME(x[i]);)
CONCORD_MATH_UNARY(KERNELS)
CONCORD_KERNEL(copy_f32, (u64 i, f32* y, const f32* x), y[i] = x[i];)
CONCORD_KERNEL(copy_f64, (u64 i, f64* y, const f64* x), y[i] = x[i];)

template <class T, class K>
double picoseconds(Stream& stream, const K& kernel, const Array<T>& y, const Array<T>& x) {
    double best = 1e30;
    for (int i = 0; i < 10; ++i) {
        stream.synchronize();
        const auto start = std::chrono::steady_clock::now();
        kernel(stream, x.size(), y, x);
        stream.synchronize();
        best =
            std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best * 1e12 / static_cast<double>(x.size());
}

template <class T>
Array<T> values(Stream& stream, u64 n) {
    std::vector<T> x(n);
    for (u64 i = 0; i < n; ++i)
        x[i] = T(0.01) + T(i * 2654435761 % (1 << 20)) * T(0x1p-19);  // 0.01 ... 2.01
    return Array<T>(stream, x);
}

void report(const std::string& selector) {
    const auto device = open_device(selector);
    const auto stream = device->create_stream();
    const u64 n = u64{1} << 24;
    std::printf("%s: %s\n", device->info().selector.c_str(), device->info().name.c_str());
    const Array<f32> x(values<f32>(*stream, n)), y(*stream, n);
    const Array<f64> x64(values<f64>(*stream, n)), y64(*stream, n);
    std::printf("%-7s f32 %8.1f           f64 %8.1f  ps per element\n", "copy",
                picoseconds(*stream, copy_f32, y, x), picoseconds(*stream, copy_f64, y64, x64));
#define REPORT(NAME)                                                                                        \
    {                                                                                                       \
        const double a = picoseconds(*stream, own_##NAME##_f32, y, x);                                      \
        const double b = picoseconds(*stream, native_##NAME##_f32, y, x);                                   \
        const double c = picoseconds(*stream, own_##NAME##_f64, y64, x64);                                  \
        const double d = picoseconds(*stream, native_##NAME##_f64, y64, x64);                               \
        std::printf("%-7s f32 %8.1f %8.1f  f64 %8.1f %8.1f  speed over native %.2f %.2f\n", #NAME, a, b, c, \
                    d, b / a, d / c);                                                                       \
        std::fflush(stdout);                                                                                \
    }
    CONCORD_MATH_UNARY(REPORT)
}

}  // namespace

int main(int argc, char** argv) try {
    std::vector<std::string> selectors(argv + 1, argv + argc);
    if (selectors.empty()) selectors = device_selectors();
    for (const std::string& selector : selectors)
        report(selector);
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "concord-math-devices: %s\n", error.what());
    return 1;
}
