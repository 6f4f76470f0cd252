#include "cuda_staging.hpp"

#include <algorithm>
#include <cstring>

namespace concord::cuda {

bool Staging::is_pageable(const Driver& driver, const void* host) {
    CUmemorytype type{};
    return driver.pointer_get_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                        reinterpret_cast<CUdeviceptr>(host)) != CUDA_SUCCESS;
}

void Staging::prepare(CudaDevice& device, const char* call) {
    for (Slot& slot : slots_) {
        if (!slot.memory) slot.memory = device.allocate_host(chunk_bytes);
        if (!slot.passed) slot.passed.emplace(device.context(), CU_EVENT_DISABLE_TIMING, call);
    }
}

void Staging::write(CudaDevice& device, CUstream stream, CUdeviceptr to, const std::byte* from, u64 bytes) {
    constexpr const char* call = "Stream::write";
    const Driver& driver = device.driver();
    prepare(device, call);
    u64 i = 0;
    for (u64 at = 0; at < bytes; at += chunk_bytes, ++i) {
        const Slot& slot = slots_[i % 2];
        const u64 size = std::min(chunk_bytes, bytes - at);
        // Also what an earlier write() left in flight; an event that was never recorded is passed.
        driver.check(driver.event_synchronize(slot.passed->get()), call, "cuEventSynchronize");
        std::memcpy(slot.bytes(), from + at, size);
        driver.check(driver.memcpy_htod_async(to + at, slot.bytes(), size, stream), call,
                     "cuMemcpyHtoDAsync");
        driver.check(driver.event_record(slot.passed->get(), stream), call, "cuEventRecord");
    }
}

void Staging::read(CudaDevice& device, CUstream stream, std::byte* to, CUdeviceptr from, u64 bytes) {
    constexpr const char* call = "Stream::read";
    const Driver& driver = device.driver();
    prepare(device, call);
    const u64 chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
    auto size_of_chunk = [&](u64 i) { return std::min(chunk_bytes, bytes - i * chunk_bytes); };
    for (u64 i = 0; i <= chunks; ++i) {
        // The stream's order keeps this behind any write from the same chunk of page-locked memory.
        if (i < chunks) {
            const Slot& slot = slots_[i % 2];
            driver.check(
                driver.memcpy_dtoh_async(slot.bytes(), from + i * chunk_bytes, size_of_chunk(i), stream),
                call, "cuMemcpyDtoHAsync");
            driver.check(driver.event_record(slot.passed->get(), stream), call, "cuEventRecord");
        }
        if (i > 0) {
            const Slot& slot = slots_[(i - 1) % 2];
            driver.check(driver.event_synchronize(slot.passed->get()), call, "cuEventSynchronize");
            std::memcpy(to + (i - 1) * chunk_bytes, slot.bytes(), size_of_chunk(i - 1));
        }
    }
}

}  // namespace concord::cuda
