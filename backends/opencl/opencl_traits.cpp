#include "opencl_traits.hpp"

#include <concord/dlpack.hpp>
#include <concord/error.hpp>
#include <concord/internal/environment.hpp>
#include <concord/internal/number_text.hpp>
#include <concord/internal/processor.hpp>
#include <concord/log.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

namespace concord::opencl {
namespace {

// From cl_intel_required_subgroup_size, which older headers lack.
constexpr cl_device_info sub_group_sizes_intel = 0x4108;

cl_platform_id platform_of(cl_device_id device) {
    return ask_value<cl_platform_id>(device, CL_DEVICE_PLATFORM);
}

std::string extensions_of(cl_device_id device) {
    return ask_text(device, CL_DEVICE_EXTENSIONS);
}

bool is_cpu(cl_device_id device) {
    return (ask_value<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

// CONCORD_OPENCL_ITEMS overrides it, so that tests run both kinds of kernels on every device.
LaunchModel launch_model(cl_device_id device, u32 max_group_size) {
    const auto model = [](bool many) { return many ? LaunchModel::groups : LaunchModel::single_items; };
    const bool many = !is_cpu(device) && max_group_size >= DeviceTraits::min_group_size;
    const std::string_view items = detail::environment_variable("CONCORD_OPENCL_ITEMS");
    if (items.empty()) return model(many);
    if (items == "many" || items == "one") return model(items == "many");
    detail::log_warn("CONCORD_OPENCL_ITEMS: " +
                     detail::error_message("invalid value", detail::quoted(items), "expected many or one"));
    return model(many);
}

// Whether it is NVIDIA's driver, whose compiler accepts inline PTX. PoCL uses another compiler for the same GPUs.
bool is_nvidia_driver(cl_device_id device) {
    return ask_text(platform_of(device), CL_PLATFORM_NAME).find("NVIDIA") != std::string::npos;
}

bool has_fp64(cl_device_id device) {
    return has_word(extensions_of(device), "cl_khr_fp64") ||
           ask_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

bool keeps_denormals(cl_device_id device) {
    const auto keeps = [&](cl_device_info question) {
        return (ask_value<cl_device_fp_config>(device, question) & CL_FP_DENORM) != 0;
    };
    return keeps(CL_DEVICE_SINGLE_FP_CONFIG) && (!has_fp64(device) || keeps(CL_DEVICE_DOUBLE_FP_CONFIG));
}

u32 sub_group_width(cl_device_id device) {
    const std::string extensions = extensions_of(device);
    if (has_word(extensions, "cl_nv_device_attribute_query"))
        return ask_value<cl_uint>(device, CL_DEVICE_WARP_SIZE_NV, 1);
    if (has_word(extensions, "cl_amd_device_attribute_query"))
        return ask_value<cl_uint>(device, CL_DEVICE_WAVEFRONT_WIDTH_AMD, 1);
    // If the compiler chooses among several widths, the width is unknown.
    const bool one_width = ask(device, sub_group_sizes_intel).value_or("").size() == sizeof(std::size_t);
    return one_width ? static_cast<u32>(ask_value<std::size_t>(device, sub_group_sizes_intel)) : 1;
}

// Compute capability of an NVIDIA device: 90 for 9.0.
u32 capability_of(cl_device_id device) {
    return ask_value<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) * 10 +
           ask_value<cl_uint>(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
}

// Resident work-items per multiprocessor, from NVIDIA's table of compute capabilities.
u32 resident_items_of_capability(u32 capability) {
    if (capability == 75) return 1024;
    if ((capability >= 86 && capability < 90) || capability / 10 == 12) return 1536;
    return 2048;
}

u32 max_resident_items(cl_device_id device, u32 max_group_size) {
    if (!has_word(extensions_of(device), "cl_nv_device_attribute_query")) return 2 * max_group_size;
    return resident_items_of_capability(capability_of(device));
}

u64 cache_of(cl_device_id device, u32 units) {
    const u64 reported = ask_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
    if (!is_cpu(device)) return reported;
    // OpenCL reports the level that all cores share. Plans use the private level.
    const long private_level = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return private_level > 0 ? static_cast<u64>(private_level) * units : reported;
}

enum class Fence { none, cl2, cl3, ptx };

// Barriers order memory within a group only. OpenCL C 1.2 has no fence between groups. Later versions have fences of
// device scope, which are optional in 3.0.
Fence fence_of(cl_device_id device) {
    // Prefers PTX, which is known to work and needs only OpenCL C 1.2.
    if (is_nvidia_driver(device)) return Fence::ptx;
    const u32 version = parse_version(ask_text(device, CL_DEVICE_VERSION));
    if (version >= 200 && version < 300) return Fence::cl2;
    if (version < 300) return Fence::none;
    constexpr cl_device_atomic_capabilities needed =
        CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    auto lacks = [&](cl_device_info question) {
        return (ask_value<cl_device_atomic_capabilities>(device, question) & needed) != needed;
    };
    if (lacks(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES) || lacks(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES))
        return Fence::none;
    // A 3.0 device may have an older compiler.
    const std::string versions = ask(device, CL_DEVICE_OPENCL_C_ALL_VERSIONS).value_or("");
    for (std::size_t at = 0; at + sizeof(cl_name_version) <= versions.size(); at += sizeof(cl_name_version)) {
        cl_name_version row;
        std::memcpy(&row, versions.data() + at, sizeof row);
        if (CL_VERSION_MAJOR(row.version) == 3) return Fence::cl3;
    }
    return Fence::none;
}

enum class Shuffle { none, khr, ptx };

Shuffle shuffle_of(cl_device_id device) {
    if (is_cpu(device) || sub_group_width(device) < 2) return Shuffle::none;
    if (is_nvidia_driver(device)) return Shuffle::ptx;
    const std::string extensions = extensions_of(device);
    return has_word(extensions, "cl_khr_subgroup_shuffle") &&
                   has_word(extensions, "cl_khr_subgroup_shuffle_relative")
               ? Shuffle::khr
               : Shuffle::none;
}

}  // namespace

// Intel's runtime for CPUs, also on processors of other vendors.
bool is_intel_cpu(cl_device_id device) {
    return is_cpu(device) && ask_text(platform_of(device), CL_PLATFORM_NAME) == "Intel(R) OpenCL";
}

bool is_pocl(cl_platform_id platform) {
    return ask_text(platform, CL_PLATFORM_NAME) == "Portable Computing Language";
}

bool is_pocl_cpu(cl_device_id device) {
    return is_cpu(device) && is_pocl(platform_of(device));
}

u32 parse_version(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == 0 || dot == std::string_view::npos || dot + 1 == text.size()) return 0;
    const char major = text[dot - 1], minor = text[dot + 1];
    if (major < '0' || major > '9' || minor < '0' || minor > '9') return 0;
    return static_cast<u32>(major - '0') * 100 + static_cast<u32>(minor - '0');
}

namespace {

// CPUs of one kind may have the same UUID.
std::string uuid_of(cl_device_id device) {
    if (is_cpu(device) || !has_word(extensions_of(device), "cl_khr_device_uuid")) return {};
    const auto uuid = ask_value<std::array<char, CL_UUID_SIZE_KHR>>(device, CL_DEVICE_UUID_KHR);
    return detail::gpu_uuid_text({uuid.data(), uuid.size()});
}

}  // namespace

DeviceInfo info_of(cl_device_id device, u32 index) {
    const cl_platform_id platform = platform_of(device);
    const std::string name = ask_text(device, CL_DEVICE_NAME), driver = ask_text(device, CL_DRIVER_VERSION);
    std::string hardware = name;
    if (is_cpu(device)) {
        // The names of PoCL's devices contain the instruction set.
        hardware = detail::processor_key() + ", " + name;
    } else {
        if (has_word(extensions_of(device), "cl_nv_device_attribute_query"))
            hardware += ", sm_" + std::to_string(capability_of(device));
        hardware += ", driver " + driver.substr(0, driver.find('.'));
    }
    return {.selector = "opencl:" + std::to_string(index),
            .backend = "opencl",
            .name = name,
            .driver = ask_text(platform, CL_PLATFORM_NAME) + ", " + ask_text(platform, CL_PLATFORM_VERSION) +
                      ", " + ask_text(device, CL_DEVICE_VERSION) + ", driver " + driver,
            .rank = is_cpu(device) ? 3U : 1U,
            .hardware = std::move(hardware),
            .uuid = uuid_of(device)};
}

std::string why_unusable(cl_device_id device) {
    if (ask_value<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_FALSE) return "not available";
    if (ask_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_FALSE) return "no compiler";
    if (ask_value<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) == CL_FALSE) return "big-endian";
    const std::string version = ask_text(device, CL_DEVICE_VERSION);
    if (parse_version(version) < 102) return "version too old, got '" + version + "'; OpenCL 1.2 is required";
    return {};
}

u64 group_limit_of(cl_kernel kernel, cl_device_id device) {
    const auto ask = [&](cl_kernel_work_group_info question, auto& value) {
        // A driver that does not know the value leaves zero.
        static_cast<void>(
            cl().clGetKernelWorkGroupInfo(kernel, device, question, sizeof value, &value, nullptr));
    };
    std::size_t limit = 0;
    ask(CL_KERNEL_WORK_GROUP_SIZE, limit);
    std::size_t stated[3] = {};
    if (is_nvidia_driver(device)) ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, stated);
    return std::max<u64>(limit, u64{stated[0]} * stated[1] * stated[2]);
}

DeviceTraits traits_of(cl_device_id device, u32 max_group_size) {
    DeviceTraits traits;
    const bool cpu = is_cpu(device);
    traits.dialect = Dialect::opencl;
    traits.dlpack_type = dlpack::DeviceType::opencl;
    traits.launch = launch_model(device, max_group_size);
    traits.units = std::max<u32>(1, ask_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
    traits.max_group_size = max_group_size;
    traits.max_resident_items =
        traits.launch == LaunchModel::groups ? max_resident_items(device, max_group_size) : 1;
    traits.sub_group_width = cpu ? 1 : std::max<u32>(1, sub_group_width(device));
    traits.local_memory = ask_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
    traits.global_memory = ask_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    traits.max_allocation = ask_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    traits.cache = cache_of(device, traits.units);
    traits.constant_buffers = true;
    traits.shuffles = shuffle_of(device) != Shuffle::none;
    traits.device_fence = fence_of(device) != Fence::none;
    // OpenCL guarantees no progress between groups. NVIDIA's scheduler keeps started groups running. PoCL and Intel's
    // runtime run each group to its end on a thread of the operating system, which also keeps it running. That holds
    // for all of PoCL's methods for work-groups (POCL_WORK_GROUP_METHOD: loops, loopvec, cbs), which differ in how they
    // order the items of a group between barriers. Therefore all items of a group execute a wait for another group, as
    // they do a barrier (lookback.cl): PoCL's loops take the branch of item 0 for all.
    traits.forward_progress = is_nvidia_driver(device) || is_pocl_cpu(device) || is_intel_cpu(device);
    traits.fp64 = has_fp64(device);
    traits.exact_divide_sqrt = (ask_value<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) &
                                CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    traits.keeps_denormals = keeps_denormals(device);
    return traits;
}

bool has_f64_matrix_units(cl_device_id device, cl_context context, const DeviceTraits& traits) {
    if (!is_nvidia_driver(device) || is_cpu(device) || traits.launch != LaunchModel::groups || !traits.fp64 ||
        !has_word(extensions_of(device), "cl_nv_device_attribute_query"))
        return false;
    // Other devices with these instructions run them slower than fma. The CUDA backend has the same list.
    const u32 capability = capability_of(device);
    if (capability != 80 && capability != 90 && capability != 100) return false;
    // Some of the instructions that matmul_mma.cl uses.
    const char* text = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel void f64_matrix_units(__global double* c, __local double* stage) {
    double t0 = c[0], t1 = c[1], t2 = c[2], t3 = c[3];
    const uint to = (uint)(size_t)stage, bytes = 16;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(c), "r"(bytes) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    const double a = stage[0], b = stage[1];
#if CAPABILITY >= 90
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, "
                 "{%0, %1, %2, %3};" : "+d"(t0), "+d"(t1), "+d"(t2), "+d"(t3) : "d"(a), "d"(b));
#else
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(t0), "+d"(t1) : "d"(a), "d"(b));
#endif
    c[0] = t0 + t1 + t2 + t3;
}
)";
    cl_int status = CL_SUCCESS;
    const ProgramHandle program(cl().clCreateProgramWithSource(context, 1, &text, nullptr, &status));
    if (status != CL_SUCCESS) return false;
    const std::string options = "-cl-std=CL1.2 -DCAPABILITY=" + std::to_string(capability);
    status = cl().clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
    if (status != CL_SUCCESS)
        detail::log_info("the OpenCL compiler rejects f64 matrix instructions (" + status_text(status) + ")");
    return status == CL_SUCCESS;
}

CompilerSetup setup_of(cl_device_id device, const DeviceTraits& traits) {
    const Fence fence = fence_of(device);
    const Shuffle shuffle = shuffle_of(device);
    // No fast-math options and no -cl-denorms-are-zero, because results must be bitwise identical on all devices.
    CompilerSetup setup{.options = fence == Fence::cl3   ? "-cl-std=CL3.0"
                                   : fence == Fence::cl2 ? "-cl-std=CL2.0"
                                                         : "-cl-std=CL1.2",
                        .prelude = {}};
    setup.options += " -cl-kernel-arg-info";  // for the checks of arguments at launch
    if (traits.exact_divide_sqrt) setup.options += " -cl-fp32-correctly-rounded-divide-sqrt";

    std::string& text = setup.prelude;
    if (traits.fp64) text += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#define CONCORD_FP64\n";
    // PoCL counts warnings about loops that it cannot vectorise on stderr. With some operators such loops are expected.
    if (traits.launch != LaunchModel::groups)
        text +=
            "#define CONCORD_CPU\n#ifdef __clang__\n#pragma clang diagnostic ignored "
            "\"-Wpass-failed\"\n#endif\n";
    if (fence == Fence::ptx) text += "#define CONCORD_FENCE_PTX\n";
    if (fence == Fence::cl2 || fence == Fence::cl3) text += "#define CONCORD_FENCE_CL3\n";
    if (shuffle == Shuffle::ptx) text += "#define CONCORD_SHUFFLE_PTX\n";
    if (shuffle == Shuffle::khr)
        text +=
            "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n"
            "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable\n#define "
            "CONCORD_SHUFFLE_KHR\n";
    if (shuffle != Shuffle::none)
        text += "#define CONCORD_SUB_GROUP " + std::to_string(traits.sub_group_width) + "\n";
    if (traits.f64_matrix_units)
        text += "#define CONCORD_CAPABILITY " + std::to_string(capability_of(device)) + "\n";
    return setup;
}

}  // namespace concord::opencl
