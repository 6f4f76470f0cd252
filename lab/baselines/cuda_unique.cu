// unique by CUB.

#include "cccl.hpp"

#include <cub/device/device_select.cuh>

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_unique(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Unique(scratch, bytes, at.input<T>(0), at.output<T>(0), at.output<std::uint64_t>(1),
                                     at.n, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_unique, std::uint32_t)

}  // namespace concord::baselines::cccl
