#pragma once
/// A stream and its device as libraries over CUDA's runtime take them.

#include "rows.hpp"

#include <cuda_runtime_api.h>

namespace concord::baselines {

inline void check(const char* call, cudaError_t error) {
    if (error != cudaSuccess)
        throw Error(ErrorCode::device_failed, call, cudaGetErrorString(error), cudaGetErrorName(error));
}

/// Makes the device of the view the calling thread's, as the libraries ask of their caller.
inline void use_device_of(const View& view) {
    cudaPointerAttributes attributes{};
    check("cudaPointerGetAttributes", cudaPointerGetAttributes(&attributes, lab::native_pointer<void>(view)));
    check("cudaSetDevice", cudaSetDevice(attributes.device));
}

inline cudaStream_t queue_of(Stream& stream) {
    return static_cast<cudaStream_t>(stream.native_handle());
}

}  // namespace concord::baselines
