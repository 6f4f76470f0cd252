// Moves, sorts and converts elements of the made-up storage type x16 on $CONCORD_DEVICE. Calls that need arithmetic
// must refuse them. On devices that only compile it compiles the kernel.

#include <concord/concord.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>

using namespace concord;

const KernelSource halve{"halve",
                         {{"halve.cu", R"(
extern "C" __global__ void halve(const x16* in, x16* out, u64 n) {
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i < n) out[i] = f32_to_x16(x16_to_f32(in[i]) / 2);
}
)"}},
                         {{"halve.cl", R"(
__kernel void halve(__global const x16* in, ulong in_at, __global x16* out, ulong out_at, u64 n) {
    const u64 i = get_global_id(0);
    if (i < n) out[out_at + i] = f32_to_x16(x16_to_f32(in[in_at + i]) / 2);
}
)"}}};

void halve_on_host(const Group& group, const x16* in, x16* out, u64 n) {
    if (group.x < n) out[group.x] = x16(static_cast<f32>(in[group.x]) / 2);
}

CONCORD_FUNCTION(x16, same, (x16 x), return x;)

int failures = 0;

void expect(bool right, const char* what) {
    if (right) return;
    std::cout << "FAILED  " << what << '\n';
    ++failures;
}

template <class F>
void expect_refusal(const char* what, F f) {
    try {
        f();
        expect(false, what);
    } catch (const Error& error) {
        expect(
            error.code() == ErrorCode::unsupported &&
                std::strstr(error.what(), "x16: storage type without arithmetic; convert to f32") != nullptr,
            error.what());
    }
}

int main() try {
    const auto device = open_device();
    const auto kernel =
        device->kernel({.source = &halve, .entry = "halve", .host = host_kernel<&halve_on_host>()});
    std::cout << "x16 on " << device->info().selector << '\n';
    if (!device->traits().runs) return 0;

    // Every pattern of bits, NaNs included, in pseudorandom order.
    constexpr u64 rows = 256, n = rows * rows;
    std::vector<x16> x(n);
    for (u64 i = 0; i < n; ++i)
        x[i].bits = static_cast<u16>(i * 40503 + 12345);
    const auto bits = [](const std::vector<x16>& values) {
        std::vector<u16> result(values.size());
        std::memcpy(result.data(), values.data(), values.size() * sizeof(x16));
        return result;
    };

    const auto stream = device->create_stream();
    const Array<x16> in(*stream, x), out(*stream, n);
    map(*stream, in.view(), out.view(), MapFunction::copy);
    expect(bits(out.to_host(*stream)) == bits(x), "copy");

    transpose(*stream, MatrixView{in.view(), rows, rows}, MatrixView{out.view(), rows, rows});
    const std::vector<u16> turned = bits(out.to_host(*stream));
    for (u64 i = 0; i < n; ++i)
        if (turned[i] != x[i % rows * rows + i / rows].bits) return expect(false, "transpose"), 1;

    // IEEE totalOrder: negative numbers descend by their bits.
    sort(*stream, in.view(), out.view());
    std::vector<u16> sorted = bits(x);
    const auto place = [](u16 b) { return static_cast<u16>((b & 0x8000) != 0 ? ~b : b | 0x8000); };
    std::sort(sorted.begin(), sorted.end(), [&](u16 a, u16 b) { return place(a) < place(b); });
    expect(bits(out.to_host(*stream)) == sorted, "sort");

    // Halves of normal numbers are exact.
    std::vector<x16> numbers;
    for (const x16 value : x)
        if (std::isnormal(static_cast<f32>(value) / 2) && std::isfinite(static_cast<f32>(value)))
            numbers.push_back(value);
    const Array<x16> from(*stream, numbers), to(*stream, numbers.size());
    const u32 group_size = device->traits().launch == LaunchModel::host ? 1 : 64;
    launch(*stream, *kernel, LaunchShape::linear((numbers.size() + group_size - 1) / group_size, group_size),
           from, to, u64{numbers.size()});
    const std::vector<x16> halves = to.to_host(*stream);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (static_cast<f32>(halves[i]) * 2 != static_cast<f32>(numbers[i])) return expect(false, "halve"), 1;

    expect_refusal("reduce", [&] { reduce(*stream, in.view(), out.view().part(0, 1), ReduceOp::sum); });
    expect_refusal("scan", [&] { scan(*stream, in.view(), out.view()); });
    expect_refusal("negate", [&] { map(*stream, in.view(), out.view(), MapFunction::negate); });
    expect_refusal("compact", [&] {
        const Array<u64> count(*stream, 1);
        compact(*stream, in.view(), out.view(), count.view(), KeepRule::nonzero);
    });
    expect_refusal("an operator", [&] { map(*stream, in, out, same); });
    return failures;
} catch (const std::exception& error) {
    std::cerr << "x16: " << error.what() << '\n';
    return 1;
}
