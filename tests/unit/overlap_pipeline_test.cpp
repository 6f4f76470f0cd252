// Overlap of the stages of pipelines, measured with a trace. Each test also measures the same work without overlap,
// to show that the check can fail.
#include "pipeline_data.hpp"
#include "spin.hpp"

#include <concord/dlpack.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

using namespace concord;
using test::Pile;
using test::spin_kernel;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double overlap_us = 300;     // minimum that counts; clocks agree to about 10 us
constexpr double transfer_us = 5;      // a GPU transfers a segment in about 20 us, by its own clock
constexpr int attempts = 5;            // the machine may run other work
constexpr u32 spin_steps = 4'000'000;  // a few milliseconds
constexpr u64 segment_bytes = u64{1} << 20;

struct Interval {
    double begin, end;  // microseconds from the start of the trace
};

// The longest overlap of an interval of a with an interval of b.
double overlap(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    double longest = 0;
    for (const Interval& x : a) {
        for (const Interval& y : b)
            longest = std::max(longest, std::min(x.end, y.end) - std::max(x.begin, y.begin));
    }
    return longest;
}

// The largest result of a few attempts. Stops when one exceeds `wanted`.
template <class F>
double largest_of(double wanted, F&& f) {
    double largest = 0;
    for (int i = 0; i < attempts && largest <= wanted; ++i)
        largest = std::max(largest, f());
    return largest;
}

// A source whose reads take a few milliseconds and are recorded.
class SlowSource final : public PipelineSource {
  public:
    explicit SlowSource(u64 count) : PipelineSource(Type::u32, count) {}
    void read(void* to, u64 /*first*/, u64 bytes) const override {
        const auto begin = Clock::now();
        std::memset(to, 0, bytes);
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        reads.emplace_back(begin, Clock::now());
    }
    mutable std::vector<std::pair<Clock::time_point, Clock::time_point>> reads;
};

// The times of one engine's operations on a device. Of kernels, only those that spin.
std::vector<Interval> times_of(const Trace& trace, const Device& device, Engine engine) {
    std::vector<Interval> times;
    for (const TraceEvent& event : trace.events()) {
        const bool is_spin = event.name == "spin" || event.engine != Engine::kernel;
        if (trace.devices()[event.device].selector == device.info().selector && event.engine == engine &&
            is_spin)
            times.push_back({event.begin, event.end});
    }
    return times;
}

// Runs a pipeline with kernels of a few milliseconds: each segment spins on one work-item, then copies.
void spin_through(const PipelineDevices& devices, const PipelineSource& in, u32 depth) {
    std::vector<std::pair<Device*, std::shared_ptr<Kernel>>> kernels;
    std::vector<Array<u32>> marks;
    for (Device* device : devices.list()) {
        kernels.emplace_back(device, spin_kernel(*device));
        marks.emplace_back(*device, 1);
    }
    Pile<u32> out(in.count());
    detail::pipeline_map("map", devices, {&in}, out,
                         [&](Stream& stream, std::span<const View> from, const View& to) {
                             for (std::size_t i = 0; i < kernels.size(); ++i) {
                                 if (kernels[i].first == &stream.device())
                                     launch(stream, *kernels[i].second, LaunchShape{}, marks[i].span(),
                                            spin_steps);
                             }
                             return map(stream, from[0], to, MapFunction::copy);
                         },
                         {.segment = segment_bytes, .depth = depth});
    CHECK(out.values == std::vector<u32>(in.count()));
}

constexpr u64 four_segments = 4 * segment_bytes / sizeof(u32);

}  // namespace

TEST_SUITE_BEGIN("device");

DEVICE_TEST(a_pipeline_reads_while_kernels_run) {
    spin_through(device, SlowSource(1), 1);  // compiles
    auto overlap_with = [&](u32 depth) {
        const SlowSource in(four_segments);
        Trace trace;
        const auto start = Clock::now();
        spin_through(device, in, depth);
        trace.finish();
        auto at = [&](Clock::time_point time) {
            return std::chrono::duration<double, std::micro>(time - start).count();
        };
        std::vector<Interval> reads;
        for (const auto& [begin, end] : in.reads)
            reads.push_back({at(begin), at(end)});
        const auto kernels = times_of(trace, device, Engine::kernel);
        CHECK(reads.size() == 4);
        CHECK(kernels.size() == 4);
        return overlap(reads, kernels);
    };
    CHECK(largest_of(overlap_us, [&] { return overlap_with(2); }) > overlap_us);
    CHECK(overlap_with(1) < overlap_us);
}

DEVICE_TEST(a_pipeline_uploads_and_downloads_while_kernels_run) {
    // A CPU that computes also copies.
    REQUIRES(!device.traits().shares_host_memory && device.info().rank <= 1, test::needs::own_memory);
    spin_through(device, SlowSource(1), 1);
    auto overlap_with = [&](Engine engine, u32 depth) {
        const SlowSource in(four_segments);
        Trace trace;
        spin_through(device, in, depth);
        trace.finish();
        const auto kernels = times_of(trace, device, Engine::kernel),
                   transfers = times_of(trace, device, engine);
        CHECK(kernels.size() == 4);
        CHECK(transfers.size() == 4);
        return overlap(transfers, kernels);
    };
    for (const Engine engine : {Engine::upload, Engine::download}) {
        CAPTURE(name_of(engine));
        const double longest = largest_of(transfer_us, [&] { return overlap_with(engine, 3); });
        // NVIDIA's OpenCL has not been observed to overlap downloads with kernels.
        if (device.traits().dlpack_type == dlpack::DeviceType::opencl && engine == Engine::download) {
            MESSAGE(device.info().selector << ": downloads overlap kernels for " << longest << " us");
        } else {
            CHECK(longest > transfer_us);
        }
        CHECK(overlap_with(engine, 1) < transfer_us);
    }
}

DEVICE_TEST(devices_that_share_a_pipeline_run_concurrently) {
    const auto other = open_device("tbb");
    REQUIRES(other.get() != &device, test::needs::another_device);
    spin_through({device, *other}, SlowSource(2 * segment_bytes / sizeof(u32)), 1);
    auto overlap_of = [&](auto&& work) {
        Trace trace;
        work();
        trace.finish();
        return overlap(times_of(trace, device, Engine::kernel), times_of(trace, *other, Engine::kernel));
    };
    const double together = largest_of(overlap_us, [&] {
        return overlap_of([&] { spin_through({device, *other}, SlowSource(2 * four_segments), 2); });
    });
    CHECK(together > overlap_us);
    CHECK(overlap_of([&] {
              spin_through(device, SlowSource(four_segments), 2);
              spin_through(*other, SlowSource(four_segments), 2);
          }) < overlap_us);
}

TEST_SUITE_END();
