#include "cuda_context.hpp"

namespace concord::cuda {

Context::Context(const Driver& driver, CUdevice device) : driver(driver), device_(device) {
    const CUresult result = driver.primary_ctx_retain(&handle_, device);
    if (result == CUDA_SUCCESS) return;
    // For example, another process has exclusive access (compute mode), or the device is lost.
    throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::unavailable,
                "open_device", "cannot create a context on the device (cuDevicePrimaryCtxRetain)",
                driver.describe(result));
}

}  // namespace concord::cuda
