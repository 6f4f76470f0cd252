// Tests studies over ranks: expected results, no time for wrong results, and parallel efficiency.

#include "devices.hpp"

#include <concord/concord.hpp>
#include <concord/study/internal/ranks_work.hpp>

#include <map>

using namespace concord;
using namespace concord::study;
using test::throws;

namespace {

const Study& study_named(const std::string& name) {
    return *std::find_if(studies().begin(), studies().end(), [&](const Study& s) { return s.name == name; });
}

Result result(const char* suite, const char* workload, const std::string& variant, u64 n, double bytes,
              std::optional<double> ms) {
    Result r;
    r.algorithm = suite;
    r.workload = workload;
    r.asked = r.variant = variant;
    r.device = "cuda:0";
    r.type = "f32";
    r.n = n;
    r.bytes = bytes;
    r.ms = ms;
    if (ms) {
        r.q1 = *ms * 0.8;
        r.q3 = *ms * 1.25;
    }
    return r;
}

std::vector<Chart> charts_of(const Figure& figure, const Records& records) {
    Data data{records, {}};
    for (const Result& r : records.results)
        data.results.push_back(&r);
    return figure.build(figure, data);
}

// The n elements of all ranks, concatenated.
std::vector<f32> all_elements(const RanksTask& task, const std::vector<std::vector<f32>>& blocks) {
    std::vector<f32> all;
    for (const auto& block : blocks) {
        for (u64 i = 0; i < task.n; ++i)
            all.push_back(block[i % block.size()]);
    }
    return all;
}

}  // namespace

TEST_SUITE_BEGIN("core");

TEST_CASE(
    "efficiency is the time of one rank over that of all ranks, times their number on a shared device") {
    const Study& study = study_named("throughput-scaling");
    REQUIRE(study.figures.size() == 2);
    for (const char* suite : {reduce_ranks, histogram_ranks, sort_ranks}) {
        for (const bool is_shared : {false, true}) {
            const char* workload = is_shared ? shared_ranks : ranks_apart;
            CAPTURE(suite);
            CAPTURE(workload);
            Records records;
            records.devices = {{{"selector", "cuda:0"}, {"name", "A GPU"}, {"threads", 0}}};
            records.results = {result(suite, workload, "ranks1", 1 << 20, 4e6, 2),
                               result(suite, workload, "ranks2", 1 << 20, 8e6, 2.5),
                               result(suite, workload, "ranks4", 1 << 20, 16e6, 8),
                               result(suite, workload, "ranks1", 1 << 24, 64e6, 10),
                               result(suite, workload, "ranks2", 1 << 24, 128e6, std::nullopt),
                               result(suite, workload, "ranks4", 1 << 24, 256e6, 10.4)};
            const std::vector<Chart> charts = charts_of(study.figures[0], records);
            REQUIRE(charts.size() == 1);
            REQUIRE(charts[0].series.size() == 2);
            CHECK(charts[0].missing.size() == 1);
            const double times = is_shared ? 4 : 1;
            const Series &small = charts[0].series[0], &large = charts[0].series[1];
            REQUIRE(small.marks.size() == 3);
            REQUIRE(large.marks.size() == 2);
            CHECK(small.name == "2^20");
            CHECK(small.marks[0].y == doctest::Approx(100));
            CHECK(small.marks[1].x == 2);
            CHECK(small.marks[1].y == doctest::Approx(is_shared ? 160 : 80));
            CHECK(small.marks[2].x == 4);
            CHECK(small.marks[2].y == doctest::Approx(times * 25));
            CHECK(*small.marks[2].low == doctest::Approx(times * 25 / 1.25));
            CHECK(*small.marks[2].high == doctest::Approx(times * 25 / 0.8));
            CHECK(large.marks[1].y == doctest::Approx(times * 100 / 1.04));
            CHECK(charts[0].text.find(
                      is_shared ? "Efficiency with 4 ranks, by elements per rank: 100 % at 2^20, 385 %"
                                : "Efficiency with 4 ranks, by elements per rank: 25.0 % at 2^20, 96.2 "
                                  "% at 2^24.") == 0);
            CHECK((charts[0].text.find("share one device") != std::string::npos) == is_shared);

            const std::vector<Chart> rates = charts_of(study.figures[1], records);
            REQUIRE(rates.size() == 1);
            REQUIRE(rates[0].series.size() == 2);
            CHECK(rates[0].series[0].marks[2].y == doctest::Approx(2));  // GB/s
        }
    }
}

TEST_CASE("efficiency needs a time of one rank") {
    Records records;
    records.results = {result(reduce_ranks, ranks_apart, "ranks1", 1 << 20, 4e6, std::nullopt),
                       result(reduce_ranks, ranks_apart, "ranks2", 1 << 20, 8e6, 2)};
    const std::vector<Chart> charts = charts_of(study_named("throughput-scaling").figures[0], records);
    REQUIRE(charts.size() == 1);
    CHECK(charts[0].series.empty());
    CHECK(charts[0].missing.size() == 2);
    CHECK(charts[0].text.empty());
}

TEST_CASE("weak and strong scaling efficiency of the stencil") {
    for (const bool is_weak : {true, false}) {
        for (const bool is_shared : {false, true}) {
            CAPTURE(is_weak);
            CAPTURE(is_shared);
            const char *suite = is_weak ? weak_ranks : strong_ranks,
                       *workload = is_shared ? shared_ranks : ranks_apart;
            Records records;
            records.devices.push_back({{"selector", "cuda:0"}, {"name", "NVIDIA H200"}});
            for (const char* variant : {"overlapped", "sequential"}) {
                records.results.push_back(
                    result(suite, workload, std::string(variant) + "1", 1 << 18, 1e6, 2));
                records.results.push_back(
                    result(suite, workload, std::string(variant) + "2", 1 << 18, 1e6, 4));
            }
            const Figure& figure = study_named(is_weak ? "weak-scaling" : "strong-scaling").figures[0];
            const std::vector<Chart> charts = charts_of(figure, records);
            REQUIRE(charts.size() == 1);
            CHECK(charts[0].title == std::string("cuda:0, NVIDIA H200, ") + workload + ", 2^18");
            REQUIRE(charts[0].series.size() == 2);
            CHECK(charts[0].series[0].name == "overlapped");
            CHECK(charts[0].guides.size() == 2);
            REQUIRE(charts[0].series[1].marks.size() == 2);
            const double one_for_two = is_weak ? (is_shared ? 2 : 1) : (is_shared ? 1 : 0.5);
            CHECK(charts[0].series[1].marks[1].y == doctest::Approx(50 * one_for_two));
        }
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

STREAM_TEST(expected_results_over_ranks_equal_one_call) {
    for (const RanksTask& task :
         {RanksTask{reduce_ranks, "ranks", 1 << 12, 1}, RanksTask{reduce_ranks, "ranks", 1 << 16, 3},
          RanksTask{reduce_ranks, "ranks", 1 << 23, 2}}) {
        CAPTURE(task.n);
        CAPTURE(task.ranks);
        auto blocks = throughput_blocks(task);
        REQUIRE(blocks.size() == task.ranks);
        CHECK(blocks[0].size() == std::min<u64>(task.n, 1 << 22));
        const Array<f32> all(stream, all_elements(task, blocks)), sum(stream, 1);
        const Array<u64> counters(stream, 256);
        reduce(stream, all, sum, ReduceOp::sum, {.variant = "fixed"});
        histogram(stream, all, counters, throughput_bins());
        CHECK(sum.to_host(stream)[0] == expected_sum(task, blocks));
        const std::vector<u64> counts = expected_counts(task, blocks);
        CHECK(counters.to_host(stream) == counts);
        // Every rank has its own data: exchanging them changes the result.
        if (task.ranks == 1) continue;
        blocks[1] = blocks[0];
        CHECK(expected_sum(task, blocks) != sum.to_host(stream)[0]);
        CHECK(expected_counts(task, blocks) != counts);
    }
}

DEVICE_TEST(calls_over_ranks_are_verified) {
    const auto self = device.shared_from_this();
    for (const auto work_of : {reduce_work, histogram_work}) {
        // One of three ranks is missing.
        const RanksWork three = work_of({"", "ranks", 1 << 14, 3});
        CHECK(throws(ErrorCode::device_failed, "WRONG: rank ", [&] {
            run_on_devices({self, self},
                           [&](Communicator& ranks, Stream& stream) { three.prepare(ranks, stream); });
        }));
        CHECK_NOTHROW(run_on_devices({self, self, self}, [&](Communicator& ranks, Stream& stream) {
            const RanksCalls calls = three.prepare(ranks, stream);
            calls.enqueue(2);
            calls.verify();
        }));
        // Data made of copies of a block.
        const RanksWork copies = work_of({"", "ranks", u64{3} << 22, 2});
        CHECK_NOTHROW(run_on_devices(
            {self, self}, [&](Communicator& ranks, Stream& stream) { copies.prepare(ranks, stream); }));
        // A result left from an earlier call is detected.
        const RanksWork one = work_of({"", "ranks", 1 << 14, 1});
        CHECK(throws(ErrorCode::device_failed, "WRONG: rank 0: element 0 of the result: expected ", [&] {
            run_on_devices({self},
                           [&](Communicator& ranks, Stream& stream) { one.prepare(ranks, stream).verify(); });
        }));
    }
}

DEVICE_TEST(ranks_are_measured_at_each_number_of_them) {
    const auto self = device.shared_from_this();
    for (const char* suite : {reduce_ranks, histogram_ranks, sort_ranks}) {
        for (const u32 devices : {1, 3}) {
            CAPTURE(suite);
            CAPTURE(devices);
            // Sizes beyond the memory are rejected quickly.
            Case what;
            what.suite = suite;
            what.sizes.quick = {1 << 12, u64{1} << 44};
            std::map<std::string, Result> results;
            run_ranks(
                std::vector(devices, self), what, true, nullptr, [](const Result&) { return true; },
                [&](const Result& asked, const ordered_json& row) {
                    const Result r = result_of(line_of(asked, row));
                    CHECK(r.workload == (devices == 1 ? shared_ranks : ranks_apart));
                    results[r.variant + (r.n == 1 << 12 ? "" : " too large")] = r;
                });
            REQUIRE(results.size() == 6);
            for (const char* number : {"1", "2", devices == 1 ? "4" : "3"}) {
                const Result &small = results["ranks" + std::string(number)],
                             &large = results["ranks" + std::string(number) + " too large"];
                CAPTURE(small.problem);
                REQUIRE(small.ms);
                CHECK(*small.ms > 0);
                CHECK(small.bytes ==
                      std::stod(number) * (suite == std::string_view(sort_ranks) ? 2 : 1) * (1 << 14));
                CHECK(large.left_out());
                CHECK(large.problem.find("no room: ") == 0);
            }
        }
    }
}

TEST_SUITE_END();
