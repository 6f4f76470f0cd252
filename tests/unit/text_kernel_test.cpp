// index_kernel_from_text() and group_kernel_from_text(): kernels from source at run time, compared with a loop on the
// host.
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

// The transpose of tiles of 8 x 4 elements, from text and as a host kernel. The values are scaled.
constexpr const char* tiles_text =
    "void tiles(f32* out, const f32* in, float by) {\n"
    "    CONCORD_LOCAL(f32, tile, [4][8]);\n"
    "    CONCORD_PRIVATE(f32, value);\n"
    "    const u64 begin = (group.y * group.count_x + group.x) * group_size;\n"
    "    CONCORD_ITEMS((x, y), value) { value = by * in[begin + y * 8 + x]; }\n"
    "    CONCORD_ITEMS((x, y), value) { tile[y][x] = value; }\n"
    "    CONCORD_STRIDED((i, 0, group_size)) { out[begin + i] = tile[i % 4][i / 4]; }\n"
    "}";
// clang-format off
CONCORD_GROUP_KERNEL(tiles_body, (8, 4), (f32* out, const f32* in, f32 by),
    CONCORD_LOCAL(f32, tile, [4][8]);
    const u64 begin = (group.y * group.count_x + group.x) * group_size;
    CONCORD_ITEMS((x, y)) { tile[y][x] = by * in[begin + y * 8 + x]; }
    CONCORD_STRIDED((i, 0, group_size)) { out[begin + i] = tile[i % 4][i / 4]; })
CONCORD_GROUP_KERNEL(reversed_body, (any_size), (u32* x, u64 n),
    const u64 middle = n / 2;
    CONCORD_STRIDED((i, 0, middle)) {
        const u32 other = x[n - 1 - i];
        x[n - 1 - i] = x[i];
        x[i] = other;
    })
// clang-format on

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

TEST_CASE("kernels of groups from source text") {
    const TextKernel tiles = group_kernel_from_text(tiles_text, {8, 4});
    CHECK(tiles.name() == "tiles");
    CHECK(tiles.rank() == 0);
    CHECK(tiles.signature() == "tiles(f32*, const f32*, f32)");
    CHECK(tiles.parameters()[1].is_const);
    CHECK(group_kernel_from_text("void k() { }", {2, 3, 4}).parameters().empty());
    CHECK(group_kernel_from_text("void k(u64 n) { // CONCORD_ITEMS((t)) { return; }\n }", 1024).signature() ==
          "k(u64)");
    CHECK(group_kernel_from_text("void k(f32* x) { CONCORD_ITEMS((t)) { *x = 1; } }", any_size).rank() == 0);
    // A phase may write to what it declares, and to elements that a pointer between phases leads to.
    for (const char* const body :
         {"f32* p = x + n; CONCORD_ITEMS((t)) { f32 a = 1, b[2]; a += 2; b[1] = a; p[t] = b[1]; }",
          "for (u64 i = 0; i < n; ++i) { if (i == 3) break; CONCORD_ITEMS((t)) { if (t > i) continue; x[t] = "
          "1; } }",
          "CONCORD_PRIVATE(f32, v) = 0; while (group_any(v)) { CONCORD_ITEMS((t), v) { v -= 1; } }",
          "if (y[0] > n) return; CONCORD_LOCAL(u32, c); CONCORD_ITEMS((t)) { if (t == 0) c = 0; }"}) {
        CAPTURE(body);
        CHECK_NOTHROW((void)group_kernel_from_text(
            "void k(f32* x, const f32* y, u64 n) { " + std::string(body) + " }", 64));
    }
}

TEST_CASE("malformed kernels of groups from text are refused") {
    for (const auto& one : std::initializer_list<std::pair<const char*, const char*>>{
             {"void k", "group_kernel_from_text: missing parameter list"},
             {"float k() { return 1; }", "expected the result type void instead of 'float'"},
             {"void k(Star s) { }", "group_kernel_from_text: unknown element type 'Star'"},
             {"void k() { if (1) { }", "group_kernel_from_text: missing } at the end of the body"},
             {"void k() { } void l() { }",
              "group_kernel_from_text: expected the end of the text after the body instead of 'void'"},
             {"void k(u32* x) {\n\n    CONCORD_ITEMS((t)) { if (t > 3) return; }\n}",
              "k: line 3, 'return': a phase cannot return; 'continue' ends it for a work-item"},
             {"void k(u32* x) { CONCORD_ITEMS((t)) { break; } }",
              "k: line 1, 'break': a phase cannot break; 'continue' ends it for a work-item"},
             {"void k(u32* x) { CONCORD_ITEMS((t)) {\n CONCORD_ITEMS((i)) { } } }",
              "k: line 2, 'CONCORD_ITEMS': a phase cannot contain a phase"},
             {"void k(u32* x) { CONCORD_ITEMS((t)) x[t] = 1; }",
              "k: line 1, 'CONCORD_ITEMS': a phase needs braces"},
             {"void k(u32* x) { CONCORD_ITEMS((t, u)) { } }",
              "k: line 1, 'CONCORD_ITEMS': CONCORD_ITEMS takes as many names as the group has dimensions, as "
              "in "
              "(x, y), and CONCORD_STRIDED takes (i, begin, end)"},
             {"void k(u32* x) { CONCORD_STRIDED((i, 3)) { } }", "'CONCORD_STRIDED': CONCORD_ITEMS takes"},
             {"void k(u32* x) { CONCORD_PRIVATE(f32, v); CONCORD_ITEMS((t)) { v = 1; } }",
              "k: line 1, 'v': a phase names the private values that it uses after its index, and nothing "
              "else"},
             {"void k(u32* x) { { CONCORD_LOCAL(f32, v); } }",
              "k: line 1, 'CONCORD_LOCAL': CONCORD_LOCAL and CONCORD_PRIVATE stand outside of all blocks"},
             {"void k(u32* x) { CONCORD_PRIVATE(u32, v); CONCORD_ITEMS((t), v) { x[t] = group_sum(v); } }",
              "k: line 1, 'group_sum': a collective is called between phases"},
             {"void k(u32* x) { CONCORD_LOCAL(u32, c); if (c > 1) { CONCORD_ITEMS((t)) { } } }",
              "k: line 1, 'c': only phases use local memory"},
             {"void k(u32* x) {\n CONCORD_PRIVATE(u32, v);\n const u32 w = v;\n}",
              "k: line 3, 'v': only phases and collectives use private values"},
             {"void k(u32* x) { const u32 w = x[0]; }",
              "k: line 1, 'x': only phases use buffers that the kernel may write"},
             {"void k(u32* x) { u32 c = 0; CONCORD_ITEMS((t)) { c += 1; } }",
              "k: line 1, 'c': a phase assigns to a variable that is declared outside of it; declare it in "
              "the "
              "phase, by CONCORD_PRIVATE or by CONCORD_LOCAL"}}) {
        const char* const text = one.first;
        CAPTURE(text);
        CHECK(throws(ErrorCode::invalid_argument, one.second,
                     [text] { (void)group_kernel_from_text(text, 64); }));
    }
    for (const AnyExtents& size :
         {AnyExtents(1025), {32, 33}, {0, 3}, {1, 1, 0}, {u64{1} << 40, u64{1} << 40}})
        CHECK(throws(ErrorCode::invalid_argument, "; expected 1 to 1024 work-items",
                     [&] { (void)group_kernel_from_text("void k() { }", size); }));
    CHECK(throws(ErrorCode::invalid_argument, "group_kernel_from_text: invalid group size, got 32 x 33", [] {
        (void)group_kernel_from_text("void k() { }", {32, 33});
    }));
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

DEVICE_TEST(text_kernel_of_groups) {
    const auto stream = device.create_stream();
    const std::vector<f32> in = test::random_values<f32>(u64{3} * 2 * 32);
    const Array<f32> x(*stream, in), y(*stream, in.size());
    const TextKernel tiles =
        group_kernel_from_text(tiles_text, {8, 4}, group_host_kernel<tiles_body_concord_kernel>());
    CHECK(tiles(*stream, {3, 2}, y, x, 3).order == OperationOrder::canonical);
    tiles(*stream, {3, 0}, y, x, 5);  // nothing
    std::vector<f32> expected(in.size());
    for (u64 i = 0; i < in.size(); ++i)
        expected[i] = 3 * in[i / 32 * 32 + i % 4 * 8 + i % 32 / 4];
    CHECK(y.to_host(*stream) == expected);
    CHECK(throws(ErrorCode::invalid_argument,
                 "tiles: wrong number of arguments, got 2; tiles(f32*, const f32*, f32) takes 3",
                 [&] { tiles(*stream, 6, y, x); }));

    std::vector<u32> values = test::random_values<u32>(1001);
    const Array<u32> z(*stream, values);
    group_kernel_from_text(
        "void reversed(u32* x, u64 n) { const u64 middle = n / 2; CONCORD_STRIDED((i, 0, middle)) { "
        "const u32 other = x[n - 1 - i]; x[n - 1 - i] = x[i]; x[i] = other; } }",
        any_size, group_host_kernel<reversed_body_concord_kernel>())(*stream, 1, z, 1001);
    std::reverse(values.begin(), values.end());
    CHECK(z.to_host(*stream) == values);
    if (device.traits().launch == LaunchModel::host)
        CHECK(throws(ErrorCode::unsupported, "pass a host kernel", [&] {
            group_kernel_from_text(tiles_text, {8, 4})(*stream, 6, y, x, 1);
        }));
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
