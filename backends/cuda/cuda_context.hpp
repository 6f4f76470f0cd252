#pragma once
// The primary context of a device, and a guard that makes it current.

#include "cuda_driver.hpp"

namespace concord::cuda {

// Retains the primary context, which the CUDA runtime and most libraries use too. Programs can therefore combine them
// with Concord. Every object that the driver must destroy within the context holds a reference.
class Context {
  public:
    Context(const Driver& driver, CUdevice device);
    ~Context() { driver.primary_ctx_release(device_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    CUcontext handle() const { return handle_; }
    CUdevice device() const { return device_; }

    const Driver& driver;

  private:
    CUdevice device_;
    CUcontext handle_ = nullptr;
};

// Makes a context current on this thread, and restores the previous one at the end of the scope.
class Current {
  public:
    Current(const Context& context, const char* call) : context_(context) {
        const CUresult result = enter();
        if (result != CUDA_SUCCESS) [[unlikely]]
            context.driver.fail(result, call, "cuCtxPushCurrent");
    }
    // For destructors. entered() returns false if it failed, as it does after the driver's shutdown.
    explicit Current(const Context& context) noexcept : context_(context) {
        entered_ = enter() == CUDA_SUCCESS;
    }
    ~Current() {
        CUcontext popped;
        if (pushed_) context_.driver.ctx_pop_current(&popped);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

    bool entered() const { return entered_; }

  private:
    CUresult enter() noexcept {
        CUcontext current = nullptr;
        CUresult result = context_.driver.ctx_get_current(&current);
        if (result == CUDA_SUCCESS && current != context_.handle()) {
            result = context_.driver.ctx_push_current(context_.handle());
            pushed_ = result == CUDA_SUCCESS;
        }
        return result;
    }

    const Context& context_;
    bool pushed_ = false;
    bool entered_ = true;
};

// The same for functions that may wait, allocate or query. While a program captures a stream, the driver forbids them
// to all threads (CU_STREAM_CAPTURE_MODE_GLOBAL) or to the capturing one, even on objects that are not captured. This
// guard lifts that for its thread, as the documentation of cuThreadExchangeStreamCaptureMode recommends for such
// objects.
class UncapturedCurrent {
  public:
    UncapturedCurrent(const Context& context, const char* call)
        : driver_(context.driver), current_(context, call) {
        exchange();
    }
    // For destructors.
    explicit UncapturedCurrent(const Context& context) noexcept : driver_(context.driver), current_(context) {
        exchange();
    }
    ~UncapturedCurrent() { exchange(); }
    UncapturedCurrent(const UncapturedCurrent&) = delete;
    UncapturedCurrent& operator=(const UncapturedCurrent&) = delete;

    bool entered() const { return current_.entered(); }

  private:
    void exchange() noexcept { driver_.thread_exchange_capture_mode(&mode_); }

    const Driver& driver_;
    Current current_;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the thread's own
};

}  // namespace concord::cuda
