// An OpenCL layer (OPENCL_LAYERS) that stands for a driver without memory: the call that THROWING_CALL names throws
// std::bad_alloc. The driver then holds a lock: each later call ends the process. With FLUSHING=1 it stands for a
// device that flushes denormals to zero. With GROUP_LIMIT=64 each device is a GPU with groups of at most 64
// work-items. KERNEL_GROUP_LIMIT=32 lowers the limit of each kernel to 32. FAULT names a fault of the driver: `finish`
// (commands are pending after clFinish), `offset` (a kernel's fourth parameter is 0), `barrier` (barriers do nothing)
// or `launch` (launches fail).
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace {

cl_icd_dispatch layer;
const cl_icd_dispatch* driver;
std::atomic<bool> has_thrown;

void check() {
    if (!has_thrown) return;
    std::fputs("a call after the driver was lost\n", stderr);
    std::abort();
}

void maybe_throw(const char* name) {
    const char* wanted = std::getenv("THROWING_CALL");
    if (wanted == nullptr || std::strcmp(wanted, name) != 0) return;
    has_thrown = true;
    throw std::bad_alloc();
}

size_t number(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? 0 : std::strtoul(value, nullptr, 10);
}

bool has_fault(const char* name) {
    const char* fault = std::getenv("FAULT");
    return fault != nullptr && std::strcmp(fault, name) == 0;
}

// Lowers a size_t to the limit that the variable names.
void lower(void* value, const char* name) {
    size_t size = 0;
    std::memcpy(&size, value, sizeof size);
    if (number(name) != 0 && size > number(name)) size = number(name);
    std::memcpy(value, &size, sizeof size);
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info question, size_t size, void* value,
                                   size_t* needed) {
    const cl_int status = driver->clGetDeviceInfo(device, question, size, value, needed);
    if (status != CL_SUCCESS || value == nullptr) return status;
    if (question == CL_DEVICE_SINGLE_FP_CONFIG && std::getenv("FLUSHING") != nullptr) {
        cl_device_fp_config config = 0;
        std::memcpy(&config, value, sizeof config);
        config &= ~static_cast<cl_device_fp_config>(CL_FP_DENORM);
        std::memcpy(value, &config, sizeof config);
    }
    if (question == CL_DEVICE_TYPE && number("GROUP_LIMIT") != 0) {
        const cl_device_type type = CL_DEVICE_TYPE_GPU;
        std::memcpy(value, &type, sizeof type);
    }
    if (question == CL_DEVICE_MAX_WORK_GROUP_SIZE) lower(value, "GROUP_LIMIT");
    return status;
}

cl_int CL_API_CALL get_work_group_info(cl_kernel kernel, cl_device_id device,
                                       cl_kernel_work_group_info question, size_t size, void* value,
                                       size_t* needed) {
    const cl_int status = driver->clGetKernelWorkGroupInfo(kernel, device, question, size, value, needed);
    if (status != CL_SUCCESS || value == nullptr || question != CL_KERNEL_WORK_GROUP_SIZE) return status;
    lower(value, "GROUP_LIMIT");
    lower(value, "KERNEL_GROUP_LIMIT");
    return status;
}

cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info question, size_t size, void* value,
                                  size_t* needed) {
    const cl_int status = driver->clGetEventInfo(event, question, size, value, needed);
    if (question == CL_EVENT_COMMAND_EXECUTION_STATUS && value != nullptr && has_fault("finish")) {
        const cl_int running = CL_RUNNING;
        std::memcpy(value, &running, sizeof running);
    }
    return status;
}

cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint place, size_t size, const void* value) {
    check();
    maybe_throw("clSetKernelArg");
    const cl_ulong zero = 0;
    return driver->clSetKernelArg(kernel, place, size, place == 3 && has_fault("offset") ? &zero : value);
}

cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t* offset, const size_t* global, const size_t* local,
                                  cl_uint waits, const cl_event* wait_list, cl_event* event) {
    check();
    maybe_throw("clEnqueueNDRangeKernel");
    size_t items = 1;
    for (cl_uint i = 0; i < dimensions; ++i)
        items *= local[i];
    for (const char* name : {"GROUP_LIMIT", "KERNEL_GROUP_LIMIT"}) {
        if (number(name) != 0 && items > number(name)) return CL_INVALID_WORK_GROUP_SIZE;
    }
    if (has_fault("launch")) return CL_INVALID_WORK_GROUP_SIZE;
    return driver->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait_list,
                                          event);
}

cl_program CL_API_CALL create_program(cl_context context, cl_uint count, const char** texts,
                                      const size_t* lengths, cl_int* status) {
    check();
    if (!has_fault("barrier"))
        return driver->clCreateProgramWithSource(context, count, texts, lengths, status);
    std::string source;
    for (cl_uint i = 0; i < count; ++i)
        source += lengths != nullptr && lengths[i] != 0 ? std::string(texts[i], lengths[i]) : texts[i];
    for (const std::string word = "barrier("; source.find(word) != std::string::npos;)
        source.replace(source.find(word), word.size(), "(void)(");
    const char* text = source.c_str();
    return driver->clCreateProgramWithSource(context, 1, &text, nullptr, status);
}

// Replaces a function of the driver.
template <auto Member>
struct Replaced;
template <class R, class... A, R (*cl_icd_dispatch::*Member)(A...)>
struct Replaced<Member> {
    static inline const char* name;
    static R call(A... arguments) {
        check();
        maybe_throw(name);
        return (driver->*Member)(arguments...);
    }
};

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED cl_int clGetLayerInfo(cl_layer_info what, size_t size, void* value, size_t* needed) {
    if (what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (value != nullptr && size >= sizeof version) std::memcpy(value, &version, sizeof version);
    if (needed != nullptr) *needed = sizeof version;
    return CL_SUCCESS;
}

EXPORTED cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_of_layer,
                            const cl_icd_dispatch** result) {
    if (entries < sizeof layer / sizeof(void*)) return CL_INVALID_VALUE;
    driver = target;
    layer = *target;
#define REPLACE(function)                                    \
    Replaced<& cl_icd_dispatch::function>::name = #function; \
    layer.function = Replaced<&cl_icd_dispatch::function>::call;
    REPLACE(clBuildProgram)
    REPLACE(clCreateBuffer)
    REPLACE(clCreateKernel)
    REPLACE(clEnqueueReadBuffer)
    REPLACE(clEnqueueWriteBuffer)
    REPLACE(clFinish)
    REPLACE(clFlush)
    REPLACE(clReleaseCommandQueue)
    REPLACE(clReleaseContext)
    REPLACE(clReleaseEvent)
    REPLACE(clReleaseKernel)
    REPLACE(clReleaseMemObject)
    REPLACE(clReleaseProgram)
#undef REPLACE
    layer.clCreateProgramWithSource = create_program;
    layer.clEnqueueNDRangeKernel = enqueue_kernel;
    layer.clGetDeviceInfo = get_device_info;
    layer.clGetEventInfo = get_event_info;
    layer.clGetKernelWorkGroupInfo = get_work_group_info;
    layer.clSetKernelArg = set_kernel_arg;
    *entries_of_layer = sizeof layer / sizeof(void*);
    *result = &layer;
    return CL_SUCCESS;
}
