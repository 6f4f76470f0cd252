// A CUDA driver without a GPU, for the rules of stream capture: the library libcuda.so.1 of a test. Memory is host
// memory, copies and fills run at once or become nodes of a graph, and kernels do nothing. What the driver's
// documentation forbids during a capture fails and invalidates the capture, as in cuStreamBeginCapture and
// cuThreadExchangeStreamCaptureMode. Programmatic launches are counted. They must follow Concord's rules, which are
// stricter than the driver's: directly after a kernel, and not in a capture of the owner.

#include <cuda.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#undef cuEventElapsedTime  // Concord uses the oldest form

struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    bool is_valid = true;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};
struct CUstream_st {
    CUgraph graph = nullptr;  // while it is captured
    bool is_origin = false;
    bool is_joined = true;      // whether the origin waits for its last node
    bool after_kernel = false;  // whether its last operation is a kernel
};
struct CUevent_st {
    CUgraph graph = nullptr;
    CUstream stream = nullptr;  // that has recorded it
};
struct CUctx_st {};
struct CUmod_st {};
struct CUfunc_st {};

namespace {

std::recursive_mutex mutex;
CUctx_st primary, other;
CUfunc_st function;
int programmatic_launches = 0;
std::set<CUgraph> captures;  // under way
std::set<CUstream> streams;
std::map<CUdeviceptr, std::pair<std::size_t, unsigned>> blocks;  // sizes and kinds
thread_local std::vector<CUcontext> contexts;
thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void* pointer_of(CUdeviceptr address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers
    return reinterpret_cast<void*>(address);
}

CUresult invalidate(CUgraph graph, CUresult result) {
    graph->is_valid = false;
    return result;
}

// For functions that a capture forbids even where they do not concern it.
CUresult unsafe() {
    CUresult result = CUDA_SUCCESS;
    for (CUgraph graph : captures) {
        const bool own =
            graph->thread == std::this_thread::get_id() && graph->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        const bool global =
            graph->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (mode != CU_STREAM_CAPTURE_MODE_RELAXED && (own || global))
            result = invalidate(graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }
    return result;
}

CUresult enqueue(CUstream stream, std::function<void()> f) {
    if (!streams.contains(stream)) return CUDA_ERROR_INVALID_HANDLE;
    stream->after_kernel = false;
    if (stream->graph == nullptr) {
        f();
        return CUDA_SUCCESS;
    }
    if (!stream->graph->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->graph->nodes.push_back(std::move(f));
    stream->is_joined = stream->is_origin;
    return CUDA_SUCCESS;
}

// For waits and queries.
CUresult inspect(CUstream stream) {
    if (!streams.contains(stream)) return CUDA_ERROR_INVALID_HANDLE;
    if (stream->graph != nullptr) return invalidate(stream->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return unsafe();
}
CUresult inspect(CUevent event) {
    if (captures.contains(event->graph)) return invalidate(event->graph, CUDA_ERROR_CAPTURED_EVENT);
    return event->graph != nullptr ? CUDA_ERROR_CAPTURED_EVENT : unsafe();
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes, unsigned kind) {
    if (const CUresult result = unsafe(); result != CUDA_SUCCESS) return result;
    void* const block = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = reinterpret_cast<CUdeviceptr>(block);
    blocks[*address] = {bytes, kind};
    return CUDA_SUCCESS;
}

CUresult release(CUdeviceptr address) {
    if (const CUresult result = unsafe(); result != CUDA_SUCCESS) return result;
    if (blocks.erase(address) == 0) return CUDA_ERROR_INVALID_VALUE;
    std::free(pointer_of(address));
    return CUDA_SUCCESS;
}

std::map<CUdeviceptr, std::pair<std::size_t, unsigned>>::const_iterator block_of(CUdeviceptr address) {
    auto it = blocks.upper_bound(address);
    if (it == blocks.begin()) return blocks.end();
    --it;
    return address - it->first < it->second.first ? it : blocks.end();
}

CUresult copy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    const std::lock_guard lock(mutex);
    // Pageable memory is staged, which may wait.
    if (block_of(to) == blocks.end() || block_of(from) == blocks.end()) {
        if (streams.contains(stream) && stream->graph != nullptr)
            return invalidate(stream->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        if (const CUresult result = unsafe(); result != CUDA_SUCCESS) return result;
    }
    return enqueue(stream, [=] { std::memcpy(pointer_of(to), pointer_of(from), bytes); });
}

template <class T>
CUresult fill(CUdeviceptr to, T value, std::size_t count, CUstream stream) {
    const std::lock_guard lock(mutex);
    return enqueue(stream, [=] { std::fill_n(static_cast<T*>(pointer_of(to)), count, value); });
}

CUresult answer(int* value, int result) {
    *value = result;
    return CUDA_SUCCESS;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) CUresult
EXPORT cuInit(unsigned) {
    return CUDA_SUCCESS;
}
// NVRTC asks for internal functions and works without them.
EXPORT cuGetExportTable(const void**, const CUuuid*) {
    return CUDA_ERROR_NOT_FOUND;
}
EXPORT cuDriverGetVersion(int* version) {
    return answer(version, CUDA_VERSION);
}
EXPORT cuGetErrorName(CUresult, const char** name) {
    *name = "CUDA_ERROR";
    return CUDA_SUCCESS;
}
EXPORT cuGetErrorString(CUresult, const char** text) {
    *text = "simulated";
    return CUDA_SUCCESS;
}
EXPORT cuDeviceGet(CUdevice* device, int ordinal) {
    return answer(device, ordinal);
}
EXPORT cuDeviceGetCount(int* count) {
    return answer(count, 1);
}
EXPORT cuDeviceGetName(char* name, int size, CUdevice) {
    std::strncpy(name, "simulated GPU", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
EXPORT cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
    *uuid = {};
    return CUDA_SUCCESS;
}
EXPORT cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            return answer(value, 9);
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            return answer(value, 0);
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            return answer(value, 132);
        case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
            return answer(value, 32);
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            return answer(value, 232448);
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
            return answer(value, 2048);
        case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
            return answer(value, 50 << 20);
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
            return answer(value, 0x7fffffff);
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
            return answer(value, 65535);
        default:
            return answer(value, 1024);
    }
}
EXPORT cuDeviceGetPCIBusId(char*, int, CUdevice) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{1} << 36;
    return CUDA_SUCCESS;
}
EXPORT cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = &primary;
    return CUDA_SUCCESS;
}
EXPORT cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}
// A second context, which is current afterwards.
EXPORT cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice) {
    contexts.push_back(*context = &other);
    return CUDA_SUCCESS;
}
EXPORT cuCtxDestroy_v2(CUcontext context) {
    std::erase(contexts, context);
    return CUDA_SUCCESS;
}
EXPORT cuCtxGetCurrent(CUcontext* context) {
    *context = contexts.empty() ? nullptr : contexts.back();
    return CUDA_SUCCESS;
}
EXPORT cuCtxGetDevice(CUdevice* device) {
    return contexts.empty() ? CUDA_ERROR_INVALID_CONTEXT : answer(device, 0);
}
EXPORT cuCtxPushCurrent_v2(CUcontext context) {
    if (context != &primary && context != &other) return CUDA_ERROR_INVALID_CONTEXT;
    contexts.push_back(context);
    return CUDA_SUCCESS;
}
EXPORT cuCtxPopCurrent_v2(CUcontext* context) {
    if (contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    *context = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
}
EXPORT cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *free = *total = std::size_t{1} << 36;
    return CUDA_SUCCESS;
}
EXPORT cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    return allocate(address, bytes, CU_MEMORYTYPE_DEVICE);
}
EXPORT cuMemFree_v2(CUdeviceptr address) {
    const std::lock_guard lock(mutex);
    return release(address);
}
EXPORT cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
    const std::lock_guard lock(mutex);
    CUdeviceptr made = 0;
    const CUresult result = allocate(&made, bytes, CU_MEMORYTYPE_HOST);
    *address = pointer_of(made);
    return result;
}
EXPORT cuMemFreeHost(void* address) {
    const std::lock_guard lock(mutex);
    return release(reinterpret_cast<CUdeviceptr>(address));
}
EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
    return copy(to, reinterpret_cast<CUdeviceptr>(from), bytes, stream);
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(reinterpret_cast<CUdeviceptr>(to), from, bytes, stream);
}
EXPORT cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
    return copy(to, from, bytes, stream);
}
EXPORT cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes,
                         CUstream stream) {
    return copy(to, from, bytes, stream);
}
EXPORT cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    return answer(can, 0);
}
EXPORT cuCtxEnablePeerAccess(CUcontext, unsigned) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
EXPORT cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                              CUdeviceptr address) {
    const std::lock_guard lock(mutex);
    const auto block = block_of(address);
    if (block == blocks.end()) return CUDA_SUCCESS;  // the answers stay what they are
    for (unsigned i = 0; i < count; ++i) {
        switch (attributes[i]) {
            case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
                *static_cast<unsigned*>(data[i]) = block->second.second;
                break;
            case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
                *static_cast<int*>(data[i]) = 0;
                break;
            case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
                *static_cast<CUdeviceptr*>(data[i]) = address;
                break;
            case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
                *static_cast<CUdeviceptr*>(data[i]) = block->first;
                break;
            case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
                *static_cast<std::size_t*>(data[i]) = block->second.first;
                break;
            default:
                break;
        }
    }
    return CUDA_SUCCESS;
}
EXPORT cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
    return fill(to, value, count, stream);
}
EXPORT cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
    return fill(to, value, count, stream);
}
EXPORT cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
    return fill(to, value, count, stream);
}
EXPORT cuStreamCreate(CUstream* stream, unsigned) {
    const std::lock_guard lock(mutex);
    streams.insert(*stream = new CUstream_st);
    return CUDA_SUCCESS;
}
EXPORT cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
    return cuStreamCreate(stream, flags);
}
EXPORT cuStreamDestroy_v2(CUstream stream) {
    const std::lock_guard lock(mutex);
    if (streams.erase(stream) == 0) return CUDA_ERROR_INVALID_HANDLE;
    delete stream;
    return CUDA_SUCCESS;
}
EXPORT cuStreamQuery(CUstream stream) {
    const std::lock_guard lock(mutex);
    return inspect(stream);
}
EXPORT cuStreamSynchronize(CUstream stream) {
    const std::lock_guard lock(mutex);
    return inspect(stream);
}
EXPORT cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
    const std::lock_guard lock(mutex);
    if (!streams.contains(stream)) return CUDA_ERROR_INVALID_HANDLE;
    *status = stream->graph == nullptr  ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream->graph->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                        : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    return CUDA_SUCCESS;
}
EXPORT cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* exchanged) {
    std::swap(*exchanged, mode);
    return CUDA_SUCCESS;
}
EXPORT cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
    const std::lock_guard lock(mutex);
    stream->after_kernel = false;
    if (!captures.contains(event->graph)) return CUDA_SUCCESS;
    if (stream->graph == nullptr) {
        stream->graph = event->graph;
        stream->is_joined = false;
    } else if (stream->graph != event->graph) {
        return invalidate(stream->graph, CUDA_ERROR_STREAM_CAPTURE_MERGE);
    }
    if (stream->is_origin) event->stream->is_joined = true;
    return CUDA_SUCCESS;
}
EXPORT cuEventCreate(CUevent* event, unsigned) {
    *event = new CUevent_st;
    return CUDA_SUCCESS;
}
EXPORT cuEventDestroy_v2(CUevent event) {
    delete event;
    return CUDA_SUCCESS;
}
EXPORT cuEventRecord(CUevent event, CUstream stream) {
    const std::lock_guard lock(mutex);
    stream->after_kernel = false;
    *event = {stream->graph, stream};
    return CUDA_SUCCESS;
}
EXPORT cuEventQuery(CUevent event) {
    const std::lock_guard lock(mutex);
    return inspect(event);
}
EXPORT cuEventSynchronize(CUevent event) {
    const std::lock_guard lock(mutex);
    return inspect(event);
}
EXPORT cuEventElapsedTime(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 0;
    return CUDA_SUCCESS;
}
EXPORT cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
    const std::lock_guard lock(mutex);
    if (const CUresult result = unsafe(); result != CUDA_SUCCESS) return result;
    *module = new CUmod_st;
    return CUDA_SUCCESS;
}
EXPORT cuModuleUnload(CUmodule module) {
    const std::lock_guard lock(mutex);
    delete module;
    return unsafe();
}
EXPORT cuModuleGetFunction(CUfunction* found, CUmodule, const char*) {
    *found = &function;
    return CUDA_SUCCESS;
}
EXPORT cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
    return answer(value, attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0);
}
EXPORT cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
    return CUDA_SUCCESS;
}
EXPORT cuOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, CUfunction, int, std::size_t) {
    return answer(groups, 2);
}
EXPORT cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      CUstream stream, void**, void**) {
    const std::lock_guard lock(mutex);
    const CUresult result = enqueue(stream, [] {});
    if (result == CUDA_SUCCESS) stream->after_kernel = true;
    return result;
}
EXPORT cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction, void**, void**) {
    const std::lock_guard lock(mutex);
    CUstream const stream = config->hStream;
    if (!streams.contains(stream)) return CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        if (config->attrs[i].id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) continue;
        const bool of_owner =
            stream->graph != nullptr && stream->graph->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        if (!stream->after_kernel || of_owner) return CUDA_ERROR_NOT_SUPPORTED;
        ++programmatic_launches;
    }
    const CUresult result = enqueue(stream, [] {});
    if (result == CUDA_SUCCESS) stream->after_kernel = true;
    return result;
}
// Not a function of the driver. Returns the number of programmatic launches.
extern "C" __attribute__((visibility("default"))) int simulated_programmatic_launches() {
    const std::lock_guard lock(mutex);
    return programmatic_launches;
}
EXPORT cuLaunchHostFunc(CUstream stream, CUhostFn f, void* data) {
    std::unique_lock lock(mutex);
    stream->after_kernel = false;
    if (stream->graph != nullptr) return enqueue(stream, [=] { f(data); });
    lock.unlock();
    f(data);
    return CUDA_SUCCESS;
}
EXPORT cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode with) {
    const std::lock_guard lock(mutex);
    if (stream->graph != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    stream->graph = new CUgraph_st;
    stream->graph->mode = with;
    stream->graph->thread = std::this_thread::get_id();
    stream->is_origin = true;
    captures.insert(stream->graph);
    return CUDA_SUCCESS;
}
EXPORT cuStreamEndCapture(CUstream stream, CUgraph* graph) {
    const std::lock_guard lock(mutex);
    if (stream->graph == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    *graph = stream->graph;
    CUresult result = (*graph)->is_valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (CUstream each : streams) {
        if (each->graph != *graph) continue;
        if (!each->is_joined && !each->is_origin && result == CUDA_SUCCESS)
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        *each = {};
    }
    captures.erase(*graph);
    if (result == CUDA_SUCCESS) return result;
    delete *graph;
    *graph = nullptr;
    return result;
}
EXPORT cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long) {
    *made = new CUgraphExec_st{graph->nodes};
    return CUDA_SUCCESS;
}
EXPORT cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    const std::lock_guard lock(mutex);
    if (stream->graph != nullptr) return invalidate(stream->graph, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    stream->after_kernel = false;
    for (const std::function<void()>& node : graph->nodes)
        node();
    return CUDA_SUCCESS;
}
EXPORT cuGraphExecDestroy(CUgraphExec graph) {
    delete graph;
    return CUDA_SUCCESS;
}
EXPORT cuGraphDestroy(CUgraph graph) {
    delete graph;
    return CUDA_SUCCESS;
}
