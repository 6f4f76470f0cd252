// histogram by CUB.

#include "cccl.hpp"

#include <cub/device/device_histogram.cuh>

#include <type_traits>

namespace concord::baselines::cccl {

// Even levels: from -1 to 1 for floats, the whole range for integers.
template <class T>
cudaError_t cub_histogram(const Operands& at, void* scratch, std::size_t& bytes) {
    using Level = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    const Level lo = std::is_floating_point_v<T> ? Level(-1) : Level(0),
                hi = std::is_floating_point_v<T> ? Level(1) : static_cast<Level>(std::int64_t{1} << 32);
    return cub::DeviceHistogram::HistogramEven(scratch, bytes, at.input<T>(0), at.output<unsigned>(0),
                                               at.bins + 1, lo, hi, at.n, at.queue);
}
CONCORD_CCCL_SCRATCH(cub_histogram, float)
CONCORD_CCCL_SCRATCH(cub_histogram, std::uint32_t)

}  // namespace concord::baselines::cccl
