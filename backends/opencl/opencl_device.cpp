#include "opencl_device.hpp"

#include "opencl_buffer.hpp"
#include "opencl_event.hpp"
#include "opencl_kernel.hpp"
#include "opencl_properties.hpp"
#include "opencl_queue.hpp"
#include "opencl_self_test.hpp"

#include <concord/internal/compile_options.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

namespace concord::opencl {
namespace {

// Logs the driver's explanation of an error code. The driver may call it on any thread.
void CL_CALLBACK driver_message(const char* text, const void* /*details*/, std::size_t /*size*/,
                                void* /*data*/) {
    try {
        detail::log_info(std::string("OpenCL driver: ") + text);
    } catch (...) {
        // Losing a message must not end the process.
    }
}

ContextHandle create_context(cl_device_id id) {
    cl_int status = CL_SUCCESS;
    ContextHandle context(cl().clCreateContext(nullptr, 1, &id, &driver_message, nullptr, &status));
    if (status != CL_SUCCESS)
        throw Error(ErrorCode::unavailable, "open_device", "clCreateContext failed", status_text(status));
    return context;
}

bool profiled_end(const EventHandle& event, cl_ulong& nanoseconds) {
    return cl().clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof nanoseconds,
                                        &nanoseconds, nullptr) == CL_SUCCESS &&
           nanoseconds != 0;
}

}  // namespace

OpenClDevice::OpenClDevice(cl_device_id id, DeviceInfo info)
    : OpenClDevice(id, std::move(info), create_context(id)) {}

OpenClDevice::OpenClDevice(cl_device_id id, DeviceInfo info, ContextHandle context)
    : info_(std::move(info)), id_(id), context_(std::move(context)), queue_(create_command_queue()) {
    traits_ = traits_of(id, self_test(id, context_.get(), queue_.get(), info_));
    traits_.f64_matrix_units = has_f64_matrix_units(id, context_.get(), traits_);
    compiler_setup_ = setup_of(id, traits_);
    observe();
}

QueueHandle OpenClDevice::create_command_queue() const {
    // Event times need profiling. It costs nothing measurable per launch on PoCL.
    cl_int status = CL_SUCCESS;
    QueueHandle queue(cl().clCreateCommandQueue(context_.get(), id_, CL_QUEUE_PROFILING_ENABLE, &status));
    check(status, "Device::create_stream", "clCreateCommandQueue");
    return queue;
}

void OpenClDevice::observe() {
    constexpr const char* call = "open_device";
    constexpr cl_uint pattern = 0xc0c0c0c0;
    constexpr u64 bytes = 4096;
    // Only CPUs may work in host memory. A GPU would lock its pages for nothing.
    const bool cpu = traits_.launch != LaunchModel::groups;
    std::optional<SharedMemory> shared;  // keeps its memory if the driver is lost
    MemoryHandle own;
    cl_int status = CL_SUCCESS;
    if (cpu) {
        shared.emplace(*this, context_.get(), bytes);
        std::memset(shared->host_pointer(), 0, bytes);
    } else {
        own = MemoryHandle(cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
        check(status, call, "clCreateBuffer");
    }
    const cl_mem memory = cpu ? shared->memory() : own.get();
    // Nothing but the loss of the driver may throw before all commands have ended.
    EventHandle fill, marker;
    status = cl().clEnqueueFillBuffer(queue_.get(), memory, &pattern, sizeof pattern, 0, bytes, 0, nullptr,
                                      fill.out());
    if (status == CL_SUCCESS)
        status = cl().clEnqueueMarkerWithWaitList(queue_.get(), 0, nullptr, marker.out());
    const cl_int finished = cl().clFinish(queue_.get());
    check(status, call, "the first command");
    check(finished, call, "clFinish");

    // The standard guarantees the host access only while the memory is mapped. CPU runtimes work in place.
    if (cpu) {
        const auto* host = static_cast<const cl_uint*>(shared->host_pointer());
        traits_.shares_host_memory = host[0] == pattern && host[bytes / sizeof pattern - 1] == pattern;
    }
    if (cpu && !traits_.shares_host_memory)
        detail::log_info(info_.selector +
                         ": the driver does not use host memory in place; buffers are copied");

    observe_start();
    cl_ulong fill_end = 0, marker_end = 0;
    if (profiled_end(marker, marker_end) && profiled_end(fill, fill_end) && marker_end >= fill_end) return;
    detail::log_info(info_.selector +
                     ": the driver reports no usable times for markers; events use small fills");
    mark_target_ = MemoryHandle(
        cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, sizeof pattern, nullptr, &status));
    check(status, call, "clCreateBuffer");
}

// Sets starts_unflushed_. A driver that holds a command back starts it at the flush of clFinish, after the pause. A
// driver without times counts as one that holds back. NVIDIA's driver starts commands at once, and there a flush costs
// a fifth of a launch.
void OpenClDevice::observe_start() {
    constexpr std::chrono::microseconds pause(400);
    constexpr const char* call = "open_device";
    cl_int status = CL_SUCCESS;
    const MemoryHandle memory(
        cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &status));
    check(status, call, "clCreateBuffer");
    const cl_uint zero = 0;
    EventHandle fill;
    check(cl().clEnqueueFillBuffer(queue_.get(), memory.get(), &zero, sizeof zero, 0, sizeof zero, 0, nullptr,
                                   fill.out()),
          call, "clEnqueueFillBuffer");
    std::this_thread::sleep_for(pause);
    check(cl().clFinish(queue_.get()), call, "clFinish");
    const auto time_of = [&](cl_profiling_info moment) {
        cl_ulong nanoseconds = 0;
        const cl_int asked =
            cl().clGetEventProfilingInfo(fill.get(), moment, sizeof nanoseconds, &nanoseconds, nullptr);
        return asked == CL_SUCCESS ? nanoseconds : 0;
    };
    const cl_ulong queued = time_of(CL_PROFILING_COMMAND_QUEUED), start = time_of(CL_PROFILING_COMMAND_START);
    starts_unflushed_ =
        queued != 0 && start >= queued && std::chrono::nanoseconds(start - queued) < pause / 2;
}

EventHandle OpenClDevice::enqueue_mark(cl_command_queue queue) const {
    EventHandle mark;
    if (mark_target_) {
        const cl_uint zero = 0;
        check(cl().clEnqueueFillBuffer(queue, mark_target_.get(), &zero, sizeof zero, 0, sizeof zero, 0,
                                       nullptr, mark.out()),
              "Stream::record", "clEnqueueFillBuffer");
    } else {
        check(cl().clEnqueueMarkerWithWaitList(queue, 0, nullptr, mark.out()), "Stream::record",
              "clEnqueueMarkerWithWaitList");
    }
    return mark;
}

std::vector<DeviceProperty> OpenClDevice::properties() const {
    return properties_of(id_);
}

std::unique_ptr<backend::Memory> OpenClDevice::allocate(u64 bytes) {
    if (traits_.shares_host_memory) return std::make_unique<SharedMemory>(*this, context_.get(), bytes);
    return std::make_unique<DeviceMemory>(*this, context_.get(), queue_.get(), bytes);
}

std::unique_ptr<backend::Memory> OpenClDevice::allocate_host(u64 bytes) {
    if (traits_.shares_host_memory) return std::make_unique<SharedMemory>(*this, context_.get(), bytes);
    return std::make_unique<PinnedMemory>(*this, pinned_, context_.get(), queue_.get(), bytes);
}

std::unique_ptr<backend::Memory> OpenClDevice::adopt(const ForeignMemory& memory) {
    return std::make_unique<AdoptedBuffer>(context_.get(), static_cast<cl_mem>(memory.handle), memory.bytes);
}

std::unique_ptr<backend::Memory> OpenClDevice::adopt_host(const ForeignMemory& memory) {
    if (!traits_.shares_host_memory &&
        ask_value<cl_device_svm_capabilities>(id_, CL_DEVICE_SVM_CAPABILITIES) == 0)
        throw Error(ErrorCode::unsupported, "Device::adopt_host",
                    info_.selector + " does not use host memory in place; copy it to an Array");
    return std::make_unique<AdoptedHostMemory>(*this, context_.get(), memory.handle, memory.bytes);
}

std::unique_ptr<backend::Queue> OpenClDevice::adopt_queue(concord::Device& device, void* handle) {
    return std::make_unique<OpenClQueue>(
        *this, device, retained_queue(context_.get(), id_, static_cast<cl_command_queue>(handle)));
}

std::unique_ptr<backend::Event> OpenClDevice::adopt_event(void* handle) {
    return std::make_unique<OpenClEvent>(retained_event(context_.get(), static_cast<cl_event>(handle)));
}

std::unique_ptr<backend::Kernel> OpenClDevice::compile(const KernelSpec& spec) {
    return std::make_unique<OpenClKernel>(*this, std::string(detail::plain_entry(spec.entry)),
                                          compile_kernel(*this, spec));
}

std::unique_ptr<backend::Event> OpenClDevice::create_event() {
    return std::make_unique<OpenClEvent>();
}

std::unique_ptr<backend::Queue> OpenClDevice::create_queue(concord::Device& device, Priority /*priority*/) {
    return std::make_unique<OpenClQueue>(*this, device, create_command_queue());
}

AdoptedDevice adopt_context(const ForeignDevice& device, const std::string& selector,
                            std::span<backend::Device* const> open) {
    constexpr const char* call = "adopt_device";
    auto* const context = static_cast<cl_context>(device.context);
    const auto count =
        asked<cl_uint>(cl().clGetContextInfo, context, CL_CONTEXT_NUM_DEVICES, call, "cl_context");
    std::vector<cl_device_id> ids(count);
    check(cl().clGetContextInfo(context, CL_CONTEXT_DEVICES, ids.size() * sizeof(cl_device_id), ids.data(),
                                nullptr),
          call, "clGetContextInfo");
    auto* id = static_cast<cl_device_id>(device.device);
    if (id == nullptr && count != 1)
        throw Error(ErrorCode::invalid_argument, call,
                    "the cl_context has " + std::to_string(count) + " devices; pass one of them");
    if (id == nullptr) id = ids.front();
    if (std::find(ids.begin(), ids.end(), id) == ids.end())
        throw Error(ErrorCode::invalid_argument, call, "the cl_device_id is not a device of the cl_context");
    for (backend::Device* const each : open) {
        const auto& known = static_cast<const OpenClDevice&>(*each);
        if (known.context() == context && known.id() == id) return {nullptr, known.info().selector};
    }
    if (const std::string why = why_unusable(id); !why.empty())
        throw Error(ErrorCode::unavailable, call, "Concord cannot use the cl_device_id: " + why);
    DeviceInfo info = info_of(id, 0);
    info.selector = selector;
    check(cl().clRetainContext(context), call, "clRetainContext");
    return {std::make_unique<OpenClDevice>(id, std::move(info), ContextHandle(context))};
}

}  // namespace concord::opencl
