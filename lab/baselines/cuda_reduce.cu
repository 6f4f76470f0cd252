// reduce by CUB and Thrust.

#define THRUST_FORCE_32_BIT_OFFSET_TYPE  // counts fit

#include "cccl.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>

#if CUB_VERSION >= 300500
#include <cuda/execution>
#include <cuda/stream>
#endif

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_sum(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(scratch, bytes, at.input<T>(0), at.output<T>(0), at.n, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_sum, float)
CONCORD_CCCL_SCRATCH(cub_sum, std::uint32_t)

#if CUB_VERSION >= 300500
namespace {

template <class Determinism>
cudaError_t reproducible_sum(const Operands& at, Determinism determinism) {
    const ::cuda::std::execution::env environment{::cuda::execution::require(determinism),
                                                  ::cuda::stream_ref{at.queue}};
    return cub::DeviceReduce::Sum(at.input<float>(0), at.output<float>(0), at.n, environment);
}

}  // namespace
cudaError_t cub_sum_run_to_run(const Operands& at) {
    return reproducible_sum(at, ::cuda::execution::determinism::run_to_run);
}
cudaError_t cub_sum_gpu_to_gpu(const Operands& at) {
    return reproducible_sum(at, ::cuda::execution::determinism::gpu_to_gpu);
}
#else
cudaError_t cub_sum_run_to_run(const Operands& /*at*/) {
    return cudaErrorNotSupported;
}
cudaError_t cub_sum_gpu_to_gpu(const Operands& /*at*/) {
    return cudaErrorNotSupported;
}
#endif

template <class T>
cudaError_t thrust_sum(const Operands& at) {
    PoolMemory memory{at.queue};
    const T* in = at.input<T>(0);
    const T sum =
        thrust::reduce(thrust::cuda::par_nosync(memory).on(at.queue), in, in + at.n, T{}, thrust::plus<T>());
    return deliver(sum, at.out[0], at.queue);
}
CONCORD_CCCL_DIRECT(thrust_sum, float)
CONCORD_CCCL_DIRECT(thrust_sum, std::uint32_t)

}  // namespace concord::baselines::cccl
