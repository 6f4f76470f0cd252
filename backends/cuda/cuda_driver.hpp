#pragma once
// The CUDA driver API, opened at run time: functions, version and errors.

#include <concord/error.hpp>

#include <cuda.h>

#include <string>

#include "cuda_library.hpp"

#if CUDA_VERSION < 11080
#error "the CUDA backend needs the headers of CUDA 11.8 or later"
#endif

namespace concord::cuda {

// Concord's name, the function in the header, and the symbol. The header renames functions to their latest version. The
// symbol is the oldest equivalent version, so that older drivers have it.
#define CONCORD_CUDA_FUNCTIONS(X)                                                                           \
    X(init, cuInit, "cuInit")                                                                               \
    X(driver_get_version, cuDriverGetVersion, "cuDriverGetVersion")                                         \
    X(get_error_name, cuGetErrorName, "cuGetErrorName")                                                     \
    X(get_error_string, cuGetErrorString, "cuGetErrorString")                                               \
    X(device_get, cuDeviceGet, "cuDeviceGet")                                                               \
    X(device_get_count, cuDeviceGetCount, "cuDeviceGetCount")                                               \
    X(device_get_name, cuDeviceGetName, "cuDeviceGetName")                                                  \
    X(device_get_uuid, cuDeviceGetUuid, "cuDeviceGetUuid_v2")                                               \
    X(device_get_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute")                                   \
    X(device_get_pci_bus_id, cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId")                                    \
    X(device_total_mem, cuDeviceTotalMem, "cuDeviceTotalMem_v2")                                            \
    X(primary_ctx_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                             \
    X(primary_ctx_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2")                       \
    X(ctx_get_current, cuCtxGetCurrent, "cuCtxGetCurrent")                                                  \
    X(ctx_get_device, cuCtxGetDevice, "cuCtxGetDevice")                                                     \
    X(ctx_push_current, cuCtxPushCurrent, "cuCtxPushCurrent_v2")                                            \
    X(ctx_pop_current, cuCtxPopCurrent, "cuCtxPopCurrent_v2")                                               \
    X(mem_get_info, cuMemGetInfo, "cuMemGetInfo_v2")                                                        \
    X(mem_alloc, cuMemAlloc, "cuMemAlloc_v2")                                                               \
    X(mem_free, cuMemFree, "cuMemFree_v2")                                                                  \
    X(mem_host_alloc, cuMemHostAlloc, "cuMemHostAlloc")                                                     \
    X(mem_free_host, cuMemFreeHost, "cuMemFreeHost")                                                        \
    X(memcpy_htod_async, cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")                                         \
    X(memcpy_dtoh_async, cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")                                         \
    X(memcpy_dtod_async, cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2")                                         \
    X(memcpy_peer_async, cuMemcpyPeerAsync, "cuMemcpyPeerAsync")                                            \
    X(device_can_access_peer, cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer")                               \
    X(ctx_enable_peer_access, cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess")                               \
    X(pointer_get_attributes, cuPointerGetAttributes, "cuPointerGetAttributes")                             \
    X(memset_d8_async, cuMemsetD8Async, "cuMemsetD8Async")                                                  \
    X(memset_d16_async, cuMemsetD16Async, "cuMemsetD16Async")                                               \
    X(memset_d32_async, cuMemsetD32Async, "cuMemsetD32Async")                                               \
    X(stream_create, cuStreamCreate, "cuStreamCreate")                                                      \
    X(stream_create_with_priority, cuStreamCreateWithPriority, "cuStreamCreateWithPriority")                \
    X(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2")                                                \
    X(stream_query, cuStreamQuery, "cuStreamQuery")                                                         \
    X(stream_is_capturing, cuStreamIsCapturing, "cuStreamIsCapturing")                                      \
    X(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode") \
    X(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize")                                       \
    X(stream_wait_event, cuStreamWaitEvent, "cuStreamWaitEvent")                                            \
    X(event_create, cuEventCreate, "cuEventCreate")                                                         \
    X(event_destroy, cuEventDestroy, "cuEventDestroy_v2")                                                   \
    X(event_record, cuEventRecord, "cuEventRecord")                                                         \
    X(event_query, cuEventQuery, "cuEventQuery")                                                            \
    X(event_synchronize, cuEventSynchronize, "cuEventSynchronize")                                          \
    X(event_elapsed_time, cuEventElapsedTime, "cuEventElapsedTime")                                         \
    X(module_load_data_ex, cuModuleLoadDataEx, "cuModuleLoadDataEx")                                        \
    X(module_unload, cuModuleUnload, "cuModuleUnload")                                                      \
    X(module_get_function, cuModuleGetFunction, "cuModuleGetFunction")                                      \
    X(func_get_attribute, cuFuncGetAttribute, "cuFuncGetAttribute")                                         \
    X(func_set_attribute, cuFuncSetAttribute, "cuFuncSetAttribute")                                         \
    X(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                             \
      "cuOccupancyMaxActiveBlocksPerMultiprocessor")                                                        \
    X(launch_kernel, cuLaunchKernel, "cuLaunchKernel")                                                      \
    X(launch_host_func, cuLaunchHostFunc, "cuLaunchHostFunc")

// Functions that old drivers lack; null then. The graph functions exist since CUDA 11.4.
#define CONCORD_CUDA_OPTIONAL_FUNCTIONS(X)                                           \
    X(stream_begin_capture, cuStreamBeginCapture, "cuStreamBeginCapture_v2")         \
    X(stream_end_capture, cuStreamEndCapture, "cuStreamEndCapture")                  \
    X(graph_instantiate, cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags") \
    X(graph_launch, cuGraphLaunch, "cuGraphLaunch")                                  \
    X(graph_exec_destroy, cuGraphExecDestroy, "cuGraphExecDestroy")                  \
    X(graph_destroy, cuGraphDestroy, "cuGraphDestroy")

// The functions of libcuda.so.1. The process has one object.
class Driver {
  public:
    // The initialised driver. Throws unavailable if the driver is missing or too old, or if it finds no GPU.
    static const Driver& get();
    // The driver, initialised or not. Throws unavailable if its library does not load.
    static const Driver& library();

    // The CUDA version that the driver supports: 13000 for CUDA 13.0.
    int version() const { return version_; }
    // The version of the driver package, "580.159.03". Empty if it is unknown.
    std::string release() const;
    const std::string& path() const { return path_; }

    // "CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected"
    std::string describe(CUresult result) const;
    // Throws out_of_memory or device_failed unless the result is a success. `call` is Concord's function, `native` the
    // driver's.
    void check(CUresult result, const char* call, const char* native) const {
        if (result != CUDA_SUCCESS) [[unlikely]]
            fail(result, call, native);
    }
    [[noreturn]] void fail(CUresult result, std::string_view call, std::string_view native) const;
    // Whether the driver has all optional functions.
    bool has_graphs() const { return has_graphs_; }
    // Whether streams and graphs support CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION.
    bool has_programmatic_launches() const { return launch_kernel_ex != nullptr && version_ >= 12030; }

#define CONCORD_CUDA_MEMBER(name, function, symbol) decltype(&::function) name = nullptr;
    CONCORD_CUDA_FUNCTIONS(CONCORD_CUDA_MEMBER)
    CONCORD_CUDA_OPTIONAL_FUNCTIONS(CONCORD_CUDA_MEMBER)
#undef CONCORD_CUDA_MEMBER
    // Returns offset and size of a kernel's parameter, CUDA_ERROR_INVALID_VALUE after the last one. Null before CUDA
    // 12.4, whose header is the first to declare it.
    CUresult(CUDAAPI* func_get_param_info)(CUfunction kernel, std::size_t index, std::size_t* offset,
                                           std::size_t* size) = nullptr;
    decltype(&::cuLaunchKernelEx) launch_kernel_ex = nullptr;  // null before CUDA 11.8

  private:
    Driver();

    SharedLibrary library_;
    std::string path_;
    int version_ = 0;
    bool has_graphs_ = true;
};

// "13.0" for 13000.
std::string version_text(int version);

}  // namespace concord::cuda
