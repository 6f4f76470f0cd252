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
    const UncapturedCurrent current(*context_, "Device::allocate");
    const CUresult result = device.driver().mem_alloc(&address_, bytes);
    if (result != CUDA_SUCCESS) fail_allocation(device, result, bytes);
}

CudaMemory::CudaMemory(CudaDevice& device, const Adopted& adopted)
    : context_(device.context()), is_adopted_(true) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
    const detail::AdoptedAddress on_device(reinterpret_cast<void*>(adopted.address));
    address_ = reinterpret_cast<CUdeviceptr>(on_device.base);
    begin_ = on_device.begin;
    if (adopted.host != nullptr) host_ = static_cast<std::byte*>(adopted.host) - begin_;
}

namespace {

// What the driver knows about an address of another owner. Zero where it knows nothing.
struct Known {
    unsigned type = 0, is_managed = 0;
    int ordinal = -1;
    CUdeviceptr device = 0, start = 0;
    std::size_t size = 0;
};

Known known_about(const Driver& driver, CUdeviceptr address) {
    Known known;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void* answers[] = {&known.type,   &known.is_managed, &known.ordinal,
                       &known.device, &known.start,      &known.size};
    if (driver.pointer_get_attributes(std::size(attributes), attributes, answers, address) != CUDA_SUCCESS)
        return {};
    return known;
}

// Throws unless the driver knows memory of that size there.
Known checked(CudaDevice& device, const char* call, CUdeviceptr address, u64 bytes) {
    const Known known = known_about(device.driver(), address);
    if (known.type == 0)
        throw Error(
            ErrorCode::invalid_argument, call,
            "the CUDA driver does not know this memory; pass live memory of cudaMalloc, cudaMallocManaged, "
            "cudaHostAlloc or cudaHostRegister");
    if (known.size != 0 && bytes > known.start + known.size - address)
        throw Error(ErrorCode::invalid_argument, call,
                    "the allocation ends " + std::to_string(known.start + known.size - address) +
                        " bytes after the address, got " + std::to_string(bytes) + " bytes");
    return known;
}

}  // namespace

std::unique_ptr<backend::Memory> CudaDevice::adopt(const ForeignMemory& memory) {
    constexpr const char* call = "Device::adopt";
    const auto address = reinterpret_cast<CUdeviceptr>(memory.handle);
    if (!memory.verify) return std::make_unique<CudaMemory>(*this, CudaMemory::Adopted{address, nullptr});
    const Current current(*context_, call);
    const Known known = checked(*this, call, address, memory.bytes);
    if (known.type == CU_MEMORYTYPE_HOST && known.is_managed == 0)
        throw Error(ErrorCode::invalid_argument, call, "host memory; use Device::adopt_host");
    if (known.is_managed == 0 && known.ordinal != context_->device())
        throw Error(
            ErrorCode::wrong_device, call,
            "memory of CUDA device " + std::to_string(known.ordinal) + "; the device is " + info_.selector);
    return std::make_unique<CudaMemory>(
        *this, CudaMemory::Adopted{address, known.is_managed != 0 ? memory.handle : nullptr});
}

std::unique_ptr<backend::Memory> CudaDevice::adopt_host(const ForeignMemory& memory) {
    constexpr const char* call = "Device::adopt_host";
    const Current current(*context_, call);
    const auto address = reinterpret_cast<CUdeviceptr>(memory.handle);
    if (known_about(driver(), address).type == 0)
        throw Error(ErrorCode::unsupported, call,
                    "pageable host memory; page-lock it with cudaHostRegister, or copy it to an Array");
    const Known known = checked(*this, call, address, memory.bytes);
    const CUdeviceptr mapped = known.device != 0 ? known.device : address;
    return std::make_unique<CudaMemory>(*this, CudaMemory::Adopted{mapped, memory.handle});
}

CudaMemory::~CudaMemory() {
    if (is_adopted_) return;
    const UncapturedCurrent current(*context_);
    if (current.entered()) context_->driver.mem_free(address_);
}

CudaHostMemory::CudaHostMemory(CudaDevice& device, u64 bytes) : context_(device.context()) {
    const UncapturedCurrent current(*context_, "Device::allocate_host");
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
    const UncapturedCurrent current(*context_);
    if (current.entered()) context_->driver.mem_free_host(memory_);
}

}  // namespace concord::cuda
