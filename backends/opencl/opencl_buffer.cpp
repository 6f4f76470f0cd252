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
    // mapping does nothing. OpenClDevice verifies this for the runtime.
    cl_int status = CL_SUCCESS;
    memory_ = MemoryHandle(cl().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
                                               block_->base(), &status));
    if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
}

SharedMemory::~SharedMemory() {
    if (lost()) static_cast<void>(block_.release());  // the driver's threads may still use it
}

AdoptedBuffer::AdoptedBuffer(cl_context context, cl_mem memory, u64 bytes) {
    constexpr const char* call = "Device::adopt";
    const auto& info = cl().clGetMemObjectInfo;
    if (asked<cl_mem_object_type>(info, memory, CL_MEM_TYPE, call, "cl_mem") != CL_MEM_OBJECT_BUFFER)
        throw Error(ErrorCode::invalid_argument, call, "the cl_mem is an image or pipe; pass a buffer");
    if (asked<cl_context>(info, memory, CL_MEM_CONTEXT, call, "cl_mem") != context)
        throw Error(ErrorCode::wrong_device, call,
                    "the cl_mem belongs to another context; create it in Device::native_handle()");
    if (const auto size = asked<std::size_t>(info, memory, CL_MEM_SIZE, call, "cl_mem"); size < bytes)
        throw Error(ErrorCode::invalid_argument, call,
                    "the cl_mem has " + std::to_string(size) + " bytes, got " + std::to_string(bytes));
    check(cl().clRetainMemObject(memory), call, "clRetainMemObject");
    memory_ = MemoryHandle(memory);
}

QueueHandle retained_queue(cl_context context, cl_device_id device, cl_command_queue queue) {
    constexpr const char* call = "Device::adopt_stream";
    const auto& info = cl().clGetCommandQueueInfo;
    if (queue == nullptr)
        throw Error(ErrorCode::invalid_argument, call, "null handle; pass the cl_command_queue");
    if (asked<cl_context>(info, queue, CL_QUEUE_CONTEXT, call, "cl_command_queue") != context ||
        asked<cl_device_id>(info, queue, CL_QUEUE_DEVICE, call, "cl_command_queue") != device)
        throw Error(ErrorCode::wrong_device, call,
                    "the cl_command_queue belongs to another context or device; create it in "
                    "Device::native_handle()");
    if ((asked<cl_command_queue_properties>(info, queue, CL_QUEUE_PROPERTIES, call, "cl_command_queue") &
         CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0)
        throw Error(ErrorCode::invalid_argument, call,
                    "the cl_command_queue is out of order; pass an in-order one");
    check(cl().clRetainCommandQueue(queue), call, "clRetainCommandQueue");
    return QueueHandle(queue);
}

AdoptedHostMemory::AdoptedHostMemory(const backend::Device& device, cl_context context, void* pointer,
                                     u64 bytes)
    : on_cpu_(device.traits().shares_host_memory), address_(pointer, 128) {
    // A buffer on shared virtual memory shares it without a copy (OpenCL 2.0, clCreateBuffer).
    cl_int status = CL_SUCCESS;
    memory_ = MemoryHandle(cl().clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                               address_.begin + bytes, address_.base, &status));
    if (on_cpu_) {
        if (status != CL_SUCCESS) out_of_memory(device, bytes, status);
        return;
    }
    cl_bool is_shared = CL_FALSE;
    if (status == CL_SUCCESS)
        status = cl().clGetMemObjectInfo(memory_.get(), CL_MEM_USES_SVM_POINTER, sizeof is_shared, &is_shared,
                                         nullptr);
    if (status != CL_SUCCESS || is_shared == CL_FALSE)
        throw Error(ErrorCode::unsupported, "Device::adopt_host",
                    device.info().selector +
                        " uses host memory in place only if it is shared virtual memory of its context "
                        "(the start of an allocation of clSVMAlloc); copy it to an Array",
                    status == CL_SUCCESS ? "" : status_text(status));
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
