#include "cuda_device.hpp"

#include <concord/dlpack.hpp>
#include <concord/log.hpp>

#include "cuda_event.hpp"
#include "cuda_kernel.hpp"
#include "cuda_queue.hpp"

namespace concord::cuda {
namespace {

CUdevice handle_of(const Driver& driver, u32 ordinal) {
    CUdevice device = 0;
    driver.check(driver.device_get(&device, static_cast<int>(ordinal)), "open_device", "cuDeviceGet");
    return device;
}

u32 architecture_of(const Driver& driver, CUdevice device) {
    return static_cast<u32>(device_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *
                                10 +
                            device_attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

DeviceTraits traits_of(const Driver& driver, CUdevice device) {
    auto get = [&](CUdevice_attribute attribute) { return device_attribute(driver, device, attribute); };
    std::size_t memory = 0;
    driver.check(driver.device_total_mem(&memory, device), "open_device", "cuDeviceTotalMem");
    DeviceTraits traits;
    traits.dialect = Dialect::cuda;
    traits.dlpack_type = dlpack::DeviceType::cuda;
    traits.launch = LaunchModel::groups;
    traits.units = static_cast<u32>(get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    traits.max_group_size = static_cast<u32>(get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    traits.max_resident_items = static_cast<u32>(get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
    traits.sub_group_width = static_cast<u32>(get(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
    traits.local_memory = static_cast<u64>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    traits.global_memory = memory;
    traits.max_allocation = memory;
    traits.cache = static_cast<u64>(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
    traits.parameter_bytes = 4096;
    traits.shuffles = true;
    traits.async_copy = true;
    traits.bounds_registers = true;
    traits.device_fence = true;
    traits.forward_progress = true;
    traits.system_atomics = architecture_of(driver, device) >= 70;  // the memory model of PTX
    traits.f64_matrix_units = has_f64_matrix_units(architecture_of(driver, device));
    return traits;
}

LaunchLimits limits_of(const Driver& driver, CUdevice device, u64 local_memory) {
    auto get = [&](CUdevice_attribute attribute) {
        return static_cast<u32>(device_attribute(driver, device, attribute));
    };
    LaunchLimits limits;
    limits.groups_x = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    limits.groups_y = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
    limits.groups_z = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
    limits.group_size_x = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    limits.group_size_y = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
    limits.group_size_z = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
    limits.local_memory = local_memory;
    return limits;
}

}  // namespace

int device_attribute(const Driver& driver, CUdevice device, CUdevice_attribute attribute) {
    int value = 0;
    driver.check(driver.device_get_attribute(&value, attribute, device), "open_device",
                 "cuDeviceGetAttribute");
    return value;
}

DeviceInfo device_info(const Driver& driver, u32 ordinal) {
    const CUdevice device = handle_of(driver, ordinal);
    char name[256] = {};
    driver.check(driver.device_get_name(name, sizeof name - 1, device), "open_device", "cuDeviceGetName");
    DeviceInfo info;
    info.selector = "cuda:" + std::to_string(ordinal);
    info.backend = "cuda";
    info.rank = 0;
    info.name = name;
    info.driver = "driver " + version_text(driver.version());
    const std::string release = driver.release();
    if (!release.empty()) info.driver += " (" + release + ")";
    const std::string target = "sm_" + std::to_string(architecture_of(driver, device));
    info.driver += ", " + Nvrtc::get().title() + ", " + target;
    info.uuid = device_uuid(driver, device);
    info.hardware = info.name + ", " + target + ", driver " + release.substr(0, release.find('.'));
    return info;
}

CudaDevice::CudaDevice(const Driver& driver, u32 ordinal)
    : compiler_(architecture_of(driver, handle_of(driver, ordinal))) {
    const CUdevice device = handle_of(driver, ordinal);
    info_ = device_info(driver, ordinal);
    traits_ = traits_of(driver, device);
    limits_ = limits_of(driver, device, traits_.local_memory);
    context_ = std::make_shared<Context>(driver, device);
    if (compiler_.nvrtc().major() > driver.version() / 1000)
        detail::log_info(compiler_.nvrtc().title() + " is newer than the driver (CUDA " +
                         version_text(driver.version()) + "), which may reject its code");
}

std::vector<DeviceProperty> CudaDevice::properties() const {
    std::vector<DeviceProperty> list = {{"NAME", info_.name}, {"DRIVER", info_.driver}};
    list.push_back({"NVRTC", compiler_.nvrtc().title() + ", compiles for " + compiler_.target()});
    const std::vector<DeviceProperty> rest = device_properties(driver(), context_->device());
    list.insert(list.end(), rest.begin(), rest.end());
    return list;
}

bool CudaDevice::reach(const backend::Device& other, std::string& why) {
    constexpr const char* call = "can_reach";
    const auto* peer = dynamic_cast<const CudaDevice*>(&other);
    if (peer == nullptr) {  // a device that only compiles
        why = other.info().selector + " only compiles and has no memory";
        return false;
    }
    const std::lock_guard lock(peers_mutex_);
    const auto [found, is_new] = peers_.try_emplace(peer->context_->device());
    if (is_new) {
        std::string& reason = found->second;
        int can = 0;
        CUresult result = driver().device_can_access_peer(&can, context_->device(), peer->context_->device());
        if (result == CUDA_SUCCESS && can == 0) {
            reason = info_.selector + " has no peer access to " + other.info().selector;
        } else if (result == CUDA_SUCCESS) {
            const Current current(*context_, call);
            result = driver().ctx_enable_peer_access(peer->context_->handle(), 0);
            // Another library of this process may have enabled it before.
            if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) result = CUDA_SUCCESS;
        }
        if (result != CUDA_SUCCESS)
            reason = "cannot enable peer access from " + info_.selector + " to " + other.info().selector +
                     ": " + driver().describe(result);
    }
    why = found->second;
    return why.empty();
}

CallbackThread& CudaDevice::callback_thread() {
    const std::lock_guard lock(callback_mutex_);
    if (!callback_thread_) callback_thread_ = std::make_unique<CallbackThread>();
    return *callback_thread_;
}

std::unique_ptr<backend::Queue> CudaDevice::create_queue(concord::Device& device, Priority priority) {
    return std::make_unique<CudaQueue>(*this, device, priority);
}

std::unique_ptr<backend::Queue> CudaDevice::adopt_queue(concord::Device& device, void* handle) {
    return std::make_unique<CudaQueue>(*this, device, static_cast<CUstream>(handle));
}

std::unique_ptr<backend::Event> CudaDevice::adopt_event(void* handle) {
    return std::make_unique<CudaEvent>(*this, static_cast<CUevent>(handle));
}

std::unique_ptr<backend::Event> CudaDevice::create_event() {
    return std::make_unique<CudaEvent>(*this);
}

std::unique_ptr<backend::Memory> CudaDevice::allocate(u64 bytes) {
    return std::make_unique<CudaMemory>(*this, bytes);
}

std::unique_ptr<backend::Memory> CudaDevice::allocate_host(u64 bytes) {
    return std::make_unique<CudaHostMemory>(*this, bytes);
}

std::unique_ptr<backend::Kernel> CudaDevice::compile(const KernelSpec& spec) {
    const std::string entry(spec.entry);
    std::unique_ptr<CudaKernel> kernel;
    compiler_.build(spec, [&](const Program& program) -> std::string {
        Module module(context_);
        const CUresult result = module.load(program.image, program.entry);
        if (result == CUDA_SUCCESS) {
            kernel = std::make_unique<CudaKernel>(*this, spec, std::move(module), program);
            return {};
        }
        if (program.from_cache && Module::rejects(result))
            return "rejected by the driver (" + driver().describe(result) + ")";
        if (result == CUDA_ERROR_NOT_FOUND)
            compiler_.fail(spec, no_such_kernel(entry), driver().describe(result));
        fail_to_load(entry, result, module.log());
    });
    return kernel;
}

void CudaDevice::fail_to_load(const std::string& entry, CUresult result, const std::string& log) const {
    std::string message = "the driver cannot load kernel " + entry + " for " + compiler_.target();
    if (Module::rejects(result) && compiler_.nvrtc().major() > driver().version() / 1000)
        message += ": " + compiler_.nvrtc().title() + " is newer than the driver (CUDA " +
                   version_text(driver().version()) +
                   "); set CONCORD_NVRTC to an older NVRTC, or update the driver";
    if (!log.empty()) message += ":\n" + log;
    throw Error(result == CUDA_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::device_failed,
                "Device::compile", message, driver().describe(result));
}

}  // namespace concord::cuda
