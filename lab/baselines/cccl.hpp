#pragma once
// CUB and Thrust behind pointers. nvcc compiles slowly: their files see no header of Concord, each algorithm has a file
// of its own, and each file instantiates what the study `headline` measures. cuda.cpp has the rows.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace concord::baselines::cccl {

// Operands and values of a call. Counts are 32-bit numbers, for which both libraries have faster kernels.
struct Operands {
    const void* in[2];
    void* out[3];
    std::int32_t n;
    cudaStream_t queue;
    int bins;      // of histogram
    double limit;  // of compact, which keeps what is below
    int segments;  // of calls on segments, whose offsets are the second input

    template <class T>
    const T* input(int k) const {
        return static_cast<const T*>(in[k]);
    }
    template <class T>
    T* output(int k) const {
        return static_cast<T*>(out[k]);
    }
};

// Takes Thrust's temporary memory from CUDA's stream-ordered pool. By default Thrust calls cudaMalloc and cudaFree,
// which synchronise with the device.
struct PoolMemory {
    using value_type = char;
    cudaStream_t queue;

    char* allocate(std::ptrdiff_t bytes) const {
        void* memory = nullptr;
        if (cudaMallocAsync(&memory, static_cast<std::size_t>(bytes), queue) != cudaSuccess)
            throw std::bad_alloc();
        return static_cast<char*>(memory);
    }
    void deallocate(char* memory, std::size_t /*bytes*/) const { cudaFreeAsync(memory, queue); }
};

// Copies a value of the host to the device, and waits: what a call of Thrust returns becomes its output.
template <class T>
cudaError_t deliver(const T& value, void* to, cudaStream_t queue) {
    const cudaError_t error = cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyHostToDevice, queue);
    return error == cudaSuccess ? cudaStreamSynchronize(queue) : error;
}

// CUB_VERSION and THRUST_VERSION: 300102 is 3.1.2.
int cub_version();
int thrust_version();
// Whether CUB has sums that are reproducible from run to run, and from GPU to GPU.
inline bool has_reproducible() {
    return cub_version() >= 300500;
}

// These enqueue their work.
template <class T>
cudaError_t cub_copy(const Operands& at);
template <class T>
cudaError_t cub_add(const Operands& at);
template <class T>
cudaError_t thrust_copy(const Operands& at);
template <class T>
cudaError_t thrust_add(const Operands& at);
template <class T>
cudaError_t thrust_scan(const Operands& at);
// These take scratch memory from CUDA's stream-ordered pool. An older release returns cudaErrorNotSupported.
cudaError_t cub_sum_run_to_run(const Operands& at);
cudaError_t cub_sum_gpu_to_gpu(const Operands& at);
cudaError_t cub_scan_run_to_run(const Operands& at);
// These wait for their results.
template <class T>
cudaError_t thrust_sum(const Operands& at);
template <class T>
cudaError_t thrust_compact(const Operands& at);
// These set `bytes` if there is no scratch memory.
template <class T>
cudaError_t cub_sum(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_segmented_sum(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_segmented_sort(const Operands& at, void* scratch, std::size_t& bytes);
// T: type of the values. Keys are u32.
template <class T>
cudaError_t cub_sum_by_key(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_scan_by_key(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_scan(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_histogram(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_compact(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_unique(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_run_length_encode(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_sort(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_sort_pairs(const Operands& at, void* scratch, std::size_t& bytes);
template <class T>
cudaError_t cub_merge_sort(const Operands& at, void* scratch, std::size_t& bytes);

// Defines a call for these types.
#define CONCORD_CCCL_DIRECT(NAME, T) template cudaError_t NAME<T>(const Operands&);
#define CONCORD_CCCL_SCRATCH(NAME, T) template cudaError_t NAME<T>(const Operands&, void*, std::size_t&);

}  // namespace concord::baselines::cccl
