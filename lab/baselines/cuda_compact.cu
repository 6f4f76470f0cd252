// compact by CUB and Thrust.

#define THRUST_FORCE_32_BIT_OFFSET_TYPE  // counts fit

#include "cccl.hpp"

#include <cub/device/device_select.cuh>

#include <thrust/copy.h>
#include <thrust/system/cuda/execution_policy.h>

namespace concord::baselines::cccl {
namespace {

template <class T>
struct Below {
    T limit;
    __host__ __device__ bool operator()(T x) const { return x < limit; }
};

}  // namespace

template <class T>
cudaError_t cub_compact(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, at.input<T>(0), at.output<T>(0), at.output<std::uint64_t>(1),
                                 at.n, Below<T>{static_cast<T>(at.limit)}, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_compact, float)
CONCORD_CCCL_SCRATCH(cub_compact, std::uint32_t)

template <class T>
cudaError_t thrust_compact(const Operands& at) {
    PoolMemory memory{at.queue};
    const T *in = at.input<T>(0), *out = at.output<T>(0);
    const T* end = thrust::copy_if(thrust::cuda::par_nosync(memory).on(at.queue), in, in + at.n,
                                   at.output<T>(0), Below<T>{static_cast<T>(at.limit)});
    return deliver(static_cast<std::uint64_t>(end - out), at.out[1], at.queue);
}
CONCORD_CCCL_DIRECT(thrust_compact, float)
CONCORD_CCCL_DIRECT(thrust_compact, std::uint32_t)

}  // namespace concord::baselines::cccl
