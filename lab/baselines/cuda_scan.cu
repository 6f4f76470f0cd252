// scan by CUB and Thrust.

#define THRUST_FORCE_32_BIT_OFFSET_TYPE  // counts fit

#include "cccl.hpp"

#include <cub/device/device_scan.cuh>
#include <cub/version.cuh>

#include <thrust/functional.h>
#include <thrust/scan.h>
#include <thrust/system/cuda/execution_policy.h>

#if CUB_VERSION >= 300500
#include <cuda/execution>
#include <cuda/stream>
#endif

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_scan(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, at.input<T>(0), at.output<T>(0), at.n, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_scan, float)
CONCORD_CCCL_SCRATCH(cub_scan, std::uint32_t)

#if CUB_VERSION >= 300500
cudaError_t cub_scan_run_to_run(const Operands& at) {
    const ::cuda::std::execution::env environment{
        ::cuda::execution::require(::cuda::execution::determinism::run_to_run), ::cuda::stream_ref{at.queue}};
    return cub::DeviceScan::ExclusiveSum(at.input<float>(0), at.output<float>(0), at.n, environment);
}
#else
cudaError_t cub_scan_run_to_run(const Operands& /*at*/) {
    return cudaErrorNotSupported;
}
#endif

template <class T>
cudaError_t thrust_scan(const Operands& at) {
    PoolMemory memory{at.queue};
    const T* in = at.input<T>(0);
    thrust::exclusive_scan(thrust::cuda::par_nosync(memory).on(at.queue), in, in + at.n, at.output<T>(0), T{},
                           thrust::plus<T>());
    return cudaSuccess;
}
CONCORD_CCCL_DIRECT(thrust_scan, float)
CONCORD_CCCL_DIRECT(thrust_scan, std::uint32_t)

}  // namespace concord::baselines::cccl
