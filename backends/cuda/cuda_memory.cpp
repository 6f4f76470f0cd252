#include "cuda_device.hpp"

namespace concord::cuda {
namespace {

[[noreturn]] void fail_allocation(CudaDevice& device, CUresult result, u64 bytes) {
    const Driver& driver = device.driver();
    // Drivers may report a size beyond all memory as an invalid value.
    if (result != CUDA_ERROR_OUT_OF_MEMORY && bytes <= device.traits().global_memory)
        driver.fail(result, "Device::allocate", "cuMemAlloc");
    std::size_t free = 0, total = 0;
    driver.mem_get_info(&free, &total);
    throw Error(ErrorCode::out_of_memory, "Device::allocate",
                "not enough memory on " + device.info().selector + " (" + device.info().name +
                    "), got a request for " + std::to_string(bytes) + " bytes; " + std::to_string(free) +
                    " of " + std::to_string(total) + " bytes are free",
                driver.describe(result));
}

}  // namespace

CudaMemory::CudaMemory(CudaDevice& device, u64 bytes) : context_(device.context()) {
    const Current current(*context_, "Device::allocate");
    const CUresult result = device.driver().mem_alloc(&address_, bytes);
    if (result != CUDA_SUCCESS) fail_allocation(device, result, bytes);
}

CudaMemory::~CudaMemory() {
    const Current current(*context_);
    if (current.entered()) context_->driver.mem_free(address_);
}

CudaHostMemory::CudaHostMemory(CudaDevice& device, u64 bytes) : context_(device.context()) {
    const Current current(*context_, "Device::allocate_host");
    // Portable: page-locked for all GPUs of this process.
    const CUresult result = device.driver().mem_host_alloc(&memory_, bytes, CU_MEMHOSTALLOC_PORTABLE);
    if (result != CUDA_SUCCESS)
        throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::device_failed,
                    "Device::allocate_host",
                    "cannot allocate page-locked host memory for " + device.info().selector +
                        ", got a request for " + std::to_string(bytes) + " bytes",
                    device.driver().describe(result));
}

CudaHostMemory::~CudaHostMemory() {
    const Current current(*context_);
    if (current.entered()) context_->driver.mem_free_host(memory_);
}

}  // namespace concord::cuda
