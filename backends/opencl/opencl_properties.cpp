#include "opencl_properties.hpp"

#include <concord/internal/number_text.hpp>

#include <cstdio>
#include <span>

namespace concord::opencl {
namespace {

// How the bytes of an answer are interpreted.
enum class Kind {
    text,
    yes_no,    // cl_bool
    number,    // any unsigned width
    bytes,     // any unsigned width, a size of memory
    numbers,   // a list of size_t
    flags,     // a bitfield with names
    choice,    // an enumeration with names
    choices,   // a list of intptr_t with names, ended by 0
    version,   // cl_version
    versions,  // a list of cl_name_version
    hex,
    uuid,
    handle,  // of another object; shows only whether it is present
};

struct Name {
    u64 value;
    const char* text;
};

constexpr Name device_types[] = {{CL_DEVICE_TYPE_DEFAULT, "default"},
                                 {CL_DEVICE_TYPE_CPU, "CPU"},
                                 {CL_DEVICE_TYPE_GPU, "GPU"},
                                 {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
                                 {CL_DEVICE_TYPE_CUSTOM, "custom"}};
constexpr Name fp_configs[] = {{CL_FP_DENORM, "denormals"},
                               {CL_FP_INF_NAN, "infinity and NaN"},
                               {CL_FP_ROUND_TO_NEAREST, "round to nearest"},
                               {CL_FP_ROUND_TO_ZERO, "round to zero"},
                               {CL_FP_ROUND_TO_INF, "round to infinity"},
                               {CL_FP_FMA, "fma"},
                               {CL_FP_SOFT_FLOAT, "in software"},
                               {CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "correctly rounded divide and sqrt"}};
constexpr Name cache_types[] = {
    {CL_NONE, "none"}, {CL_READ_ONLY_CACHE, "read only"}, {CL_READ_WRITE_CACHE, "read and write"}};
constexpr Name local_types[] = {
    {CL_NONE, "none"}, {CL_LOCAL, "dedicated"}, {CL_GLOBAL, "part of global memory"}};
constexpr Name executions[] = {{CL_EXEC_KERNEL, "kernels"}, {CL_EXEC_NATIVE_KERNEL, "native kernels"}};
constexpr Name queue_kinds[] = {{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, "out of order"},
                                {CL_QUEUE_PROFILING_ENABLE, "profiling"},
                                {CL_QUEUE_ON_DEVICE, "on device"},
                                {CL_QUEUE_ON_DEVICE_DEFAULT, "on device, default"}};
constexpr Name partitions[] = {{CL_DEVICE_PARTITION_EQUALLY, "equally"},
                               {CL_DEVICE_PARTITION_BY_COUNTS, "by counts"},
                               {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, "by affinity domain"}};
constexpr Name affinities[] = {{CL_DEVICE_AFFINITY_DOMAIN_NUMA, "NUMA"},
                               {CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE, "L4 cache"},
                               {CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE, "L3 cache"},
                               {CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE, "L2 cache"},
                               {CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE, "L1 cache"},
                               {CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE, "next partitionable"}};
constexpr Name svm_kinds[] = {{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse-grained buffers"},
                              {CL_DEVICE_SVM_FINE_GRAIN_BUFFER, "fine-grained buffers"},
                              {CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, "fine-grained system"},
                              {CL_DEVICE_SVM_ATOMICS, "atomics"}};
constexpr Name atomics[] = {{CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
                            {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acquire and release"},
                            {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "sequentially consistent"},
                            {CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM, "work-item scope"},
                            {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work-group scope"},
                            {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device scope"},
                            {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "all-devices scope"}};
constexpr Name enqueue_kinds[] = {{CL_DEVICE_QUEUE_SUPPORTED, "queues"},
                                  {CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT, "replaceable default queue"}};

struct Row {
    const char* name;
    cl_uint question;
    Kind kind;
    std::span<const Name> names = {};
};

#define ROW(constant, ...) \
    { #constant, constant, __VA_ARGS__ }

constexpr Row platform_rows[] = {
    ROW(CL_PLATFORM_NAME, Kind::text),
    ROW(CL_PLATFORM_VENDOR, Kind::text),
    ROW(CL_PLATFORM_VERSION, Kind::text),
    ROW(CL_PLATFORM_PROFILE, Kind::text),
    ROW(CL_PLATFORM_NUMERIC_VERSION, Kind::version),
    ROW(CL_PLATFORM_HOST_TIMER_RESOLUTION, Kind::number),
    ROW(CL_PLATFORM_EXTENSIONS, Kind::text),
    ROW(CL_PLATFORM_EXTENSIONS_WITH_VERSION, Kind::versions),
    ROW(CL_PLATFORM_ICD_SUFFIX_KHR, Kind::text),
};

constexpr Row device_rows[] = {
    // OpenCL 1.2 and before
    ROW(CL_DEVICE_NAME, Kind::text),
    ROW(CL_DEVICE_VENDOR, Kind::text),
    ROW(CL_DEVICE_VENDOR_ID, Kind::hex),
    ROW(CL_DEVICE_TYPE, Kind::flags, device_types),
    ROW(CL_DEVICE_VERSION, Kind::text),
    ROW(CL_DRIVER_VERSION, Kind::text),
    ROW(CL_DEVICE_OPENCL_C_VERSION, Kind::text),
    ROW(CL_DEVICE_PROFILE, Kind::text),
    ROW(CL_DEVICE_AVAILABLE, Kind::yes_no),
    ROW(CL_DEVICE_COMPILER_AVAILABLE, Kind::yes_no),
    ROW(CL_DEVICE_LINKER_AVAILABLE, Kind::yes_no),
    ROW(CL_DEVICE_MAX_COMPUTE_UNITS, Kind::number),
    ROW(CL_DEVICE_MAX_CLOCK_FREQUENCY, Kind::number),
    ROW(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, Kind::number),
    ROW(CL_DEVICE_MAX_WORK_ITEM_SIZES, Kind::numbers),
    ROW(CL_DEVICE_MAX_WORK_GROUP_SIZE, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, Kind::number),
    ROW(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, Kind::number),
    ROW(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, Kind::number),
    ROW(CL_DEVICE_SINGLE_FP_CONFIG, Kind::flags, fp_configs),
    ROW(CL_DEVICE_DOUBLE_FP_CONFIG, Kind::flags, fp_configs),
    ROW(CL_DEVICE_HALF_FP_CONFIG, Kind::flags, fp_configs),
    ROW(CL_DEVICE_ADDRESS_BITS, Kind::number),
    ROW(CL_DEVICE_ENDIAN_LITTLE, Kind::yes_no),
    ROW(CL_DEVICE_GLOBAL_MEM_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MAX_MEM_ALLOC_SIZE, Kind::bytes),
    ROW(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, Kind::choice, cache_types),
    ROW(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, Kind::bytes),
    ROW(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, Kind::bytes),
    ROW(CL_DEVICE_LOCAL_MEM_TYPE, Kind::choice, local_types),
    ROW(CL_DEVICE_LOCAL_MEM_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MAX_CONSTANT_ARGS, Kind::number),
    ROW(CL_DEVICE_MAX_PARAMETER_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MEM_BASE_ADDR_ALIGN, Kind::number),
    ROW(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, Kind::number),
    ROW(CL_DEVICE_HOST_UNIFIED_MEMORY, Kind::yes_no),
    ROW(CL_DEVICE_ERROR_CORRECTION_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_IMAGE_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_IMAGE2D_MAX_WIDTH, Kind::number),
    ROW(CL_DEVICE_IMAGE2D_MAX_HEIGHT, Kind::number),
    ROW(CL_DEVICE_IMAGE3D_MAX_WIDTH, Kind::number),
    ROW(CL_DEVICE_IMAGE3D_MAX_HEIGHT, Kind::number),
    ROW(CL_DEVICE_IMAGE3D_MAX_DEPTH, Kind::number),
    ROW(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, Kind::number),
    ROW(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, Kind::number),
    ROW(CL_DEVICE_MAX_READ_IMAGE_ARGS, Kind::number),
    ROW(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, Kind::number),
    ROW(CL_DEVICE_MAX_SAMPLERS, Kind::number),
    ROW(CL_DEVICE_PROFILING_TIMER_RESOLUTION, Kind::number),
    ROW(CL_DEVICE_EXECUTION_CAPABILITIES, Kind::flags, executions),
    ROW(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, Kind::flags, queue_kinds),  // CL_DEVICE_QUEUE_PROPERTIES of 1.2
    ROW(CL_DEVICE_BUILT_IN_KERNELS, Kind::text),
    ROW(CL_DEVICE_EXTENSIONS, Kind::text),
    ROW(CL_DEVICE_PRINTF_BUFFER_SIZE, Kind::bytes),
    ROW(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, Kind::yes_no),
    ROW(CL_DEVICE_PARENT_DEVICE, Kind::handle),
    ROW(CL_DEVICE_PLATFORM, Kind::handle),
    ROW(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, Kind::number),
    ROW(CL_DEVICE_PARTITION_PROPERTIES, Kind::choices, partitions),
    ROW(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, Kind::flags, affinities),
    ROW(CL_DEVICE_PARTITION_TYPE, Kind::choices, partitions),
    ROW(CL_DEVICE_REFERENCE_COUNT, Kind::number),
    // OpenCL 2.0 to 2.2
    ROW(CL_DEVICE_SVM_CAPABILITIES, Kind::flags, svm_kinds),
    ROW(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, Kind::number),
    ROW(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, Kind::number),
    ROW(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, Kind::number),
    ROW(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, Kind::bytes),
    ROW(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, Kind::number),
    ROW(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, Kind::number),
    ROW(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, Kind::number),
    ROW(CL_DEVICE_MAX_PIPE_ARGS, Kind::number),
    ROW(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, Kind::number),
    ROW(CL_DEVICE_PIPE_MAX_PACKET_SIZE, Kind::bytes),
    ROW(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, Kind::flags, queue_kinds),
    ROW(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, Kind::bytes),
    ROW(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, Kind::bytes),
    ROW(CL_DEVICE_MAX_ON_DEVICE_QUEUES, Kind::number),
    ROW(CL_DEVICE_MAX_ON_DEVICE_EVENTS, Kind::number),
    ROW(CL_DEVICE_IL_VERSION, Kind::text),
    ROW(CL_DEVICE_MAX_NUM_SUB_GROUPS, Kind::number),
    ROW(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, Kind::yes_no),
    // OpenCL 3.0
    ROW(CL_DEVICE_NUMERIC_VERSION, Kind::version),
    ROW(CL_DEVICE_OPENCL_C_ALL_VERSIONS, Kind::versions),
    ROW(CL_DEVICE_OPENCL_C_FEATURES, Kind::versions),
    ROW(CL_DEVICE_EXTENSIONS_WITH_VERSION, Kind::versions),
    ROW(CL_DEVICE_ILS_WITH_VERSION, Kind::versions),
    ROW(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, Kind::versions),
    ROW(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, Kind::flags, atomics),
    ROW(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, Kind::flags, atomics),
    ROW(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, Kind::number),
    ROW(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, Kind::flags, enqueue_kinds),
    ROW(CL_DEVICE_PIPE_SUPPORT, Kind::yes_no),
    ROW(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, Kind::text),
    // cl_khr_device_uuid
    ROW(CL_DEVICE_UUID_KHR, Kind::uuid),
    ROW(CL_DRIVER_UUID_KHR, Kind::uuid),
};

// cl_nv_device_attribute_query. The headers define the first seven. NVIDIA documents the rest.
constexpr Row nvidia_rows[] = {
    ROW(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, Kind::number),
    ROW(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, Kind::number),
    ROW(CL_DEVICE_REGISTERS_PER_BLOCK_NV, Kind::number),
    ROW(CL_DEVICE_WARP_SIZE_NV, Kind::number),
    ROW(CL_DEVICE_GPU_OVERLAP_NV, Kind::yes_no),
    ROW(CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV, Kind::yes_no),
    ROW(CL_DEVICE_INTEGRATED_MEMORY_NV, Kind::yes_no),
    {"CL_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT_NV", 0x4007, Kind::number},
    {"CL_DEVICE_PCI_BUS_ID_NV", 0x4008, Kind::number},
    {"CL_DEVICE_PCI_SLOT_ID_NV", 0x4009, Kind::number},
    {"CL_DEVICE_PCI_DOMAIN_ID_NV", 0x400A, Kind::number},
    {"CL_DEVICE_MAX_LOCAL_MEMORY_PER_SM_NV", 0x400B, Kind::bytes},
};

#undef ROW

template <class T>
T part(const std::string& bytes, std::size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

// Integers have four or eight bytes.
u64 integer(const std::string& bytes) {
    return bytes.size() >= sizeof(u64) ? part<u64>(bytes, 0) : part<u32>(bytes, 0);
}

std::string join(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items)
        text.append(text.empty() ? "" : ", ").append(item);
    return text.empty() ? "none" : text;
}

template <class... A>
std::string format(const char* pattern, A... values) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, values...);
    return text;
}

std::string name_of(u64 value, std::span<const Name> names) {
    for (const Name& name : names) {
        if (name.value == value) return name.text;
    }
    return format("0x%llx", static_cast<unsigned long long>(value));
}

std::string flags(u64 value, std::span<const Name> names) {
    std::vector<std::string> set;
    for (u64 bit = 1; bit != 0; bit <<= 1) {
        if ((value & bit) != 0) set.push_back(name_of(bit, names));
    }
    return join(set);
}

std::string bytes_for_people(u64 value) {
    const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
    std::string text = std::to_string(value);
    double scaled = static_cast<double>(value);
    const char* unit = nullptr;
    for (std::size_t i = 0; i < std::size(units) && scaled >= 1024; ++i) {
        scaled /= 1024;
        unit = units[i];
    }
    return unit == nullptr ? text : text + " (" + detail::general_text(scaled, 4) + " " + unit + ")";
}

std::string version(cl_version value) {
    return format("%u.%u.%u", CL_VERSION_MAJOR(value), CL_VERSION_MINOR(value), CL_VERSION_PATCH(value));
}

std::string text_of(const std::string& bytes) {
    const std::string text = bytes.c_str();
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "none" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string value_of(const Row& row, const std::string& bytes) {
    std::vector<std::string> items;
    switch (row.kind) {
        case Kind::text:
            return text_of(bytes);
        case Kind::yes_no:
            return integer(bytes) != 0 ? "yes" : "no";
        case Kind::number:
            return std::to_string(integer(bytes));
        case Kind::bytes:
            return bytes_for_people(integer(bytes));
        case Kind::flags:
            return flags(integer(bytes), row.names);
        case Kind::choice:
            return name_of(integer(bytes), row.names);
        case Kind::version:
            return version(part<cl_version>(bytes, 0));
        case Kind::hex:
            return format("0x%llx", static_cast<unsigned long long>(integer(bytes)));
        case Kind::handle:
            return integer(bytes) != 0 ? "present" : "none";
        case Kind::numbers:
            for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::size_t))
                items.push_back(std::to_string(part<std::size_t>(bytes, at)));
            return join(items);
        case Kind::choices:
            for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::intptr_t)) {
                const u64 value = part<u64>(bytes, at);
                if (value == 0) break;
                items.push_back(name_of(value, row.names));
            }
            return join(items);
        case Kind::versions:
            for (std::size_t at = 0; at < bytes.size(); at += sizeof(cl_name_version)) {
                const auto item = part<cl_name_version>(bytes, at);
                items.push_back(std::string(item.name) + " " + version(item.version));
            }
            return join(items);
        case Kind::uuid: {
            std::string text;
            for (const char byte : bytes)
                text += format("%02x", static_cast<unsigned char>(byte));
            return text;
        }
    }
    return {};
}

template <class Object>
void add(std::vector<DeviceProperty>& list, Object object, std::span<const Row> rows) {
    for (const Row& row : rows) {
        const std::optional<std::string> bytes = ask(object, row.question);
        list.push_back({row.name, bytes ? value_of(row, *bytes) : "not supported"});
    }
}

}  // namespace

std::vector<DeviceProperty> properties_of(cl_device_id device) {
    std::vector<DeviceProperty> list;
    add(list, ask_value<cl_platform_id>(device, CL_DEVICE_PLATFORM), platform_rows);
    add(list, device, device_rows);
    add(list, device, nvidia_rows);
    return list;
}

}  // namespace concord::opencl
