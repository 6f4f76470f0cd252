// The porting kit's operands: shapes, values that are read and written, distributions, tolerances, 16-bit floats and
// structs; and .npy files.
#include "devices.hpp"
#include "temporary_folder.hpp"

#include <concord/lab/bench.hpp>
#include <concord/lab/check.hpp>
#include <concord/lab/compare.hpp>
#include <concord/lab/kernel_test.hpp>
#include <concord/npy.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace concord;
using namespace concord::lab;
using concord::test::throws;

CONCORD_KERNEL(port_blend, (u64 x, u64 y, f32* io, const f32* in, f32 a, u64 width),
               const u64 i = y * width + x;
               io[i] = io[i] * a + in[i];)
CONCORD_KERNEL(port_scale, (u64 i, f32* out, const f32* in, f32 a), out[i] = in[i] * a;)

namespace {

CheckReport run(Device& device, const KernelTest& test, std::vector<u64> sizes = {}) {
    CheckOptions options;
    options.devices = {device.info().selector};
    options.sizes = std::move(sizes);
    return check({suite_of(test)}, options);
}

bool tells(const CheckReport& report, std::string_view part) {
    const bool found = report.json().find(part) != std::string::npos;
    if (!found) MESSAGE(report.json());
    return found;
}

u64 launched(const Device& device, u64 n) {
    return device.traits().launch == LaunchModel::host ? 1 : (n + 63) / 64;
}

// io = io * 0.5 + in over two axes. With `wrong`, the kernel's factor is another one.
KernelTest blend(bool wrong) {
    KernelTest test;
    test.name = "blend";
    test.shapes = {{0, 3}, {1, 1}, {7, 3}, {3, 700}};
    test.inputs = {{Type::f32, [](const Shape& shape) { return shape[0] * shape[1]; }}};
    test.outputs = {{Type::f32, elements(), Comparison::bits(), Values::uniform(2, 3)}};
    test.variants = {
        {"kernel", on_operands([wrong](Stream& stream, const Shape& shape, const View& in, const View& io) {
             port_blend(stream, {shape[0], shape[1]}, io, in, wrong ? 0.25F : 0.5F, shape[0]);
         })}};
    test.reference = [](const ReferenceCall& call) {
        const auto in = call.in<f32>(0);
        const auto io = call.out<f32>(0);
        for (u64 y = 0; y < call.shape[1]; ++y) {
            for (u64 x = 0; x < call.shape[0]; ++x) {
                const u64 i = y * call.shape[0] + x;
                if (!(io[i] >= 2 && io[i] <= 3)) throw std::runtime_error("wrong initial value");
                io[i] = io[i] * 0.5F + in[i];
            }
        }
    };
    return test;
}

struct Complex {
    f32 re, im;
};
struct Particle {
    f32 x;
    u32 id;
};

// Kernels on 16-bit floats and structs, whose units in OpenCL C precede a cast.
const KernelSource half_source{"port_half",
                               {CONCORD_SOURCE(R"(
#include <cuda_fp16.h>
extern "C" __global__ void twice(const __half* in, __half* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __float2half_rn(2 * __half2float(in[i]) + 1);
}
)")},
                               {CONCORD_SOURCE(R"(
__kernel void twice(__global const half* in, ulong in_at, __global half* out, ulong out_at, u64 n) {
    const u64 i = get_global_id(0);
    if (i < n) vstore_half_rte(2 * vload_half(in_at + i, in) + 1, out_at + i, out);
}
)")}};
void twice_half(const Group&, const u16* in, u16* out, u64 n) {
    for (u64 i = 0; i < n; ++i)
        out[i] = float_to_half(2 * half_to_float(in[i]) + 1);
}

const KernelSource struct_source{"port_structs",
                                 {CONCORD_SOURCE(R"(
struct Complex { f32 re, im; };
struct Particle { f32 x; u32 id; };
extern "C" __global__ void swap(const Complex* in, Complex* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = Complex{in[i].im, in[i].re};
}
extern "C" __global__ void count(const Particle* in, Particle* out, u64 n) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = Particle{in[i].x, in[i].id + 1};
}
)")},
                                 {CONCORD_SOURCE(R"(
typedef struct { f32 re, im; } Complex;
typedef struct { f32 x; u32 id; } Particle;
__kernel void swap(__global const f32* from, ulong in_at, __global f32* to, ulong out_at, u64 n) {
    __global const Complex* in = (__global const Complex*)(from + in_at);
    __global Complex* out = (__global Complex*)(to + out_at);
    const u64 i = get_global_id(0);
    if (i >= n) return;
    const Complex x = {in[i].im, in[i].re};
    out[i] = x;
}
__kernel void count(__global const u32* from, ulong in_at, __global u32* to, ulong out_at, u64 n) {
    __global const Particle* in = (__global const Particle*)(from + in_at);
    __global Particle* out = (__global Particle*)(to + out_at);
    const u64 i = get_global_id(0);
    if (i >= n) return;
    const Particle x = {in[i].x, in[i].id + 1};
    out[i] = x;
}
)")}};
void swap_on_host(const Group&, const Complex* in, Complex* out, u64 n) {
    for (u64 i = 0; i < n; ++i)
        out[i] = {in[i].im, in[i].re};
}
void count_on_host(const Group&, const Particle* in, Particle* out, u64 n) {
    for (u64 i = 0; i < n; ++i)
        out[i] = {in[i].x, in[i].id + 1};
}

// A test of one input and one output of a type, whose kernel handles n elements.
KernelTest one_to_one(const char* entry, const TestType& type, const KernelSource& source, HostKernel host) {
    KernelTest test;
    test.name = entry;
    test.inputs = {{type, elements()}};
    test.outputs = {{type, elements()}};
    test.variants = {{"direct", [entry, &source, host](Stream& stream, const KernelCall& call) {
                          Device& device = stream.device();
                          const auto kernel =
                              device.kernel({.source = &source, .entry = entry, .host = host});
                          launch(stream, *kernel,
                                 LaunchShape::linear(std::max<u64>(1, launched(device, call.n)),
                                                     device.traits().launch == LaunchModel::host ? 1 : 64),
                                 call.in[0], call.out[0], call.n);
                      }}};
    test.sizes = {1, 33, 1000};
    return test;
}

std::vector<double> drawn(const Values& values, Type type, u64 n) {
    const Input input = values.input(type, n, 7);
    std::vector<std::byte> bytes(input.bytes());
    input.make(0, bytes);
    std::vector<double> result;
    detail::visit_type(type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (u64 i = 0; i < n; ++i)
            result.push_back(static_cast<double>(element<T>(bytes, i)));
    });
    return result;
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(a_kernel_test_has_shapes_and_operands_that_are_read_and_written) {
    const CheckReport right = run(device, blend(false));
    CHECK(right.status() == 0);
    CHECK(right.passed() >= 4);
    const CheckReport wrong = run(device, blend(true));
    CHECK(wrong.status() == 1);
    CHECK(tells(wrong, "element 0: expected"));
    CHECK(tells(wrong, "(7 x 3)"));
    // A size stands for the shapes with that product, another one for nearly equal lengths.
    CHECK(tells(run(device, blend(true), {21}), "(7 x 3)"));
    CHECK(tells(run(device, blend(true), {100}), "(10 x 10)"));
}

DEVICE_TEST(a_reference_device_gets_operands_that_are_read_and_written) {
    KernelTest test = blend(false);
    test.reference = nullptr;
    test.reference_device = "tbb";
    CHECK(run(device, test).status() == 0);
}

DEVICE_TEST(many_calls_on_an_operand_that_is_read_and_written_are_verified) {
    BenchOptions options;
    options.devices = {device.info().selector};
    options.types = {Type::f32};
    options.sizes = {21};
    options.calls = 5;
    const BenchReport right = bench({suite_of(blend(false))}, options);
    REQUIRE(right.rows().size() == 1);
    CAPTURE(right.rows()[0].problem);
    CHECK(right.rows()[0].timing);
    CHECK(right.status() == 0);
    CHECK(bench({suite_of(blend(true))}, options).status() == 1);
}

DEVICE_TEST(tolerances_have_the_units_of_porters) {
    // The reference differs by one part in 2^20 from the kernel's exact products.
    auto with = [&](Comparison comparison) {
        KernelTest test = one_to_one("twice", Type::f32, half_source, {});
        test.outputs[0].comparison = std::move(comparison);
        test.inputs[0].patterns = {Values::uniform(1, 2)};
        test.variants = {{"kernel", on_operands([](Stream& stream, const View& in, const View& out) {
                              port_scale(stream, {in.count}, out, in, 2.0F);
                          })}};
        test.reference = [](const ReferenceCall& call) {
            const auto in = call.in<f32>(0);
            const auto out = call.out<f64>(0);
            for (u64 i = 0; i < call.n; ++i)
                out[i] = 2.0 * in[i] * (1 + 0x1p-20);
        };
        return run(device, test).status();
    };
    CHECK(with(Comparison::relative(0x1p-21)) == 1);
    CHECK(with(Comparison::relative(0x1p-19)) == 0);
    CHECK(with(Comparison::relative(0x1p-21, 0x1p-17)) == 0);
    CHECK(with(Comparison::absolute(0x1p-20)) == 1);
    CHECK(with(Comparison::absolute(0x1p-17)) == 0);
    CHECK(with(Comparison::roundings(3)) == 1);
    CHECK(with(Comparison::roundings(20)) == 0);
}

DEVICE_TEST(operands_of_16_bit_floats_are_compared_as_floats) {
    KernelTest test = one_to_one("twice", TestType::half(), half_source, host_kernel<&twice_half>());
    double factor = 1;
    test.reference = [&factor](const ReferenceCall& call) {
        const auto in = call.in<u16>(0);
        const auto out = call.out<f64>(0);
        for (u64 i = 0; i < call.n; ++i)
            out[i] = (2 * static_cast<double>(half_to_float(in[i])) + 1) * factor;
    };
    CHECK(run(device, test).status() == 0);
    factor = 1 + 0x1p-8;
    const CheckReport wrong = run(device, test);
    CHECK(wrong.status() == 1);
    CHECK(tells(wrong, "(0x"));
    test.outputs[0].comparison = Comparison::ulps(20);
    test.inputs[0].patterns = {Values::uniform(1, 2)};
    CHECK(run(device, test).status() == 0);
    test.outputs[0].comparison = Comparison::roundings(3);
    CHECK(run(device, test).status() == 1);
}

DEVICE_TEST(operands_of_structs_are_compared_by_member_or_by_a_function) {
    KernelTest members =
        one_to_one("swap", TestType::of<Complex>(Type::f32), struct_source, host_kernel<&swap_on_host>());
    f32 added = 0;
    members.reference = [&added](const ReferenceCall& call) {
        const auto in = call.in<Complex>(0);
        const auto out = call.out<Complex>(0);
        for (u64 i = 0; i < call.n; ++i)
            out[i] = {in[i].im, in[i].re + (i == 20 ? added : 0)};
    };
    CHECK(run(device, members).status() == 0);
    added = 1;
    CHECK(tells(run(device, members), "element 20: expected member 1 to be"));

    KernelTest whole =
        one_to_one("count", TestType::of<Particle>(), struct_source, host_kernel<&count_on_host>());
    u32 step = 1;
    whole.reference = [&step](const ReferenceCall& call) {
        const auto in = call.in<Particle>(0);
        const auto out = call.out<Particle>(0);
        for (u64 i = 0; i < call.n; ++i) {
            out[i] = in[i];  // keeps the payload of a NaN
            out[i].id = in[i].id + (i == 20 ? step : 1);
        }
    };
    CHECK(run(device, whole).status() == 0);
    step = 2;
    CHECK(tells(run(device, whole), "element 20: expected member 1 to be"));
    whole.outputs[0].comparison = Comparison::of<Particle>([](const Particle& a, const Particle& b) {
        return std::bit_cast<u32>(a.x) == std::bit_cast<u32>(b.x) && a.id - b.id <= 1;
    });
    CHECK(run(device, whole).status() == 0);
    step = 3;
    CHECK(tells(run(device, whole), "element 20: expected {"));
}

DEVICE_TEST(a_result_with_other_bits_is_shown_with_element_and_values) {
    // Both results are within the tolerance, but they depend on the operand's offset.
    KernelTest test = one_to_one("twice", Type::f32, half_source, {});
    test.inputs[0].patterns = {Pattern::constant};
    test.outputs[0].comparison = Comparison::absolute(1);
    test.variants = {{"kernel",
                      [](Stream& stream, const KernelCall& call) {
                          const bool odd = call.out[0].offset % 8 != 0;
                          port_scale(stream, {call.n}, call.out[0], call.in[0], odd ? 2.5F : 2.0F);
                      },
                      OperationOrder::variant_specific}};
    test.reference = [](const ReferenceCall& call) {
        const auto out = call.out<f32>(0);
        std::fill(out.begin(), out.end(), 0.2F);
    };
    test.sizes = {33};
    const CheckReport report = run(device, test);
    CHECK(report.status() == 1);
    CHECK(tells(report,
                "not bitwise identical to the result with the operands at other offsets: element 0: "
                "expected 0.200000003 (0x3e4ccccd), got 0.25 (0x3e800000)"));
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("values follow their distributions") {
    for (const Type type : {Type::f32, Type::f64, Type::i32, Type::u8}) {
        CAPTURE(name_of(type));
        const auto uniform = drawn(Values::uniform(3, 6), type, 1000),
                   positive = drawn(Values::positive(), type, 1000),
                   normal = drawn(Values::normal(100, 10), type, 4000);
        CHECK(*std::min_element(uniform.begin(), uniform.end()) <= 3.05);
        CHECK(*std::min_element(uniform.begin(), uniform.end()) >= 3);
        CHECK(*std::max_element(uniform.begin(), uniform.end()) >= 5.95);
        CHECK(*std::max_element(uniform.begin(), uniform.end()) <= 6);
        CHECK(*std::min_element(positive.begin(), positive.end()) > 0);
        double sum = 0, squares = 0;
        for (const double x : normal) {
            sum += x;
            squares += (x - 100) * (x - 100);
        }
        CHECK(std::abs(sum / 4000 - 100) < 1);
        CHECK(std::abs(std::sqrt(squares / 4000) - 10) < 1);
    }
    CHECK(throws(ErrorCode::invalid_argument, "empty range", [] { (void)Values::uniform(2, 1); }));
}

TEST_CASE("16-bit floats round to nearest with ties to even") {
    for (u32 bits = 0; bits < 0x10000; ++bits) {
        const u16 half = static_cast<u16>(bits);
        const f32 value = half_to_float(half);
        if (std::isnan(value)) {
            CHECK(std::isnan(half_to_float(float_to_half(value))));
        } else if (float_to_half(value) != half) {
            FAIL("bits " << bits);
        }
    }
    CHECK(half_to_float(0x3c00) == 1);
    CHECK(half_to_float(0x0001) == 0x1p-24F);
    CHECK(half_to_float(0x7bff) == 65504);
    CHECK(std::isinf(half_to_float(0xfc00)));
    CHECK(float_to_half(1 + 0x1p-11F) == 0x3c00);      // a tie, to even
    CHECK(float_to_half(1 + 3 * 0x1p-11F) == 0x3c02);  // a tie, to even
    CHECK(float_to_half(1 + 0x1.1p-11F) == 0x3c01);
    // An f64 is rounded once: through f32 these would become ties.
    for (const double value : {1 + 0x1p-11 + 0x1p-40, 1 + 3 * 0x1p-11 - 0x1p-40}) {
        const auto draw = Values::uniform(value, value).input(TestType::half(), 1, 0).custom;
        CHECK(draw(0, 0) == 0x3c01);
    }
    CHECK(float_to_half(65519.0F) == 0x7bff);
    CHECK(float_to_half(65520.0F) == 0x7c00);
    CHECK(float_to_half(0x1p-25F) == 0);
    CHECK(float_to_half(0x1.1p-25F) == 1);
    CHECK(float_to_half(-0x1.ff8p-15F) == 0x83ff);
    CHECK(float_to_half(0x1.ffcp-15F) == 0x0400);  // a tie, to even
}

TEST_CASE("a kernel test with operands that do not fit is rejected") {
    const auto refuses = [](std::string_view words, auto change) {
        KernelTest test = blend(false);
        change(test);
        return throws(ErrorCode::invalid_argument, words, [&] { (void)suite_of(test); });
    };
    CHECK(refuses("different ranks", [](KernelTest& t) { t.shapes.push_back({1}); }));
    CHECK(refuses("has initial values", [](KernelTest& t) { t.in_place = true; }));
    CHECK(refuses("comparison of numbers", [](KernelTest& t) {
        t.outputs = {{TestType::of<Particle>(), elements(), Comparison::ulps(1)}};
    }));
    CHECK(refuses("compares structs of 8 bytes", [](KernelTest& t) {
        t.outputs[0].comparison =
            Comparison::of<Particle>([](const Particle&, const Particle&) { return true; });
    }));
    CHECK(refuses("has a distribution for an input of structs", [](KernelTest& t) {
        t.inputs[0] = {TestType::of<Particle>(), elements(), {Values::normal()}};
    }));
    CHECK(refuses("pattern sorted for an input of type half", [](KernelTest& t) {
        t.inputs[0] = {TestType::half(), elements(), {Pattern::sorted}};
    }));
    KernelTest test = blend(false);
    test.variants[0].enqueue = on_operands([](Stream&, const View&) {});
    const CheckReport report = check({suite_of(test)}, {.devices = {"tbb"}, .sizes = {21}});
    CHECK(tells(report, "another number of operands, got 1; the test has 2"));
}

TEST_CASE(".npy files keep values and shape") {
    const test::TemporaryFolder folder("npy");
    const auto round_trip = [&](const auto& values, const std::vector<u64>& shape) {
        using T = typename std::remove_cvref_t<decltype(values)>::value_type;
        port::write_npy(folder / "x.npy", values, shape);
        const port::NpyArray<T> read = port::read_npy<T>(folder / "x.npy");
        CHECK(read.values == values);
        CHECK(read.shape == shape);
    };
    round_trip(std::vector<f32>{1.5F, -2, 3, 4, 5, 6}, {2, 3});
    round_trip(std::vector<f64>{0.1}, {});
    round_trip(std::vector<i64>{-1, 2}, {2});
    round_trip(std::vector<u8>{}, {0, 7});
    round_trip(std::vector<u16>(5000, 7), {10, 5, 100});
    CHECK(throws(ErrorCode::invalid_argument, "got (2, 2) for 3 values", [&] {
        port::write_npy(folder / "x.npy", std::vector<f32>(3), {2, 2});
    }));

    port::write_npy(folder / "y.npy", std::vector<f32>(6), {2, 3});
    const std::string path = (folder / "y.npy").string();
    CHECK(throws(ErrorCode::invalid_argument, "'" + path + "', got f32; expected f64",
                 [&] { (void)port::read_npy<f64>(path); }));
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
    CHECK(throws(ErrorCode::invalid_argument, "truncated: shape (2, 3) of f32 needs 24 bytes, got 20",
                 [&] { (void)port::read_npy<f32>(path); }));
    CHECK(throws(ErrorCode::io, "none.npy", [&] { (void)port::read_npy<f32>(folder / "none.npy"); }));
    // As NumPy writes it.
    std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }";
    header.append(117 - header.size(), ' ').append("\n");
    folder.write("f.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' +
                              header + std::string(4, '\0'));
    CHECK(throws(ErrorCode::invalid_argument, "Fortran order",
                 [&] { (void)port::read_npy<f32>(folder / "f.npy"); }));
}

TEST_CASE(".npy files are those of NumPy") {
    const test::TemporaryFolder folder("npy");
    const auto python = [&](const std::string& code) {
        return std::system(("cd '" + folder.path().string() + "' && python3 -c \"import numpy as np; " +
                            code + "\" 2> /dev/null")
                               .c_str()) == 0;
    };
    REQUIRES(python("pass"), test::needs::numpy);
    REQUIRE(python("np.save('a.npy', np.arange(6, dtype='f4').reshape(2, 3) / 8)"));
    const auto a = port::read_npy<f32>(folder / "a.npy");
    CHECK(a.values == std::vector<f32>{0, 0.125F, 0.25F, 0.375F, 0.5F, 0.625F});
    CHECK(a.shape == std::vector<u64>{2, 3});
    REQUIRE(python("np.save('f.npy', np.asfortranarray(np.ones((2, 3))))"));
    CHECK(throws(ErrorCode::invalid_argument, "Fortran order",
                 [&] { (void)port::read_npy<f64>(folder / "f.npy"); }));
    port::write_npy(folder / "b.npy", std::vector<i32>{1, 2, 3, 4}, {4, 1});
    CHECK(python("b = np.load('b.npy'); assert b.dtype == np.int32 and b.shape == (4, 1) and b.sum() == 10"));
}

TEST_SUITE_END();
