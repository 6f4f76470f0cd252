// map and add by CUB and Thrust.

#define THRUST_FORCE_32_BIT_OFFSET_TYPE  // counts fit

#include "cccl.hpp"

#include <cub/device/device_transform.cuh>
#include <cub/version.cuh>

#include <thrust/copy.h>
#include <thrust/functional.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>
#include <thrust/version.h>

namespace concord::baselines::cccl {
namespace {

struct Copy {
    template <class T>
    __host__ __device__ T operator()(T x) const {
        return x;
    }
};
struct Sum {
    template <class T>
    __host__ __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

}  // namespace

int cub_version() {
    return CUB_VERSION;
}
int thrust_version() {
    return THRUST_VERSION;
}

template <class T>
cudaError_t cub_copy(const Operands& at) {
    return cub::DeviceTransform::Transform(at.input<T>(0), at.output<T>(0), at.n, Copy{}, at.queue);
}
CONCORD_CCCL_DIRECT(cub_copy, float)
CONCORD_CCCL_DIRECT(cub_copy, std::uint8_t)

template <class T>
cudaError_t cub_add(const Operands& at) {
    return cub::DeviceTransform::Transform(::cuda::std::make_tuple(at.input<T>(0), at.input<T>(1)),
                                           at.output<T>(0), at.n, Sum{}, at.queue);
}
CONCORD_CCCL_DIRECT(cub_add, float)

template <class T>
cudaError_t thrust_copy(const Operands& at) {
    const T* in = at.input<T>(0);
    thrust::copy(thrust::cuda::par_nosync.on(at.queue), in, in + at.n, at.output<T>(0));
    return cudaSuccess;
}
CONCORD_CCCL_DIRECT(thrust_copy, float)
CONCORD_CCCL_DIRECT(thrust_copy, std::uint8_t)

template <class T>
cudaError_t thrust_add(const Operands& at) {
    const T* in = at.input<T>(0);
    thrust::transform(thrust::cuda::par_nosync.on(at.queue), in, in + at.n, at.input<T>(1), at.output<T>(0),
                      thrust::plus<T>());
    return cudaSuccess;
}
CONCORD_CCCL_DIRECT(thrust_add, float)

}  // namespace concord::baselines::cccl
