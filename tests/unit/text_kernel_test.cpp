// index_kernel_from_text(): kernels from source at run time, compared with a loop on the host.
#include "devices.hpp"

#include <algorithm>

using namespace concord;
using test::throws;

namespace {

constexpr const char* wave_text =
    "void wave(u64 x, u64 y, f32* next, const f32* now, float c, unsigned long width) {\n"
    "    const u64 i = y * width + x;\n"
    "    if (x > 0 && x + 1 < width) next[i] = 2 * now[i] - next[i] + c * (now[i - 1] - 2 * now[i] + now[i + "
    "1]);\n"
    "}";

void wave_body(u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width) {
    const u64 i = y * width + x;
    if (x > 0 && x + 1 < width) next[i] = 2 * now[i] - next[i] + c * (now[i - 1] - 2 * now[i] + now[i + 1]);
}
void exp_body(u64 i, f64* out, const f32* x) {
    out[i] = Vocabulary::exp(x[i]);
}
void place_body(u64 x, u64 y, u64 z, u16* out, i8 shift) {
    out[(z * 5 + y) * 7 + x] = static_cast<u16>(x + 10 * y + 100 * z + static_cast<u64>(shift));
}

// Arguments of a kernel that needs a run-time compiler or this host kernel.
constexpr HostKernel no_host{};

}  // namespace

TEST_CASE("kernels from source text") {
    const TextKernel wave = index_kernel_from_text(wave_text);
    CHECK(wave.name() == "wave");
    CHECK(wave.rank() == 2);
    CHECK(wave.signature() == "wave(u64, u64, f32*, const f32*, f32, u64)");
    CHECK(wave.parameters().size() == 4);
    CHECK(wave.parameters()[1].name == "now");
    CHECK(wave.parameters()[1].is_const);
    CHECK_FALSE(wave.parameters()[2].is_buffer);
    CHECK(index_kernel_from_text("void k(u64 i){}").parameters().empty());
    CHECK(index_kernel_from_text("\nvoid\nk\n(\nu64\ni,\r\nconst\tunsigned char *\nx )\n{ }\n").signature() ==
          "k(u64, const u8*)");
    CHECK(index_kernel_from_text("void k(size_t i, uint8_t* x, size_t n) { }").signature() ==
          "k(u64, u8*, u64)");
    CHECK(index_kernel_from_text("void k(u64 i, const f32x4* x) { }").parameters()[0].type.alignment() == 16);
    CHECK(index_kernel_from_text("void k(u64 i, const f32 c) { } // }").signature() == "k(u64, f32)");
}

TEST_CASE("malformed kernels from text are refused") {
    for (const auto& one : std::initializer_list<std::pair<const char*, const char*>>{
             {"", "missing parameter list"},
             {"void k", "missing parameter list"},
             {"void k(u64 i)", "missing body in braces"},
             {"void k(u64 i) const { }", "missing body in braces"},
             {"k(u64 i) { }", "expected a type and a name instead of 'k'"},
             {"float k(u64 i) { return 1; }", "expected the result type void instead of 'float'"},
             {"void k() { }", "expected one, two or three parameters of type u64 first"},
             {"void k(u64) { }", "expected a type and a name instead of 'u64'"},
             {"void k(u64 i, f32*) { }", "expected a type and a name"},
             {"void k(u64 i, Star s) { }", "unknown element type 'Star'"},
             {"void k(u64 i, f32x4 v) { }", "unknown element type 'f32x4'"},
             {"void k(u64 i, f32** x) { }", "unknown element type 'f32*'"},
             {"void k(u64 i, f32 x[4]) { }", "expected a type and a name instead of 'f32 x[4]'"},
             {"void k(u64 i, constf32* x) { }", "unknown element type 'constf32'"},
             {"void k(f32* x, u64 i) { }", "expected one, two or three parameters of type u64 first"},
             {"void k(u64 x, u64 y, u64 z, u64 w) { }",
              "expected one, two or three parameters of type u64"}}) {
        const char* const text = one.first;
        CAPTURE(text);
        CHECK(throws(ErrorCode::invalid_argument, std::string("index_kernel_from_text: ") + one.second,
                     [text] { (void)index_kernel_from_text(text); }));
    }
}

TEST_SUITE_BEGIN("device");

DEVICE_TEST(text_kernel_in_two_dimensions) {
    const auto stream = device.create_stream();
    const u64 width = 1003;
    const u64 height = 37;
    std::vector<f32> next = test::random_values<f32>(width * height, 1);
    const std::vector<f32> now = test::random_values<f32>(width * height, 2);
    const Array<f32> a(*stream, next), b(*stream, now);
    {
        const TextKernel wave = index_kernel_from_text(wave_text, index_host_kernel<&wave_body>());
        const std::vector<TextKernel> copies{wave};
        CHECK(copies[0](*stream, {width, height}, a, b.view(), 0.25, width).order ==
              OperationOrder::canonical);
        wave(*stream, {width, 0}, a, b, 1, width);  // nothing
    }
    for (u64 y = 0; y < height; ++y) {
        for (u64 x = 0; x < width; ++x)
            wave_body(x, y, next.data(), now.data(), 0.25f, width);
    }
    CHECK(a.to_host(*stream) == next);
}

DEVICE_TEST(text_kernel_in_one_and_three_dimensions) {
    const auto stream = device.create_stream();
    const std::vector<f32> x = test::random_values<f32>(1000);
    const Array<f32> in(*stream, x);
    if (device.traits().fp64) {
        const Array<f64> out(*stream, x.size());
        const TextKernel f = index_kernel_from_text(
            "void exp_of(u64 i, double* out, const float* x) { out[i] = exp(x[i]); } // }",
            index_host_kernel<&exp_body>());
        CHECK(f(*stream, x.size(), out, std::as_const(in)).order == OperationOrder::canonical);
        std::vector<f64> expected(x.size());
        for (u64 i = 0; i < x.size(); ++i)
            expected[i] = Vocabulary::exp(x[i]);
        CHECK(out.to_host(*stream) == expected);
    }
    const Array<u16> places(*stream, 7 * 5 * 3);
    const TextKernel place = index_kernel_from_text(
        "void place(u64 x, u64 y, u64 z, u16* out, i8 shift) { out[(z * 5 + y) * 7 + x] = u16(x + 10 * y + "
        "100 * z + "
        "u64(shift)); }",
        index_host_kernel<&place_body>());
    place(*stream, {7, 5, 3}, places, -3);
    std::vector<u16> expected(places.size());
    for (u64 z = 0; z < 3; ++z) {
        for (u64 y = 0; y < 5; ++y) {
            for (u64 i = 0; i < 7; ++i)
                place_body(i, y, z, expected.data(), -3);
        }
    }
    CHECK(places.to_host(*stream) == expected);
}

DEVICE_TEST(text_kernel_reports_its_order_and_the_lines_of_errors) {
    REQUIRES(device.traits().launch != LaunchModel::host, test::needs::compiler);
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, 8);
    const TextKernel native =
        index_kernel_from_text("void k(u64 i, f32* x) { x[i] = native::exp(x[i]); }", no_host);
    CHECK(native(*stream, 8, x).order == OperationOrder::unspecified);
    const TextKernel wrong =
        index_kernel_from_text("void k(u64 i,\n       f32* x) {\n    x[i] = undefined_name;\n}");
    CHECK(throws(ErrorCode::compile_failed, "undefined_name", [&] { wrong(*stream, 8, x); }));
    try {
        wrong(*stream, 8, x);
    } catch (const Error& error) {
        const std::string log = error.native() + error.what();
        CAPTURE(log);
        CHECK((log.find("k:3") != std::string::npos || log.find("k(3)") != std::string::npos));
    }
}

DEVICE_TEST(text_kernel_refuses_wrong_arguments) {
    const auto stream = device.create_stream();
    const Array<f32> a(*stream, 8), b(*stream, 8);
    const Array<f64> wide(*stream, 8);
    const TextKernel wave = index_kernel_from_text(wave_text, index_host_kernel<&wave_body>());
    const auto refuses = [&](const char* why, const auto& call) {
        return throws(ErrorCode::invalid_argument, why, call);
    };
    CHECK(refuses(
        "wave: wrong number of arguments, got 3; wave(u64, u64, f32*, const f32*, f32, u64) takes 4", [&] {
            wave(*stream, {4, 2}, a, b, 1);
        }));
    CHECK(refuses("wrong number of extents, got 1", [&] { wave(*stream, 8, a, b, 1, 4); }));
    CHECK(refuses("negative extent, got -1", [&] { wave(*stream, {4, -1}, a, b, 1, 4); }));
    CHECK(refuses("'next', got a view of f64; expected f32", [&] { wave(*stream, {4, 2}, wide, b, 1, 4); }));
    CHECK(refuses("'now' is a buffer, got a number", [&] { wave(*stream, {4, 2}, a, 1, 1, 4); }));
    CHECK(refuses("'c' is a value, got a buffer", [&] { wave(*stream, {4, 2}, a, b, b, 4); }));
    CHECK(refuses("may write to 'next', and the range is constant", [&] {
        wave(*stream, {4, 2}, Span<const f32>(a), b, 1, 4);
    }));
    CHECK(refuses("no value of the parameter", [&] { wave(*stream, {4, 2}, a, b, 1e300, 4); }));
    CHECK(refuses("no value of the parameter", [&] { wave(*stream, {4, 2}, a, b, 1, -4); }));
    CHECK(refuses("no value of the parameter 'width', got 4.5", [&] {
        wave(*stream, {4, 2}, a, b, 1, 4.5);
    }));
    if (device.traits().launch == LaunchModel::host)
        CHECK(throws(ErrorCode::unsupported, "pass a host kernel", [&] {
            index_kernel_from_text(wave_text)(*stream, {4, 2}, a, b, 1, 4);
        }));
}

TEST_SUITE_END();
