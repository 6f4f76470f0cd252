// run_length_encode by CUB.

#include "cccl.hpp"

#include <cub/device/device_run_length_encode.cuh>

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_run_length_encode(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(scratch, bytes, at.input<T>(0), at.output<T>(0),
                                              at.output<std::uint64_t>(1), at.output<std::uint64_t>(2), at.n,
                                              at.queue);
}
CONCORD_CCCL_SCRATCH(cub_run_length_encode, std::uint32_t)

}  // namespace concord::baselines::cccl
