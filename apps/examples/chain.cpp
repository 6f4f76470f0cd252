// A chain of ten small calls: what it costs as calls, as a recording, and as the sum of its kernels' times.
//
// Short kernels spend more time waiting for one another than computing. A recording removes the host's work between
// them. On NVIDIA GPUs since compute capability 9.0 each kernel of the chain starts while the one in front of it ends.
// The program verifies that the results of all forms are bitwise identical.
//
// Build, with Concord installed in DIR (in the build tree: example-chain):
//     c++ -std=c++20 -O2 -ffp-contract=off chain.cpp -IDIR/include -LDIR/lib -Wl,-rpath,DIR/lib -lconcord
// Run:
//     ./a.out [ELEMENTS [ROUNDS]]
//     tbb:0, 10 calls on 4096 elements: 18.7 us as calls, 13.6 us as a recording; the kernels take 22.8 us
//
// Times are medians over the rounds. The time of the kernels is the sum of the times of a trace, which measures each
// kernel with events around it. CONCORD_LAUNCH_OVERLAP=off shows the chain without overlap.

#include <concord/concord.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>

using namespace concord;

u64 integer(std::string_view text) {
    u64 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0)
        throw std::runtime_error("chain: ELEMENTS and ROUNDS must be positive integers, got '" +
                                 std::string(text) + "'; usage: chain [ELEMENTS [ROUNDS]]");
    return value;
}

f64 median(std::vector<f64> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

int main(int argc, char** argv) try {
    const u64 n = argc > 1 ? integer(argv[1]) : 4096, rounds = argc > 2 ? integer(argv[2]) : 21;
    constexpr u64 batch = 50;  // chains per round, one after another

    const auto device = open_device();  // $CONCORD_DEVICE, else the preferred device
    const auto stream = device->create_stream();
    std::vector<float> values(n);
    for (u64 i = 0; i < n; ++i)
        values[i] = static_cast<float>(i * 7919 % 1000) * 1e-6f;
    const Array<float> x(*stream, values), y(*stream, n), z(*stream, n), sums(*stream, 2);

    // Each call reads what the one in front of it writes.
    const auto chain = [&] {
        map(*stream, x, y, MapFunction::square);
        scan(*stream, y, z);
        map(*stream, z, y, MapFunction::sqrt);
        reduce(*stream, y, sums.span().part(0, 1));
        map(*stream, y, z, MapFunction::negate);
        scan(*stream, z, y);
        map(*stream, y, z, MapFunction::abs);
        reduce(*stream, z, sums.span().part(1, 1));
        map(*stream, z, y, MapFunction::exp);
        add(*stream, y, z, y);
    };
    const auto results = [&] {
        std::vector<float> all = y.to_host(*stream), last = sums.to_host(*stream);
        all.insert(all.end(), last.begin(), last.end());
        return all;
    };
    chain();
    const std::vector<float> expected = results();
    bool right = true;

    const auto time = [&](const auto& once) {
        std::vector<f64> times;
        for (u64 round = 0; round <= rounds; ++round) {
            stream->synchronize();
            const auto start = std::chrono::steady_clock::now();
            for (u64 i = 0; i < batch; ++i)
                once();
            stream->synchronize();
            const std::chrono::duration<f64, std::micro> took = std::chrono::steady_clock::now() - start;
            if (round > 0) times.push_back(took.count() / batch);  // the first round warms up
        }
        right = right && results() == expected;
        return median(times);
    };

    const f64 as_calls = time(chain);
    stream->begin_recording();
    chain();
    const auto recording = stream->end_recording();
    const f64 as_recording = time([&] { recording->replay(*stream); });

    // The trace must not count the first kernels, for which the device wakes up.
    std::vector<f64> sum_of_kernels;
    for (u64 round = 0; round <= rounds; ++round) {
        Trace trace;
        chain();
        trace.finish();
        f64 sum = 0;
        for (const TraceEvent& event : trace.events())
            sum += event.end - event.begin;
        if (round > 0) sum_of_kernels.push_back(sum);
    }
    right = right && results() == expected;

    std::cout.precision(3);
    std::cout << device->info().selector << ", 10 calls on " << n << " elements: " << as_calls
              << " us as calls, " << as_recording << " us as a recording; the kernels take "
              << median(sum_of_kernels) << " us\n";
    if (!right) {
        std::cout << "the results on " << device->info().selector << " differ\n";
        return 1;
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
