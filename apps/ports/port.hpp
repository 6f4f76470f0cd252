#pragma once
// What the ports share: the command line, the comparison of bits, and the measurement.
//
//     port-NAME [DEVICE...]              compares the port with its reference on these devices (default: all)
//     port-NAME --fault N [DEVICE...]    the same with planted fault N: ends with 1, because the check finds it
//     port-NAME --bench [DEVICE...]      measures the port, the original CUDA kernel and loops in C++

#include <concord/concord.hpp>

#include <bit>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace ports {

using namespace concord;

/// Compares results and counts those that differ.
class Check {
  public:
    explicit Check(std::string device) : device_(std::move(device)) {}

    /// Compares bit by bit. Prints the first element that differs.
    void bits(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got);
    /// Compares within a tolerance relative to the expected value, or to `least` if that is smaller.
    void near(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got,
              f64 relative, f64 least = 0);
    u64 wrong() const { return wrong_; }
    u64 done() const { return done_; }

  private:
    void compare(const std::string& what, const std::vector<f32>& expected, const std::vector<f32>& got,
                 const std::function<bool(f32 expected, f32 got)>& agree);
    void differs(const std::string& what, u64 i, f32 expected, f32 got);
    std::string device_;
    u64 wrong_ = 0, done_ = 0;
};

/// Measures forms of the same work and prints their times with ratios.
class Bench {
  public:
    explicit Bench(Stream& stream) : stream_(stream) {}

    /// Begins a table: `elements` results, `bytes` of memory that the work reads and writes at least.
    void work(const std::string& what, u64 elements, u64 bytes);
    /// A row for work that `enqueue` enqueues. The first row of a table is the port. Others are compared with it.
    void row(const std::string& name, const std::function<void()>& enqueue) { print(name, time(enqueue)); }
    /// Whether to measure hand-written CUDA kernels.
    bool has_cuda() const { return stream_.device().traits().dialect == Dialect::cuda; }
    /// A loop in C++ on as many threads as the device `tbb` has, each with a part `group.x` of `group.count_x`. It is
    /// compiled for the instruction sets that ports are compiled for. Does nothing on other devices.
    template <class... A>
    void loop(const std::string& name, const HostKernel& kernel, const A&... arguments) {
        if (stream_.device().traits().launch != LaunchModel::host) return;
        const void* const list[] = {static_cast<const void*>(&arguments)...};
        print(name, time_loop(kernel.entry(stream_.device().traits().host_isa), list));
    }

  private:
    f64 time(const std::function<void()>& enqueue);
    f64 time_loop(HostKernel::Entry entry, const void* const* arguments);
    void print(const std::string& name, f64 seconds);

    Stream& stream_;
    u64 elements_ = 0, bytes_ = 0;
    f64 port_ = 0;  // seconds
};

/// A port: its name, its planted faults 1 ... faults, its check and its measurement.
struct Port {
    std::string name;
    u32 faults = 0;
    std::function<void(Stream&, Check&, u32 fault)> check;
    std::function<void(Stream&, Bench&)> bench;
    /// Compiles the port for all backends, by concord::check, and returns the selectors.
    std::function<std::vector<std::string>()> compile;
    /// Kernels with CUDA sources: the check compiles them for CUDA, also where there is no GPU.
    std::vector<KernelSpec> sources = {};
};

/// The main function of a port.
int run(int argc, char** argv, const Port& port);

/// Values between low and high, the same for the same seed everywhere.
std::vector<f32> random_values(u64 count, f32 low, f32 high, u64 seed);

}  // namespace ports
