#include "port.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <thread>

namespace ports {
namespace {

using Clock = std::chrono::steady_clock;

f64 seconds_since(Clock::time_point begin) {
    return std::chrono::duration<f64>(Clock::now() - begin).count();
}

// The best of several rounds. `round(n)` does the work n times and returns seconds.
template <class F>
f64 best_time(F round) {
    round(1);
    const f64 once = std::max(round(1), 1e-7);
    const auto times = static_cast<u64>(std::clamp(0.005 / once, 1.0, 1e5));
    f64 best = once;
    const auto begin = Clock::now();
    for (int i = 0; i < 80 && (i < 5 || seconds_since(begin) < 1.5); ++i)
        best = std::min(best, round(times) / static_cast<f64>(times));
    return best;
}

std::string fixed(f64 value, int digits) {
    std::array<char, 64> text;
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits);
    return error == std::errc() ? std::string(text.data(), end) : "?";
}

// Compiles the sources for a GPU that need not exist. False without NVRTC.
bool compile(const std::vector<KernelSpec>& sources) {
    std::shared_ptr<Device> device;
    try {
        device = open_device("cuda@sm_90");
    } catch (const Error&) {
        return false;
    }
    for (const KernelSpec& spec : sources)
        device->kernel(spec);
    return true;
}

}  // namespace

void Check::differs(const std::string& what, u64 i, f32 expected, f32 got) {
    ++wrong_;
    std::cout << device_ << ": " << what << ": element " << i << ": expected " << expected << " (0x"
              << std::hex << std::bit_cast<u32>(expected) << "), got " << got << " (0x"
              << std::bit_cast<u32>(got) << std::dec << ")\n";
}

void Check::compare(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got,
                    const std::function<bool(f32 expected, f32 got)>& agree) {
    ++done_;
    if (expected.empty() || expected.size() != got.size())
        throw std::runtime_error(what + ": the sizes differ or are 0, expected " +
                                 std::to_string(expected.size()) + " elements, got " +
                                 std::to_string(got.size()));
    for (u64 i = 0; i < expected.size(); ++i) {
        if (agree(expected[i], got[i])) continue;
        differs(what, i, expected[i], got[i]);
        return;
    }
}

void Check::bits(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got) {
    compare(what, expected, got, [](f32 a, f32 b) { return std::bit_cast<u32>(a) == std::bit_cast<u32>(b); });
}

void Check::near(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got,
                 f64 relative, f64 least) {
    compare(what, expected, got, [&](f32 a, f32 b) {
        return std::abs(f64{a} - f64{b}) <= relative * std::max(std::abs(f64{a}), least);
    });
}

void Bench::work(const std::string& what, u64 elements, u64 bytes) {
    elements_ = elements;
    bytes_ = bytes;
    port_ = 0;
    std::cout << "\n"
              << stream_.device().info().selector << ", " << what << "\n"
              << std::left << std::setw(34) << "  form" << std::right << std::setw(14) << "ns/element"
              << std::setw(10) << "GB/s" << std::setw(20) << "port's speed" << std::endl;
}

void Bench::print(const std::string& name, f64 seconds) {
    if (port_ == 0) port_ = seconds;
    std::cout << std::left << std::setw(34) << "  " + name << std::right << std::setw(14)
              << fixed(seconds * 1e9 / static_cast<f64>(elements_), 3) << std::setw(10)
              << fixed(static_cast<f64>(bytes_) / seconds * 1e-9, 1) << std::setw(19)
              << fixed(seconds / port_, 2) + "x" << std::endl;
}

f64 Bench::time(const std::function<void()>& enqueue) {
    return best_time([&](u64 times) {
        stream_.synchronize();
        const auto begin = Clock::now();
        for (u64 i = 0; i < times; ++i)
            enqueue();
        stream_.synchronize();
        return seconds_since(begin);
    });
}

f64 Bench::time_loop(HostKernel::Entry entry, const void* const* arguments) {
    const u32 count = stream_.device().traits().units;
    std::barrier step(count);
    u64 times = 0;  // 0 ends the threads
    const auto part = [&](u32 index, u64 n) {
        Group group;
        group.x = index;
        group.count_x = count;
        for (u64 i = 0; i < n; ++i) {
            entry(group, arguments);
            step.arrive_and_wait();
        }
    };
    std::vector<std::jthread> threads;
    for (u32 index = 1; index < count; ++index) {
        threads.emplace_back([&, index] {
            for (;;) {
                step.arrive_and_wait();
                const u64 n = times;  // the main thread changes it after all parts
                if (n == 0) return;
                part(index, n);
            }
        });
    }
    const f64 best = best_time([&](u64 n) {
        times = n;
        step.arrive_and_wait();
        const auto begin = Clock::now();
        part(0, n);
        return seconds_since(begin);
    });
    times = 0;
    step.arrive_and_wait();
    return best;
}

std::vector<f32> random_values(u64 count, f32 low, f32 high, u64 seed) {
    std::vector<f32> values(count);
    u64 state = seed * 0x9e3779b97f4a7c15 + 1;
    for (f32& value : values) {
        state = state * 6364136223846793005 + 1442695040888963407;
        value = low + (high - low) * static_cast<f32>(state >> 40) * 0x1p-24f;
    }
    return values;
}

int run(int argc, char** argv, const Port& port) try {
    u32 fault = 0;
    bool measures = false;
    std::vector<std::string> patterns;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--bench") {
            measures = true;
        } else if (argument == "--fault") {
            const std::string_view number = i + 1 < argc ? argv[++i] : "";
            const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fault);
            if (error != std::errc() || end != number.data() + number.size() || fault < 1 ||
                fault > port.faults)
                throw std::runtime_error("port-" + port.name + ": --fault: must be 1 to " +
                                         std::to_string(port.faults) + ", got '" + std::string(number) + "'");
        } else {
            patterns.emplace_back(argument);
        }
    }
    if (patterns.empty()) patterns = {"all"};

    u64 wrong = 0;
    for (const std::string& pattern : patterns) {
        for (const std::string& selector : device_selectors(pattern)) {
            const auto device = open_device(selector);
            if (!device->traits().runs || !device->traits().fp64) {
                std::cout << selector << ": skipped, " << (device->traits().runs ? "no f64" : "compiles only")
                          << "\n";
                continue;
            }
            const auto stream = device->create_stream();
            if (measures) {
                Bench bench(*stream);
                port.bench(*stream, bench);
                continue;
            }
            Check check(selector);
            port.check(*stream, check, fault);
            std::cout << selector << ": " << port.name << ", " << check.done() << " comparisons, "
                      << check.wrong() << " differ\n";
            wrong += check.wrong();
        }
    }
    if (!measures && fault == 0) {
        std::cout << "the port compiles for";
        for (const std::string& selector : port.compile())
            std::cout << " " << selector;
        std::cout << "\n";
        if (compile(port.sources)) std::cout << "the CUDA sources compile for cuda@sm_90\n";
    }
    return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}

}  // namespace ports
