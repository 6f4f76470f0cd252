#pragma once
// The OpenCL functions that this backend calls, and helpers to call them from C++. The functions come from the ICD
// loader at run time, so that one binary runs with and without OpenCL.

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue, the only form on 1.2 platforms
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <concord/detail/float_environment.hpp>
#include <concord/error.hpp>
#include <concord/types.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace concord::opencl {

// All of OpenCL 1.2 or older.
#define CONCORD_OPENCL_FUNCTIONS(X) \
    X(clBuildProgram)               \
    X(clCreateBuffer)               \
    X(clCreateCommandQueue)         \
    X(clCreateContext)              \
    X(clCreateKernel)               \
    X(clCreateProgramWithBinary)    \
    X(clCreateProgramWithSource)    \
    X(clCreateUserEvent)            \
    X(clEnqueueBarrierWithWaitList) \
    X(clEnqueueCopyBuffer)          \
    X(clEnqueueFillBuffer)          \
    X(clEnqueueMapBuffer)           \
    X(clEnqueueMarkerWithWaitList)  \
    X(clEnqueueNDRangeKernel)       \
    X(clEnqueueReadBuffer)          \
    X(clEnqueueUnmapMemObject)      \
    X(clEnqueueWriteBuffer)         \
    X(clFinish)                     \
    X(clFlush)                      \
    X(clGetDeviceIDs)               \
    X(clGetDeviceInfo)              \
    X(clGetEventInfo)               \
    X(clGetCommandQueueInfo)        \
    X(clGetContextInfo)             \
    X(clGetEventProfilingInfo)      \
    X(clGetKernelArgInfo)           \
    X(clGetKernelInfo)              \
    X(clGetKernelWorkGroupInfo)     \
    X(clGetMemObjectInfo)           \
    X(clGetPlatformIDs)             \
    X(clGetPlatformInfo)            \
    X(clGetProgramBuildInfo)        \
    X(clGetProgramInfo)             \
    X(clReleaseCommandQueue)        \
    X(clReleaseContext)             \
    X(clReleaseEvent)               \
    X(clReleaseKernel)              \
    X(clReleaseMemObject)           \
    X(clReleaseProgram)             \
    X(clRetainCommandQueue)         \
    X(clRetainContext)              \
    X(clRetainEvent)                \
    X(clRetainMemObject)            \
    X(clSetEventCallback)           \
    X(clSetKernelArg)               \
    X(clSetUserEventStatus)         \
    X(clWaitForEvents)

// Whether a call into a driver has ended with an exception. OpenCL's functions do not throw, but some drivers let
// exceptions pass, such as PoCL when memory is short. They then hold locks for ever, so that no call is safe any more,
// not even a release.
bool lost() noexcept;
// For a handler of such an exception: stores the reason that all later calls give. `function` is the OpenCL function.
void note_lost(const char* function) noexcept;
// The same for a driver that has reported a lack of memory from a call that it cannot repeat.
void note_lost_for_memory(const char* function) noexcept;
// Throws that reason: out_of_memory or device_failed.
[[noreturn]] void refuse_lost();

// Whether a function gets the default floating-point environment: drivers of CPUs run kernels in calls, and start
// threads that inherit it. Not the one that every launch calls many times.
constexpr bool needs_default_floats(std::string_view name) {
    return name != "clSetKernelArg";
}
class NoEnvironment {
  public:
    NoEnvironment() noexcept {}  // not trivial: otherwise compilers warn of unused objects
};

// A function of the driver. Calls throw after the driver was lost.
template <class Pointer, bool default_floats>
class Function;
template <class R, class... A, bool default_floats>
class Function<R (*)(A...), default_floats> {
    using Environment = std::conditional_t<default_floats, detail::DefaultFloatEnvironment, NoEnvironment>;

  public:
    void set(const char* name, void* address) {
        name_ = name;
        call_ = reinterpret_cast<R (*)(A...)>(address);
    }
    const void* address() const { return reinterpret_cast<const void*>(call_); }

    R operator()(A... arguments) const {
        if (lost()) [[unlikely]]
            refuse_lost();
        const Environment environment;
        try {
            return call_(arguments...);
        } catch (...) {
            note_lost(name_);
        }
        refuse_lost();
    }
    // For destructors and the like: does nothing after the driver was lost, and returns zero (CL_SUCCESS).
    R quietly(A... arguments) const noexcept {
        if (lost()) return R{};
        const Environment environment;
        try {
            return call_(arguments...);
        } catch (...) {
            note_lost(name_);
            return R{};
        }
    }

  private:
    const char* name_ = "";
    R (*call_)(A...) = nullptr;
};

// The functions under their own names.
struct Api {
#define CONCORD_OPENCL_MEMBER(name) Function<decltype(&::name), needs_default_floats(#name)> name;
    CONCORD_OPENCL_FUNCTIONS(CONCORD_OPENCL_MEMBER)
#undef CONCORD_OPENCL_MEMBER
};

// The table, filled by the first call. Throws unavailable if the ICD loader is missing or too old.
const Api& cl();

// Path and version of the loader. The version is empty if the loader does not report it.
std::string loader_path();
std::string loader_version();

// "CL_OUT_OF_RESOURCES (-5)".
std::string status_text(cl_int status);

// Throws the error for a status: out_of_memory, invalid_argument for a launch that does not fit, otherwise
// device_failed.
[[noreturn]] void fail(cl_int status, std::string_view call, std::string_view message);

// Throws unless status is CL_SUCCESS. `call` is Concord's function, `function` the OpenCL function.
inline void check(cl_int status, std::string_view call, std::string_view function) {
    if (status != CL_SUCCESS) [[unlikely]]
        fail(status, call, std::string(function) + " failed");
}

// Owns one reference to an OpenCL object.
template <class T, auto Release>
class Handle {
  public:
    Handle() = default;
    explicit Handle(T object) noexcept : object_(object) {}
    Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
        Handle old(std::exchange(object_, std::exchange(other.object_, nullptr)));
        return *this;
    }
    ~Handle() {
        if (object_ != nullptr) (cl().*Release).quietly(object_);
    }

    T get() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    // Where a function stores a new object. The handle must be empty.
    T* out() noexcept { return &object_; }

  private:
    T object_ = nullptr;
};

using ContextHandle = Handle<cl_context, &Api::clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, &Api::clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, &Api::clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, &Api::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Api::clReleaseKernel>;
using EventHandle = Handle<cl_event, &Api::clReleaseEvent>;

// The raw answer to a question about a device or platform. Empty if the driver does not know the question.
std::optional<std::string> ask(cl_device_id device, cl_device_info question);
std::optional<std::string> ask(cl_platform_id platform, cl_platform_info question);
// The answer as text.
std::string ask_text(cl_device_id device, cl_device_info question);
std::string ask_text(cl_platform_id platform, cl_platform_info question);
// The answer as a T.
template <class T>
T ask_value(cl_device_id device, cl_device_info question, T otherwise = {}) {
    const std::optional<std::string> bytes = ask(device, question);
    if (!bytes || bytes->size() < sizeof(T)) return otherwise;
    T value;
    std::memcpy(&value, bytes->data(), sizeof value);
    return value;
}

// "0x7f00": an address, for messages.
std::string handle_text(const void* handle);

// Whether the handle may be passed to the loader, which follows the pointer at its beginning to the driver's functions:
// objects of one driver begin with the same pointer (cl_khr_icd). Reads no memory that is not readable.
bool is_object(const void* handle);

// An answer about an object of another owner. Throws invalid_argument if the driver does not know the object. `what` is
// the object's type.
template <class T, class F, class Object>
T asked(const F& function, Object object, cl_uint question, const char* call, const char* what) {
    if (!is_object(object))
        throw Error(ErrorCode::invalid_argument, call,
                    std::string("not a ") + what + ", got " + handle_text(object));
    T value{};
    const cl_int status = function(object, question, sizeof value, &value, nullptr);
    if (status != CL_SUCCESS)
        throw Error(ErrorCode::invalid_argument, call, std::string("not a ") + what, status_text(status));
    return value;
}

// Whether a space-separated list such as CL_DEVICE_EXTENSIONS contains the word.
bool has_word(std::string_view list, std::string_view word);

}  // namespace concord::opencl
