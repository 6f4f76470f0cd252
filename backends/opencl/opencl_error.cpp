// Names of OpenCL's status codes, and the error codes for them.

#include "opencl_api.hpp"

namespace concord::opencl {
namespace {

struct StatusName {
    cl_int status;
    const char* name;
};

// clang-format off
#define ROW(name) {name, #name}
constexpr StatusName status_names[] = {
    ROW(CL_SUCCESS),
    ROW(CL_DEVICE_NOT_FOUND),
    ROW(CL_DEVICE_NOT_AVAILABLE),
    ROW(CL_COMPILER_NOT_AVAILABLE),
    ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    ROW(CL_OUT_OF_RESOURCES),
    ROW(CL_OUT_OF_HOST_MEMORY),
    ROW(CL_PROFILING_INFO_NOT_AVAILABLE),
    ROW(CL_MEM_COPY_OVERLAP),
    ROW(CL_IMAGE_FORMAT_MISMATCH),
    ROW(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    ROW(CL_BUILD_PROGRAM_FAILURE),
    ROW(CL_MAP_FAILURE),
    ROW(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    ROW(CL_COMPILE_PROGRAM_FAILURE),
    ROW(CL_LINKER_NOT_AVAILABLE),
    ROW(CL_LINK_PROGRAM_FAILURE),
    ROW(CL_DEVICE_PARTITION_FAILED),
    ROW(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    ROW(CL_INVALID_VALUE),
    ROW(CL_INVALID_DEVICE_TYPE),
    ROW(CL_INVALID_PLATFORM),
    ROW(CL_INVALID_DEVICE),
    ROW(CL_INVALID_CONTEXT),
    ROW(CL_INVALID_QUEUE_PROPERTIES),
    ROW(CL_INVALID_COMMAND_QUEUE),
    ROW(CL_INVALID_HOST_PTR),
    ROW(CL_INVALID_MEM_OBJECT),
    ROW(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    ROW(CL_INVALID_IMAGE_SIZE),
    ROW(CL_INVALID_SAMPLER),
    ROW(CL_INVALID_BINARY),
    ROW(CL_INVALID_BUILD_OPTIONS),
    ROW(CL_INVALID_PROGRAM),
    ROW(CL_INVALID_PROGRAM_EXECUTABLE),
    ROW(CL_INVALID_KERNEL_NAME),
    ROW(CL_INVALID_KERNEL_DEFINITION),
    ROW(CL_INVALID_KERNEL),
    ROW(CL_INVALID_ARG_INDEX),
    ROW(CL_INVALID_ARG_VALUE),
    ROW(CL_INVALID_ARG_SIZE),
    ROW(CL_INVALID_KERNEL_ARGS),
    ROW(CL_INVALID_WORK_DIMENSION),
    ROW(CL_INVALID_WORK_GROUP_SIZE),
    ROW(CL_INVALID_WORK_ITEM_SIZE),
    ROW(CL_INVALID_GLOBAL_OFFSET),
    ROW(CL_INVALID_EVENT_WAIT_LIST),
    ROW(CL_INVALID_EVENT),
    ROW(CL_INVALID_OPERATION),
    ROW(CL_INVALID_GL_OBJECT),
    ROW(CL_INVALID_BUFFER_SIZE),
    ROW(CL_INVALID_MIP_LEVEL),
    ROW(CL_INVALID_GLOBAL_WORK_SIZE),
    ROW(CL_INVALID_PROPERTY),
    ROW(CL_INVALID_IMAGE_DESCRIPTOR),
    ROW(CL_INVALID_COMPILER_OPTIONS),
    ROW(CL_INVALID_LINKER_OPTIONS),
    ROW(CL_INVALID_DEVICE_PARTITION_COUNT),
    ROW(CL_INVALID_PIPE_SIZE),
    ROW(CL_INVALID_DEVICE_QUEUE),
    ROW(CL_INVALID_SPEC_ID),
    ROW(CL_MAX_SIZE_RESTRICTION_EXCEEDED),
    ROW(CL_PLATFORM_NOT_FOUND_KHR),
    ROW(CL_CONTEXT_TERMINATED_KHR),
    {-9999, "NVIDIA: illegal read or write of a kernel"},  // not in any header
};
#undef ROW
// clang-format on

ErrorCode code_of(cl_int status) {
    switch (status) {
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        case CL_OUT_OF_HOST_MEMORY:
            return ErrorCode::out_of_memory;
        // A launch that does not fit the kernel or the device.
        case CL_INVALID_ARG_INDEX:
        case CL_INVALID_ARG_VALUE:
        case CL_INVALID_ARG_SIZE:
        case CL_INVALID_KERNEL_ARGS:
        case CL_INVALID_WORK_DIMENSION:
        case CL_INVALID_WORK_GROUP_SIZE:
        case CL_INVALID_WORK_ITEM_SIZE:
        case CL_INVALID_GLOBAL_WORK_SIZE:
            return ErrorCode::invalid_argument;
        // Includes CL_OUT_OF_RESOURCES, which drivers report when a kernel has crashed.
        default:
            return ErrorCode::device_failed;
    }
}

}  // namespace

std::string status_text(cl_int status) {
    const std::string number = "(" + std::to_string(status) + ")";
    for (const StatusName& row : status_names) {
        if (row.status == status) return std::string(row.name) + " " + number;
    }
    return "unknown status " + number;
}

void fail(cl_int status, std::string_view call, std::string_view message) {
    throw Error(code_of(status), call, message, status_text(status));
}

}  // namespace concord::opencl
