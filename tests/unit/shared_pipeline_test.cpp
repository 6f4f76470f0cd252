// Pipelines on two devices: the device under test and the oneTBB device. Results are bitwise identical to one call,
// whichever device processes a segment.
#include "pipeline_data.hpp"
#include "test_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace concord;
using test::Away;
using test::other_than;
using test::Pile;
using test::random_values;
using test::rough_values;
using test::same_bits;
using test::throws;
using test::whole;

namespace {

// Calls f with the devices in both orders, data from sources and in memory, short segments and measured lengths.
template <class T, class F>
void each_share(Device& a, Device& b, const std::vector<T>& values, std::initializer_list<u64> segments,
                F&& f) {
    for (const bool turned : {false, true}) {
        const PipelineDevices devices = turned ? PipelineDevices{b, a} : PipelineDevices{a, b};
        CAPTURE(turned);
        for (const u64 segment : segments) {
            CAPTURE(segment);
            const u32 depth = segment % 3 + 1;
            f(devices, Away<T>(values), PipelineOptions{.segment = segment * sizeof(T), .depth = depth});
            f(devices, HostSource(values), PipelineOptions{.segment = segment * sizeof(T)});
        }
        f(devices, Away<T>(values), PipelineOptions{});
        f(devices, HostSource(values), PipelineOptions{.memory = u64{32} << 20});
    }
}

// Checks that both devices took part if there was work for both, and that their shares add up.
void check_shares(const PipelineRun& run, u64 n) {
    REQUIRE(run.shares.size() == 2);
    CHECK(run.device == run.shares[0].device);
    CHECK(run.shares[0].segments + run.shares[1].segments == run.segments);
    CHECK(run.shares[0].elements + run.shares[1].elements == n);
    for (const PipelineShare& share : run.shares) {
        if (run.segments > 1) CHECK(share.segments > 0);
        CHECK(share.variant.empty() == (share.segments == 0));
    }
}

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(shared_maps_are_bitwise_identical_to_one_call) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    for (const u64 n : {0, 1, 1001, 65537}) {
        CAPTURE(n);
        const auto x = random_values<float>(n), y = random_values<float>(n, 2);
        const auto f = pipeline_affine.bind(0.7f, 0.1f);
        const auto mapped = whole<float, float>(
            device, x, n, [&](Stream& stream, const auto& in, const auto& out) { map(stream, in, out, f); });
        each_share(device, *other, x, {999, 4096},
                   [&](const auto& devices, const PipelineSource& in, const PipelineOptions& options) {
                       Pile<float> out(n);
                       const PipelineRun run = pipeline_map(devices, in, out, f, options);
                       CHECK(same_bits(out.values, mapped));
                       CHECK(run.count == n);
                       check_shares(run, n);
                       std::vector<float> there(n);
                       HostSink memory(there);
                       pipeline_map(devices, HostSource(x), memory, f, options);
                       CHECK(same_bits(there, mapped));
                   });
        std::vector<float> sum(x);
        for (u64 i = 0; i < n; ++i)
            sum[i] += y[i];
        // In place, as in one call.
        std::vector<float> there(x);
        HostSink memory(there);
        pipeline_add({device, *other}, HostSource(there), HostSource(y), memory, {.segment = 4000});
        CHECK(same_bits(there, sum));
    }
}

DEVICE_TEST(shared_reductions_are_bitwise_identical_to_one_call) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    for (const u64 n : {0, 1, 1025, 65537, (1 << 22) + 4097}) {
        CAPTURE(n);
        const auto x = rough_values(n);
        const auto sum =
            whole<float, float>(device, x, 1, [](Stream& stream, const auto& in, const auto& out) {
                reduce(stream, in, out, ReduceOp::sum, {.order = OperationOrder::canonical});
            });
        each_share(device, *other, x, {3001, 65536},
                   [&](const auto& devices, const PipelineSource& in, const PipelineOptions& options) {
                       Pile<float> out(1);
                       const PipelineRun run = pipeline_reduce(devices, in, out, ReduceOp::sum, options);
                       CHECK(same_bits(out.values, sum));
                       CHECK(run.variant == "fixed");
                       check_shares(run, n);
                   });
    }
    const auto x = rough_values(100003);
    const auto op = pipeline_scaled.bind(0.75f);
    const auto scaled = whole<float, float>(
        device, x, 1,
        [&](Stream& stream, const auto& in, const auto& out) { reduce(stream, in, out, op, 0.0f); });
    Pile<float> out(1);
    pipeline_reduce({device, *other}, Away<float>(x), out, op, 0.0f, {.segment = 5000});
    CHECK(same_bits(out.values, scaled));
}

DEVICE_TEST(shared_scans_are_bitwise_identical_to_one_call) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    const u64 tile = 65536;  // of oneTBB; a GPU's tile is a sixteenth
    for (const u64 n : {u64{0}, u64{1}, tile + 1, 16 * tile + 1, 35 * tile + 7919}) {
        CAPTURE(n);
        const auto x = rough_values(n);
        for (const ScanKind kind : {ScanKind::inclusive, ScanKind::exclusive}) {
            CAPTURE(name_of(kind));
            const auto sums =
                whole<float, float>(device, x, n, [&](Stream& stream, const auto& in, const auto& out) {
                    scan(stream, in, out, ReduceOp::sum, kind, {.order = OperationOrder::canonical});
                });
            each_share(device, *other, x, {tile, 3 * tile + 1},
                       [&](const auto& devices, const PipelineSource& in, const PipelineOptions& options) {
                           Pile<float> out(n);
                           const PipelineRun run =
                               pipeline_scan(devices, in, out, ReduceOp::sum, kind, options);
                           CHECK(same_bits(out.values, sums));
                           CHECK(run.count == n);
                           check_shares(run, n);
                       });
        }
    }
    const auto x = rough_values(21 * tile + 11);
    const auto op = pipeline_scaled.bind(0.75f);
    const auto scaled = whole<float, float>(
        device, x, x.size(),
        [&](Stream& stream, const auto& in, const auto& out) { scan(stream, in, out, op, 0.0f); });
    std::vector<float> there(x);
    HostSink memory(there);
    pipeline_scan({*other, device}, HostSource(there), memory, op, 0.0f, ScanKind::inclusive,
                  {.segment = tile * 4});
    CHECK(same_bits(there, scaled));
}

DEVICE_TEST(shared_histograms_count_all_samples) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    for (const u64 n : {0, 1, 4097, 200003}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        std::vector<u64> expected(16);
        for (const float v : x)
            ++expected[static_cast<u64>(static_cast<int>(v * 8) + 8)];
        each_share(device, *other, x, {4096, 50001},
                   [&](const auto& devices, const PipelineSource& in, const PipelineOptions& options) {
                       Pile<u64> counters(16);
                       const PipelineRun run =
                           pipeline_histogram(devices, in, counters, pipeline_ring, options);
                       CHECK(counters.values == expected);
                       CHECK(run.count == 16);
                       check_shares(run, n);
                       Pile<u32> words(16);
                       pipeline_histogram(devices, HostSource(x), words, pipeline_ring, options);
                       CHECK(std::equal(words.values.begin(), words.values.end(), expected.begin()));
                   });
        Pile<u16> narrow(1);
        pipeline_histogram({device, *other}, Away<float>(x), narrow, HistogramBins::even(-1, 1),
                           {.segment = 100000});
        CHECK(narrow.values.at(0) == std::min<u64>(n, 65535));
    }
}

DEVICE_TEST(shared_compactions_keep_the_order) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    for (const u64 n : {0, 1, 4097, 200003}) {
        CAPTURE(n);
        const auto x = random_values<float>(n);
        for (const float by : {-1.0f, 0.3f, 2.0f}) {
            std::vector<float> expected;
            for (const float v : x) {
                if (v <= by && v >= -by) expected.push_back(v);
            }
            each_share(device, *other, x, {4096, 50001},
                       [&](const auto& devices, const PipelineSource& in, const PipelineOptions& options) {
                           Pile<float> out(n);
                           const PipelineRun run =
                               pipeline_compact(devices, in, out, pipeline_near.bind(by), options);
                           CHECK(same_bits(out.values, expected));
                           CHECK(run.count == expected.size());
                           check_shares(run, n);
                       });
            std::vector<float> there(x);
            HostSink memory(there);
            pipeline_compact({*other, device}, HostSource(x), memory, pipeline_near.bind(by),
                             {.segment = 40000});
            there.resize(expected.size());
            CHECK(same_bits(there, expected));
        }
    }
}

DEVICE_TEST(a_slow_device_gets_fewer_elements) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    const u64 n = 1 << 20;
    const std::vector<float> x(n, 1.0f);
    const HostSource in(x);
    for (const u64 segment : {u64{1} << 16, u64{0}}) {
        CAPTURE(segment);
        Pile<float> out(n);
        const PipelineRun run = detail::pipeline_map(
            "map", {device, *other}, {&in}, out,
            [&](Stream& stream, std::span<const View> from, const View& to) {
                if (&stream.device() == &device)
                    stream.callback([] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); });
                return map(stream, from[0], to, MapFunction::copy);
            },
            {.segment = segment, .depth = 2});
        CHECK(same_bits(out.values, x));
        check_shares(run, n);
        CHECK(run.shares[0].elements < run.shares[1].elements);
    }
}

DEVICE_TEST(failed_shared_pipelines_free_their_memory) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    const u64 n = 100000;
    const auto x = random_values<float>(n);
    const PipelineDevices both{device, *other};
    auto in_use = [&] { return device.memory_use().in_use + other->memory_use().in_use; };
    auto probe = [&](Device* failing, u64 at) {
        u64 calls = 0;
        const Away<float> in(x);
        Pile<float> out(n);
        detail::pipeline_map("map", both, {&in}, out,
                             [&](Stream& stream, std::span<const View> from, const View& to) {
                                 if (&stream.device() == failing && calls++ == at)
                                     throw Error(ErrorCode::device_failed, "probe", "it is lost", "NATIVE");
                                 return map(stream, from[0], to, MapFunction::copy);
                             },
                             {.segment = 16384});
    };
    probe(nullptr, 0);
    const u64 before = in_use();
    for (Device* failing : {&device, other.get()}) {
        const std::string selector = failing->info().selector;
        for (const u64 at : {0, 1}) {
            CHECK(throws(ErrorCode::device_failed,
                         "pipeline_map on " + selector + ": probe: it is lost [NATIVE]",
                         [&] { probe(failing, at); }));
        }
    }
    for (const u64 at : {0, 40000, 65000}) {
        Away<float> in(x);
        Pile<float> out(n), full(n);
        in.fails_from = at;
        CHECK(throws(ErrorCode::io, "Away: the source is gone", [&] {
            pipeline_scan(both, in, out, ReduceOp::sum, ScanKind::inclusive, {.segment = 16384});
        }));
        full.full_at = at;
        CHECK(throws(ErrorCode::io, "Pile: the sink is full", [&] {
            pipeline_compact(both, Away<float>(x), full, KeepRule::nonzero, {.segment = 16384});
        }));
    }
    u64 last = 0;
    Pile<float> out(n);
    CHECK(throws(ErrorCode::out_of_memory, "progress: enough", [&] {
        pipeline_map(both, Away<float>(x), out, MapFunction::copy,
                     {.segment = 16384, .progress = [&](u64 done, u64 all) {
                          CHECK(done > last);
                          CHECK(all == n);
                          last = done;
                          if (done > n / 2) throw Error(ErrorCode::out_of_memory, "progress", "enough");
                      }});
    }));
    CHECK(last > n / 2);
    CHECK(last < n);
    CHECK(in_use() == before);
}

DEVICE_TEST(shared_pipelines_reject_invalid_calls) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    const auto x = random_values<float>(100000);
    Pile<float> out(x.size()), sum(1);
    const Away<float> in(x);
    const PipelineDevices both{device, *other};
    CHECK(throws(ErrorCode::invalid_argument, "pipeline_map: no device",
                 [&] { pipeline_map(std::vector<std::shared_ptr<Device>>{}, in, out, MapFunction::copy); }));
    CHECK(throws(ErrorCode::invalid_argument, "pipeline_map: device tbb:0 is listed twice", [&] {
        pipeline_map({*other, device, *other}, in, out, MapFunction::copy);
    }));
    CHECK(throws(ErrorCode::unsupported, "pipeline_map on " + device.info().selector + ": ", [&] {
        pipeline_map({*other, device}, in, out, MapFunction::copy, {.call = {"serial"}, .segment = 40000});
    }));
    // The message names the limit that both devices need together.
    std::string what;
    try {
        pipeline_reduce(both, Away<float>(x), sum, ReduceOp::sum, {.memory = 1000});
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::invalid_argument);
        what = error.what();
    }
    const std::string words = "pass at least ";
    REQUIRE(what.find("PipelineOptions::memory: too small for one segment, got 1000 bytes; " + words) !=
            std::string::npos);
    const u64 least = std::stoull(what.substr(what.find(words) + words.size()));
    pipeline_reduce(both, Away<float>(x), sum, ReduceOp::sum, {.memory = least});
    CHECK(sum.values.size() == 1);
}

DEVICE_TEST(shared_pipelines_stay_within_the_memory_limit) {
    const auto other = other_than(device);
    REQUIRES(other, test::needs::another_device);
    const u64 n = 1 << 22, limit = u64{8} << 20;
    const auto x = random_values<float>(n);
    auto in_use = [&] { return device.memory_use().in_use + other->memory_use().in_use; };
    device.trim();
    other->trim();
    const u64 before = in_use();
    Pile<float> sum(1);
    // The longest segments that fit the limit.
    u64 most = 0;
    const PipelineRun run = pipeline_reduce({device, *other}, Away<float>(x), sum, ReduceOp::sum,
                                            {.memory = limit, .segment = limit, .progress = [&](u64, u64) {
                                                 most = std::max(most, in_use() - before);
                                             }});
    CHECK(most <= limit);
    CHECK(most > limit / 3);
    CHECK(run.segments > 2);
}

TEST_SUITE_END();
