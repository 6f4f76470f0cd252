#include "cuda_stream.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace concord::cuda {
namespace {

constexpr SourceFile fill_text{"cuda_fill.cu", R"(
extern "C" __global__ void fill_8(u64* to, u64 count, u64 value) {
    const u64 step = u64(gridDim.x) * blockDim.x;
    for (u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) to[i] = value;
}
)"};

const KernelSource& fill_source() {
    static const KernelSource source{"fill", {fill_text}, {}};
    return source;
}

CUcontext context_of(const Buffer& buffer) {
    return static_cast<CudaDevice&>(buffer.device()).context()->handle();
}

CUdeviceptr address(const Buffer& buffer, u64 offset) {
    return static_cast<const CudaBuffer&>(buffer).address() + offset;
}

void CUDA_CB run_callback(void* callbacks) {
    static_cast<StreamCallbacks*>(callbacks)->run_next();
}

}  // namespace

CudaStream::CudaStream(const std::shared_ptr<CudaDevice>& device, Priority priority)
    : Stream(device),
      device_(*device),
      context_(device->context()),
      driver_(device->driver()),
      callbacks_(std::make_shared<StreamCallbacks>()) {
    const Current current(*context_, "Device::create_stream");
    // The less, the more urgent; what is out of range is brought into it.
    const int urgency = priority == Priority::high ? std::numeric_limits<int>::min() : 0;
    driver_.check(driver_.stream_create_with_priority(&stream_, CU_STREAM_NON_BLOCKING, urgency),
                  "Device::create_stream", "cuStreamCreateWithPriority");
    target_ = stream_;
}

CudaStream::~CudaStream() {
    const Current current(*context_);
    const bool finished = current.entered() && driver_.stream_synchronize(stream_) == CUDA_SUCCESS;
    if (current.entered()) driver_.stream_destroy(stream_);
    // A stream that broke off may still hold their address: then they stay.
    if (!finished) new (std::nothrow) std::shared_ptr<StreamCallbacks>(callbacks_);
}

bool CudaStream::staged(const void* host, u64 bytes) {
    // Staging waits for the stream with its lock held; a callback that is still to run may want it.
    if (bytes <= Staging::worthwhile || callbacks_->pending() ||
        !CudaStaging::is_pageable(driver_, host, bytes))
        return false;
    if (!staging_) staging_ = std::make_unique<CudaStaging>(device_, stream_);
    return true;
}

void CudaStream::do_write(Buffer& to, u64 offset, const void* from, u64 bytes) {
    const Current current(*context_, "Stream::write");
    if (staged(from, bytes) && staging_->write(address(to, offset), from, bytes)) return;
    driver_.check(driver_.memcpy_htod_async(address(to, offset), from, bytes, target_), "Stream::write",
                  "cuMemcpyHtoDAsync");
}

void CudaStream::do_read(void* to, const Buffer& from, u64 offset, u64 bytes) {
    const Current current(*context_, "Stream::read");
    if (staged(to, bytes) && staging_->read(to, address(from, offset), bytes)) return;
    driver_.check(driver_.memcpy_dtoh_async(to, address(from, offset), bytes, target_), "Stream::read",
                  "cuMemcpyDtoHAsync");
}

void CudaStream::do_copy(Buffer& to, u64 to_offset, const Buffer& from, u64 from_offset, u64 bytes) {
    const Current current(*context_, "Stream::copy");
    if (&to.device() != &from.device())
        return driver_.check(
            driver_.memcpy_peer_async(address(to, to_offset), context_of(to), address(from, from_offset),
                                      context_of(from), bytes, target_),
            "Stream::copy", "cuMemcpyPeerAsync");
    driver_.check(
        driver_.memcpy_dtod_async(address(to, to_offset), address(from, from_offset), bytes, target_),
        "Stream::copy", "cuMemcpyDtoDAsync");
}

void CudaStream::do_fill(Buffer& to, u64 offset, u64 bytes, const void* pattern, u32 pattern_size) {
    constexpr const char* call = "Stream::fill";
    const CUdeviceptr target = address(to, offset);
    u64 value = 0;
    std::memcpy(&value, pattern, pattern_size);
    if (pattern_size == 8) {
        if (value >> 32 != (value & 0xffffffff)) return fill_8(to, offset, bytes / 8, value);
        pattern_size = 4;
    }
    const Current current(*context_, call);
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

void CudaStream::fill_8(Buffer& to, u64 offset, u64 count, u64 value) {
    constexpr u32 group_size = 256;
    const std::shared_ptr<Kernel> kernel =
        device_.kernel({.source = &fill_source(), .entry = "fill_8", .max_group_size = group_size});
    const u64 groups = std::min((count + group_size - 1) / group_size, u64{device_.traits().units} * 16);
    const KernelArgument arguments[] = {{.buffer = &to, .offset = offset, .element_size = 8},
                                        {.value = &count, .size = sizeof count},
                                        {.value = &value, .size = sizeof value}};
    do_launch(*kernel, LaunchShape::linear(groups, group_size), arguments);
}

void CudaStream::do_launch(const Kernel& kernel, const LaunchShape& shape,
                           std::span<const KernelArgument> arguments) {
    const auto& cuda_kernel = static_cast<const CudaKernel&>(kernel);
    check_launch(kernel, cuda_kernel.limits(), shape, arguments);
    CUdeviceptr addresses[max_arguments];
    void* pointers[max_arguments];
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const KernelArgument& argument = arguments[i];
        if (argument.buffer != nullptr) {
            addresses[i] = address(*argument.buffer, argument.offset);
            pointers[i] = &addresses[i];
        } else {
            pointers[i] = const_cast<void*>(argument.value);  // the driver only reads it
        }
    }
    const Current current(*context_, "Stream::launch");
    cuda_kernel.launch(target_, shape, pointers);
}

void CudaStream::do_record(Event& event) {
    const Current current(*context_, "Stream::record");
    static_cast<CudaEvent&>(event).record(stream_);
}

void CudaStream::do_wait(const Event& event) {
    const Current current(*context_, "Stream::wait");
    static_cast<const CudaEvent&>(event).hold(stream_);
}

void CudaStream::do_callback(std::function<void()> f) {
    const Current current(*context_, "Stream::callback");
    callbacks_->push(device_.callback_thread(), std::move(f));
    const CUresult result = driver_.launch_host_func(stream_, run_callback, callbacks_.get());
    if (result == CUDA_SUCCESS) return;
    callbacks_->pop();
    driver_.fail(result, "Stream::callback", "cuLaunchHostFunc");
}

void CudaStream::do_synchronize() {
    const Current current(*context_, "Stream::synchronize");
    driver_.check(driver_.stream_synchronize(stream_), "Stream::synchronize", "cuStreamSynchronize");
    callbacks_->rethrow();
}

// Never throws: the pool asks as well. After a failure nothing of the stream is left to wait for;
// synchronize() tells.
bool CudaStream::do_idle() {
    const Current current(*context_);
    return !current.entered() || driver_.stream_query(stream_) != CUDA_ERROR_NOT_READY;
}

bool CudaStream::do_begin_capture() {
    if (!driver_.has_graphs()) return false;
    const Current current(*context_, "Stream::end_recording");
    capture_ = std::make_unique<CudaCapture>(context_);
    target_ = capture_->stream();
    return true;
}

std::shared_ptr<void> CudaStream::do_end_capture() {
    const Current current(*context_, "Stream::end_recording");
    target_ = stream_;
    const std::unique_ptr<CudaCapture> capture = std::move(capture_);
    return capture->end();
}

void CudaStream::do_replay(void* captured) {
    const Current current(*context_, "Recording::replay");
    static_cast<CudaGraph*>(captured)->launch(stream_);
}

}  // namespace concord::cuda
