// Concord's CUDA kernels beside cudaMemcpyAsync and CUB, in one run on one device.
//
// Build:  cmake -B build -DCONCORD_PEERS=ON && cmake --build build
// Run:    build/bin/concord-peers
//
// Every time is the median over repeats of a batch of calls between two events of the same kind of stream, so
// that both sides are measured alike; rows marked `alone` have one call between the events, the device idle
// before. Results are verified before anything is timed.

#include <concord/concord.hpp>

#include <cub/cub.cuh>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using concord::f32;
using concord::u32;
using concord::u64;
using Clock = std::chrono::steady_clock;

void check(cudaError_t error, const char* call) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    std::exit(4);
}
#define CHECK(call) check(call, #call)

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int batch_of(u64 bytes) {
    return bytes > (u64{64} << 20) ? 5 : 100;
}
constexpr int repeats = 15;
constexpr int alone_repeats = 101;

// Microseconds a call.
template <class F>
double time_peer(cudaStream_t stream, int batch, F&& call) {
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<double> times;
    for (int r = 0; r < (batch == 1 ? alone_repeats : repeats) + 2; ++r) {
        CHECK(cudaEventRecord(begin, stream));
        for (int i = 0; i < batch; ++i)
            call();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        if (r >= 2) times.push_back(1e3 * ms / batch);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return median(times);
}

template <class F>
double time_ours(concord::Stream& stream, int batch, F&& call) {
    const auto begin = stream.device().create_event(), end = stream.device().create_event();
    std::vector<double> times;
    for (int r = 0; r < (batch == 1 ? alone_repeats : repeats) + 2; ++r) {
        stream.record(*begin);
        for (int i = 0; i < batch; ++i)
            call();
        stream.record(*end);
        end->synchronize();
        if (r >= 2) times.push_back(1e3 * end->milliseconds_since(*begin) / batch);
    }
    return median(times);
}

void row(const char* what, u64 n, double ours, double peer, double bytes) {
    std::printf("%-12s 2^%-3.1f %10.2f us %10.2f us %8.1f GB/s %8.1f GB/s   %5.2f x\n", what,
                std::log2(double(n)), ours, peer, bytes / ours * 1e-3, bytes / peer * 1e-3, peer / ours);
    std::fflush(stdout);
}

template <class T>
void compare_sum(const char* what, concord::Stream& stream, cudaStream_t native, u64 n) {
    std::vector<T> host(n);
    u64 state = 88172645463325252;
    for (T& x : host) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x = std::is_same_v<T, f32> ? T(double(state >> 11) * 0x1p-53) : T(state);
    }
    concord::Array<T> in(stream, host), out(stream, 1);
    T *theirs, *result;
    CHECK(cudaMalloc(&theirs, n * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMemcpy(theirs, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    std::size_t bytes = 0;
    CHECK(cub::DeviceReduce::Sum(nullptr, bytes, theirs, result, n, native));
    void* scratch;
    CHECK(cudaMalloc(&scratch, bytes));

    concord::reduce(stream, in, out);
    CHECK(cub::DeviceReduce::Sum(scratch, bytes, theirs, result, n, native));
    CHECK(cudaStreamSynchronize(native));
    T peer_sum;
    CHECK(cudaMemcpy(&peer_sum, result, sizeof(T), cudaMemcpyDeviceToHost));
    const double a = double(out.to_host(stream)[0]), b = double(peer_sum);
    if (std::abs(a - b) > 1e-5 * std::abs(b)) {
        std::printf("%s: %.9g is not CUB's %.9g\n", what, a, b);
        std::exit(1);
    }
    const int batch = batch_of(n * sizeof(T));
    const double peer =
        time_peer(native, batch, [&] { cub::DeviceReduce::Sum(scratch, bytes, theirs, result, n, native); });
    const double ours = time_ours(stream, batch, [&] { concord::reduce(stream, in, out); });
    row(what, n, ours, peer, double(n) * sizeof(T));
    if (n <= u64{1} << 24) {
        const double one =
            time_peer(native, 1, [&] { cub::DeviceReduce::Sum(scratch, bytes, theirs, result, n, native); });
        row("  alone", n, time_ours(stream, 1, [&] { concord::reduce(stream, in, out); }), one,
            double(n) * sizeof(T));
    }
    CHECK(cudaFree(theirs));
    CHECK(cudaFree(result));
    CHECK(cudaFree(scratch));
}

void compare_copy(concord::Stream& stream, cudaStream_t native, u64 n) {
    concord::Array<f32> in(stream, n), out(stream, n), other(stream, n);
    const f32 one = 1.5f;
    stream.fill(*in.buffer(), 0, n * 4, &one, 4);
    stream.fill(*other.buffer(), 0, n * 4, &one, 4);
    f32 *from, *to;
    CHECK(cudaMalloc(&from, n * 4));
    CHECK(cudaMalloc(&to, n * 4));
    CHECK(cudaMemset(from, 1, n * 4));
    concord::map(stream, in, out, concord::MapFunction::copy);
    const auto got = out.to_host(stream);
    if (std::count(got.begin(), got.end(), one) != static_cast<std::ptrdiff_t>(n)) std::exit(1);
    const int batch = batch_of(n * 4);
    const double peer =
        time_peer(native, batch, [&] { cudaMemcpyAsync(to, from, n * 4, cudaMemcpyDeviceToDevice, native); });
    row("map copy", n,
        time_ours(stream, batch, [&] { concord::map(stream, in, out, concord::MapFunction::copy); }), peer,
        8.0 * n);
    if (n <= u64{1} << 24) {
        const double one =
            time_peer(native, 1, [&] { cudaMemcpyAsync(to, from, n * 4, cudaMemcpyDeviceToDevice, native); });
        row("  alone", n,
            time_ours(stream, 1, [&] { concord::map(stream, in, out, concord::MapFunction::copy); }), one,
            8.0 * n);
    }
    row("map naive", n,
        time_ours(stream, batch,
                  [&] { concord::map(stream, in, out, concord::MapFunction::copy, {"naive"}); }),
        peer, 8.0 * n);
    row("map square", n,
        time_ours(stream, batch, [&] { concord::map(stream, in, out, concord::MapFunction::square); }), peer,
        8.0 * n);
    // Against the copy scaled by its bytes: an addition moves half as many again.
    row("add", n, time_ours(stream, batch, [&] { concord::add(stream, in, other, out); }), 1.5 * peer,
        12.0 * n);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

__global__ void nothing() {}

// An empty launch and a synchronize, on the host's clock.
void compare_latency(concord::Stream& stream, cudaStream_t native) {
    static const concord::KernelSource source{
        "empty", {{"empty.cu", "extern \"C\" __global__ void empty() {}\n"}}, {}};
    concord::KernelSpec spec;
    spec.source = &source;
    spec.entry = "empty";
    const auto kernel = stream.device().compile(spec);
    std::vector<double> ours, peer;
    constexpr int calls = 2000;
    for (int r = 0; r < 7; ++r) {
        auto start = Clock::now();
        for (int i = 0; i < calls; ++i) {
            stream.launch(*kernel, {}, {});
            stream.synchronize();
        }
        ours.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
        start = Clock::now();
        for (int i = 0; i < calls; ++i) {
            nothing<<<1, 1, 0, native>>>();
            cudaStreamSynchronize(native);
        }
        peer.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls);
    }
    std::printf("empty launch + synchronize: %.2f us, native %.2f us: %.2f of it\n", median(ours),
                median(peer), median(ours) / median(peer));
}

}  // namespace

int main() try {
    const auto device = concord::open_device("cuda");
    const auto stream = device->create_stream();
    cudaStream_t native;
    CHECK(cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking));
    std::printf("%s, %s\n", device->info().name.c_str(), device->info().driver.c_str());
    std::printf("%-12s %-5s %13s %13s %13s %13s   %s\n", "what", "n", "Concord", "peer", "Concord", "peer",
                "ratio");
    compare_latency(*stream, native);
    for (int log2 : {10, 16, 20, 24, 28})
        compare_copy(*stream, native, u64{1} << log2);
    for (int log2 : {10, 16, 20, 24, 28})
        compare_sum<u32>("sum u32", *stream, native, u64{1} << log2);
    for (int log2 : {10, 16, 20, 24, 28})
        compare_sum<f32>("sum f32", *stream, native, u64{1} << log2);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "concord-peers: %s\n", error.what());
    return 4;
}
