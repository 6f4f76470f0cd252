// What bodies of kernels and functions may contain, on all devices: constants, pointers, structs, lists of types.
#include "devices.hpp"

#include <concord/internal/address_spaces.hpp>
#include <concord/internal/operator_text.hpp>

#include <cmath>
#include <limits>

using namespace concord;
using test::throws;

#define BODY_WIDTH 8
#define BODY_UNKNOWN 3
CONCORD_CONSTANT(u32, body_width, BODY_WIDTH)
CONCORD_CONSTANT(u64, body_size, u64{body_width} * 2 + 1)
CONCORD_CONSTANT(f32, body_third, 1.0f / 3)
CONCORD_CONSTANT(f64, body_large, 1e300)
CONCORD_CONSTANT(i64, body_lowest, std::numeric_limits<i64>::min())
CONCORD_CONSTANT(bool, body_adds, true)
namespace {
namespace inner {
CONCORD_CONSTANT(u32, body_twice_defined, 1)
}
}  // namespace
CONCORD_CONSTANT(u32, body_twice_defined, 2)

CONCORD_FUNCTION(f32, body_scaled, (f32 x), return body_adds ? x * body_third + f32(body_width) : 0;)
CONCORD_KERNEL(body_constants, (u64 i, f32* y, u64* z, const f32* x), f32 t[body_width]; u64 u[body_size];
               for (u32 k = 0; k < body_width; ++k) t[k] = x[i] + (f32)k;
               for (u64 k = 0; k < body_size; ++k) u[k] = k; y[i] = body_scaled(t[i % body_width]);
               z[i] = (u64)body_lowest + u[i % body_size];)
CONCORD_KERNEL(body_shadows, (u64 i, u32* y, u32 body_width), u32 body_size = 3;
               y[i] = body_width + body_size;)
CONCORD_KERNEL(body_f64, (u64 i, f32* y), y[i] = y[i] < body_large ? 1.0f : 0.0f;)
CONCORD_KERNEL(body_ambiguous, (u64 i, u32* y), y[i] = body_twice_defined;)

// Pointers.
CONCORD_FUNCTION(f32, body_dot, (const f32* a, const f32* b, u32 n), f32 sum = 0; const f32* end = a + n;
                 for (; a < end; ++a, ++b) sum += *a * *b; return sum;)
CONCORD_FUNCTION(f32, body_norm, (const f32* a, u32 n), return body_dot(a, a, n);)
CONCORD_FUNCTION(const f32*, body_row, (const f32* x, u64 i, u32 n), return x + i * n;)
CONCORD_FUNCTION(void, body_count, (u32 * counter, u32 by), atomic_add(counter, by);)
CONCORD_FUNCTION(void, body_swap, (f32 * a, f32* b), const f32 t = *a; *a = *b; *b = t;)
CONCORD_KERNEL(body_rows, (u64 i, f32* y, u32* count, const f32* x, const f32* v, u32 w),
               const f32* row = &x[i * w];
               const f32* p = body_row(x, i, w), *q = p; f32 t[4] = {1, 2, 3, 4}; f32* first = t;
               const f32* late; late = v; body_swap(&t[0], t + 1); first += 1; f32 sum = 0;
               for (const f32* e = row + w; p != e; ++p) sum += *p; y[4 * i] = sum + body_norm(q, w);
               y[4 * i + 1] = body_dot(row, late, w); y[4 * i + 2] = body_dot(row, t, 4);
               f32* out = y + 4 * i; out += 3; *out = body_dot(t, v, 4) + *first;
               const u32* bits = (const u32*)(v + 1); body_count(count, *bits >> 23 & 1);
               body_count(count + 1, 2);)

// bool, size_t, and fixed-width types.
CONCORD_KERNEL(body_types, (size_t i, u32* y, bool adds, size_t n, uint32_t by), const size_t at = n - 1 - i;
               const bool is_odd = (at & 1) != 0; y[size_t(at)] = adds == true && is_odd ? by : 7;)

// Structs.
CONCORD_STRUCT(BodyInner, float v[body_width / 4]; concord::f32x2 at; int count;)
CONCORD_STRUCT(BodyOuter, BodyInner parts[2]; double weight;)
CONCORD_STRUCT(BodyRange, float low; float high; unsigned int bins[body_width];)
CONCORD_FUNCTION(BodyRange, body_widened, (BodyRange r, f32 x), if (x < r.low) r.low = x;
                 if (x > r.high) r.high = x; r.bins[body_width - 1] += 1; return r;)
CONCORD_FUNCTION(f32, body_extent, (f32 a, f32 b, f32 c), BodyRange r; r.low = a; r.high = a;
                 r.bins[body_width - 1] = 0; r = body_widened(body_widened(r, b), c);
                 return r.high - r.low + (f32)r.bins[body_width - 1];)
CONCORD_FUNCTION(void, body_shift, (BodyInner * s, f32 by), s->v[0] += by; s->count += 1;)
CONCORD_KERNEL(body_structs, (u64 i, f32* y, BodyOuter* s), BodyOuter* p = s + i;
               BodyInner mine = p->parts[1]; body_shift(&mine, 1); f32* v = mine.v + (u32)(y[i] * 0); *v += 0;
               p->parts[0] = mine; body_shift(&p->parts[0], 2); p->weight *= 2;
               y[i] = body_extent(y[i], mine.v[0], mine.at.y);)
CONCORD_KERNEL(body_vectors, (u64 i, f32x4* y, u8x4* bytes, const f32x4* x, const f32x2* z, f32x2 by),
               const f32x4* p = x + i;
               f32x4 v = *p; v.x += by.x; v.w = z[i].y + by.y; y[i] = v; bytes[i] = make_u8x4((u8)i, 1, 2, 3);
               if (i == 0) y[i] = make_f32x4(v.w, v.z, v.y, v.x);)

// Lists of types.
CONCORD_FUNCTION_OF(T, (f32, f64, i32, u64), T, body_half, (T x), const T two = T(2); return x / two;)
CONCORD_FUNCTION_OF(T, (f32, i32), T, body_sum, (const T* x, u32 n), T sum = 0;
                    for (u32 k = 0; k < n; ++k) sum += x[k]; return sum;)
CONCORD_KERNEL_OF(T, (f32, f64, i32), body_axpy, (u64 i, T* y, const T* x, T a), const T* p = x;
                  y[i] += a * p[i] + body_half(T(4));)
CONCORD_KERNEL(body_overloads, (u64 i, f32* y, const i32* x), const f32 t[2] = {0.5f, 1.5f};
               y[i] = (f32)body_sum(x, 3) + body_sum(t, 2) + body_half(1.0f);)
CONCORD_FUNCTION(f32, body_quarter, (f32 x), return body_half(body_half(x));)

CONCORD_KERNEL(body_unknown, (u64 i, u32* y), y[i] = BODY_UNKNOWN;)

CONCORD_FUNCTION(
    void, body_order, (f32 & low, f32& high), if (low > high) {
        const auto kept = low;
        low = high;
        high = kept;
    })
CONCORD_KERNEL(body_references, (u64 i, f32* x, f32* sums), f32 a = x[2 * i]; auto b = x[2 * i + 1];
               body_order(a, b); body_order(x[2 * i], x[2 * i + 1]); auto p = x + 2 * i; const f32* q = p;
               sums[i] = a + 2 * b + 4 * q[0] + 8 * q[1];)

TEST_SUITE_BEGIN("device");

DEVICE_TEST(body_uses_constants) {
    const auto stream = device.create_stream();
    const std::vector<f32> x = test::random_values<f32>(1003);
    const Array<f32> in(*stream, x), y(*stream, x.size());
    const Array<u64> z(*stream, x.size());
    body_constants(*stream, x.size(), y, z, in);
    const std::vector<f32> result = y.to_host(*stream);
    const std::vector<u64> integers = z.to_host(*stream);
    for (u64 i = 0; i < x.size(); ++i) {
        CHECK(result[i] == (x[i] + static_cast<f32>(i % 8)) * (1.0f / 3) + 8);
        CHECK(integers[i] == (u64{1} << 63) + i % 17);
    }
    map(*stream, in, y, body_scaled);
    CHECK(y.to_host(*stream)[5] == x[5] * (1.0f / 3) + 8);
    const Array<u32> sums(*stream, 4);
    body_shadows(*stream, 4, sums, 40);
    CHECK(sums.to_host(*stream)[3] == 43);
    if (device.traits().fp64) {
        body_f64(*stream, 4, y);
        CHECK(y.to_host(*stream)[3] == 1);
    }
}

DEVICE_TEST(body_has_pointers) {
    const auto stream = device.create_stream();
    const u32 w = 5;
    const std::vector<f32> x = test::random_values<f32>(u64{1003} * w), v = {0.5f, 1, 2, 3, 4};
    const Array<f32> in(*stream, x), other(*stream, v), y(*stream, u64{1003} * 4);
    const Array<u32> count(*stream, std::vector<u32>(2));
    body_rows(*stream, 1003, y, count, in, other, w);
    const std::vector<f32> result = y.to_host(*stream);
    const f32 t[] = {2, 1, 3, 4};
    for (u64 i = 0; i < 1003; ++i) {
        const f32* row = x.data() + i * w;
        f32 sum = 0;
        for (u32 k = 0; k < w; ++k)
            sum += row[k];
        CHECK(result[4 * i] == sum + body_dot(row, row, w));
        CHECK(result[4 * i + 1] == body_dot(row, v.data(), w));
        CHECK(result[4 * i + 2] == body_dot(row, t, 4));
        CHECK(result[4 * i + 3] == body_dot(t, v.data(), 4) + 1);
    }
    CHECK(count.to_host(*stream) == std::vector<u32>{1003, 2006});
}

DEVICE_TEST(body_has_bool_and_size_t) {
    const auto stream = device.create_stream();
    const Array<u32> y(*stream, 5);
    body_types(*stream, 5, y, true, 5, 9);
    CHECK(y.to_host(*stream) == std::vector<u32>{7, 9, 7, 9, 7});
    body_types(*stream, 5, y, false, 5, 9);
    CHECK(y.to_host(*stream) == std::vector<u32>(5, 7));
}

DEVICE_TEST(body_has_structs) {
    REQUIRES(device.traits().fp64, test::needs::fp64);
    const auto stream = device.create_stream();
    std::vector<BodyOuter> in(300);
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i].weight = 0.5;
        in[i].parts[1] = {{static_cast<f32>(i), 1}, {1, -4}, 10};
    }
    const Array<BodyOuter> s(*stream, in);
    const Array<f32> y(*stream, std::vector<f32>(in.size(), 2));
    body_structs(*stream, in.size(), y, s);
    const std::vector<BodyOuter> out = s.to_host(*stream);
    const std::vector<f32> extents = y.to_host(*stream);
    for (std::size_t i = 0; i < in.size(); ++i) {
        CHECK(out[i].parts[0].v[0] == static_cast<f32>(i) + 3);
        CHECK(out[i].parts[0].count == 12);
        CHECK(out[i].parts[0].at.y == -4);
        CHECK(out[i].weight == 1);
        CHECK(extents[i] == std::max<f32>(2, static_cast<f32>(i) + 1) + 4 + 2);
    }
    map(*stream, inputs(y, y, constant(1.0f)), outputs(y), body_extent);
    CHECK(y.to_host(*stream)[0] == 9);
}

DEVICE_TEST(body_has_vectors) {
    const auto stream = device.create_stream();
    static_assert(alignof(f32x4) == 16 && sizeof(f64x4) == 32 && alignof(u8x4) == 4);
    const Array<f32x4> x(*stream, std::vector<f32x4>(100, f32x4{1, 2, 3, 4})), y(*stream, 100);
    const Array<f32x2> z(*stream, std::vector<f32x2>(100, f32x2{5, 6}));
    const Array<u8x4> bytes(*stream, 100);
    CHECK(x.view().type.name() == "f32x4");
    body_vectors(*stream, 100, y, bytes, x, z, f32x2{10, 20});
    const std::vector<f32x4> result = y.to_host(*stream);
    CHECK((result[0].x == 26 && result[0].y == 3 && result[0].z == 2 && result[0].w == 11));
    CHECK((result[7].x == 11 && result[7].y == 2 && result[7].z == 3 && result[7].w == 26));
    CHECK(bytes.to_host(*stream)[99].x == 99);
}

DEVICE_TEST(body_for_a_list_of_types) {
    const auto stream = device.create_stream();
    const auto run = [&]<class T>(T a) {
        const Array<T> x(*stream, std::vector<T>(1000, T(3))), y(*stream, std::vector<T>(1000, T(1)));
        body_axpy(*stream, 1000, y, x, a);
        CHECK(y.to_host(*stream) == std::vector<T>(1000, T(3) + T(3) * a));
        body_axpy(*stream, 1000, y.view(), x.view(), a);
        body_axpy.of<T>(*stream, 1000, y, x, 0);
        CHECK(y.to_host(*stream)[999] == T(7) + T(6) * a);
    };
    run(2.0f);
    run(i32{-2});
    if (device.traits().fp64) run(0.5);
    const Array<u8> bytes(*stream, 8);
    CHECK(throws(ErrorCode::invalid_argument, "no common type of the kernel's list: f32, f64, i32",
                 [&] { body_axpy(*stream, 8, bytes.view(), bytes.view(), 1); }));
    const Array<i32> integers(*stream, std::vector<i32>{1, 2, 3});
    const Array<f32> y(*stream, std::vector<f32>{8, 8});
    map(*stream, y, y, body_half.of<f32>);
    CHECK(y.to_host(*stream) == std::vector<f32>{4, 4});
    map(*stream, y, y, body_quarter);
    CHECK(y.to_host(*stream) == std::vector<f32>{1, 1});
    body_overloads(*stream, 2, y, integers);
    CHECK(y.to_host(*stream) == std::vector<f32>{8.5f, 8.5f});
}

DEVICE_TEST(body_has_references_and_auto) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, std::vector<f32>{3, 1, 2, 5}), sums(*stream, 2);
    body_references(*stream, 2, x, sums);
    CHECK(x.to_host(*stream) == std::vector<f32>{1, 3, 2, 5});
    CHECK(sums.to_host(*stream) == std::vector<f32>{1 + 6 + 4 + 24, 2 + 10 + 8 + 40});
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("pointers of bodies get the address space of what they point to") {
    const auto spaced = [](std::string_view body) {
        return detail::with_address_spaces(body, {{"x", detail::AddressSpace::global}}, {}).text;
    };
    CHECK(spaced("const f32* p = x + i; const u32 *q = (const u32*)p;") ==
          "const __global f32* p = x + i; const __global u32 *q = (const __global u32*)p;");
    CHECK(spaced("f32 t[4]; f32* p = &t[i]; f32* q; q = x;") ==
          "f32 t[4]; f32* p = &t[i]; __global f32* q; q = x;");
    CHECK(spaced("CONCORD_LOCAL(f32, tile, [16][17]) f32* p = tile[2], *q = p;") ==
          "CONCORD_LOCAL(f32, tile, [16][17]) CONCORD_LOCAL_SPACE f32* p = tile[2], *q = p;");
    CHECK(spaced("f32 a = f32(i) * b; f32* p = c ? x : x + 1; f32* q = &a;") ==
          "f32 a = f32(i) * b; __global f32* p = c ? x : x + 1; f32* q = &a;");
    CHECK(spaced("CONCORD_SHARED f32 tile[4][5]; f32 *p[2], *q; p[0] = tile[1]; q = p[0];") ==
          "CONCORD_SHARED f32 tile[4][5]; CONCORD_LOCAL_SPACE f32 *p[2], *q; p[0] = tile[1]; q = p[0];");
    CHECK(spaced("CONCORD_PRIVATE(const f32*, p) = x + 1; const f32* q = p;") ==
          "CONCORD_PRIVATE(__global const f32*, p) = x + 1; const __global f32* q = p;");
    CHECK(throws(ErrorCode::invalid_argument, "initialise it", [&] { spaced("f32* p; *p = 1;"); }));
}

TEST_CASE("bodies compile for all backends") {
    const std::size_t devices = check(body_constants).size();
    CHECK(devices > 0);
    CHECK(!check(body_rows).empty());
    CHECK(!check(body_types).empty());
    CHECK(!check(body_structs).empty());
    CHECK(!check(body_vectors).empty());
    CHECK(!check(body_axpy).empty());
    CHECK(!check(body_overloads).empty());
    // A macro of the program is unknown to the compilers of devices.
    if (devices > 1)
        CHECK(throws(ErrorCode::compile_failed, "CONCORD_CONSTANT(type, BODY_UNKNOWN, value)",
                     [] { (void)check(body_unknown); }));
}

TEST_CASE("constants have the values of the host in all languages") {
    using detail::constant_text;
    CHECK(constant_text(true) == "((bool)1)");
    CHECK(constant_text(u8{200}) == "((u8)200u)");
    CHECK(constant_text(i64{-5}) == "((i64)-5L)");
    CHECK(constant_text(0.1f) == "((f32)0x1.99999ap-4f)");
    CHECK(constant_text(-0.0) == "((f64)-0x0p+0)");
    CHECK(constant_text(-INFINITY) == "((f32)-INFINITY)");
    CHECK_THROWS_WITH(check(body_ambiguous), doctest::Contains("several constants have this name"));
}

TEST_SUITE_END();
