#pragma once
// A device's primary context, and making it current for as long as a call takes.

#include "cuda_driver.hpp"

namespace concord::cuda {

/// The primary context, retained: the one that the CUDA runtime and most libraries use too, so that a program
/// may mix them with Concord. Held by everything that the driver must destroy inside it.
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

/// Makes a context current on this thread, and the host program's own current again at the end of the scope.
class Current {
  public:
    Current(const Context& context, const char* call) : context_(context) {
        const CUresult result = enter();
        if (result != CUDA_SUCCESS) [[unlikely]]
            context.driver.fail(result, call, "cuCtxPushCurrent");
    }
    /// For destructors: entered() tells whether it worked. It does not once the driver has been shut down.
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

}  // namespace concord::cuda
