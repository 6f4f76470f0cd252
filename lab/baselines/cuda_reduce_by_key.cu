// reduce_by_key by CUB: sums of values of type T, with keys of u32.

#include "cccl.hpp"

#include <cub/device/device_reduce.cuh>

#include <cuda/std/functional>

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_sum_by_key(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(scratch, bytes, at.input<std::uint32_t>(1), at.output<std::uint32_t>(0),
                                          at.input<T>(0), at.output<T>(1), at.output<std::uint64_t>(2),
                                          cuda::std::plus<T>{}, at.n, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_sum_by_key, float)

}  // namespace concord::baselines::cccl
