// Pipelines give bitwise identical results to one call on all of the data, for all segments. Also: errors and their
// clean-up.
#include "pipeline_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

using namespace concord;
using test::Away;
using test::Pile;
using test::random_values;
using test::rough_values;
using test::same_bits;
using test::throws;
using test::whole;

namespace {

// Calls f with several inputs and options: data from sources and in memory, several segment lengths and depths.
template <class T, class F>
void each_way(const std::vector<T>& values, std::initializer_list<u64> segments, F&& f) {
    for (const u64 segment : segments) {
        for (const u32 depth : {1, 2, 3}) {
            CAPTURE(segment);
            CAPTURE(depth);
            f(Away<T>(values), PipelineOptions{.segment = segment * sizeof(T), .depth = depth});
        }
    }
    f(HostSource(values), PipelineOptions{});
    f(Away<T>(values), PipelineOptions{});
    f(HostSource(values), PipelineOptions{.memory = u64{16} << 20});
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(pipelines_of_map_and_add_are_bitwise_identical_to_one_call) {
    for (const u64 n : {0, 1, 999, 1000, 1001, 65537}) {
        CAPTURE(n);
        const auto x = random_values<float>(n), y = random_values<float>(n, 2);
        const auto f = pipeline_affine.bind(0.7f, 0.1f);
        const auto mapped = whole<float, float>(
            device, x, n, [&](Stream& stream, const auto& in, const auto& out) { map(stream, in, out, f); });
        each_way(x, {1000, 4096}, [&](const PipelineSource& in, const PipelineOptions& options) {
            Pile<float> out(n);
            const PipelineRun run = pipeline_map(device, in, out, f, options);
            CHECK(same_bits(out.values, mapped));
            CHECK(run.count == n);
            CHECK(run.device == &device);
            if (options.segment > 0)
                CHECK(run.segments == std::max<u64>(1, (n + run.segment - 1) / run.segment));
            std::vector<float> there(n);
            HostSink memory(there);
            pipeline_map(device, HostSource(x), memory, f, options);
            CHECK(same_bits(there, mapped));
        });
        std::vector<float> sum(x);
        for (u64 i = 0; i < n; ++i)
            sum[i] += y[i];
        Pile<float> out(n);
        pipeline_add(device, Away<float>(x), HostSource(y), out, {.segment = 4000});
        CHECK(same_bits(out.values, sum));
        // In place, as in one call.
        std::vector<float> there(x);
        HostSink memory(there);
        pipeline_add(device, HostSource(there), HostSource(y), memory, {.segment = 4000});
        CHECK(same_bits(there, sum));
    }
}

DEVICE_TEST(pipelines_transfer_page_locked_memory_without_copies) {
    constexpr u64 n = 65537, room = n + 100;
    const auto x = random_values<float>(n);
    const auto locked = device.allocate_host(room * sizeof(float)),
               to = device.allocate_host(room * sizeof(float));
    auto* const first = static_cast<float*>(locked->host_pointer());
    std::copy(x.begin(), x.end(), first + 3);
    const auto f = pipeline_affine.bind(0.7f, 0.1f);
    const auto mapped = whole<float, float>(
        device, x, n, [&](Stream& stream, const auto& in, const auto& out) { map(stream, in, out, f); });
    const auto scanned = whole<float, float>(
        device, x, n, [&](Stream& stream, const auto& in, const auto& out) { scan(stream, in, out); });
    const HostSource in(locked, 12, n, Type::f32);
    auto written = [&](const std::shared_ptr<Buffer>& buffer, u64 at) {
        const auto* values = static_cast<const float*>(buffer->host_pointer()) + at;
        return std::vector<float>(values, values + n);
    };
    for (const u64 segment : {u64{0}, u64{4096} * sizeof(float)}) {
        CAPTURE(segment);
        const PipelineOptions options{.segment = segment, .depth = 2};
        static_cast<float*>(to->host_pointer())[4 + n] = 77;
        HostSink out(to, 16, n, Type::f32);
        CHECK(pipeline_map(device, in, out, f, options).count == n);
        CHECK(same_bits(written(to, 4), mapped));
        CHECK(static_cast<float*>(to->host_pointer())[4 + n] == 77);
        // Results written one after another, and results from another source.
        HostSink sums(to, 16, n, Type::f32), again(to, 0, n, Type::f32), counts(to, 0, 2, Type::u64);
        pipeline_scan(device, in, sums, ReduceOp::sum, ScanKind::inclusive, options);
        CHECK(same_bits(written(to, 4), scanned));
        pipeline_map(device, Away<float>(x), again, f, options);
        CHECK(same_bits(written(to, 0), mapped));
        pipeline_histogram(device, in, counts, HistogramBins::even(-1, 1), options);
        CHECK(static_cast<u64*>(to->host_pointer())[0] + static_cast<u64*>(to->host_pointer())[1] == n);
    }
    HostSink in_place(locked, 12, n, Type::f32);
    pipeline_map(device, in, in_place, f, {.segment = 4000});
    CHECK(same_bits(written(locked, 3), mapped));

    CHECK(throws(ErrorCode::invalid_argument, "must be page-locked host memory",
                 [&] { HostSource(device.allocate(64), 0, 4, Type::f32); }));
    CHECK(throws(ErrorCode::invalid_argument, "a multiple of 4 bytes for f32, got 2",
                 [&] { HostSource(locked, 2, 4, Type::f32); }));
    CHECK(throws(ErrorCode::invalid_argument,
                 "the buffer of 262548 bytes, got 65638 elements of f32 at byte 0",
                 [&] { HostSink(locked, 0, room + 1, Type::f32); }));
}

DEVICE_TEST(pipelines_of_reduce_are_bitwise_identical_to_one_call) {
    // Chunks are longer above 2^22 elements.
    for (const u64 n : {0, 1, 1023, 1024, 1025, 65537, (1 << 22) + 4097}) {
        CAPTURE(n);
        const auto x = rough_values(n);
        const auto sum =
            whole<float, float>(device, x, 1, [](Stream& stream, const auto& in, const auto& out) {
                reduce(stream, in, out, ReduceOp::sum, {.order = OperationOrder::canonical});
            });
        each_way(x, {1, 3000, 65536}, [&](const PipelineSource& in, const PipelineOptions& options) {
            if (n > 100000 && options.segment == sizeof(float)) return;
            Pile<float> out(1);
            const PipelineRun run = pipeline_reduce(device, in, out, ReduceOp::sum, options);
            CHECK(same_bits(out.values, sum));
            CHECK(run.variant == "fixed");
        });
    }
    const auto x = rough_values(100003);
    const auto op = pipeline_scaled.bind(0.75f);
    const auto scaled = whole<float, float>(
        device, x, 1,
        [&](Stream& stream, const auto& in, const auto& out) { reduce(stream, in, out, op, 0.0f); });
    Pile<float> out(1);
    pipeline_reduce(device, Away<float>(x), out, op, 0.0f, {.segment = 5000});
    CHECK(same_bits(out.values, scaled));
    CHECK(throws(ErrorCode::unsupported, "fixed", [&] {
        const char* const variant = device.traits().launch == LaunchModel::host ? "serial" : "first_add";
        pipeline_reduce(device, HostSource(x), out, ReduceOp::sum, {.call = {variant}});
    }));
}

DEVICE_TEST(pipelines_of_scan_are_bitwise_identical_to_one_call) {
    const u64 tile = 65536;  // or a multiple of the device's tile
    for (const u64 n : {u64{0}, u64{1}, tile - 1, tile, tile + 1, 16 * tile + 1, 35 * tile + 7919}) {
        CAPTURE(n);
        const auto x = rough_values(n);
        for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
            const auto sums =
                whole<float, float>(device, x, n, [&](Stream& stream, const auto& in, const auto& out) {
                    scan(stream, in, out, ReduceOp::sum, kind, {.order = OperationOrder::canonical});
                });
            each_way(x, {tile, 3 * tile, 16 * tile},
                     [&](const PipelineSource& in, const PipelineOptions& options) {
                         Pile<float> out(n);
                         const PipelineRun run = pipeline_scan(device, in, out, ReduceOp::sum, kind, options);
                         CHECK(same_bits(out.values, sums));
                         CHECK(run.count == n);
                     });
        }
    }
    const u64 n = 5 * tile + 11;
    const auto x = rough_values(n);
    const auto op = pipeline_scaled.bind(0.75f);
    const auto scaled = whole<float, float>(
        device, x, n,
        [&](Stream& stream, const auto& in, const auto& out) { scan(stream, in, out, op, 0.0f); });
    Pile<float> out(n);
    pipeline_scan(device, Away<float>(x), out, op, 0.0f, ScanKind::inclusive, {.segment = 2 * tile * 4});
    CHECK(same_bits(out.values, scaled));
    std::vector<float> there(x);
    HostSink memory(there);
    pipeline_scan(device, HostSource(there), memory, op, 0.0f, ScanKind::inclusive, {.segment = tile * 4});
    CHECK(same_bits(there, scaled));
}

DEVICE_TEST(pipelines_of_histogram_count_all_samples) {
    for (const u64 n : {0, 1, 4095, 4096, 4097, 200003}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        std::vector<u64> expected(16);
        for (const float v : x) {
            const int bin = static_cast<int>(v * 8) + 8;
            ++expected[static_cast<u64>(bin)];
        }
        each_way(x, {4096, 50000}, [&](const PipelineSource& in, const PipelineOptions& options) {
            Pile<u64> counters(16);
            const PipelineRun run = pipeline_histogram(device, in, counters, pipeline_ring, options);
            CHECK(counters.values == expected);
            CHECK(run.count == 16);
        });
        Pile<u16> narrow(1);
        pipeline_histogram(device, Away<float>(x), narrow, HistogramBins::even(-1, 1), {.segment = 100000});
        CHECK(narrow.values.at(0) == std::min<u64>(n, 65535));
    }
}

DEVICE_TEST(pipelines_of_compact_keep_the_order) {
    for (const u64 n : {0, 1, 4095, 4096, 4097, 200003}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        for (const float by : {-1.0f, 0.3f, 2.0f}) {
            std::vector<float> expected;
            for (const float v : x) {
                if (v <= by && v >= -by) expected.push_back(v);
            }
            each_way(x, {4096, 50000}, [&](const PipelineSource& in, const PipelineOptions& options) {
                Pile<float> out(n);
                const PipelineRun run = pipeline_compact(device, in, out, pipeline_near.bind(by), options);
                CHECK(same_bits(out.values, expected));
                CHECK(run.count == expected.size());
            });
        }
    }
}

DEVICE_TEST(pipelines_reject_invalid_calls) {
    const auto x = random_values<float>(100000);
    std::vector<float> y(x.size()), one(1);
    HostSink out(y), sum(one);
    const HostSource in(x), shorter{std::span(x).first(10)};
    const Away<float> away(x);
    CHECK(throws(ErrorCode::invalid_argument, "the same element count, got 100000 and 10",
                 [&] { pipeline_add(device, in, shorter, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "room for 100000 elements, got 1",
                 [&] { pipeline_scan(device, in, sum); }));
    CHECK(throws(ErrorCode::invalid_argument, "exactly 1 element, got 100000",
                 [&] { pipeline_reduce(device, in, out); }));
    CHECK(throws(ErrorCode::invalid_argument, "too small",
                 [&] { pipeline_reduce(device, away, sum, ReduceOp::sum, {.memory = 100}); }));
    std::vector<double> other(x.size());
    HostSink doubles(other);
    CHECK(throws(ErrorCode::invalid_argument, "the same type, got f32 and f64",
                 [&] { pipeline_scan(device, in, doubles); }));
    CHECK(throws(ErrorCode::invalid_argument, "",
                 [&] { pipeline_map(device, away, doubles, MapFunction::copy); }));
    CHECK(throws(ErrorCode::invalid_argument, "must be u16, u32 or u64, got f64",
                 [&] { pipeline_histogram(device, in, doubles, pipeline_ring); }));
    CHECK(throws(ErrorCode::invalid_argument, "overlaps", [&] {
        HostSink shifted(y.data() + 1, y.size() - 1, Type::f32);
        pipeline_map(device, HostSource(std::span(y).first(y.size() - 1)), shifted, MapFunction::copy);
    }));
    CHECK(throws(ErrorCode::invalid_argument, "no_such",
                 [&] { pipeline_map(device, in, out, MapFunction::copy, {.call = {"no_such"}}); }));
}

DEVICE_TEST(pipelines_read_and_write_files) {
    const auto x = random_values<float>(300000);
    struct File {
        std::string path = (std::filesystem::temp_directory_path() / "concord-pipeline-XXXXXX").string();
        int descriptor = ::mkstemp(path.data());
        ~File() {
            ::close(descriptor);
            ::unlink(path.c_str());
        }
    } const file;
    REQUIRE(file.descriptor >= 0);
    REQUIRE(::write(file.descriptor, "head", 4) == 4);
    FileSink to(file.descriptor, file.path, x.size(), Type::f32);
    pipeline_map(device, HostSource(x), to, MapFunction::copy, {.segment = 100000});
    Pile<float> out(x.size());
    pipeline_map(device, FileSource(file.path, 4, x.size(), Type::f32), out, MapFunction::copy);
    CHECK(same_bits(out.values, x));
    CHECK(throws(ErrorCode::io, "too short, got 1200004 bytes",
                 [&] { FileSource(file.path, 8, x.size(), Type::f32); }));
    CHECK(throws(ErrorCode::io, "FileSource: cannot be read, got 'no-such-file': No such file",
                 [&] { FileSource("no-such-file", 0, 1, Type::u8); }));
    const FileSource in(file.descriptor, file.path, 4, x.size(), Type::f32);
    Pile<float> part(x.size());
    CHECK(throws(ErrorCode::io, "the file was truncated while it was read", [&] {
        pipeline_map(device, in, part, MapFunction::copy,
                     {.segment = 100000,
                      .progress = [&](u64, u64) { CHECK(::ftruncate(file.descriptor, 500000) == 0); }});
    }));
}

DEVICE_TEST(failed_pipelines_free_their_memory) {
    const u64 n = 100000;
    const auto x = random_values<float>(n);
    {
        Pile<float> out(n);
        pipeline_map(device, Away<float>(x), out, MapFunction::copy, {.segment = 16384});
    }
    const u64 before = device.memory_use().in_use;
    for (const u32 depth : {1, 3}) {
        for (const u64 at : {0, 40000, 65000}) {
            Away<float> in(x);
            Pile<float> out(n);
            in.fails_from = at;
            CHECK(throws(ErrorCode::io, "the source is gone", [&] {
                pipeline_scan(device, in, out, ReduceOp::sum, ScanKind::inclusive,
                              {.segment = 16384, .depth = depth});
            }));
            Pile<float> full(n);
            full.full_at = at;
            CHECK(throws(ErrorCode::io, "the sink is full", [&] {
                pipeline_map(device, Away<float>(x), full, MapFunction::copy,
                             {.segment = 16384, .depth = depth});
            }));
        }
        u64 last = 0;
        Pile<float> out(n);
        CHECK(throws(ErrorCode::out_of_memory, "enough", [&] {
            pipeline_compact(device, Away<float>(x), out, KeepRule::positive,
                             {.segment = 16384, .depth = depth, .progress = [&](u64 done, u64 all) {
                                  CHECK(done > last);
                                  CHECK(all == n);
                                  last = done;
                                  if (done > n / 2)
                                      throw Error(ErrorCode::out_of_memory, "progress", "enough");
                              }});
        }));
        CHECK(last > n / 2);
        CHECK(last < n);
    }
    CHECK(device.memory_use().in_use == before);
}

DEVICE_TEST(pipelines_stay_within_the_memory_limit) {
    const u64 n = 1 << 22, limit = u64{8} << 20;
    const auto x = random_values<float>(n);
    device.trim();
    const u64 before = device.memory_use().in_use;
    std::vector<float> one(1);
    // A default length, the longest that fits the limit, and a length that a pool would round up.
    for (const u64 segment : {u64{0}, limit, limit / 5 * 2}) {
        CAPTURE(segment);
        HostSink sum(one);
        u64 most = 0;
        const PipelineRun run =
            pipeline_reduce(device, Away<float>(x), sum, ReduceOp::sum,
                            {.memory = limit, .segment = segment, .progress = [&](u64, u64) {
                                 most = std::max(most, device.memory_use().in_use - before);
                             }});
        CHECK(most <= limit);
        CHECK(run.segments > 2);
        CHECK(run.segment * run.depth * sizeof(float) <= limit);
    }
}

TEST_SUITE_END();
