// segmented_sort by CUB.

#include "cccl.hpp"

#include <cub/device/device_segmented_sort.cuh>

namespace concord::baselines::cccl {

template <class T>
cudaError_t cub_segmented_sort(const Operands& at, void* scratch, std::size_t& bytes) {
    const auto* offsets = at.input<std::uint32_t>(1);
    return cub::DeviceSegmentedSort::SortKeys(scratch, bytes, at.input<T>(0), at.output<T>(0), at.n, at.segments, offsets,
                                              offsets + 1, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_segmented_sort, float)

}  // namespace concord::baselines::cccl
