// User kernel in CUDA C++, OpenCL C and C++: the mean of every element and its two neighbours. Each work-group
// processes a tile. On devices with one work-item per group the tile is a loop.
//
// Build, with Concord installed in DIR (in the build tree: example-own_kernel):
//     c++ -std=c++20 -O2 -ffp-contract=off own_kernel.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     CONCORD_DEVICE=opencl:0 ./a.out
//     smooth on opencl:0 (pthread-skylake-avx512): all 1000003 elements are correct

#include <algorithm>
#include <concord/concord.hpp>
#include <iostream>

using namespace concord;

const KernelSource smooth{"smooth",
                          {{"smooth.cu", R"(
extern "C" __global__ void smooth(const f32* in, f32* out, u64 n, u64 tile) {
    const u64 begin = blockIdx.x * tile, end = begin + tile < n ? begin + tile : n;
    for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x)
        out[i] = (in[i > 0 ? i - 1 : 0] + in[i] + in[i + 1 < n ? i + 1 : i]) / 3;
}
)"}},
                          {{"smooth.cl", R"(
__kernel void smooth(__global const f32* in, ulong in_at, __global f32* out, ulong out_at, u64 n, u64 tile) {
    in += in_at;
    out += out_at;
    const u64 begin = get_group_id(0) * tile, end = begin + tile < n ? begin + tile : n;
    for (u64 i = begin + get_local_id(0); i < end; i += get_local_size(0))
        out[i] = (in[i > 0 ? i - 1 : 0] + in[i] + in[i + 1 < n ? i + 1 : i]) / 3;
}
)"}}};

void smooth_on_host(const Group& group, const f32* in, f32* out, u64 n, u64 tile) {
    const u64 begin = group.x * tile, end = std::min(n, begin + tile);
    for (u64 i = begin; i < end; ++i)
        out[i] = (in[i > 0 ? i - 1 : 0] + in[i] + in[i + 1 < n ? i + 1 : i]) / 3;
}

int main() try {
    const auto device = open_device();  // $CONCORD_DEVICE, else the preferred device
    const auto stream = device->create_stream();

    const auto kernel =
        device->kernel({.source = &smooth, .entry = "smooth", .host = host_kernel<&smooth_on_host>()});

    std::vector<f32> x(1000003);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<f32>(i % 1000) * 0.1f;
    const Array<f32> in(*stream, x), out(*stream, x.size());

    constexpr u64 tile = 4096;
    launch(*stream, *kernel, LaunchShape::linear((x.size() + tile - 1) / tile), in, out, u64{x.size()}, tile);

    const std::vector<f32> result = out.to_host(*stream);
    std::vector<f32> expected(x.size());
    smooth_on_host(Group{}, x.data(), expected.data(), x.size(), x.size());
    std::cout << "smooth on " << device->info().selector << " (" << device->info().name << "): ";
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (result[i] == expected[i]) continue;
        std::cout << "element " << i << ": expected " << expected[i] << ", got " << result[i] << '\n';
        return 1;
    }
    std::cout << "all " << x.size() << " elements are correct\n";
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
