// Tests stencil through the public API. `concord check` covers variants, types, shapes, radii and steps.
#include "devices.hpp"

#include <cmath>

using namespace concord;
using test::each_variant;
using test::random_values;
using test::throws;

namespace {

// Reference: one step.
template <class T>
std::vector<T> stepped(const std::vector<T>& v, const VolumeExtents& s, const std::vector<T>& c) {
    auto at = [&](u64 z, u64 y, u64 x) {  // positions before the first wrap around
        return z < s.depth && y < s.rows && x < s.columns ? v[(z * s.rows + y) * s.columns + x] : T(0);
    };
    std::vector<T> out(v.size());
    for (u64 i = 0; i < s.depth * s.rows * s.columns; ++i) {
        const u64 z = i / s.columns / s.rows, y = i / s.columns % s.rows, x = i % s.columns;
        T t = c[0] * v[i];
        for (u64 r = 1; r < c.size(); ++r)
            t = std::fma(c[r],
                         ((at(z, y, x - r) + at(z, y, x + r)) + (at(z, y - r, x) + at(z, y + r, x))) +
                             (at(z - r, y, x) + at(z + r, y, x)),
                         t);
        out[i] = t;
    }
    return out;
}

// Calls f with the options of each variant, and with the default options.
template <class F>
void with_variants(const Device& device, F f) {
    each_variant(device, stencil_algorithm, [&](const std::string& name) {
        const Enqueued run = f(Options{name});
        CHECK(run.variant == name);
    });
    f(Options{});
}

}  // namespace

TEST_SUITE_BEGIN("device");

// The last step writes out for odd and even numbers of steps. in and the elements behind the volume are not modified.
STREAM_TEST(stencil_writes_the_last_step_to_out) {
    const VolumeExtents shape{7, 9, 12};
    const u64 n = shape.depth * shape.rows * shape.columns;
    const std::vector<float> c = {0.3f, 0.11f, -0.07f, 0.05f, 0.013f};
    const auto x = random_values<float>(n + 3);
    const Array<float> in(stream, x);
    std::vector<float> expected(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    expected.resize(n + 5, 77);
    for (u64 steps = 0; steps <= 5; ++steps) {
        CAPTURE(steps);
        const StarCoefficients star(std::vector<f64>(c.begin(), c.end()));
        with_variants(device, [&](const Options& options) {
            const Array<float> out(stream, std::vector<float>(n + 5, 77));
            const Enqueued run = stencil(stream, Volume(in, shape), star, Volume(out, shape), steps, options);
            CHECK(out.to_host(stream) == expected);
            return run;
        });
        CHECK(in.to_host(stream) == x);
        expected.resize(n);
        expected = stepped(expected, shape, c);
        expected.resize(n + 5, 77);
    }
}

// Volumes thinner than the radius along one, two and three axes, and a row longer than the maximum of a CPU tile.
STREAM_TEST(stencil_of_volumes_thinner_than_its_radius) {
    const std::vector<f64> c = {1.5, 0.25, -0.125, 0.75, 3, -0.5, 0.1, 0.3, -0.7};
    for (const VolumeExtents& shape :
         {VolumeExtents{1, 1, 1}, VolumeExtents{2, 3, 5}, VolumeExtents{40, 1, 2}, VolumeExtents{1, 40, 3},
          VolumeExtents{3, 2, 2100}}) {
        CAPTURE(shape.columns);
        const auto x = random_values<f64>(shape.depth * shape.rows * shape.columns);
        const Array<f64> in(stream, x), out(stream, x.size());
        with_variants(device, [&](const Options& options) {
            const Enqueued run =
                stencil(stream, Volume(in, shape), StarCoefficients(c), Volume(out, shape), 2, options);
            CHECK(out.to_host(stream) == stepped(stepped(x, shape, c), shape, c));
            return run;
        });
    }
}

// A box is bitwise identical to the same part of the whole volume; points around it are not modified. Boxes end
// inside tiles and at the faces of the volume, and are thinner than the radius. Rows are aligned to 8 bytes or not.
template <class T>
void check_boxes(Device& device, const VolumeExtents& shape, const std::vector<T>& c) {
    const auto stream = device.create_stream();
    const StarCoefficients star(std::vector<f64>(c.begin(), c.end()));
    const auto x = random_values<T>(shape.depth * shape.rows * shape.columns);
    const std::vector<T> whole = stepped(x, shape, c);
    const Array<T> in(*stream, x);
    const u64 depth = shape.depth, rows = shape.rows, plane = rows * shape.columns;
    for (const StencilBox& box :
         {StencilBox{0, depth, 0, rows}, StencilBox{0, 2, 0, rows}, StencilBox{depth - 3, depth, 0, rows},
          StencilBox{2, depth - 1, 0, 3}, StencilBox{1, depth - 2, rows - 5, rows},
          StencilBox{3, depth - 2, 3, rows - 2}, StencilBox{4, 4, 0, rows}, StencilBox{0, depth, 7, 7},
          StencilBox{5, 6, 9, 10}}) {
        CAPTURE(box.z_begin);
        CAPTURE(box.z_end);
        CAPTURE(box.y_begin);
        CAPTURE(box.y_end);
        std::vector<T> expected(x.size(), T(77));
        for (u64 i = 0; i < x.size(); ++i) {
            const u64 z = i / plane, y = i % plane / shape.columns;
            if (z >= box.z_begin && z < box.z_end && y >= box.y_begin && y < box.y_end)
                expected[i] = whole[i];
        }
        with_variants(device, [&](const Options& options) {
            const Array<T> out(*stream, std::vector<T>(x.size(), T(77)));
            const Enqueued run =
                stencil_box(*stream, Volume(in, shape), star, Volume(out, shape), box, options);
            CHECK(out.to_host(*stream) == expected);
            return run;
        });
    }
}

DEVICE_TEST(stencil_box_modifies_only_the_box) {
    check_boxes<float>(device, {13, 45, 70}, {0.3f, 0.11f, -0.07f, 0.05f, 0.013f});
    check_boxes<float>(device, {9, 37, 41}, {0.3f, 0.11f});
    check_boxes<f64>(device, {11, 40, 36}, {1.5, 0.25, -0.125, 0.75, 3, -0.5, 0.1, 0.3, -0.7});
}

STREAM_TEST(stencil_accepts_empty_volumes) {
    const Array<float> none(stream, 0), some(stream, std::vector<float>{1, 2, 3});
    CHECK_NOTHROW(stencil(stream, Volume(none, 0, 0, 0), {1, 2}, Volume(none, 0, 0, 0)));
    CHECK_NOTHROW(stencil(stream, Volume(none, 5, 0, 7), {1, 2}, Volume(some, 5, 0, 7), 3));
    const VolumeView huge{some.view(), 0, u64{1} << 40, u64{1} << 40};
    CHECK_NOTHROW(stencil(stream, huge, {1, 2}, huge));
    CHECK(some.to_host(stream) == std::vector<float>{1, 2, 3});
}

STREAM_TEST(stencil_rejects_invalid_arguments) {
    const Array<float> in(stream, random_values<float>(100)), out(stream, 100);
    const Array<f64> doubles(stream, 100);
    const Array<u32> words(stream, 100), more(stream, 100);
    auto refused = [&](const char* what, const auto& from, const auto& to, const VolumeExtents& shape) {
        CHECK(throws(ErrorCode::invalid_argument, what, [&] {
            stencil(stream, VolumeView{from.view(), shape.depth, shape.rows, shape.columns}, {1, 2},
                    VolumeView{to.view(), shape.depth, shape.rows, shape.columns});
        }));
    };
    refused("in and out must have the same type, got f32 and f64", in, doubles, {1, 10, 10});
    refused("volume must be f32 or f64, got u32", words, more, {1, 10, 10});
    refused("in of 1 x 10 x 11 needs 110 elements, got a range of 100", in, out, {1, 10, 11});
    refused("exceeds 2^60 elements", in, out, {u64{1} << 30, u64{1} << 30, u64{1} << 30});
    refused("overlaps in at byte 0 of the same buffer", in, in, {1, 10, 10});
    refused("overlaps in", in.span().part(0, 50), in.span().part(49, 51), {5, 5, 2});
    CHECK(throws(ErrorCode::invalid_argument, "out must have the shape of in, 4 x 5 x 5, got 5 x 4 x 5", [&] {
        stencil(stream, Volume(in, 4, 5, 5), {1, 2}, Volume(out, 5, 4, 5));
    }));
    CHECK(throws(
        ErrorCode::unsupported,
        "in must be in C order without padding, got 3 x 4 x 5 with a pitch of 6 and a plane pitch of 24",
        [&] {
            stencil(stream, Volume(in, 3, 4, 5, 6), {1, 2}, Volume(out, 3, 4, 5));
        }));
    CHECK(throws(ErrorCode::unsupported, "got 3 x 4 x 5 in column-major layout", [&] {
        stencil(stream, Volume(in, 3, 5, 4).transposed(), {1, 2}, Volume(out, 3, 4, 5));
    }));
    CHECK(throws(ErrorCode::invalid_argument, "a star of radius 1 to 8 needs 2 to 9 coefficients, got 1",
                 [] { StarCoefficients({1}); }));
    CHECK(throws(ErrorCode::invalid_argument, "2 to 9 coefficients, got 10",
                 [] { StarCoefficients(std::vector<f64>(10)); }));
    CHECK(throws(ErrorCode::invalid_argument, "unknown variant 'comet'; available: ", [&] {
        stencil(stream, Volume(in, 1, 10, 10), {1, 2}, Volume(out, 1, 10, 10), 1, {"comet"});
    }));
    auto box_refused = [&](const char* what, const StencilBox& box) {
        CHECK(throws(ErrorCode::invalid_argument, what, [&] {
            stencil_box(stream, Volume(in, 5, 4, 5), {1, 2}, Volume(out, 5, 4, 5), box);
        }));
    };
    box_refused(
        "stencil_box: planes of the box must be an interval within 0 to 5 of the volume of 5 x 4 x 5, got 1 "
        "to 6",
        {1, 6, 0, 4});
    box_refused("got 3 to 2", {3, 2, 0, 4});
    box_refused("rows of the box must be an interval within 0 to 4", {0, 5, 0, 5});
    box_refused("got 2 to 1", {0, 5, 2, 1});
    box_refused("stencil_box: the box must have whole rows of 5 columns, got columns 1 to 5",
                {0, 5, 0, 4, 1, 5});
    box_refused("whole rows of 5 columns, got columns 0 to 4", {0, 5, 0, 4, 0, 4});
    box_refused("whole rows of 5 columns, got columns 0 to 6", {0, 5, 0, 4, 0, 6});
    // Ranges may be adjacent.
    CHECK_NOTHROW(stencil(stream, Volume(in.span().part(0, 50), 5, 5, 2), {1, 2},
                          Volume(in.span().part(50, 50), 5, 5, 2)));
    CHECK_NOTHROW(stream.synchronize());
}

TEST_SUITE_END();
