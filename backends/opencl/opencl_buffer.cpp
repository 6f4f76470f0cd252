#include "opencl_buffer.hpp"

#include <mutex>

namespace concord::opencl {
namespace {

// Drivers report failed allocations with various codes. All become out_of_memory.
[[noreturn]] void out_of_memory(const backend::Device& device, u64 bytes, cl_int status) {
    const DeviceTraits& traits = device.traits();
    throw Error(ErrorCode::out_of_memory, "Device::allocate",
                "not enough memory on " + device.info().selector + ", got a request for " +
                    std::to_string(bytes) + " bytes; the device has " + std::to_string(traits.global_memory) +
                    " bytes and guarantees " + std::to_string(traits.max_allocation) +
                    " bytes for one buffer",
                status == CL_SUCCESS ? "no host memory" : status_text(status));
}

}  // namespace

void PinnedRanges::add(const void* base, u64 bytes) {
    const std::unique_lock lock(mutex_);
    bytes_by_base_[reinterpret_cast<std::uintptr_t>(base)] = bytes;
}

void PinnedRanges::remove(const void* base) noexcept {
    const std::unique_lock lock(mutex_);
    bytes_by_base_.erase(reinterpret_cast<std::uintptr_t>(base));
}

bool PinnedRanges::contains(const void* from, u64 bytes) const {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const std::shared_lock lock(mutex_);
    auto it = bytes_by_base_.upper_bound(address);
    if (it == bytes_by_base_.begin()) return false;
    --it;
    const u64 inside = address - it->first;
    return inside < it->second && bytes <= it->second - inside;
}

DeviceMemory::DeviceMemory(const backend::Device& device, cl_context context, cl_command_queue queue,
                           u64 bytes) {
    // Does not check CL_DEVICE_MAX_MEM_ALLOC_SIZE: NVIDIA reports a quarter of the memory and allocates more.
    cl_int status = CL_SUCCESS;
    memory_ = MemoryHandle(cl().clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status));
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
    // Drivers allocate at the first use. The fill makes an allocation fail here instead of in a later call.
    const cl_uint zero = 0;
    status = cl().clEnqueueFillBuffer(queue, memory_.get(), &zero, sizeof zero, 0, sizeof zero, 0, nullptr,
                                      nullptr);
    if (status == CL_SUCCESS) status = cl().clFinish(queue);
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
}

SharedMemory::SharedMemory(const backend::Device& device, cl_context context, u64 bytes)
    : block_(std::make_unique<detail::HostBlock>(bytes)) {
    if (block_->base() == nullptr) out_of_memory(device, bytes, CL_SUCCESS);
    // The standard guarantees the host access only while the memory is mapped. CPU runtimes work in place, so that
    // mapping does nothing. OpenClDevice has verified this for the runtime.
    cl_int status = CL_SUCCESS;
    memory_ = MemoryHandle(cl().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                               block_->base(), &status));
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
}

SharedMemory::~SharedMemory() {
    if (lost()) static_cast<void>(block_.release());  // the driver's threads may still use it
}

PinnedMemory::PinnedMemory(const backend::Device& device, PinnedRanges& ranges, cl_context context,
                           cl_command_queue queue, u64 bytes)
    : ranges_(ranges), queue_(queue) {
    cl_int status = CL_SUCCESS;
    memory_ = MemoryHandle(
        cl().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status));
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
    base_ = cl().clEnqueueMapBuffer(queue, memory_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0,
                                    nullptr, nullptr, &status);
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
    ranges_.add(base_, bytes);
}

PinnedMemory::~PinnedMemory() {
    if (base_ == nullptr) return;
    ranges_.remove(base_);
    if (cl().clEnqueueUnmapMemObject.quietly(queue_, memory_.get(), base_, 0, nullptr, nullptr) == CL_SUCCESS)
        cl().clFinish.quietly(queue_);
}

}  // namespace concord::opencl
