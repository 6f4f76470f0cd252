#pragma once
// Streams and devices for libraries on CUDA's runtime API.

#include "rows.hpp"

#include <cuda_runtime_api.h>

namespace concord::baselines {

inline void check(const char* call, cudaError_t error) {
    if (error != cudaSuccess)
        throw Error(ErrorCode::device_failed, call, cudaGetErrorString(error), cudaGetErrorName(error));
}

// Makes the view's device current for the calling thread, which the libraries require.
inline void use_device_of(const View& view) {
    cudaPointerAttributes attributes{};
    check("cudaPointerGetAttributes", cudaPointerGetAttributes(&attributes, lab::native_pointer<void>(view)));
    check("cudaSetDevice", cudaSetDevice(attributes.device));
}

inline cudaStream_t queue_of(Stream& stream) {
    return static_cast<cudaStream_t>(stream.native_handle());
}

}  // namespace concord::baselines
