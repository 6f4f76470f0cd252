// The collectives of kernel sources: bitwise the results of the host's functions, for types of each kind and size.
#include "devices.hpp"

#include <concord/group_kernel.hpp>

#include <algorithm>

using namespace concord;

namespace {

// Calls the collective twice with the same local memory.
const KernelSource collectives{"collectives",
                               {CONCORD_SOURCE(R"(
extern "C" __global__ void collectives(const T* in, T* out) {
    __shared__ T scratch[256];
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    const T a = CALL(in[i], scratch);
    out[i] = CALL((T)(in[i] * 3), scratch) - a;
}
)")},
                               {CONCORD_SOURCE(R"(
__kernel void collectives(__global const T* in, ulong in_at, __global T* out, ulong out_at) {
    __local T scratch[256];
    const u64 i = get_global_id(0);
    const T a = CALL(in[in_at + i], scratch);
    out[out_at + i] = CALL((T)(in[in_at + i] * 3), scratch) - a;
}
)")}};

KernelSpec spec_of(Type type, const char* call) {
    return {.source = &collectives,
            .entry = "collectives",
            .constants = {{"T", type}, {"CALL", call}},
            .max_group_size = 256};
}

template <class T, class F>
void check_collective(Stream& stream, const char* call, F on_host) {
    CAPTURE(call);
    const auto kernel = stream.device().kernel(spec_of(type_of<T>(), call));
    constexpr u64 groups = 3;
    // Few sizes: drivers for CPUs compile a kernel anew for each.
    for (const u64 size : std::initializer_list<u64>{1, 2, 32, 256}) {
        CAPTURE(size);
        const std::vector<T> in = test::random_values<T>(groups * size, size);
        const Array<T> x(stream, in), y(stream, in.size());
        launch(stream, *kernel, LaunchShape::linear(groups, static_cast<u32>(size)), x, y);
        std::vector<T> expected(in.size());
        for (u64 begin = 0; begin < in.size(); begin += size) {
            std::vector<T> once(in.begin() + begin, in.begin() + begin + size), thrice = once;
            for (T& value : thrice)
                value = static_cast<T>(value * 3);
            const T difference = static_cast<T>(on_host(thrice.data(), size) - on_host(once.data(), size));
            std::fill_n(expected.begin() + begin, size, difference);
        }
        const std::vector<T> got = y.to_host(stream);
        const bool same = std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0;
        CHECK(same);
    }
}

template <class T>
void check_sum(Stream& stream) {
    check_collective<T>(stream, "concord_group_sum", [](T* x, u64 size) { return group_sum(x, size); });
}

template <class T>
void check_collectives(Stream& stream) {
    check_sum<T>(stream);
    check_collective<T>(stream, "concord_group_min", [](T* x, u64 size) { return group_min(x, size); });
    check_collective<T>(stream, "concord_group_max", [](T* x, u64 size) { return group_max(x, size); });
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(group_collectives_of_sources) {
    REQUIRES(device.traits().launch != LaunchModel::host,
             test::needs::compiler);  // the reference is compiled here
    const auto stream = device.create_stream();
    check_sum<u32>(*stream);
    check_collectives<i64>(*stream);
    check_collectives<f32>(*stream);
    if (device.traits().fp64) check_sum<f64>(*stream);
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("collectives of a group on the host") {
    f32 values[4] = {1, 0x1p-24f, 0x1p-24f, 0x1p-24f};  // 1 absorbs each of them alone
    CHECK(group_sum(values, 4) == 1 + 0x1p-23f);
    i32 numbers[8] = {3, -1, 7, 2, 9, -5, 0, 4};
    CHECK(group_max(numbers, 8) == 9);
    i32 one[1] = {5};
    CHECK(group_min(one, 1) == 5);
}

TEST_CASE("collectives compile for CUDA") {
    const auto gpu = test::cuda_compiler();
    REQUIRES(gpu, test::needs::nvrtc);
    for (const Type type : {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64}) {
        for (const char* const call : {"concord_group_sum", "concord_group_min", "concord_group_max"})
            CHECK(gpu->kernel(spec_of(type, call)) != nullptr);
    }
}

TEST_SUITE_END();
