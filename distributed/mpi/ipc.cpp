#include "ipc.hpp"

#include <concord/stream.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>

namespace concord::mpi {
namespace {

// Functions of the CUDA driver, by the prototypes of its documentation. Handles are pointers, device addresses u64.
struct IpcDriver {
    int (*stream_context)(void* stream, void** context) = nullptr;
    int (*push)(void* context) = nullptr;
    int (*pop)(void** context) = nullptr;
    int (*get_device)(int* device) = nullptr;
    int (*get_uuid)(DeviceId* uuid, int device) = nullptr;
    int (*get_handle)(IpcHandle* handle, u64 address) = nullptr;
    int (*open_handle)(u64* address, IpcHandle handle, unsigned flags) = nullptr;
    int (*close_handle)(u64 address) = nullptr;
    int (*write_value)(void* stream, u64 address, u32 value, unsigned flags) = nullptr;
    int (*wait_value)(void* stream, u64 address, u32 value, unsigned flags) = nullptr;
    bool has_contexts = false, has_ipc = false;

    IpcDriver() {
        void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) return;
        const auto load = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
            return function != nullptr;
        };
        has_contexts = load(stream_context, "cuStreamGetCtx") && load(push, "cuCtxPushCurrent_v2") &&
                       load(pop, "cuCtxPopCurrent_v2") && load(get_device, "cuCtxGetDevice") &&
                       load(get_uuid, "cuDeviceGetUuid_v2");
        has_ipc = has_contexts && load(get_handle, "cuIpcGetMemHandle") &&
                  load(open_handle, "cuIpcOpenMemHandle_v2") && load(close_handle, "cuIpcCloseMemHandle") &&
                  load(write_value, "cuStreamWriteValue32_v2") && load(wait_value, "cuStreamWaitValue32_v2");
    }
};

// First called when a CUDA device is open.
const IpcDriver& ipc() {
    static const IpcDriver driver;
    return driver;
}

constexpr unsigned lazy_peer_access = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
constexpr unsigned at_least = 0;          // CU_STREAM_WAIT_VALUE_GEQ

void check_driver(int result, const char* function) {
    if (result != 0)
        throw Error(ErrorCode::device_failed, "Communicator::exchange",
                    std::string(function) + " failed with CUresult " + std::to_string(result));
}

u64 address_of(Buffer& memory, u64 offset) {
    return reinterpret_cast<u64>(memory.native_handle()) + offset;
}

}  // namespace

std::array<char, 128> host_of_process() {
    std::array<char, 128> name = {};
    gethostname(name.data(), 64);
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    file >> boot;
    std::memcpy(name.data() + 64, boot.data(), std::min<std::size_t>(boot.size(), 63));
    return name;
}

InContext::InContext(void* context) : pushed_(context != nullptr && ipc().push(context) == 0) {}

InContext::~InContext() {
    void* popped = nullptr;
    if (pushed_) ipc().pop(&popped);
}

void* context_of(Stream& stream) {
    void* context = nullptr;
    if (!ipc().has_contexts || ipc().stream_context(stream.native_handle(), &context) != 0) return nullptr;
    return context;
}

IpcContext::IpcContext(Stream& stream) : context_(ipc().has_ipc ? context_of(stream) : nullptr) {}

bool IpcContext::identify(DeviceId& id) const {
    if (!is_there()) return false;
    const InContext context(context_);
    int device = 0;
    return ipc().get_device(&device) == 0 && ipc().get_uuid(&id, device) == 0;
}

bool IpcContext::share(Buffer& buffer, IpcHandle& handle) const {
    const InContext context(context_);
    return ipc().get_handle(&handle, address_of(buffer, 0)) == 0;
}

std::shared_ptr<Buffer> IpcContext::map(Device& device, const IpcHandle& handle, u64 bytes) const {
    const InContext context(context_);
    u64 address = 0;
    if (ipc().open_handle(&address, handle, lazy_peer_access) != 0) return nullptr;
    return device.adopt({.handle = reinterpret_cast<void*>(address),  // NOLINT: an integer in the driver
                         .bytes = bytes,
                         .verify = false,
                         .release = [address, in = context_] {
                             const InContext context(in);
                             ipc().close_handle(address);
                         }});
}

void IpcContext::signal(Stream& stream, Buffer& memory, u64 offset, u32 value) const {
    const InContext context(context_);
    check_driver(ipc().write_value(stream.native_handle(), address_of(memory, offset), value, 0),
                 "cuStreamWriteValue32");
}

void IpcContext::wait(Stream& stream, Buffer& memory, u64 offset, u32 value) const {
    const InContext context(context_);
    check_driver(ipc().wait_value(stream.native_handle(), address_of(memory, offset), value, at_least),
                 "cuStreamWaitValue32");
}

bool IpcContext::can_signal(Stream& stream, Buffer& memory, u64 offset, bool is_own) const {
    const u64 address = address_of(memory, offset);
    {
        const InContext context(context_);
        if (ipc().write_value(stream.native_handle(), address, 0, 0) != 0) return false;
        if (is_own && ipc().wait_value(stream.native_handle(), address, 0, at_least) != 0) return false;
    }
    stream.synchronize();
    return true;
}

}  // namespace concord::mpi
