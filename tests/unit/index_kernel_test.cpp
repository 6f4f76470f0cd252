// CONCORD_KERNEL: one body for all devices, compared with a loop on the host.
#include "devices.hpp"

#include <concord/internal/body_kernel.hpp>

#include <algorithm>

using namespace concord;
using test::throws;

CONCORD_FUNCTION(f32, index_second_difference, (f32 a, f32 b, f32 c), return a - 2 * b + c;)
CONCORD_FUNCTION(f32, index_damped, (f32 a, f32 b, f32 c, f32 d),
                 return d * index_second_difference(a, b, c);)
CONCORD_STRUCT(IndexStar, float c[3]; int shift;)

CONCORD_KERNEL(
    index_wave, (u64 x, u64 y, f32* next, const f32* now, f32 c, u64 width), const u64 i = y * width + x;
    if (x > 0 && x + 1 < width) {
        next[i] = 2 * now[i] - next[i] + index_damped(now[i - 1], now[i], now[i + 1], c);
    } else { next[i] = 0; })
CONCORD_KERNEL(index_scale, (u64 i, f32* x, f32 a), x[i] *= a;)
CONCORD_KERNEL(index_copy, (u64 i, u8* out, const u8* in), out[i] = in[i];)
CONCORD_KERNEL(index_place, (u64 x, u64 y, u64 z, u32* out, i32 shift, u64 width, u64 height),
               out[(z * height + y) * width + x] = (u32)(x + 1000 * y + 1000000 * z) + (u32)shift;)
CONCORD_KERNEL(index_struct, (u64 i, f32* out, IndexStar s), out[i] = s.c[i % 3] + (f32)s.shift;)
CONCORD_KERNEL(index_structs, (u64 i, IndexStar* out, const IndexStar* in, f32 by), IndexStar s = in[i];
               s.c[1] *= by; s.shift += (i32)i; out[i] = s;)
CONCORD_KERNEL(index_unportable, (u64 i, f32* out), out[i] = native::exp((f32)i);)
CONCORD_KERNEL(index_host_only, (u64 i, u32* out), out[i] = (u32)std::size_t(i);)

namespace {

KernelSpec index_wave_spec(Dialect dialect, LaunchModel launch) {
    const detail::KernelDefinition& d = index_wave.definition();
    return {.source = detail::code_of(d).source(dialect),
            .entry = d.name,
            .constants = {{"CONCORD_DISTINCT", 1},
                          {"CONCORD_BEYOND", 0},
                          {"CONCORD_MANY", launch == LaunchModel::groups},
                          {"CONCORD_GROUP_SIZE", 256}},
            .host = d.host,
            .fresh = true};
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE("an index kernel without calls has no definition of the vocabulary") {
    for (const Dialect dialect : {Dialect::cuda, Dialect::opencl}) {
        const std::string source = assemble(index_wave_spec(dialect, LaunchModel::groups), dialect);
        CHECK(source.find("#line 1 \"vocabulary\"") == std::string::npos);
        CHECK(source.find("index_wave_body") != std::string::npos);
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

// The tests compiler_log.* look for messages of the compiler in the log.
DEVICE_TEST(index_kernel_compiles_without_messages) {
    const DeviceTraits& traits = device.traits();
    CHECK(device.compile(index_wave_spec(traits.dialect, traits.launch)) != nullptr);
}

DEVICE_TEST(index_kernel_in_two_dimensions) {
    const auto stream = device.create_stream();
    for (const auto& shape : {std::pair<u64, u64>(1, 1), {3, 70000}, {1000, 77}, {70001, 3}}) {
        const u64 width = shape.first;
        const u64 height = shape.second;
        CAPTURE(width);
        std::vector<f32> next = test::random_values<f32>(width * height, 1);
        const std::vector<f32> now = test::random_values<f32>(width * height, 2);
        const Array<f32> a(*stream, next), b(*stream, now);
        const Enqueued done = index_wave(*stream, {width, height}, a, b, 0.25, width);
        CHECK(done.order == OperationOrder::canonical);
        for (u64 i = 0; i < next.size(); ++i) {
            const u64 x = i % width;
            next[i] = x > 0 && x + 1 < width
                          ? 2 * now[i] - next[i] + 0.25f * (now[i - 1] - 2 * now[i] + now[i + 1])
                          : 0;
        }
        CHECK(a.to_host(*stream) == next);
    }
}

DEVICE_TEST(index_kernel_in_one_and_three_dimensions) {
    const auto stream = device.create_stream();
    const std::vector<f32> values = test::random_values<f32>(100003);
    const Array<f32> x(*stream, values);
    index_scale(*stream, values.size(), x, 2);
    std::vector<f32> twice = values;
    for (f32& value : twice)
        value *= 2;
    CHECK(x.to_host(*stream) == twice);

    const u64 width = 7, height = 9, depth = 66000;
    const Array<u32> out(*stream, width * height * depth);
    index_place(*stream, {width, height, depth}, out, -5, width, height);
    const std::vector<u32> placed = out.to_host(*stream);
    u64 wrong = 0;
    for (u64 i = 0; i < placed.size(); ++i) {
        const u64 at = i % width + 1000 * (i / width % height) + 1000000 * (i / width / height);
        wrong += placed[i] != static_cast<u32>(at) - 5 ? 1 : 0;
    }
    CHECK(wrong == 0);
    index_place(*stream, {width, 0, depth}, out, 0, width, height);  // nothing
    CHECK(out.to_host(*stream) == placed);
}

DEVICE_TEST(index_kernel_in_place_and_at_offsets) {
    const auto stream = device.create_stream();
    const std::vector<u8> values = test::random_values<u8>(50000);
    const Array<u8> x(*stream, values);
    index_copy(*stream, 50000, x, x);
    CHECK(x.to_host(*stream) == values);
    index_copy(*stream, 1000, x.view().part(1, 1000), x.view().part(20001, 1000));
    std::vector<u8> moved = values;
    std::copy_n(values.begin() + 20001, 1000, moved.begin() + 1);
    CHECK(x.to_host(*stream) == moved);
}

DEVICE_TEST(index_kernel_takes_structs_and_reports_its_order) {
    const auto stream = device.create_stream();
    const Array<f32> out(*stream, 5);
    CHECK(index_struct(*stream, 5, out, IndexStar{{1, 2, 3}, 10}).order == OperationOrder::canonical);
    CHECK(out.to_host(*stream) == std::vector<f32>{11, 12, 13, 11, 12});
    CHECK(index_unportable(*stream, 5, out).order == OperationOrder::unspecified);
}

DEVICE_TEST(index_kernel_takes_arrays_of_structs) {
    const auto stream = device.create_stream();
    std::vector<IndexStar> stars(1003);
    for (std::size_t i = 0; i < stars.size(); ++i)
        stars[i] = {{1.5f, static_cast<f32>(i), -2}, 7};
    const Array<IndexStar> in(*stream, stars), out(*stream, stars.size());
    CHECK(in.view().type.name() == "IndexStar");
    CHECK(in.view().bytes() == stars.size() * sizeof(IndexStar));
    index_structs(*stream, stars.size() - 3, out.span().part(3, stars.size() - 3),
                  in.span().part(3, stars.size() - 3), 0.5f);
    const std::vector<IndexStar> result = out.to_host(*stream);
    for (std::size_t i = 3; i < stars.size(); ++i) {
        CHECK(result[i].c[0] == 1.5f);
        CHECK(result[i].c[1] == 0.5f * static_cast<f32>(i));
        CHECK(result[i].shift == 7 + static_cast<i32>(i) - 3);
    }
    // Algorithms that compute refuse structs, and other elements are not structs.
    const View view = in.view();
    const View part = view.part(0, 1);
    const auto refuses = [&](const std::string& call, const auto& run) {
        const std::string words = call + " must have an element type, got the struct IndexStar";
        CHECK(throws(ErrorCode::unsupported, words, run));
    };
    refuses("reduce: elements of in", [&] { reduce(*stream, view, part); });
    refuses("scan: elements of in", [&] { scan(*stream, view, view); });
    refuses("sort: elements of in", [&] { sort(*stream, view, view); });
    refuses("map: elements of in", [&] { map(*stream, view, view, MapFunction::copy); });
    refuses("map: elements of out", [&] { map(*stream, view, view, view, PairFunction::pow); });
    refuses("add: elements of a", [&] { add(*stream, view, view, view); });
    refuses("compact: elements of in", [&] { compact(*stream, view, view, part, KeepRule::nonzero); });
    refuses("transpose: elements of in", [&] {
        transpose(*stream, MatrixView{view, 1, 3}, MatrixView{view, 3, 1});
    });
    const Array<f32> floats(*stream, 4 * stars.size());
    CHECK(throws(ErrorCode::invalid_argument, "expected IndexStar",
                 [&] { index_structs(*stream, 1, View(floats.view()), View(in.view()), 1.0f); }));
}

DEVICE_TEST(index_kernel_refuses_wrong_arguments) {
    const auto stream = device.create_stream();
    const Array<f32> x(*stream, 8);
    CHECK(throws(ErrorCode::invalid_argument, "'out', got a view of f32; expected u32", [&] {
        index_place(*stream, {2, 2, 2}, x.view(), 0, 2, 2);
    }));
    CHECK(throws(ErrorCode::invalid_argument, "no value of the parameter",
                 [&] { index_scale(*stream, 8, x, 1e300); }));
    CHECK(throws(ErrorCode::invalid_argument, "negative extent, got -1",
                 [&] { index_scale(*stream, -1, x, 1); }));
}

// What a debug build does at the first call.
DEVICE_TEST(index_kernel_that_another_device_refuses_fails_on_all) {
    const auto stream = device.create_stream();
    const Array<u32> out(*stream, 8);
    const std::vector<std::string> selectors = device_selectors();
    const KernelArgument argument = detail::argument(out);
    auto call = [&](bool compile_everywhere) {
        detail::run_index_kernel(*stream, index_host_only.definition(), {8, 1, 1}, {&argument, 1},
                                 compile_everywhere);
    };
    const bool has_opencl = std::find(selectors.begin(), selectors.end(), "opencl:0") != selectors.end();
    if (device.traits().launch != LaunchModel::host || has_opencl)
        for (const char* part : {"index_kernel_test.cpp", "out[i] = (u32)std::size_t(i);", "^"})
            CHECK(throws(ErrorCode::compile_failed, part, [&] { call(true); }));
    if (device.traits().launch == LaunchModel::host) {
        call(false);
        CHECK(out.to_host(*stream)[7] == 7);
    }
}

DEVICE_TEST(index_kernels_are_checked_for_all_backends) {
    const std::vector<std::string> checked = check(index_scale);
    const std::string& backend = device.info().backend;
    CHECK(std::any_of(checked.begin(), checked.end(),
                      [&](const std::string& selector) { return selector.starts_with(backend); }));
    const bool compiles = device.traits().launch != LaunchModel::host || checked.size() > 1;
    if (compiles)
        CHECK(
            throws(ErrorCode::compile_failed, "index_kernel_test.cpp", [] { (void)check(index_host_only); }));
}

TEST_SUITE_END();
