#include "cuda_staging.hpp"

namespace concord::cuda {

CudaStaging::CudaStaging(CudaDevice& device, concord::Device& pool, CUstream stream)
    : backend::Staging(pool), driver_(device.driver()), stream_(stream) {
    for (u32 i = 0; i < Shape{}.chunks; ++i)
        transferred_.push_back(
            std::make_unique<EventHandle>(device.context(), CU_EVENT_DISABLE_TIMING, "Stream::write"));
}

bool CudaStaging::write(CUdeviceptr to, const void* from, u64 bytes) {
    address_ = to;
    upload_ = true;
    return upload(from, bytes);
}

bool CudaStaging::read(void* to, CUdeviceptr from, u64 bytes) {
    address_ = from;
    upload_ = false;
    return download(to, bytes);
}

bool CudaStaging::is_pageable(const Driver& driver, const void* memory, u64 bytes) {
    const auto first = reinterpret_cast<CUdeviceptr>(memory);
    for (const CUdeviceptr at : {first, first + bytes - 1}) {
        // Stays 0 for memory that the driver does not know. The query for a single attribute would fail then.
        unsigned type = 0;
        CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
        void* answer = &type;
        if (driver.pointer_get_attributes(1, &attribute, &answer, at) != CUDA_SUCCESS || type == 0)
            return true;
    }
    return false;
}

void CudaStaging::start(u32 chunk, std::byte* memory, u64 at, u64 bytes) {
    if (upload_) {
        driver_.check(driver_.memcpy_htod_async(address_ + at, memory, bytes, stream_), call(),
                      "cuMemcpyHtoDAsync");
    } else {
        driver_.check(driver_.memcpy_dtoh_async(memory, address_ + at, bytes, stream_), call(),
                      "cuMemcpyDtoHAsync");
    }
    driver_.check(driver_.event_record(transferred_[chunk]->get(), stream_), call(), "cuEventRecord");
}

bool CudaStaging::ended(u32 chunk) {
    const CUresult result = driver_.event_query(transferred_[chunk]->get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    driver_.check(result, call(), "cuEventQuery");
    return true;
}

void CudaStaging::wait(u32 chunk) {
    driver_.check(driver_.event_synchronize(transferred_[chunk]->get()), call(), "cuEventSynchronize");
}

}  // namespace concord::cuda
