// scan_by_key by CUB: inclusive sums of values of type T, with keys of u32.

#include "cccl.hpp"

#include <cub/device/device_scan.cuh>

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_scan_by_key(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::InclusiveSumByKey(scratch, bytes, at.input<std::uint32_t>(1), at.input<T>(0),
                                              at.output<T>(0), at.n, ::cuda::std::equal_to<>{}, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_scan_by_key, float)

}  // namespace concord::baselines::cccl
