// sort by CUB.

#include "cccl.hpp"

#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

namespace concord::baselines::cccl {
namespace {

struct Less {
    template <class T>
    __host__ __device__ bool operator()(T a, T b) const {
        return a < b;
    }
};

}  // namespace

template <class T>
cudaError_t cub_sort(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(scratch, bytes, at.input<T>(0), at.output<T>(0), at.n, 0,
                                          8 * int{sizeof(T)}, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_sort, std::uint32_t)
CONCORD_CCCL_SCRATCH(cub_sort, std::uint64_t)

template <class T>
cudaError_t cub_sort_pairs(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, at.input<T>(0), at.output<T>(0), at.input<T>(1),
                                           at.output<T>(1), at.n, 0, 8 * int{sizeof(T)}, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_sort_pairs, std::uint32_t)

template <class T>
cudaError_t cub_merge_sort(const Operands& at, void* scratch, std::size_t& bytes) {
    return cub::DeviceMergeSort::SortKeysCopy(scratch, bytes, at.input<T>(0), at.output<T>(0), at.n, Less{},
                                              at.queue);
}
CONCORD_CCCL_SCRATCH(cub_merge_sort, std::uint32_t)

}  // namespace concord::baselines::cccl
