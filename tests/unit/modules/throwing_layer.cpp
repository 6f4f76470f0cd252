// An OpenCL layer (OPENCL_LAYERS) that stands for a driver without memory: the call that THROWING_CALL names throws
// std::bad_alloc. The driver then holds a lock: each later call ends the process. With FLUSHING=1 it stands for a
// device that flushes denormals to zero.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

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

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info question, size_t size, void* value,
                                   size_t* needed) {
    const cl_int status = driver->clGetDeviceInfo(device, question, size, value, needed);
    if (status == CL_SUCCESS && value != nullptr && question == CL_DEVICE_SINGLE_FP_CONFIG &&
        std::getenv("FLUSHING") != nullptr) {
        cl_device_fp_config config = 0;
        std::memcpy(&config, value, sizeof config);
        config &= ~static_cast<cl_device_fp_config>(CL_FP_DENORM);
        std::memcpy(value, &config, sizeof config);
    }
    return status;
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
    REPLACE(clEnqueueNDRangeKernel)
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
    REPLACE(clSetKernelArg)
#undef REPLACE
    layer.clGetDeviceInfo = get_device_info;
    *entries_of_layer = sizeof layer / sizeof(void*);
    *result = &layer;
    return CL_SUCCESS;
}
