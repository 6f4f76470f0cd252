// The porting kit on a real kernel: a separable Gaussian blur in CUDA C++, OpenCL C and C++, with one pass along the
// rows and one along the columns. The suite compares it with a float64 reference within an error bound, and bitwise
// between devices, for many sizes, offsets and patterns, with guarded and poisoned buffers. Then it is timed.
//
// Build, with Concord installed in DIR (in the build tree: example-port):
//     c++ -std=c++20 -O2 -ffp-contract=off port.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib
//         -lconcord-bench -lconcord-check -lconcord
// Run:
//     ./a.out [--wrong] [DEVICE...]
//     algorithm  variant   order             tbb:0       opencl:0
//     blur       two_pass  variant-specific  bound 0.28  bound 0.28
//
// With --wrong the kernel has a typical porting error: the last column repeats the one before it. The suite reports the
// first wrong element and the program ends with status 1.

#include <concord/concord.hpp>
#include <concord/lab/bench.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/kernel_test.hpp>
#include <iostream>

using namespace concord;
using namespace concord::lab;

constexpr i64 radius = 4;

// One pass over an image of `side` x `side` pixels. `step` is 1 along a row and `side` along a column. Applies the taps
// in ascending order with fused multiply-adds, so that all devices round identically. LAST is a compile-time constant.
const KernelSource blur{"blur",
                        {CONCORD_SOURCE(R"(
extern "C" __global__ void blur(const f32* in, const f32* taps, f32* out, u64 side, u64 step) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= side * side) return;
    const i64 at = step == 1 ? i % side : i / side;
    f32 sum = 0;
    for (i64 k = -RADIUS; k <= RADIUS; ++k) {
        const i64 to = min(max(at + k, i64(0)), i64(LAST));
        sum = fmaf(taps[k + RADIUS], in[i + (to - at) * i64(step)], sum);
    }
    out[i] = sum;
}
)")},
                        {CONCORD_SOURCE(R"(
__kernel void blur(__global const f32* in, ulong in_at, __global const f32* taps, ulong taps_at, __global f32* out,
                   ulong out_at, u64 side, u64 step) {
    const u64 i = get_global_id(0);
    if (i >= side * side) return;
    const i64 at = step == 1 ? i % side : i / side;
    f32 sum = 0;
    for (i64 k = -RADIUS; k <= RADIUS; ++k) {
        const i64 to = clamp(at + k, (i64)0, (i64)(LAST));
        sum = fma(taps[taps_at + k + RADIUS], in[in_at + i + (to - at) * (i64)step], sum);
    }
    out[out_at + i] = sum;
}
)")}};

constexpr u64 group_size = 256;

template <bool wrong>
void blur_on_host(const Group& group, const f32* in, const f32* taps, f32* out, u64 side, u64 step) {
    const i64 last = std::max(static_cast<i64>(side) - (wrong ? 2 : 1), i64{0});
    const u64 begin = group.x * group_size, end = std::min(side * side, begin + group_size);
    for (u64 i = begin; i < end; ++i) {
        const i64 at = static_cast<i64>(step == 1 ? i % side : i / side);
        f32 sum = 0;
        for (i64 k = -radius; k <= radius; ++k) {
            const i64 to = std::min(std::max(at + k, i64{0}), last);
            sum =
                std::fma(taps[k + radius], in[static_cast<i64>(i) + (to - at) * static_cast<i64>(step)], sum);
        }
        out[i] = sum;
    }
}

// Blurs rows into a scratch buffer, then columns into the output. Asynchronous.
void two_pass(Stream& stream, const KernelCall& call, bool wrong) {
    const u64 side = call.n;
    if (side == 0) return;
    Device& device = stream.device();
    // Compiles on the first call only.
    const auto kernel = device.kernel(
        {.source = &blur,
         .entry = "blur",
         .constants = {{"RADIUS", radius}, {"LAST", wrong ? "side > 1 ? side - 2 : 0" : "side - 1"}},
         .host = wrong ? host_kernel<&blur_on_host<true>>() : host_kernel<&blur_on_host<false>>()});
    const u32 work_items = device.traits().launch == LaunchModel::host ? 1 : u32{group_size};
    const auto shape = LaunchShape::linear((side * side + group_size - 1) / group_size, work_items);
    const Array<f32> rows(stream, side * side);
    launch(stream, *kernel, shape, call.in[0], call.in[1], rows, side, u64{1});
    launch(stream, *kernel, shape, rows, call.in[1], call.out[0], side, side);
}

// The reference in float64, and the sums of magnitudes for the error bound.
void reference(const ReferenceCall& call) {
    const i64 side = static_cast<i64>(call.n);
    const auto in = call.in<f32>(0), taps = call.in<f32>(1);
    const auto out = call.out<f64>(0), magnitude = call.magnitude(0);
    std::vector<f64> rows(out.size()), row_magnitude(out.size());
    auto inside = [side](i64 i) { return std::clamp<i64>(i, 0, side - 1); };
    auto add = [&](f64 tap, f64 x, f64 size, f64& sum, f64& magnitudes) {
        sum += tap * x;
        magnitudes += std::abs(tap) * size;
    };
    for (i64 y = 0; y < side; ++y) {
        for (i64 x = 0; x < side; ++x) {
            const u64 to = y * side + x;
            for (i64 k = -radius; k <= radius; ++k) {
                const f64 pixel = in[y * side + inside(x + k)];
                add(taps[k + radius], pixel, std::abs(pixel), rows[to], row_magnitude[to]);
            }
        }
    }
    for (i64 y = 0; y < side; ++y) {
        for (i64 x = 0; x < side; ++x) {
            const u64 to = y * side + x;
            for (i64 k = -radius; k <= radius; ++k) {
                const u64 from = inside(y + k) * side + x;
                add(taps[k + radius], rows[from], row_magnitude[from], out[to], magnitude[to]);
            }
        }
    }
}

int main(int argc, char** argv) try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool wrong = std::erase(arguments, "--wrong") > 0;

    constexpr u64 taps = 2 * radius + 1;
    KernelTest test;
    test.name = "blur";
    test.summary = "Gaussian blur, separable";
    test.inputs = {
        {Type::f32, [](u64 n) { return n * n; }, {Pattern::random, Pattern::mixed, Pattern::constant}},
        {Type::f32, [](u64) { return taps; }, {Pattern::near_one}}};
    // Two chains of fused multiply-adds, one per tap.
    test.outputs = {
        {Type::f32, [](u64 n) { return n * n; }, Comparison::rounding([](u64) { return 2.0 * taps; })}};
    test.variants = {{"two_pass", [wrong](Stream& s, const KernelCall& c) { two_pass(s, c, wrong); },
                      OperationOrder::variant_specific}};
    test.reference = reference;
    test.sizes = {0, 1, 2, 15, 16, 17, 100, 255, 256, 257};
    test.operations = [](u64 n) { return 2 * 2 * taps * n * n; };

    CheckOptions options;
    options.devices = arguments;
    const std::vector<Suite> suites = {suite_of(test)};
    const CheckReport report = check(suites, options, &std::cout);
    report.print(std::cout);
    if (report.status() != 0) return report.status();

    BenchOptions sizes;
    sizes.devices = arguments;
    sizes.sizes = {1024};
    return bench(suites, sizes, &std::cout).status();
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
