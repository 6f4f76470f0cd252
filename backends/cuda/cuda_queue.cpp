#include "cuda_queue.hpp"

#include <concord/internal/readable_memory.hpp>
#include <concord/log.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace concord::cuda {
namespace {

constexpr SourceFile fill_text{"cuda_fill.cu", R"(
extern "C" __global__ void fill_8(u64* to, u64 count, u64 value) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) to[i] = value;
}
)"};

constexpr u32 fill_group_size = 256;

CUcontext context_of(const backend::Memory& memory) {
    return static_cast<const CudaMemory&>(memory).context();
}

CUdeviceptr address(const backend::Memory& memory, u64 offset) {
    return static_cast<const CudaMemory&>(memory).address() + offset;
}

void CUDA_CB run_callback(void* callbacks) {
    static_cast<StreamCallbacks*>(callbacks)->run_next();
}

}  // namespace

CudaQueue::CudaQueue(CudaDevice& device, concord::Device& pool, Priority priority)
    : device_(device),
      pool_(pool),
      context_(device.context()),
      driver_(device.driver()),
      callbacks_(std::make_shared<StreamCallbacks>()) {
    const UncapturedCurrent current(*context_, "Device::create_stream");
    // Lower numbers are more urgent. The driver clamps values out of range.
    const int urgency = priority == Priority::high ? std::numeric_limits<int>::min() : 0;
    driver_.check(driver_.stream_create_with_priority(&stream_, CU_STREAM_NON_BLOCKING, urgency),
                  "Device::create_stream", "cuStreamCreateWithPriority");
    target_ = stream_;
}

CudaQueue::CudaQueue(CudaDevice& device, concord::Device& pool, CUstream stream)
    : device_(device),
      pool_(pool),
      context_(device.context()),
      driver_(device.driver()),
      stream_(stream),
      is_adopted_(true),
      may_be_captured_(true),
      target_(stream),
      callbacks_(std::make_shared<StreamCallbacks>()) {
    // The driver follows the pointer. Null, 1 and 2 are its default streams.
    if (const auto number = reinterpret_cast<std::uintptr_t>(stream);
        number > 2 && !detail::is_readable(stream))
        throw Error(ErrorCode::invalid_argument, "Device::adopt_stream",
                    "not a CUstream, got " + std::to_string(number));
    const UncapturedCurrent current(*context_, "Device::adopt_stream");
    if (captured()) return;  // a query would end the capture with an error
    const CUresult state = driver_.stream_query(stream);
    if (state == CUDA_ERROR_INVALID_HANDLE || state == CUDA_ERROR_INVALID_CONTEXT)
        throw Error(ErrorCode::invalid_argument, "Device::adopt_stream",
                    "not a live stream of this device's context", driver_.describe(state));
}

CudaQueue::~CudaQueue() {
    const UncapturedCurrent current(*context_);
    const bool is_captured = captured();
    if (is_captured)
        detail::log_error(
            "a stream was destroyed while its owner captured it: the graph uses memory that is no longer "
            "kept");
    const bool finished =
        current.entered() && !is_captured && driver_.stream_synchronize(stream_) == CUDA_SUCCESS;
    if (current.entered() && !is_adopted_) driver_.stream_destroy(stream_);
    // A failed stream may still hold the address of the callbacks, so that they leak.
    if (!finished) new (std::nothrow) std::shared_ptr<StreamCallbacks>(callbacks_);
}

bool CudaQueue::captured() {
    if (!may_be_captured_.load(std::memory_order_relaxed)) return false;
    const Current current(*context_);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!current.entered()) return false;
    const CUresult result = driver_.stream_is_capturing(stream_, &status);
    // The legacy default stream cannot be used either while another stream is captured: a query would end the capture.
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
           (result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE);
}

void CudaQueue::check_not_captured(const char* call, const char* what) {
    if (captured())
        throw Error(ErrorCode::unsupported, call,
                    std::string("the owner captures the stream, and a graph cannot ") + what +
                        "; call it before or after the capture");
}

void CudaQueue::check_host(const char* call, const void* host, u64 bytes) {
    if (captured() && CudaStaging::is_pageable(driver_, host, bytes))
        throw Error(ErrorCode::unsupported, call,
                    "the owner captures the stream, and the host memory is pageable; pass page-locked memory "
                    "(cudaHostRegister, Device::allocate_host), or copy it before or after the capture");
}

bool CudaQueue::staged(const void* host, u64 bytes) {
    // Staging waits for the stream while the caller holds its lock, which a pending callback may need.
    if (bytes <= backend::Staging::worthwhile || callbacks_->pending() ||
        !CudaStaging::is_pageable(driver_, host, bytes))
        return false;
    if (!staging_) staging_ = std::make_unique<CudaStaging>(device_, pool_, stream_);
    return true;
}

void CudaQueue::write(backend::Memory& to, u64 offset, const void* from, u64 bytes) {
    const UncapturedCurrent current(*context_, "Stream::write");
    after_kernel_ = false;
    check_host("Stream::write", from, bytes);
    if (staged(from, bytes) && staging_->write(address(to, offset), from, bytes)) return;
    driver_.check(driver_.memcpy_htod_async(address(to, offset), from, bytes, target_), "Stream::write",
                  "cuMemcpyHtoDAsync");
}

void CudaQueue::read(void* to, const backend::Memory& from, u64 offset, u64 bytes) {
    const UncapturedCurrent current(*context_, "Stream::read");
    after_kernel_ = false;
    check_host("Stream::read", to, bytes);
    if (staged(to, bytes) && staging_->read(to, address(from, offset), bytes)) return;
    driver_.check(driver_.memcpy_dtoh_async(to, address(from, offset), bytes, target_), "Stream::read",
                  "cuMemcpyDtoHAsync");
}

void CudaQueue::copy(backend::Memory& to, u64 to_offset, const backend::Memory& from, u64 from_offset,
                     u64 bytes) {
    const Current current(*context_, "Stream::copy");
    after_kernel_ = false;
    if (context_of(to) != context_of(from))
        return driver_.check(
            driver_.memcpy_peer_async(address(to, to_offset), context_of(to), address(from, from_offset),
                                      context_of(from), bytes, target_),
            "Stream::copy", "cuMemcpyPeerAsync");
    driver_.check(
        driver_.memcpy_dtod_async(address(to, to_offset), address(from, from_offset), bytes, target_),
        "Stream::copy", "cuMemcpyDtoDAsync");
}

void CudaQueue::fill(backend::Memory& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    constexpr const char* call = "Stream::fill";
    const CUdeviceptr target = address(to, offset);
    u64 value = 0;
    std::memcpy(&value, pattern, pattern_size);
    if (pattern_size == 8) {
        if (value >> 32 != (value & 0xffffffff)) return fill_8(target, bytes / 8, value);
        pattern_size = 4;
    }
    const Current current(*context_, call);
    after_kernel_ = false;
    if (pattern_size == 1) {
        driver_.check(driver_.memset_d8_async(target, static_cast<u8>(value), bytes, target_), call,
                      "cuMemsetD8Async");
    } else if (pattern_size == 2) {
        driver_.check(driver_.memset_d16_async(target, static_cast<u16>(value), bytes / 2, target_), call,
                      "cuMemsetD16Async");
    } else {
        driver_.check(driver_.memset_d32_async(target, static_cast<u32>(value), bytes / 4, target_), call,
                      "cuMemsetD32Async");
    }
}

void CudaQueue::fill_8(CUdeviceptr to, u64 count, u64 value) {
    const CudaKernel& kernel = device_.fill_8_kernel();
    const u64 groups =
        std::min((count + fill_group_size - 1) / fill_group_size, u64{device_.traits().units} * 16);
    void* arguments[] = {&to, &count, &value};
    const Current current(*context_, "Stream::fill");
    launch(kernel, LaunchShape::linear(groups, fill_group_size), arguments);
}

const CudaKernel& CudaDevice::fill_8_kernel() {
    const std::lock_guard lock(fill_8_mutex_);
    if (!fill_8_kernel_) {
        static const KernelSource source{"fill", {fill_text}, {}};
        KernelSpec spec;
        spec.source = &source;
        spec.entry = "fill_8";
        spec.max_group_size = fill_group_size;
        fill_8_kernel_ = compile(spec);
    }
    return static_cast<const CudaKernel&>(*fill_8_kernel_);
}

void CudaQueue::launch(const backend::Kernel& kernel, const LaunchShape& shape,
                       std::span<const KernelArgument> arguments) {
    const auto& cuda_kernel = static_cast<const CudaKernel&>(kernel);
    check_launch(cuda_kernel.limits(), shape, arguments);
    CUdeviceptr addresses[max_arguments];
    void* pointers[max_arguments];
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& argument = arguments[i];
        if (argument.buffer != nullptr) {
            addresses[i] = address(backend::memory_of(*argument.buffer), argument.offset);
            pointers[i] = &addresses[i];
        } else {
            pointers[i] = const_cast<void*>(argument.value);  // the driver does not write it
        }
    }
    const Current current(*context_, "Stream::launch");
    launch(cuda_kernel, shape, pointers);
}

void CudaQueue::launch(const CudaKernel& kernel, const LaunchShape& shape, void** arguments) {
    const bool after_kernel = after_kernel_.exchange(false, std::memory_order_relaxed) &&
                              !may_be_captured_.load(std::memory_order_relaxed);
    kernel.launch(target_, shape, arguments, after_kernel);
    after_kernel_ = true;
}

void CudaQueue::record(backend::Event& event) {
    const Current current(*context_, "Stream::record");
    after_kernel_ = false;
    using Capture = CudaEvent::Capture;
    static_cast<CudaEvent&>(event).record(
        stream_, captured() ? Capture::now : (may_be_captured_ ? Capture::possible : Capture::never));
}

void CudaQueue::wait(const backend::Event& event) {
    const Current current(*context_, "Stream::wait");
    after_kernel_ = false;
    const auto& mark = static_cast<const CudaEvent&>(event);
    if (mark.may_be_captured()) may_be_captured_ = true;
    mark.hold(stream_);
}

void CudaQueue::callback(std::function<void()> f) {
    check_not_captured("Stream::callback", "repeat a callback");
    const Current current(*context_, "Stream::callback");
    after_kernel_ = false;
    callbacks_->push(device_.callback_thread(), std::move(f));
    const CUresult result = driver_.launch_host_func(stream_, run_callback, callbacks_.get());
    if (result == CUDA_SUCCESS) return;
    callbacks_->pop();
    driver_.fail(result, "Stream::callback", "cuLaunchHostFunc");
}

void CudaQueue::synchronize() {
    check_not_captured("Stream::synchronize", "be waited for");
    const UncapturedCurrent current(*context_, "Stream::synchronize");
    driver_.check(driver_.stream_synchronize(stream_), "Stream::synchronize", "cuStreamSynchronize");
    callbacks_->rethrow();
}

// Does not throw, because the pool calls it, too. After a failure the stream executes nothing more, and synchronize()
// throws.
bool CudaQueue::idle() {
    if (captured()) return false;
    const UncapturedCurrent current(*context_);
    return !current.entered() || driver_.stream_query(stream_) != CUDA_ERROR_NOT_READY;
}

bool CudaQueue::begin_capture() {
    if (!driver_.has_graphs()) return false;
    const UncapturedCurrent current(*context_, "Stream::end_recording");
    capture_ = std::make_unique<CudaCapture>(context_);
    target_ = capture_->stream();
    after_kernel_ = false;
    return true;
}

std::shared_ptr<void> CudaQueue::end_capture() {
    const UncapturedCurrent current(*context_, "Stream::end_recording");
    target_ = stream_;
    after_kernel_ = false;
    const std::unique_ptr<CudaCapture> capture = std::move(capture_);
    return capture->end();
}

void CudaQueue::replay(void* captured) {
    const Current current(*context_, "Recording::replay");
    after_kernel_ = false;
    static_cast<CudaGraph*>(captured)->launch(stream_);
}

}  // namespace concord::cuda
