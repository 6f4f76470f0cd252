// A program of the CUDA runtime uses Concord on its own memory, stream and event: it copies numbers to the GPU,
// Concord sorts and sums them where they are, and the program copies them back. The host waits once, for the last
// copy. It needs no nvcc.
//
// Build, with Concord installed in DIR and CUDA in CUDA_DIR (in the build tree: example-cuda_runtime):
//     c++ -std=c++20 -O2 -ffp-contract=off cuda_runtime.cpp -IDIR/include -ICUDA_DIR/include
//         -LDIR/lib -Wl,-rpath,DIR/lib -lconcord -LCUDA_DIR/lib64 -Wl,-rpath,CUDA_DIR/lib64 -lcudart
// Run:
//     ./a.out              # the first GPU; 1 is the second
//
// It prints the name of the GPU, the smallest and the greatest number and the sum. Without a GPU it ends with status
// 77.

#include <cuda_runtime_api.h>

#include <concord/concord.hpp>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::size_t n = 1 << 20;
constexpr int skipped = 77;

void check(cudaError_t status, const char* function) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string(function) + ": " + cudaGetErrorString(status));
}

}  // namespace

int main(int argc, char** argv) try {
    const int gpu = argc > 1 ? std::stoi(argv[1]) : 0;
    int gpus = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&gpus); status != cudaSuccess || gpus <= gpu) {
        std::cerr << "skipped: no CUDA device " << gpu;
        if (status != cudaSuccess) std::cerr << " (" << cudaGetErrorString(status) << ")";
        std::cerr << '\n';
        return skipped;
    }
    check(cudaSetDevice(gpu), "cudaSetDevice");

    std::vector<unsigned> numbers(n);
    std::generate(numbers.begin(), numbers.end(), std::mt19937(1));
    unsigned* memory = nullptr;
    cudaStream_t uploads = nullptr, work = nullptr;
    cudaEvent_t uploaded = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&memory), n * sizeof(unsigned)), "cudaMalloc");
    check(cudaStreamCreate(&uploads), "cudaStreamCreate");
    check(cudaStreamCreate(&work), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&uploaded, cudaEventDisableTiming), "cudaEventCreateWithFlags");

    check(cudaMemcpyAsync(memory, numbers.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice, uploads),
          "cudaMemcpyAsync");
    check(cudaEventRecord(uploaded, uploads), "cudaEventRecord");

    std::vector<unsigned> sorted(n);
    unsigned total = 0;
    const auto device = concord::open_device("cuda:" + std::to_string(gpu));
    {
        const auto stream = device->adopt_stream(work);
        const auto event = device->adopt_event(uploaded);
        const auto x =
            concord::Array<unsigned>::adopt(*device, {.handle = memory, .bytes = n * sizeof(unsigned)});
        stream->wait(*event);  // Concord's work starts after the copy
        concord::sort(*stream, x, x);
        const auto sum = concord::sum(*stream, x);
        // After the sort, because the stream orders the work of both.
        check(cudaMemcpyAsync(sorted.data(), memory, n * sizeof(unsigned), cudaMemcpyDeviceToHost, work),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(work), "cudaStreamSynchronize");
        total = sum.get();
    }
    check(cudaEventDestroy(uploaded), "cudaEventDestroy");
    check(cudaStreamDestroy(work), "cudaStreamDestroy");
    check(cudaStreamDestroy(uploads), "cudaStreamDestroy");
    check(cudaFree(memory), "cudaFree");

    std::cout << device->info().name << ": " << n << " numbers from " << sorted.front() << " to "
              << sorted.back() << ", sum modulo 2^32 " << total << '\n';
    const unsigned expected = std::accumulate(numbers.begin(), numbers.end(), 0U);
    std::sort(numbers.begin(), numbers.end());
    if (sorted == numbers && total == expected) return 0;
    std::cerr << "the results differ from those of the host\n";
    return 1;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
}
