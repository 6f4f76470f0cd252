// Traces of streams. Written once, run for every device.
#include "devices.hpp"
#include "spin.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

using namespace concord;
using test::random_values;
using test::spin_kernel;
using test::throws;

namespace {

// Chrome's format: every event has the fields that viewers need, and operations of a stream do not overlap.
void check_json(const std::string& text, std::size_t operations) {
    const nlohmann::json json = nlohmann::json::parse(text);
    std::size_t complete = 0;
    std::map<std::pair<int, int>, double> until;
    std::set<int> named;
    for (const auto& event : json.at("traceEvents")) {
        CHECK(event.at("name").is_string());
        CHECK(event.at("ts").is_number());
        CHECK(event.at("dur").is_number());
        const int pid = event.at("pid").get<int>(), tid = event.at("tid").get<int>();
        if (event.at("ph") == "M") {
            if (event.at("name") == "process_name") named.insert(pid);
            continue;
        }
        CHECK(event.at("ph") == "X");
        CHECK(named.count(pid) == 1);
        ++complete;
        const double begin = event.at("ts").get<double>(), duration = event.at("dur").get<double>();
        CHECK(duration >= 0);
        double& end = until[{pid, tid}];
        CHECK(begin >= end - 0.01);  // JSON has three digits
        end = begin + duration;
        CHECK(event.at("cat") == event.at("args").at("engine"));
    }
    CHECK(complete == operations);
}

}  // namespace

TEST_SUITE_BEGIN("device");

STREAM_TEST(a_trace_lists_operations_in_order) {
    const u64 n = 1 << 20;
    const auto values = random_values<float>(n);
    std::vector<float> got(n);
    const Array<float> x(stream, n), y(stream, n);
    const auto host = device.allocate_host(n * sizeof(float));
    map(stream, x, y, MapFunction::negate);  // compiles the kernel
    stream.synchronize();

    Trace trace;
    CHECK(throws(ErrorCode::invalid_argument, "already", [] { Trace second; }));
    std::string kernel;
    observe_launches(stream, [&](const Kernel& k, const LaunchShape&) { kernel = k.name(); });
    stream.write(*x.buffer(), 0, values.data(), n * sizeof(float));
    map(stream, x, y, MapFunction::negate);
    stream.copy(*x.buffer(), 0, *y.buffer(), 0, n * sizeof(float));
    const float zero = 0;
    stream.fill(*y.buffer(), 0, n * sizeof(float), &zero, 4);
    stream.callback([] {});
    stream.copy(*host, 0, *x.buffer(), 0, n * sizeof(float));
    stream.read(got.data(), *x.buffer(), 0, n * sizeof(float));
    observe_launches(stream, {});
    trace.finish();
    // Later work is not in the trace.
    stream.fill(*y.buffer(), 0, 4, &zero, 4);
    stream.synchronize();

    u64 wrong = 0;
    for (u64 i = 0; i < n; ++i)
        wrong += got[i] != -values[i];
    CHECK(wrong == 0);
    const auto& events = trace.events();
    REQUIRE(events.size() == 7);
    const Engine engines[] = {Engine::upload,   Engine::kernel,   Engine::copy,    Engine::fill,
                              Engine::callback, Engine::download, Engine::download};
    for (std::size_t i = 0; i < events.size(); ++i) {
        const TraceEvent& event = events[i];
        CAPTURE(i);
        CHECK(event.engine == engines[i]);
        CHECK(event.name == (event.engine == Engine::kernel ? kernel : std::string(name_of(event.engine))));
        CHECK(event.stream == 1);
        const bool moves = event.engine != Engine::kernel && event.engine != Engine::callback;
        CHECK(event.bytes == (moves ? n * sizeof(float) : 0));
        CHECK(event.end >= event.begin);
        if (i > 0) CHECK(event.begin >= events[i - 1].end - 1e-6);
        // Same time axis as the host: clocks agree to some microseconds, unless another process uses the processor.
        CHECK(event.begin >= event.enqueued - 1000);
    }
    CHECK(trace.dropped() == 0);
    REQUIRE(trace.devices().size() == 1);
    CHECK(trace.devices()[0].selector == device.info().selector);
    check_json(trace.json(), 7);
}

DEVICE_TEST(a_trace_shows_concurrent_streams) {
    REQUIRES(device.traits().units > 1, test::needs::two_units);
    const std::shared_ptr<Stream> streams[] = {device.create_stream(), device.create_stream()};
    const auto kernel = spin_kernel(device);
    const Array<u32> out(device, 2);
    auto spin = [&](u32 steps) {
        for (u64 i = 0; i < 2; ++i)
            launch(*streams[i], *kernel, LaunchShape{}, out.span().part(i, 1), steps);
        for (const auto& stream : streams)
            stream->synchronize();
    };
    spin(1);
    Trace trace;
    spin(20'000'000);
    trace.finish();
    const auto& events = trace.events();
    REQUIRE(events.size() == 2);
    CHECK(events[0].stream != events[1].stream);
    // OpenCL does not guarantee that queues run concurrently on a GPU.
    if (device.info().backend != "opencl" || device.traits().launch != LaunchModel::groups)
        CHECK(std::max(events[0].begin, events[1].begin) < std::min(events[0].end, events[1].end));
    check_json(trace.json(), 2);
}

STREAM_TEST(a_trace_shows_replayed_operations) {
    const Array<u32> x(stream, std::vector<u32>(1000, 1)), y(stream, 1000);
    stream.begin_recording();
    map(stream, x, y, MapFunction::negate);
    stream.copy(*x.buffer(), 0, *y.buffer(), 0, 4000);
    const auto recording = stream.end_recording();
    Trace trace;
    recording->replay(stream);
    recording->replay(stream);
    trace.finish();
    REQUIRE(trace.events().size() == 4);
    CHECK(trace.events()[0].engine == Engine::kernel);
    CHECK(trace.events()[3].engine == Engine::copy);
}

DEVICE_TEST(a_trace_has_the_work_of_all_threads) {
    const auto shared = device.create_stream();
    const auto buffer = device.allocate(4096);
    Trace trace;
    {
        std::vector<std::jthread> threads;
        for (u32 t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                const auto own = device.create_stream();
                const auto scratch = own->scratch(4096);
                for (u32 i = 0; i < 100; ++i) {
                    own->fill(*scratch, 0, 4096, &t, 4);
                    shared->fill(*buffer, 0, 4096, &t, 4);
                }
            });
        }
    }
    trace.finish();
    CHECK(trace.events().size() == 800);
    check_json(trace.json(), 800);
}

STREAM_TEST(traces_follow_one_another) {
    const auto buffer = device.allocate(4096);
    const u32 zero = 0;
    for (u64 operations : {1, 200, 3}) {
        Trace trace;
        for (u64 i = 0; i < operations; ++i)
            stream.fill(*buffer, 0, 4096, &zero, 4);
        CHECK(trace.events().empty());
        trace.finish();
        CHECK(trace.events().size() == operations);
        check_json(trace.json(), operations);
    }
    {
        const Trace abandoned;
        stream.fill(*buffer, 0, 4096, &zero, 4);
    }
    stream.fill(*buffer, 0, 4096, &zero, 4);
    stream.synchronize();
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("core");

TEST_CASE("a trace has one time axis for all devices and keeps destroyed streams") {
    Trace trace;
    const auto selectors = device_selectors();
    double before = 0;
    for (const std::string& selector : selectors) {
        const auto device = open_device(selector);
        const auto stream = device->create_stream();
        const auto buffer = device->allocate(1 << 20);
        const u32 zero = 0;
        stream->fill(*buffer, 0, 1 << 20, &zero, 4);
        stream->synchronize();
    }
    trace.finish();
    REQUIRE(trace.devices().size() == selectors.size());
    REQUIRE(trace.events().size() == selectors.size());
    // The devices run one after another. The gap exceeds the error of the clocks, because opening a device takes
    // longer.
    for (std::size_t i = 0; i < selectors.size(); ++i) {
        CHECK(trace.devices()[i].selector == selectors[i]);
        CHECK(trace.events()[i].begin >= before - 1000);
        before = trace.events()[i].end;
    }
    check_json(trace.json(), selectors.size());
}

TEST_CASE("an empty trace is valid") {
    Trace trace;
    trace.finish();
    CHECK(trace.events().empty());
    check_json(trace.json(), 0);
}

TEST_SUITE_END();
