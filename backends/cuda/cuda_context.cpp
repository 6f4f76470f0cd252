#include "cuda_context.hpp"

namespace concord::cuda {

Context::Context(const Driver& driver, CUdevice device) : driver(driver), device_(device) {
    const CUresult result = driver.primary_ctx_retain(&handle_, device);
    if (result == CUDA_SUCCESS) return;
    // Another process may have it to itself (compute mode), or it may be lost: not this program's fault.
    throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::unavailable,
                "open_device", "the device does not give a context (cuDevicePrimaryCtxRetain)",
                driver.describe(result));
}

}  // namespace concord::cuda
