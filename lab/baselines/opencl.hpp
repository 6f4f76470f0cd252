#pragma once
// Streams and buffers for libraries on OpenCL.

#include "rows.hpp"

#include <CL/cl.h>

namespace concord::baselines {

inline cl_command_queue queue_of(Stream& stream) {
    return static_cast<cl_command_queue>(stream.native_handle());
}
inline cl_mem memory_of(const View& view) {
    return static_cast<cl_mem>(view.buffer->native_handle());
}
// In elements.
inline u64 offset_of(const View& view) {
    return view.offset / size_of(view.type);
}

inline void check(const char* call, int status) {
    if (status != CL_SUCCESS)
        throw Error(ErrorCode::device_failed, call, "failed", "status " + std::to_string(status));
}

}  // namespace concord::baselines
