#include "cuda_kernel.hpp"

#include "cuda_cubin.hpp"

namespace concord::cuda {
namespace {

// Local memory of a launch that needs no opt-in, static and dynamic together.
constexpr u64 local_without_asking = 48 * 1024;

}  // namespace

Module::~Module() {
    if (handle_ == nullptr) return;
    const UncapturedCurrent current(*context_);
    if (current.entered()) context_->driver.module_unload(handle_);
}

CUresult Module::load(const std::string& image, const std::string& entry) {
    const UncapturedCurrent current(*context_, "Device::compile");
    char text[4096] = {};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    // The driver takes numbers as pointers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    void* values[] = {text, reinterpret_cast<void*>(sizeof text - 1)};
    const Driver& driver = context_->driver;
    CUmodule loaded = nullptr;
    CUresult result = driver.module_load_data_ex(&loaded, image.data(), 2, options, values);
    log_ = text;
    if (result != CUDA_SUCCESS) return result;
    result = driver.module_get_function(&function_, loaded, entry.c_str());
    if (result == CUDA_SUCCESS) {
        handle_ = loaded;
    } else {
        driver.module_unload(loaded);
    }
    return result;
}

bool Module::rejects(CUresult result) {
    switch (result) {
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_NO_BINARY_FOR_GPU:
        case CUDA_ERROR_INVALID_PTX:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
        case CUDA_ERROR_INVALID_SOURCE:
        case CUDA_ERROR_INVALID_VALUE:
        case CUDA_ERROR_NOT_FOUND:
            return true;
        default:
            return false;
    }
}

CudaKernel::CudaKernel(CudaDevice& device, const KernelSpec& spec, Module module, const Program& program)
    : module_(std::move(module)),
      function_(module_.function()),
      planned_group_size_(spec.max_group_size),
      waits_(program.waits && device.driver().has_programmatic_launches()) {
    const std::string name(spec.entry);
    const Current current(module_.context(), "Device::compile");
    limits_.kernel = name + " on " + device.info().selector;
    limits_.device = device.limits();
    limits_.max_group_size = static_cast<u64>(attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    limits_.static_local = static_cast<u64>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    limits_.parameter_sizes = parameter_sizes(program.image, program.entry);
    allowed_local_ =
        limits_.static_local < local_without_asking ? local_without_asking - limits_.static_local : 0;
}

// A cubin lists the sizes of its parameters. For other images the driver is asked for one parameter after the other
// until a call fails, because it does not tell how many there are. compute-sanitizer reports such a call as an error.
std::optional<std::vector<u32>> CudaKernel::parameter_sizes(const std::string& image,
                                                            const std::string& name) const {
    if (const std::optional<Cubin> cubin = Cubin::read(image)) {
        const std::optional<CubinKernel> kernel = cubin->kernel(name);
        if (kernel && kernel->parameter_sizes) return kernel->parameter_sizes;
    }
    const Driver& driver = module_.context().driver;
    std::vector<u32> sizes;
    while (driver.func_get_param_info != nullptr) {
        std::size_t offset = 0, size = 0;
        const CUresult result = driver.func_get_param_info(function_, sizes.size(), &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) return sizes;  // after the last one
        if (result != CUDA_SUCCESS) break;
        sizes.push_back(static_cast<u32>(size));
    }
    return std::nullopt;
}

int CudaKernel::attribute(CUfunction_attribute attribute) const {
    int value = 0;
    module_.context().driver.check(module_.context().driver.func_get_attribute(&value, attribute, function_),
                                   "Kernel::attributes", "cuFuncGetAttribute");
    return value;
}

KernelAttributes CudaKernel::attributes() const {
    const Current current(module_.context(), "Kernel::attributes");
    KernelAttributes result;
    result.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
    result.local_bytes = static_cast<i64>(limits_.static_local);
    result.spill_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    result.max_group_size = static_cast<i64>(limits_.max_group_size);
    if (planned_group_size_ > 0) {
        int groups = 0;
        module_.context().driver.check(module_.context().driver.occupancy_max_active_blocks(
                                           &groups, function_, static_cast<int>(planned_group_size_), 0),
                                       "Kernel::attributes", "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        result.groups_per_unit = groups;
    }
    return result;
}

// Opts in once, for all memory of the device. Unused memory costs nothing.
void CudaKernel::allow_local(u64 bytes) const {
    if (bytes <= allowed_local_.load(std::memory_order_acquire)) return;
    const u64 most = limits_.device.local_memory - limits_.static_local;
    module_.context().driver.check(
        module_.context().driver.func_set_attribute(
            function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(most)),
        "Stream::launch", "cuFuncSetAttribute");
    allowed_local_.store(most,
                         std::memory_order_release);  // two threads may both opt in, with the same value
}

void CudaKernel::launch(CUstream stream, const LaunchShape& shape, void** arguments,
                        bool after_kernel) const {
    allow_local(shape.local_bytes);
    CUlaunchAttribute overlap{};
    overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    overlap.value.programmaticStreamSerializationAllowed = 1;
    const CUlaunchConfig config{.gridDimX = static_cast<u32>(shape.groups_x),
                                .gridDimY = static_cast<u32>(shape.groups_y),
                                .gridDimZ = static_cast<u32>(shape.groups_z),
                                .blockDimX = shape.group_size_x,
                                .blockDimY = shape.group_size_y,
                                .blockDimZ = shape.group_size_z,
                                .sharedMemBytes = static_cast<u32>(shape.local_bytes),
                                .hStream = stream,
                                .attrs = &overlap,
                                .numAttrs = 1};
    const Driver& driver = module_.context().driver;
    const CUresult result =
        waits_ && after_kernel
            ? driver.launch_kernel_ex(&config, function_, arguments, nullptr)
            : driver.launch_kernel(function_, config.gridDimX, config.gridDimY, config.gridDimZ,
                                   config.blockDimX, config.blockDimY, config.blockDimZ,
                                   config.sharedMemBytes, stream, arguments, nullptr);
    if (result != CUDA_SUCCESS) [[unlikely]]
        driver.fail(result, "Stream::launch", "cuLaunchKernel of " + limits_.kernel);
}

}  // namespace concord::cuda
